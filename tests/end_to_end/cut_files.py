#!/usr/bin/env python3
"""A program whose measurement files are truncated or removed while it runs behaves as without prof, and prof ends with
its status."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import driver


class CutFiles(driver.EndToEnd):
    def wait_until_mapped(self, pid):
        """prof examines the state of the measured processes after a tenth of a second."""
        deadline = time.monotonic() + 30
        while ".prof" not in pathlib.Path(f"/proc/{pid}/maps").read_text():
            self.assertLess(time.monotonic(), deadline, "prof does not follow the process")
            time.sleep(0.01)

    def run_while(self, change, *arguments, before=()):
        directory = self.folder / "run"
        launched = subprocess.Popen(
            [str(driver.PROF), "run", "-q", "-e", "CPUTIME@2000", "-o", str(directory), "--", *before,
             driver.program("cut_files"), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(launched.stdout.readline(), b"ready\n")
        self.wait_until_mapped(launched.pid)
        changed = 0
        for path in directory.rglob("*"):
            if path.is_file() and (path.suffix == ".prof" or path.parent.name == "unwind-tables"):
                change(path)
                changed += 1
        self.assertGreater(changed, 0)
        output, errors = launched.communicate(b"\n", timeout=60)
        return launched.returncode, output, errors.decode()

    def check(self, change, lines, usable=True, **options):
        status, output, errors = self.run_while(change, **options)
        self.assertEqual((status, output), (42, b"caught 3\n"), errors)
        self.assertEqual(len([line for line in errors.splitlines() if "was truncated" in line]), lines, errors)
        self.assertEqual("nothing was measured" in errors, not usable, errors)

    def test_truncated_to_nothing(self):
        self.check(lambda path: os.truncate(path, 0), 1, usable=False)

    def test_truncated_to_a_page(self):
        self.check(lambda path: os.truncate(path, 4096), 1)

    def test_removed(self):
        self.check(os.unlink, 0, usable=False)

    def test_measured_from_outside(self):
        self.check(lambda path: os.truncate(path, 0), 1, usable=False, before=("env", "-u", "LD_PRELOAD"))

    def test_a_child_begins_to_measure_after_its_parents_file_was_truncated(self):
        status, output, errors = self.run_while(lambda path: os.truncate(path, 0), "child")
        name, child, *ending = output.decode().split()
        self.assertEqual((status, name, ending), (42, "child", ["exited", "7"]), errors)
        self.assertEqual(errors.count("was truncated"), 1, errors)
        [file] = (self.folder / "run").glob(f"*-{child}-*.prof")
        alone = self.folder / "child"
        alone.mkdir()
        shutil.copy(file, alone)
        report = self.plain_run([driver.PROF, "report", alone, "--view=summary", "--format=json"])
        self.assert_within(json.loads(report.stdout)["run"]["cpu_s"], 0.15, 0.3, "CPU time of the child")

    def test_a_bus_error_of_the_program_ends_it(self):
        status, output, errors = self.run_while(lambda path: None, "fatal")
        self.assertEqual((status, output), (128 + signal.SIGBUS, b""), errors)


driver.main()
