#!/usr/bin/env python3
"""Closed, full and unread streams lose messages and nothing else."""

import os
import subprocess

import driver

# Whether a program has input and standard error, and which signals it ignores.
LOOK = "for n in 0 2; do [ -e /proc/$$/fd/$n ]; echo $?; done; grep SigIgn /proc/$$/status; exit 7"


class StandardStreams(driver.EndToEnd):
    def shell(self, script, **variables):
        environment = {**os.environ, "PROF": str(driver.PROF), "HOT": driver.sample("hot_loop"), **variables}
        return subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=100)

    def check_run(self, redirection):
        """Checks the program's status, and everything that a run leaves."""
        done = self.shell(f"$PROF run -o m sh -c 'echo out; exit 7' {redirection}")
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"), done.stderr)
        report = self.shell("$PROF report m --format=json")
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_a_full_standard_error(self):
        self.check_run("2>/dev/full")

    def test_a_closed_standard_error(self):
        self.check_run("2>&-")

    def test_a_standard_error_that_nobody_reads(self):
        self.check_run("2> >(:) ; status=$?; wait $!; exit $status")

    def test_analysis_goes_on_without_standard_error(self):
        self.assertEqual(self.shell("$PROF run --no-analyze -o m true").returncode, 0)
        for redirection in ("2>/dev/full", "2>&-", "2> >(:)"):
            done = self.shell(f"$PROF analyze m -o d {redirection}")
            self.assertEqual(done.returncode, 0, redirection)

    def test_a_failure_keeps_its_status(self):
        for redirection in ("2>/dev/full", "2>&-"):
            self.assertEqual(self.shell(f"$PROF report nowhere {redirection}").returncode, 125, redirection)

    def test_the_program_has_the_streams_and_signals_it_would_have(self):
        for redirection in ("", "2>&- 0<&-", "0<&-"):
            script = f"sh -c '{LOOK}' {redirection}"
            plain = self.shell(script)
            run = self.shell(f"$PROF run --no-analyze -o m --force -- {script}")
            self.assertEqual(run.returncode, 7, run.stderr)
            self.assertEqual(run.stdout, plain.stdout, redirection)


driver.main()
