#!/usr/bin/env python3
"""If the measurement cannot be written there is one warning, and the program runs unchanged."""

import os
import subprocess

import driver

COMMAND = [driver.program("many_threads"), "40", "0.05"]
OUTPUT = b"40 threads done\n"


def lines_that_say(reason, run):
    return [line for line in run.stderr.decode().splitlines() if reason in line]


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
        self.assertEqual(len(lines_that_say(reason, run)), 1, run.stderr.decode())

    def test_a_disk_that_fills_up(self):
        disk = self.mount_small("80k")
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

    def as_ordinary_user(self):
        return driver.as_nobody if os.geteuid() == 0 else lambda command: command

    def test_a_folder_that_may_no_longer_be_written(self):
        closed = self.folder / "closed"
        run = self.prof_run(["sh", "-c", 'chmod 555 "$0"; exec "$@"', str(closed), *COMMAND],
                            options=["--no-analyze"], directory=closed, wrap=self.as_ordinary_user())
        self.check_unharmed(run, "Permission denied")

    def check_stops_before_the_program_runs(self, directory):
        run = self.prof_run(COMMAND, directory=directory, wrap=self.as_ordinary_user())
        self.assertEqual((run.status, run.stdout), (125, b""))
        self.assertEqual(len(lines_that_say("Permission denied", run)), 1, run.stderr.decode())

    def test_a_folder_that_may_not_be_written_or_made_stops_before_the_program_runs(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.check_stops_before_the_program_runs(closed)
        self.check_stops_before_the_program_runs(closed / "run")


driver.main()
