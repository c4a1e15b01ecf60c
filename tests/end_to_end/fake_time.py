#!/usr/bin/env python3
"""A program with its own clock_gettime is measured with the kernel's clock, and its own is not called."""

import driver


class FakeTime(driver.EndToEnd):
    def test_a_clock_of_the_programs_own(self):
        command = [driver.program("fake_time")]
        self.assertEqual(self.plain_run(command).stdout, b"calls 0\n")
        run = self.prof_run(command, events=["CPUTIME@1000", "REALTIME@200"])
        self.assertEqual((run.status, run.stdout), (0, b"calls 0\n"), run.stderr)
        cpu_s = run.summary()["run"]["cpu_s"]
        self.assertGreater(cpu_s, 0.1)
        for metric in ("CPUTIME", "REALTIME"):
            self.assert_within(run.total(metric), 0.5 * cpu_s, 20 * cpu_s, metric)


if __name__ == "__main__":
    driver.main()
