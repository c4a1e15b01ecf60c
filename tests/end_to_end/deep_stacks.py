#!/usr/bin/env python3
"""Samples of deep stacks cost the program a bounded share of its time. Those that would cost more are skipped and
counted, and no time is missing."""

import driver

SECONDS = 0.4


class DeepStacks(driver.EndToEnd):
    def check(self, kind, depth, event, reason):
        run = self.prof_run([driver.program("deep_stacks"), kind, str(depth), str(SECONDS)], events=[event], timeout=30)
        self.assertEqual(run.status, 0, run.stderr)
        summary = run.summary()
        self.assertGreater(summary["sampling"]["dropped"].get("expensive", 0), 0)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.9 * run.stated("worked"), 1.02 * run.stated("worked"),
                           "CPUTIME in spin")
        self.assertEqual(summary["stacks"]["partial"] + summary["stacks"]["broken"], 0, summary["stacks"])
        self.assertIn(reason, summary["stacks"]["reasons"])

    def test_of_compiled_code(self):
        self.check("native", 8000, "CPUTIME@20000", "end_of_stack")

    def test_of_generated_code(self):
        self.check("generated", 8000, "CPUTIME@20000", "jit_frame_pointer")

    def test_a_shallow_stack_is_sampled_whole(self):
        run = self.prof_run([driver.program("deep_stacks"), "native", "8", str(SECONDS)], events=["CPUTIME@1000"])
        self.assertNotIn("expensive", run.summary()["sampling"]["dropped"])

    def test_exhausted_stacks_end_as_without(self):
        for event in ("CPUTIME@1000", "CPUTIME@20000", "REALTIME@20000"):
            run = self.prof_run([driver.program("deep_stacks"), "overflows", "20"], events=[event], timeout=30)
            self.assertEqual((run.status, run.stdout), (7, b"overflows 20\n"), run.stderr)


driver.main()
