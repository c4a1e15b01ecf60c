#!/usr/bin/env python3
"""A program may put its descriptors at any number, also where ours happen to be."""

import os

import driver


class Descriptors(driver.EndToEnd):
    def test_a_program_takes_our_numbers(self):
        for trigger in ["sigtrap", "setsig"]:
            with self.subTest(trigger=trigger):
                run = self.prof_run([driver.program("duplicates")], events=["CPUTIME@1000"],
                                    env=dict(os.environ, PROF_TRIGGER=trigger))
                self.assertEqual((run.status, run.stdout), (0, 5 * b"1 0 0\n"), run.stderr)
                self.assert_within(run.inclusive("spin", "CPUTIME"), 0.22, 0.28, "CPUTIME")

    def test_a_child_keeps_what_its_parent_put_at_our_numbers(self):
        run = self.prof_run([driver.program("duplicates"), "raw"], events=["CPUTIME@1000"])
        self.assertEqual((run.status, run.stdout), (0, b"5\n"), run.stderr)


driver.main()
