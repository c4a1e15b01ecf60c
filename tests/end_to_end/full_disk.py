#!/usr/bin/env python3
"""Where the measurement cannot be written there is one warning, and the program runs as it would have."""

import os
import subprocess

import driver

COMMAND = [driver.program("many_threads"), "8", "0.2"]
OUTPUT = b"8 threads done\n"


def warnings(run):
    return [line for line in run.stderr.decode().splitlines() if "warning" in line.lower()]


class FullDisk(driver.EndToEnd):
    def mount_small(self, size):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "none", str(disk)],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest(f"cannot mount a small disk: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=True)
        return disk

    def check_unharmed(self, run, reason):
        self.assertEqual((run.status, run.stdout), (0, OUTPUT), run.stderr)
        told = warnings(run)
        self.assertEqual(len(told), 1, run.stderr.decode())
        self.assertIn(reason, told[0])

    def test_a_disk_that_fills_up(self):
        disk = self.mount_small("512k")
        self.check_unharmed(self.prof_run(COMMAND, options=["--trace", "--no-analyze"], directory=disk / "run",
                                          events=["CPUTIME@1000"]), "No space left")

    def test_a_disk_without_any_room(self):
        disk = self.mount_small("64k")
        with open(disk / "filler", "wb") as filler:
            try:
                filler.write(bytes(1 << 20))
                filler.flush()
            except OSError:
                pass
        self.check_unharmed(self.prof_run(COMMAND, options=["--no-analyze"], directory=disk / "run"),
                            "No space left")

    def test_a_folder_that_may_not_be_written(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        wrap = driver.as_nobody if os.geteuid() == 0 else lambda command: command
        self.check_unharmed(self.prof_run(COMMAND, directory=closed / "run", wrap=wrap), "Permission denied")


driver.main()
