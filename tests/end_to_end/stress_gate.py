#!/usr/bin/env python3
"""Threads loop over dlopen/dlclose, malloc/free, throw/catch, fork+exec and thread creation at 4 kHz for 30 s."""

import driver

SECONDS = 30
# A hang is no progress: the program needs SECONDS, and its analysis some more.
PATIENCE_S = SECONDS + 120


class StressGate(driver.EndToEnd):
    def test_every_loop_turns_and_samples_arrive_until_the_end(self):
        run = self.prof_run([driver.program("stress"), str(SECONDS), driver.program("plugin.so")],
                            events=["CPUTIME@4000"], options=["--trace"], timeout=PATIENCE_S)
        self.assertEqual(run.stdout, b"all loops turned: yes, wrong: 0\n", run.stderr[-2000:])
        self.assertEqual(run.status, 42)
        summary = run.summary()
        cpu = run.total("CPUTIME")
        # Two processors were busy. Half of what the clock should deliver is far more than the start alone would.
        self.assertGreater(cpu, SECONDS * 0.5)
        self.assertGreater(summary["sampling"]["samples"], 4000 * SECONDS * 0.25)
        for function in ("load_and_unload", "allocate", "throw_and_catch", "fork_and_exec", "create_and_join"):
            self.assertGreater(run.inclusive(f"(anonymous namespace)::{function}", "CPUTIME"), 0, function)
        stacks = summary["stacks"]
        walked = stacks["complete"] + stacks["partial"] + stacks["broken"]
        self.assertGreater(stacks["complete"] / walked, 0.99, stacks)


driver.main()
