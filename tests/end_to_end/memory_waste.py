#!/usr/bin/env python3
"""Stores that nobody loads, stores of the same values and loads of unchanged values are found by samples; useful ones are not.

Chance: which stores are sampled. Each program runs for half a second or more at 1,000 samples a second, and what is checked holds for
nearly all of its stores or loads; at most a tenth of the decided ones may be others. Accepted: 1e-6 a run."""

import json
import pathlib
import subprocess
import unittest

import driver

PROGRAM = driver.program("memory_waste")
RATE = "@1000"
ROUNDS = "1500000"


class MemoryWaste(driver.EndToEnd):
    def cells(self, work, event, *how, options=(), rate=RATE):
        """What the runtime wrote, one dictionary for each process."""
        run = self.prof_run([PROGRAM, work, ROUNDS, *how], events=[event + rate], options=["--no-analyze", *options])
        self.assertEqual(run.status, 0, run.stderr)
        files = sorted(map(str, pathlib.Path(run.directory).glob("*.prof")))
        shown = subprocess.run([driver.program("waste_cells"), *files], capture_output=True, text=True, check=True)
        processes = json.loads(shown.stdout)
        if any("cannot be measured here" in note for process in processes for note in process["notes"]):
            self.skipTest("the kernel refuses breakpoints here")
        return processes

    def decided(self, work, event, kind, *how):
        processes = self.cells(work, event, *how)
        found = processes[0].get(kind)
        self.assertTrue(found, processes)
        return found

    def share(self, found):
        self.assertGreater(found["total"], 400, found)
        return (found["wasted"] + found["frame_ended"]) / found["total"]

    def test_stores_that_are_never_loaded_are_dead(self):
        self.assertGreater(self.share(self.decided("dead", "dead-stores", "dead")), 0.9)

    def test_half_of_the_stores_are_dead_if_memory_is_cleared_before_it_is_filled(self):
        found = self.decided("half-dead", "dead-stores", "dead")
        self.assertGreater(self.share(found), 0.35)
        self.assertLess(self.share(found), 0.65)

    def test_stores_that_are_loaded_are_not_dead(self):
        self.assertLess(self.share(self.decided("clean", "dead-stores", "dead")), 0.1)

    def test_stores_that_the_kernel_loads_are_not_dead(self):
        processes = self.cells("written", "dead-stores")
        if any("loads by the kernel" in note for note in processes[0]["notes"]):
            self.skipTest("the kernel's accesses are not seen here")
        self.assertLess(self.share(processes[0]["dead"]), 0.1)

    def test_stores_of_the_same_values_are_silent(self):
        self.assertGreater(self.share(self.decided("silent", "silent-stores", "silent")), 0.9)
        self.assertLess(self.share(self.decided("clean", "silent-stores", "silent")), 0.1)

    def test_loads_of_unchanged_values_are_redundant(self):
        self.assertGreater(self.share(self.decided("redundant", "redundant-loads", "redundant")), 0.9)
        self.assertLess(self.share(self.decided("clean", "redundant-loads", "redundant")), 0.1)

    def test_all_three_share_the_samples(self):
        process = self.cells("silent", "memory-waste")[0]
        self.assertEqual(process["searched"], 0x10e)
        self.assertGreater(process["dead"]["wasted"], 0)
        self.assertGreater(process["silent"]["wasted"], 0)

    def test_memory_that_other_processes_share_is_never_blamed(self):
        found = self.decided("shared", "dead-stores", "dead")
        self.assertEqual(found["wasted"], 0)
        self.assertGreater(found["undecided"], 0)

    def test_memory_that_another_thread_may_load_is_undecided(self):
        found = self.decided("dead", "dead-stores", "dead", "thread")
        self.assertLess(found["wasted"], found["undecided"] / 4)

    def test_both_processes_of_a_fork_are_measured(self):
        processes = self.cells("dead", "dead-stores", "fork")
        self.assertEqual(len(processes), 2)
        for process in processes:
            self.assertGreater(self.share(process["dead"]), 0.9)

    def test_frames_left_by_longjmp_and_signal_handlers_do_no_harm(self):
        for work in ("jumps", "signals"):
            found = self.cells(work, "memory-waste")[0]
            self.assertTrue(found)

    def test_a_running_process_is_attached_to(self):
        with subprocess.Popen([PROGRAM, "dead", "900000000"], stdout=subprocess.DEVNULL) as process:
            directory = self.folder / "attached"
            done = subprocess.run([str(driver.PROF), "attach", str(process.pid), "--no-analyze", "--duration", "2", "-e", "dead-stores@500",
                                   "-o", str(directory)], capture_output=True, text=True)
            is_alive = process.poll() is None
            process.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(is_alive)
        files = map(str, directory.glob("*.prof"))
        shown = subprocess.run([driver.program("waste_cells"), *files], capture_output=True, text=True, check=True)
        self.assertGreater(self.share(json.loads(shown.stdout)[0]["dead"]), 0.9)

    def refused(self, *words):
        done = subprocess.run([str(driver.PROF), "run", "-o", str(self.folder / "refused"), *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 125, done.stderr)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_what_needs_the_same_breakpoints_is_refused(self):
        for words in (["-e", "contention"], ["-e", "contention:pages"], ["--repair=isolate"]):
            line = self.refused("-e", "dead-stores", *words, "--", PROGRAM, "dead", "1")
            self.assertIn("same breakpoints", line)

    def test_rates_are_checked(self):
        self.assertIn("one rate", self.refused("-e", "dead-stores@50", "-e", "silent-stores@60", "--", PROGRAM, "dead", "1"))
        self.assertIn("CPUTIME@RATE", self.refused("-e", "dead-stores@50", "-e", "CPUTIME", "--", PROGRAM, "dead", "1"))

    def test_static_programs_are_refused(self):
        self.assertIn("prof exact", self.refused("-e", "dead-stores", "--", driver.program("static_work")))


if __name__ == "__main__":
    driver.main()
