#!/usr/bin/env python3
"""Converted threads behave as threads: the cases of converted_thread_cases.cpp and related files, and how their program ends.

No process of a case may be left when its program has ended, however it ended: none that runs, and no zombie that no process
waits for.
"""

import ctypes
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(os.environ["PROF_BUILD"]) / "tests"
PATIENCE = 60  # s

# Orphans become our children and are reaped here, as by init. A zombie that is left has a parent that does not reap it.
PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1) == 0


def of_session(session):
    """Returns the session's processes, with the letter of their state and their parent."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found[int(folder.name)] = (fields[0], int(fields[1]))
    return found


def living(session):
    return [process for process, (state, _) in of_session(session).items() if state not in "ZX"]


def left_of(session):
    """Returns all processes, including zombies, except those that became our children, which are reaped."""
    found = of_session(session)
    for process, (_, parent) in found.items():
        if parent == os.getpid():
            try:
                os.waitpid(process, os.WNOHANG)
            except ChildProcessError:
                pass
    return found


class Case:
    def __init__(self, *arguments, program="converted_thread_cases", **more):
        self.program = subprocess.Popen([TESTS / program, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True, **more)

    def end(self):
        try:
            self.output, self.errors = (text.decode() for text in self.program.communicate(timeout=PATIENCE))
        except subprocess.TimeoutExpired:
            for process in living(self.program.pid):
                os.kill(process, signal.SIGKILL)
            self.program.communicate()
            raise AssertionError("the case does not end") from None
        return self.program.returncode

    def left(self):
        """Returns what is left a while after the end: killing a converted thread takes a moment."""
        deadline = time.monotonic() + PATIENCE
        while (found := left_of(self.program.pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return list(found)


class ConvertedThreads(unittest.TestCase):
    def ends(self, name, status=0):
        case = Case(name)
        result = case.end()
        self.assertEqual(case.errors, "")
        self.assertEqual(result, status)
        self.assertEqual(case.left(), [])
        return case

    def test_a_thread_changes_over_a_thousand_times_while_others_run(self):
        print(self.ends("conversions").output, end="")

    def test_the_numbers_of_processes_and_threads_stay(self):
        self.ends("identity")

    def test_a_thread_is_given_back_wherever_it_is(self):
        self.ends("asked_back_anywhere")

    def test_mutexes_of_all_kinds(self):
        self.ends("mutexes")

    def test_read_write_locks_semaphores_and_atomic_waits(self):
        self.ends("locks")

    def test_conditions(self):
        self.ends("conditions")

    def test_barriers(self):
        self.ends("barriers")

    def test_sleepers_from_before_a_session_and_within_are_woken(self):
        self.ends("sleepers")

    def test_traps_come_while_sessions_begin_and_end(self):
        self.ends("traps_at_ends")

    def test_joins(self):
        self.ends("joins")

    def test_a_converted_thread_creates_threads(self):
        self.ends("creates_threads")

    def test_signals_reach_the_thread(self):
        self.ends("signals")

    def test_a_handler_ends_a_call_wherever_the_thread_is_on_its_way_home(self):
        self.ends("handled_on_the_way")

    def test_timers_and_time_limits(self):
        self.ends("timers")

    def test_ignored_signals_bring_no_converted_thread_home(self):
        self.ends("ignored_signals")

    def test_a_broken_pipe_raises_its_signal(self):
        self.ends("pipes", -signal.SIGPIPE)

    def test_converted_threads_that_wait_are_cancelled(self):
        self.ends("cancelled")

    def test_faults_reach_their_handlers(self):
        self.ends("handled_faults")

    def test_a_segmentation_fault_ends_the_program(self):
        self.ends("segfault", -signal.SIGSEGV)

    def test_the_core_of_a_program_has_what_its_converted_thread_wrote_last(self):
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if not pattern.startswith("core") or not shutil.which("gdb"):
            self.skipTest(f"cores go to {pattern}" if shutil.which("gdb") else "gdb is not installed")
        with tempfile.TemporaryDirectory() as folder:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            case = Case("crashes_with_own_page", cwd=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited))
            self.assertEqual((case.end(), case.errors, case.left()), (-signal.SIGSEGV, "", []))
            cores = list(pathlib.Path(folder).glob("core*"))
            self.assertEqual(len(cores), 1)
            looks = ["print/x *(unsigned long(*)[3])&words_of_crash", "info threads", "backtrace"]
            told = subprocess.run(["gdb", "-batch", "-nx", *(word for look in looks for word in ("-ex", look)), TESTS / "converted_thread_cases", cores[0]],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=PATIENCE).stdout
        # What another converted thread wrote last to its private page is lost with it.
        self.assertRegex(told, r"\$1 = \{0x1, 0x(0|1111), 0x5eed5eed5eed\}")
        self.assertEqual(told.count("Thread 0x"), 4, told)  # three, and the one that crashed once more
        self.assertRegex(told, r"#[0-9]+ .*crashes_with_own_page")

    def test_so_does_a_stack_overflow(self):
        self.ends("stack_overflow", -signal.SIGSEGV)

    def test_so_does_abort(self):
        self.ends("aborts", -signal.SIGABRT)

    def test_exit_of_a_converted_thread_is_the_program_s(self):
        output = self.ends("exits", 7).output
        self.assertIn("unflushed\n", output)
        self.assertEqual(output.count("at exit"), 1)

    def test_so_is_exit_at_once(self):
        self.ends("ends_at_once", 8)

    def test_the_main_thread_may_leave_first(self):
        self.ends("main_thread_leaves", 9)

    def test_no_zombie_is_left_as_the_program_runs_on(self):
        self.ends("leaves_no_zombie")

    def test_a_converted_thread_has_children_with_the_mask_of_the_program(self):
        blocked = int(self.ends("children").output, 16)
        self.assertEqual(blocked, 1 << (signal.SIGUSR1 - 1) | 1 << (signal.SIGSYS - 1))

    def test_a_converted_thread_executes_another_program(self):
        lines = self.ends("executes", 3).output.splitlines()
        self.assertEqual(lines[0], "executed")
        for line in lines[1:]:
            self.assertEqual(int(line.split()[1], 16), 0, line)

    def test_address_spaces_change_for_all(self):
        self.ends("maps_memory")

    def test_a_new_thread_may_be_a_converted_thread_before_it_knows(self):
        self.ends("enters_as_converted")

    def test_threads_that_ended_leave_room_for_others(self):
        self.ends("more_threads_than_records")

    def test_several_converted_threads_print(self):
        lines = self.ends("prints").output.splitlines()
        self.assertEqual(len(lines), 800)
        self.assertEqual(set(lines), {f"thread {t} line {n}" for t in range(4) for n in range(200)})
        for t in range(4):
            own = [line for line in lines if line.startswith(f"thread {t} ")]
            self.assertEqual(own, [f"thread {t} line {n}" for n in range(200)])

    def test_processor_time_is_that_of_converted_threads_too(self):
        self.ends("cpu_time")

    def test_converted_threads_run_where_their_threads_may(self):
        self.ends("affinity")


class Deaths(unittest.TestCase):
    def runs_on(self):
        case = Case("runs_on")
        self.assertEqual(case.program.stdout.readline(), b"ready\n")
        converted_threads = [process for process in living(case.program.pid) if process != case.program.pid]
        self.assertEqual(len(converted_threads), 4)
        return case, converted_threads

    def ends(self, case, status):
        self.assertEqual(case.end(), status)
        self.assertEqual(case.left(), [])

    def test_a_program_that_is_killed_leaves_no_converted_thread(self):
        case, _ = self.runs_on()
        case.program.kill()
        self.ends(case, -signal.SIGKILL)

    def test_a_converted_thread_that_is_killed_takes_the_program_with_it(self):
        for which in range(4):
            case, converted_threads = self.runs_on()
            os.kill(converted_threads[which], signal.SIGKILL)
            self.ends(case, -signal.SIGKILL)

    def test_a_signal_that_ends_programs_ends_this_one(self):
        case, _ = self.runs_on()
        case.program.terminate()
        self.ends(case, -signal.SIGTERM)

    def test_a_signal_to_the_process_group_is_taken_once(self):
        case, _ = self.runs_on()
        os.killpg(case.program.pid, signal.SIGINT)
        self.ends(case, -signal.SIGINT)


class Stress(unittest.TestCase):
    def test_nothing_is_lost_where_threads_do_everything_at_random(self):
        case = Case("3", str(os.getpid()), program="converted_thread_stress")
        status = case.end()
        print(case.output, end="")
        self.assertEqual((status, case.errors), (0, ""))
        self.assertEqual(case.left(), [])


if __name__ == "__main__":
    sys.exit(not unittest.main(verbosity=2, exit=False).result.wasSuccessful())
