#!/usr/bin/env python3
"""Converted threads synchronise as threads do, even with rarely used or hand-made objects: the cases of
meeting_cases.cpp and futex_cases.cpp. No process of them is left."""

import sys
import unittest

from converted_threads import Case


class Meetings(unittest.TestCase):
    def ends(self, name, program="meeting_cases"):
        case = Case(name, program=program)
        result = case.end()
        self.assertEqual((case.errors, result), ("", 0))
        self.assertEqual(case.left(), [])
        print(case.output, end="")

    def test_what_is_done_once_all_wait_for(self):
        self.ends("onces")

    def test_locks_that_others_have_are_given_up_in_time(self):
        self.ends("limits_of_locks")

    def test_so_are_conditions(self):
        self.ends("limits_of_conditions")

    def test_and_joins(self):
        self.ends("limits_of_joins")

    def test_conditions_of_c11(self):
        self.ends("c11_conditions")

    def test_semaphores_with_names(self):
        self.ends("named_semaphores")

    def test_barriers_and_latches_of_cxx(self):
        self.ends("cxx_barriers")

    def test_semaphores_of_cxx(self):
        self.ends("cxx_semaphores")

    def test_futexes_with_bits(self):
        self.ends("futex_bits", "futex_cases")

    def test_waiters_that_are_moved_to_another_futex(self):
        self.ends("futex_requeue", "futex_cases")

    def test_futexes_that_are_changed_as_waiters_are_woken(self):
        self.ends("futex_wake_op", "futex_cases")

    def test_a_mutex_of_the_program_s_own(self):
        self.ends("own_mutex", "futex_cases")

    def test_waiting_for_one_of_several_futexes(self):
        self.ends("futex_waitv", "futex_cases")

    def test_futexes_by_the_calls_of_linux_6_7(self):
        self.ends("futex2", "futex_cases")


if __name__ == "__main__":
    sys.exit(not unittest.main(verbosity=2, exit=False).result.wasSuccessful())
