#!/usr/bin/env python3
"""A program may use any descriptor number, including those of our descriptors."""

import os
import resource
import sys

import driver

LISTED = "import os\nfor name in os.listdir('/proc/self/fd'):\n  if int(name) > 9: print(name, os.readlink('/proc/self/fd/' + name))"


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

    def test_they_are_below_the_usual_limit_where_the_programs_is_higher(self):
        """A fork copies the descriptor table, which is as long as the highest number."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 4096:
            self.skipTest(f"the descriptor limit cannot be raised beyond {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        run = self.prof_run([sys.executable, "-c", LISTED], events=["CPUTIME@1000"])
        numbers = [int(line.split()[0]) for line in run.stdout.decode().splitlines() if ".prof" in line or "perf_event" in line]
        self.assertTrue(numbers, run.stdout)
        self.assertTrue(all(900 < number < 1024 for number in numbers), run.stdout)


driver.main()
