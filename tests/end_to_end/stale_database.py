#!/usr/bin/env python3
"""A report of a measurement directory shows the latest measurements, even if the directory is not writable."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import driver


class StaleDatabase(driver.EndToEnd):
    def report(self, directory, wrap=lambda command: command):
        done = subprocess.run(wrap([str(driver.PROF), "report", str(directory), "--format=json"]),
                              capture_output=True, text=True, timeout=100)
        return done

    def measured(self, name):
        run = self.prof_run(["sh", "-c", ":"], options=["--no-analyze"], directory=self.folder / name)
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def add_process(self, run):
        """Adds another process's measurement."""
        [file] = self.measured("other").directory.glob("*.prof")
        shutil.copyfile(file, run.directory / "z-1-1-0.prof")

    def test_what_came_after_the_analysis_is_in_the_report(self):
        run = self.measured("run")
        self.assertEqual(run.summary()["run"]["processes"], 1)
        self.add_process(run)
        self.assertEqual(run.summary()["run"]["processes"], 2)

    def test_what_a_process_wrote_after_the_analysis_is_in_the_report(self):
        script = "import time\nprint(flush=True)\nend = time.process_time() + 60\nwhile time.process_time() < end: pass"
        directory = self.folder / "run"
        process = subprocess.Popen([str(driver.PROF), "run", "--no-analyze", "-o", str(directory), "--", sys.executable,
                                    "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdout.readline()
        shares = []
        for _ in range(3):
            time.sleep(0.7)
            shares.append(json.loads(self.report(directory).stdout)["totals"]["CPUTIME"])
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        self.assertLess(shares[0] * 1.2, shares[1])
        self.assertLess(shares[1] * 1.1, shares[2])

    def test_what_was_analyzed_last_stays(self):
        run = self.measured("run")
        run.summary()
        meta = run.directory / "database/meta.db"
        before = meta.stat()
        run.summary()
        self.assertEqual(meta.stat().st_ino, before.st_ino)

    def test_measurements_that_belong_to_somebody_else(self):
        wrap = driver.as_nobody if os.geteuid() == 0 else lambda command: command
        run = self.measured("run")
        run.summary()
        self.add_process(run)
        for folder in (run.directory / "database", run.directory):
            folder.chmod(0o555)
        for file in run.directory.glob("*.prof"):
            file.chmod(0o444)
        try:
            done = self.report(run.directory, wrap)
        finally:
            run.directory.chmod(0o755)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"processes": 2', done.stdout)
        lines = done.stderr.splitlines()
        self.assertEqual(len([line for line in lines if "is not writable" in line]), 1, done.stderr)
        self.assertIn("prof analyze", lines[0])


driver.main()
