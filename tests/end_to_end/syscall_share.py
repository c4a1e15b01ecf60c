#!/usr/bin/env python3
"""The share of read() that the sample itself measures is found within 5 points, for any user."""

import os

import driver

POINTS = 5


class SyscallShare(driver.EndToEnd):
    def check(self, wrap):
        run = self.prof_run([driver.sample("syscall_share")], events=["CPUTIME@1000"], wrap=wrap)
        self.assertEqual(run.status, 0, run.stderr)
        share, cpu = run.stated("read_share"), run.stated("cpu_s")
        total = run.total("CPUTIME")
        found = 100 * run.inclusive("read_records", "CPUTIME") / total
        print(f"read_records: stated {share:.1f} %, found {found:.1f} %; CPU: stated {cpu:.2f} s, found {total:.2f} s")
        self.assertLess(abs(found - share), POINTS)
        self.assert_within(total, 0.93 * cpu, 1.05 * cpu, "total CPUTIME")

    def test_found_by_whoever_runs_the_tests(self):
        self.check(lambda command: command)

    def test_found_by_an_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become an ordinary user; the other test ran as one")
        self.check(driver.as_nobody)

    def test_an_ordinary_user_gets_the_rate_in_user_code(self):
        wrap = driver.as_nobody if os.geteuid() == 0 else lambda command: command
        run = self.prof_run([driver.sample("hot_loop")], events=["CPUTIME@1000"], wrap=wrap)
        self.assertEqual(run.status, 0, run.stderr)
        # Not merged by the kernel, and not without weight: one for nearly every millisecond.
        self.assertGreater(run.samples(), 800 * run.total("CPUTIME"))


driver.main()
