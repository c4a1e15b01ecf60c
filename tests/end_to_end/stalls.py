#!/usr/bin/env python3
"""The stalls of a team of processes are found where one of them wakes up late, and no others."""

import subprocess

import driver


def stalls(run, *options):
    return run.report("stalls", *options)


class Stalls(driver.EndToEnd):
    def measured(self, sample, *arguments):
        run = self.prof_run([driver.sample(sample), *arguments], events=["REALTIME"], options=["--trace"])
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def test_late_wakeups_are_stalls(self):
        run = self.measured("late_wakeup")
        report = stalls(run)
        stated, found = run.stated("lost_s"), report["totals"]["STALL"]
        print(f"lost: stated {stated:.3f} s, found {found:.3f} s in {len(report['stalls'])} stalls")
        # Ten times up to 290 ms; how much of that is lost is for the machine to say.
        self.assertGreater(stated, 0.5)
        self.assert_within(found, 0.8 * stated, 1.1 * stated, "time lost")
        self.assertEqual(report["traces"]["bystanders"], 1)  # the parent, which waits for its children
        self.assertEqual(report["traces"]["threads"], 12)

        finding = report["findings"][0]
        self.assertEqual(finding["kind"], "stall")
        self.assertIn("wait_for_input", finding["sentence"])
        self.assertIn("pthread_barrier_wait", finding["sentence"])
        blocked = finding["contexts"][0]
        self.assertEqual(blocked["role"], "blocked")
        self.assertTrue(any(driver.names(frame["function"], "wait_for_input") for frame in blocked["frames"]))
        self.assertGreater(finding["values"]["threads"], 5)
        self.assertIn(finding["sentence"], [one["sentence"] for one in run.summary()["findings"]])

        # One of twelve is not fewer than 8 %.
        self.assertEqual(stalls(run, "--stall-share=8")["totals"]["STALL"], 0)
        self.assertEqual(stalls(run, "--stall-factor=1000")["totals"]["STALL"], 0)

    def test_the_twin_has_none(self):
        run = self.measured("late_wakeup_fixed")
        self.assertFalse([one for one in stalls(run)["findings"] if "wait_for_input" in one["sentence"]])

    def refusal(self, directory):
        done = subprocess.run([str(driver.PROF), "report", str(directory), "--view=stalls"], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_what_cannot_tell_stalls_says_what_can(self):
        untraced = self.prof_run([driver.sample("late_wakeup_fixed"), "2"], events=["REALTIME"])
        self.assertIn("no trace was recorded; measure with prof run --trace -e REALTIME",
                      self.refusal(untraced.directory))
        cpu = self.prof_run([driver.sample("late_wakeup_fixed")], events=["CPUTIME"], options=["--trace"])
        self.assertIn("the traces follow CPUTIME, which stands still while a thread is blocked",
                      self.refusal(cpu.directory))
        both = self.prof_run([driver.sample("late_wakeup_fixed")], events=["CPUTIME", "REALTIME"],
                             options=["--trace"])
        self.assertIn("named before other events", self.refusal(both.directory))


driver.main()
