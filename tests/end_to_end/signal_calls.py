#!/usr/bin/env python3
"""A program that uses a signal of the runtime's through any of the C library's functions sees what it would see
without a profiler: SIGTRAP under perf's clock, the timers' real-time signal under a timer."""

import os

import driver

TRIGGERS = {"sigtrap": ["sigtrap"], "realtime": ["timer", "sigtrap"]}


class SignalCalls(driver.EndToEnd):
    def check(self, case, signals=("sigtrap", "realtime"), ends_with=0):
        for signal in signals:
            for trigger in TRIGGERS[signal]:
                with self.subTest(signal=signal, trigger=trigger):
                    command = [driver.program("signal_calls"), case, signal]
                    plain = self.plain_run(command, timeout=20)
                    run = self.prof_run(command, events=["CPUTIME@1000"], timeout=20,
                                        env={**os.environ, "PROF_TRIGGER": trigger})
                    self.assertEqual(run.stdout.decode(), plain.stdout.decode(), run.stderr)
                    self.assertEqual(plain.returncode, 128 - ends_with if ends_with else 0)
                    self.assertEqual(run.status, ends_with, run.stderr)
                    self.assertGreater(run.samples(), 5)

    def test_handlers_installed_by_old_functions(self):
        self.check("old_handlers")

    def test_masks_of_system_v(self):
        self.check("old_masks")

    def test_masks_of_bsd(self):
        self.check("bsd_masks", signals=["sigtrap"])

    def test_a_mask_swapped_in_place(self):
        self.check("swaps_in_place")


driver.main()
