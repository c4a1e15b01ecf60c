#!/usr/bin/env python3
"""200 threads at once under a limit of 64 descriptors are all measured, also without privilege."""

import os

import driver

THREADS = 200
SECONDS_EACH = 0.02


def few_descriptors(command):
    return ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *command]


class ManyThreads(driver.EndToEnd):
    def check(self, wrap):
        run = self.prof_run([driver.program("many_threads"), str(THREADS), str(SECONDS_EACH)],
                            events=["CPUTIME@1000"], wrap=wrap)
        self.assertEqual((run.status, run.stdout), (0, b"%d threads done\n" % THREADS), run.stderr)
        self.assertEqual(run.summary()["run"]["threads"], THREADS + 1)
        total = THREADS * SECONDS_EACH
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.9 * total, 1.1 * total, "CPUTIME in spin")

    def test_all_threads_are_measured(self):
        self.check(few_descriptors)

    def test_all_threads_are_measured_for_an_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become an ordinary user; the other test ran as one")
        self.check(lambda command: driver.as_nobody(few_descriptors(command)))


driver.main()
