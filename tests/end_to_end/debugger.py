#!/usr/bin/env python3
"""A debugger that attaches is not disturbed by samples, and sampling continues when it detaches."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import driver

THREADS = 2
ROUNDS = 200_000  # about four seconds of CPU time per thread
CONTINUES = 2 * THREADS + 1


def threads_at_work(pid):
    """Returns how many threads of the process have used a tenth of a second of CPU time."""
    tenth = os.sysconf("SC_CLK_TCK") // 10
    used = [int(stat.read_text().rpartition(")")[2].split()[11]) for stat in
            pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    return sum(ticks >= tenth for ticks in used)


class Debugger(driver.EndToEnd):
    def start(self):
        """Starts deep_calls under prof, and returns its process number once it is measured."""
        directory = self.folder / "m"
        process = subprocess.Popen(
            [driver.PROF, "run", "--no-analyze", "-e", "CPUTIME@1000", "-o", directory, "--",
             driver.sample("deep_calls"), "19", str(ROUNDS), str(THREADS)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            for file in directory.glob("*.prof"):
                pid = file.stem.split("-")[-2]
                if threads_at_work(pid) == THREADS:
                    return process, directory, pid
            time.sleep(0.02)
        raise AssertionError(f"its {THREADS} threads did not get to work")

    def gdb(self, pid, *commands):
        words = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(["gdb", "-q", "-batch", "-nx", "-p", pid, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
        return done.stdout

    def test_a_debugged_program_runs_to_its_end(self):
        expected = self.plain_run([driver.sample("deep_calls"), "19", str(ROUNDS), str(THREADS)]).stdout
        process, directory, pid = self.start()
        said = self.gdb(pid, *["continue"] * CONTINUES)
        output, errors = process.communicate(timeout=60)
        self.assertIn("exited normally", said)
        # A sample that was pending as the debugger attached stops it once, and `continue` continues.
        stops = len(re.findall("received signal SIGTRAP", said))
        self.assertLessEqual(stops, THREADS, said)
        self.assertEqual(output, expected)
        self.assertIn(b"is being debugged", errors)

    def test_sampling_goes_on_when_it_detaches(self):
        process, directory, pid = self.start()
        self.gdb(pid, "detach")
        done = subprocess.CompletedProcess([], 0, b"", b"")
        before = driver.Run(done, directory).samples()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        shutil.rmtree(directory / "database")
        after = driver.Run(done, directory).samples()
        self.assertGreater(after, before + 1000)


if __name__ == "__main__":
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        sys.exit(77)
    driver.main()
