#!/usr/bin/env python3
"""The kernel counts a program's CPU time, stops it and continues it in the same way with converted threads as without: the cases
of clock_cases.cpp."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import converted_threads


class Clocks(unittest.TestCase):
    def ends(self, name):
        case = converted_threads.Case(name, program="clock_cases")
        status = case.end()
        self.assertEqual((status, case.errors), (0, ""))

    def test_times_are_those_of_converted_threads_too(self):
        self.ends("times")

    def test_converted_threads_are_counted_once_also_as_they_leave(self):
        self.ends("counted_once")

    def test_timers_of_cpu_time_run_while_threads_work(self):
        for name in ("virtual_timer", "profiling_timer", "posix_timer"):
            with self.subTest(name):
                self.ends(name)

    def test_a_limit_of_cpu_time_is_the_process_s(self):
        self.ends("limit")

    def test_a_thread_sleeps_by_the_cpu_time_of_others(self):
        self.ends("sleep")

    def test_where_cpu_time_is_watched_no_session_begins_until_it_is_not(self):
        self.ends("no_session_comes_about")
        self.ends("begins_again")


    def test_descriptors_of_a_thread_s_own_stay_so_when_it_comes_home(self):
        self.ends("unshared_descriptors")


class Stops(unittest.TestCase):
    def children(self, program):
        """Returns the CPU time of each, in the kernel's ticks."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            if int(fields[1]) == program:
                found[int(folder.name)] = int(fields[11]) + int(fields[12])
        return found

    def wait_for(self, is_so, message):
        deadline = time.monotonic() + converted_threads.PATIENCE
        while not is_so():
            self.assertLess(time.monotonic(), deadline, message)
            time.sleep(0.02)

    def stands_still(self, program):
        """True if no thread runs, except to check from time to time whether the program continues."""
        before = self.children(program)
        time.sleep(0.5)
        after = self.children(program)
        return before.keys() == after.keys() and all(after[converted] - before[converted] <= 2 for converted in before)

    def test_converted_threads_stop_and_go_on_with_the_program(self):
        # In the session of the test, because SIGTSTP does not stop programs without a shell.
        program = subprocess.Popen([converted_threads.TESTS / "clock_cases", "counts_on"], stdout=subprocess.DEVNULL, process_group=0)
        try:
            self.wait_for(lambda: len(self.children(program.pid)) == 2, "no converted threads")
            for stop in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGSTOP):
                with self.subTest(stop.name):
                    before = self.children(program.pid)
                    self.wait_for(lambda: all(ticks > before[converted] + 5 for converted, ticks in self.children(program.pid).items()),
                                  "converted threads do not run")
                    os.kill(program.pid, stop)
                    try:
                        self.assertEqual(os.waitid(os.P_PID, program.pid, os.WSTOPPED).si_status, stop)
                        self.wait_for(lambda: self.stands_still(program.pid), "converted threads work on")
                        self.assertTrue(self.stands_still(program.pid))
                    finally:
                        os.kill(program.pid, signal.SIGCONT)
        finally:
            program.kill()
            program.wait()
        self.wait_for(lambda: not self.children(program.pid), "converted threads are left")


if __name__ == "__main__":
    sys.exit(not unittest.main(verbosity=2, exit=False).result.wasSuccessful())
