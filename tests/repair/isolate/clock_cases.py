#!/usr/bin/env python3
"""The kernel counts a program's CPU time, and stops and continues it, with threads that are processes as without: the cases of
clock_cases.cpp."""

import sys
import unittest

import twins


class Clocks(unittest.TestCase):
    def ends(self, name):
        case = twins.Case(name, program="clock_cases")
        status = case.end()
        self.assertEqual((status, case.errors), (0, ""))

    def test_times_are_those_of_twins_too(self):
        self.ends("times")

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


if __name__ == "__main__":
    sys.exit(not unittest.main(verbosity=2, exit=False).result.wasSuccessful())
