#!/usr/bin/env python3
"""CPUTIME is time on a processor, REALTIME is elapsed time; both can be measured at once."""

import driver

SECONDS = 1.5  # of work, and as much sleep


class Clocks(driver.EndToEnd):
    def check_real(self, run):
        # The program prints the duration of each part: on a busy machine spinning takes longer than the CPU time it
        # gets.
        for function in ("spin", "nap"):
            passed = run.stated(f"{function}_wall")
            self.assert_within(run.inclusive(function, "REALTIME"), 0.93 * passed, 1.07 * passed,
                               f"REALTIME in {function}")

    def check_cpu(self, run):
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.93 * SECONDS, 1.07 * SECONDS, "CPUTIME in spin")
        self.assert_within(run.inclusive("nap", "CPUTIME"), 0, 0.05 * SECONDS, "CPUTIME in nap")

    def test_cputime_leaves_sleep_out(self):
        run = self.prof_run([driver.program("naps"), str(SECONDS)], events=["CPUTIME@1000"])
        self.assertEqual((run.status, run.stdout), (0, b"interrupted 0\n"), run.stderr)
        self.check_cpu(run)

    def test_realtime_covers_sleep(self):
        run = self.prof_run([driver.program("naps"), str(SECONDS)], events=["REALTIME@200"])
        self.assertEqual(run.status, 0, run.stderr)
        self.check_real(run)

    def test_both_clocks_measure_at_once(self):
        run = self.prof_run([driver.program("naps"), str(SECONDS)], events=["CPUTIME@1000", "REALTIME@200"])
        self.assertEqual(run.status, 0, run.stderr)
        self.check_cpu(run)
        self.check_real(run)

    def test_the_delivered_rate_is_reported_beside_the_requested_one(self):
        run = self.prof_run([driver.program("naps"), str(SECONDS)], events=["CPUTIME@500"])
        sampling = run.summary()["sampling"]
        self.assertEqual(sampling["requested_hz"], 500)
        self.assert_within(sampling["delivered_hz"], 350, 550, "delivered rate")
        self.assert_within(sampling["samples"], 350 * SECONDS, 600 * SECONDS, "samples")


driver.main()
