#!/usr/bin/env python3
"""Dead stores, silent stores and redundant loads of the samples are found: by `prof exact` to the byte, and by `prof run
-e memory-waste` with the lines of both accesses. The fixed versions have no finding.

Chance: which accesses are sampled. Accepted: 1e-6 a test. A sample's heaviest pair has at least a quarter of the checked bytes, and a run
decides at least 50 accesses, or is measured again, up to six times (driver.ATTEMPTS): a share of a quarter is then 0 in one of 2e-6 runs. A
program without waste shows a share of 2 % by its start alone with less. Not less, because longer runs would take minutes."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import driver
import traced_accesses

SOURCE = pathlib.Path(os.environ.get("PROF_SOURCE", "."))
SAMPLES = SOURCE / "samples/memory-waste"
DEFECTS = {"clear_then_fill": "dead-store", "sparse_initialization": "dead-store", "spilled_loop": "dead-store",
           "silent_relaxation": "silent-store", "reloaded_pointer": "redundant-load"}
# Enough that the start of the program, which is the same in all of them, has less than 1 % of the bytes.
ROUNDS = {"clear_then_fill": 6_000, "sparse_initialization": 30_000, "spilled_loop": 5_000, "silent_relaxation": 100,
          "reloaded_pointer": 15_000, "no_waste": 20_000}


def line_of(sample, text):
    """Returns the line of the sample's source that contains the text."""
    lines = (SAMPLES / f"{sample}.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


CLEAR = ("for (uint32_t& position : first_use) position = kUnused;",)
SPILLED = ("FOR_EACH_VALUE(KEEP_OLD)", "FOR_EACH_VALUE(ADVANCE)")
RELAXED = ("level[y][x] = lower(drained, level[y][x]);",)
ROTATED = ("pixel[0] = ", "pixel[1] = ", "pixel[2] = ")
# The source lines between which each sample's heaviest pair is.
PAIRS = {"clear_then_fill": (("std::memset",), ("for (uint32_t& word : row.words) word = start",)),
         "sparse_initialization": (CLEAR, CLEAR), "spilled_loop": (SPILLED, SPILLED), "silent_relaxation": (RELAXED, RELAXED),
         "reloaded_pointer": (ROTATED, ROTATED)}


def lines_of_pair(sample):
    return tuple({line_of(sample, text) for text in texts} for texts in PAIRS[sample])


class MemoryWaste(driver.EndToEnd):
    def own_line(self, sample, context):
        """Returns the line of the innermost frame in the sample's source; None outside of it."""
        for frame in context["frames"]:
            if (frame.get("file") or "").endswith(f"/{sample}.cpp"):
                return frame["line"]
        return None

    def pairs(self, report, sample, kind):
        """Returns the bytes of a kind of waste by the sample's own lines, the most first."""
        found = {}
        for pair in report["pairs"]:
            if pair["kind"] == kind:
                lines = tuple(self.own_line(sample, context) for context in pair["contexts"])
                found[lines] = found.get(lines, 0) + pair["bytes"]
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def assert_right_pair(self, report, sample):
        (first, second), _ = next(iter(self.pairs(report, sample, DEFECTS[sample]).items()))
        may_be_first, may_be_second = lines_of_pair(sample)
        self.assertIn(first, may_be_first)
        self.assertIn(second, may_be_second)

    def assert_no_finding(self, report, sample):
        kinds = {finding["kind"] for finding in report["findings"]}
        if sample == "silent_relaxation":
            kinds.discard("redundant-load")  # levels that have not changed are loaded in both versions
        self.assertFalse(kinds, [finding["sentence"] for finding in report["findings"]])


class Exact(MemoryWaste):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("valgrind"):
            raise unittest.SkipTest("there is no valgrind (Debian: valgrind)")

    def exact(self, program, rounds):
        directory = self.folder / f"{program}.{rounds}"
        command = [driver.sample(program), str(rounds)]
        done = subprocess.run([str(driver.PROF), "exact", "--dead-stores", "--silent-stores", "--redundant-loads", "-o", str(directory), "--",
                               *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        self.assertEqual(done.stdout, self.plain_run(command).stdout)
        return driver.Run(done, directory).report("memory-waste")

    def bytes_between(self, report, sample, kind):
        may_be_first, may_be_second = lines_of_pair(sample)
        return sum(count for (first, second), count in self.pairs(report, sample, kind).items()
                   if first in may_be_first and second in may_be_second)

    def test_each_defect_is_found_at_its_lines(self):
        for sample, kind in DEFECTS.items():
            with self.subTest(sample=sample):
                report = self.exact(sample, ROUNDS[sample])
                self.assertIn(kind, [finding["kind"] for finding in report["findings"]])
                self.assert_right_pair(report, sample)

    def test_fixed_versions_have_no_finding(self):
        for sample in DEFECTS:
            with self.subTest(sample=sample):
                self.assert_no_finding(self.exact(f"{sample}_fixed", ROUNDS[sample]), sample)
        self.assert_no_finding(self.exact("no_waste", ROUNDS["no_waste"]), "no_waste")

    def test_dead_bytes_of_a_cleared_buffer(self):
        self.assertEqual(self.bytes_between(self.exact("clear_then_fill", 200), "clear_then_fill", "dead-store"), 200 * 30720)

    def test_dead_bytes_of_a_sparsely_used_table(self):
        rounds, dead, code = 500, 0, 1
        for _ in range(rounds - 1):
            used = set()
            for _ in range(128):
                code = (code * 6364136223846793005 + 1442695040888963407) % 2**64
                used.add((code >> 32) % 2048)
            dead += 4 * (2048 - len(used))
        # Before the first round, main clears it.
        self.assertEqual(self.bytes_between(self.exact("sparse_initialization", rounds), "sparse_initialization", "dead-store"), dead)

    def test_silent_bytes_of_a_relaxation(self):
        sweeps, size, silent, random = 2, 512, 0, 1
        ground, level = [], []
        for y in range(size):
            for x in range(size):
                random = (random * 6364136223846793005 + 1442695040888963407) % 2**64
                ground.append(random >> 48)
                level.append(ground[-1] if 0 in (x, y) or size - 1 in (x, y) else 1 << 20)
        for _ in range(sweeps):
            for y in range(1, size - 1):
                for cell in range(y * size + 1, y * size + size - 1):
                    drained = max(ground[cell], min(level[cell - size], level[cell + size], level[cell - 1], level[cell + 1]))
                    silent += 4 * (drained >= level[cell])
                    level[cell] = min(drained, level[cell])
        pairs = self.pairs(self.exact("silent_relaxation", sweeps), "silent_relaxation", "silent-store")
        _, stored = lines_of_pair("silent_relaxation")
        self.assertEqual(sum(count for (_, second), count in pairs.items() if second in stored), silent)

    def test_redundant_bytes_of_a_pointer_that_never_changes(self):
        self.assertEqual(self.bytes_between(self.exact("reloaded_pointer", 1000), "reloaded_pointer", "redundant-load"),
                         36 * (1024 * 1000 - 1))

    def test_dead_stores_agree_with_an_independent_count(self):
        for sample, rounds in (("clear_then_fill", 10), ("sparse_initialization", 100), ("spilled_loop", 20)):
            with self.subTest(sample=sample):
                counted = traced_accesses.dead_stores([driver.sample(sample), rounds])
                report = self.exact(sample, rounds)
                may_be_first, may_be_second = lines_of_pair(sample)
                lines = lines_in_source(driver.sample(sample), f"{sample}.cpp", {address for pair in counted.dead for address in pair})
                traced = sum(count for (first, second), count in counted.dead.items() if lines.get(second) in may_be_second and (
                    lines.get(first) in may_be_first or sample == "clear_then_fill"))  # whose first stores are libc's
                self.assertEqual(self.bytes_between(report, sample, "dead-store"), traced)

def lines_in_source(program, source, addresses):
    """Returns the line of the innermost frame in a source, for each address that has one."""
    addresses = sorted(address for address in addresses if address > 0)
    text = subprocess.run(["addr2line", "-a", "-i", "-e", program, *map(hex, addresses)], check=True, stdout=subprocess.PIPE).stdout.decode()
    found, address = {}, 0
    for row in text.splitlines():
        if row.startswith("0x"):
            address = int(row, 16)
        elif (position := re.match(rf".*/{re.escape(source)}:(\d+)", row)) and address not in found:
            found[address] = int(position[1])
    return found


class Sampled(MemoryWaste):
    """At 1,000 Hz, with the default number of rounds."""

    def sampled(self, program):
        run = self.prof_run([driver.sample(program)], events=["memory-waste@1000"])
        self.assertEqual(run.status, 0, run.stderr)
        if "breakpoints" in " ".join(run.summary()["degradations"]):
            self.skipTest("the kernel refuses breakpoints here")
        return run, run.report("memory-waste")

    def test_each_defect_is_found_at_its_lines(self):
        for sample, kind in DEFECTS.items():
            with self.subTest(sample=sample):
                for _ in driver.attempts():
                    run, report = self.sampled(sample)
                    if self.pairs(report, sample, kind):
                        break
                self.assertIn(kind, [finding["kind"] for finding in report["findings"]])
                self.assertIn(kind, [finding["kind"] for finding in run.summary()["findings"]])
                self.assert_right_pair(report, sample)

    def test_programs_run_as_they_would(self):
        for sample in (*DEFECTS, "no_waste"):
            with self.subTest(sample=sample):
                run = self.prof_run([driver.sample(sample)], events=["memory-waste@1000"], options=["--no-analyze"])
                self.assertEqual(run.stdout, self.plain_run([driver.sample(sample)]).stdout)

    def test_fixed_versions_have_no_finding(self):
        for sample in DEFECTS:
            with self.subTest(sample=sample):
                _, report = self.sampled(f"{sample}_fixed")
                self.assert_no_finding(report, sample)
        self.assert_no_finding(self.sampled("no_waste")[1], "no_waste")


if __name__ == "__main__":
    driver.main()
