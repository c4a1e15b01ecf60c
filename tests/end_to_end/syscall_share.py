#!/usr/bin/env python3
"""The share of read() that the sample itself measures is found within 5 points, for any user.

Chance: which of the samples hit read(). Their share may be off by five standard deviations of the samples taken, at most 5 points: 4.6
points for 3,000 samples. Accepted: 1e-6 a run, two comparisons of 6e-7 each. Not less, because the tolerance would have to be wider or the
run longer. If only the kernel's tick of 250 Hz is available, 5 points are 2.7 deviations, and 1.4 % is accepted. The total is a sum of clock
readings, not a count. A host that merges timer interrupts may deliver fewer than 800 samples a second: no probability is known for that."""

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
        self.assertLess(abs(found - share), 100 * driver.margin(share / 100, run.samples(), POINTS / 100))
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
