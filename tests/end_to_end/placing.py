#!/usr/bin/env python3
"""Allocations that a repair plan names, or that a run finds contended, are re-laid out, and programs run as without
repair.

Chance: for the two cases of PlacingOfContended, whether two threads run at the same time; they have six attempts each. Accepted: 2e-6 a run,
if fewer than one attempt in ten misses. Not less, because misses were not counted; the log names each further attempt. The cases of
Placing have a plan, and are deterministic."""

import os
import shutil
import struct

import driver
from repair_plans import MODULE, call_of, plan, standard_library

PLACED = driver.program("placed_cases")
NEW_BYTES = 328  # of placed_cases
NAMED = ("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "posix_memalign")
# Of the measurement file (docs/formats.md).
COUNTERS, PLACED_ALLOCATIONS, PADDING_BYTES, PLANNED_SITES, REFUSED = 128, 41, 42, 43, 44
REPAIR_RECORD, REPAIR_WORDS = 13, 12
RECORD = struct.Struct("<IHBB12Q")


def plan_of_cases(placement):
    library = standard_library(PLACED)
    entries = [([(0, call_of(PLACED, f"named_{name}", name))], placement, 8, 256) for name in NAMED]
    entries.append(([(1, call_of(library, "_Znwm", "malloc"))], placement, NEW_BYTES, NEW_BYTES + 16))
    return plan(entries, [PLACED, library])


class PlannedRuns(driver.EndToEnd):
    def run_planned(self, data, command, events=("CPUTIME",), env=""):
        """Runs the program with this plan only, without other repairs."""
        file = self.folder / "plan"
        file.write_bytes(data)
        memory = driver.BUILD / "lib/libprof-heap.so"
        start = f'cp {file} "$PROF_DIRECTORY/repair.plan"; case $LD_PRELOAD in *prof-heap*) ;; ' \
                f'*) LD_PRELOAD="$LD_PRELOAD {memory}";; esac; export LD_PRELOAD; PROF_REPAIR_PLAN=1 {env} exec "$@"'
        return self.prof_run(["sh", "-c", start, "sh", *command], events=events, options=["--no-analyze"])

    def measured(self, run):
        """Returns the files of all processes."""
        return [file.read_bytes() for file in run.directory.glob("*.prof")]

    def counters(self, run):
        """Returns the sums of their counters."""
        return [sum(one) for one in zip(*(struct.unpack_from("<64Q", data, COUNTERS) for data in self.measured(run)))]

    def repairs(self, run):
        """Returns (kind, bytes, align, offset, pad, entry) of each repair."""
        found = []
        for data in self.measured(run):
            for at in range(0, len(data) - RECORD.size, 8):
                commit, length, kind, words = struct.unpack_from("<IHBB", data, at)
                if commit and (length, kind, words) == (RECORD.size, REPAIR_RECORD, REPAIR_WORDS):
                    numbers = RECORD.unpack_from(data, at)[4:]
                    found.append((numbers[1], numbers[4], *numbers[5:9]))
        return found


class Placing(PlannedRuns):
    def test_allocations_lie_as_planned_however_they_are_made(self):
        for placement in ((64, 0, 64), (64, 16, 64), (128, 48, 128)):
            for events in (["CPUTIME"], ["contention"]):
                with self.subTest(placement=placement, events=events):
                    run = self.run_planned(plan_of_cases(placement), [PLACED, *map(str, placement)], events)
                    self.assertEqual(run.status, 0, run.stderr)
                    counters = self.counters(run)
                    self.assertEqual(int(run.stdout), counters[PLACED_ALLOCATIONS])
                    self.assertEqual(counters[PLANNED_SITES], len(NAMED) + 1)
                    self.assertGreater(counters[PADDING_BYTES], counters[PLACED_ALLOCATIONS] * 16)
                    met = self.repairs(run)
                    self.assertEqual(sorted(one[5] for one in met), list(range(1, len(NAMED) + 2)))
                    self.assertEqual({(one[0], one[2:5]) for one in met}, {(2, placement)})

    def test_what_cannot_be_had_is_refused_and_counted(self):
        run = self.run_planned(plan_of_cases((64, 16, 64)), [PLACED, "64", "16", "64"])
        self.assertEqual(run.status, 0, run.stderr)
        # Four requested alignments, and three sizes that do not exist.
        self.assertEqual(self.counters(run)[REFUSED], 4)

    def test_more_than_can_be_kept_track_of_stay_where_they_are(self):
        run = self.run_planned(plan_of_cases((64, 16, 64)), [PLACED, "churn"])
        self.assertEqual((run.status, run.stdout), (0, b"done\n"), run.stderr)
        counters = self.counters(run)
        self.assertGreater(counters[REFUSED], 0)
        self.assert_within(counters[PLACED_ALLOCATIONS], 40_000, 65_536, "placed allocations")
        self.assertEqual(counters[PLACED_ALLOCATIONS] + counters[REFUSED], 150_002)  # two belong to the global one

    def test_contents_survive_a_storm_of_threads(self):
        for placement in ((64, 0, 64), (128, 112, 64)):
            for events in (["CPUTIME"], ["contention"]):
                with self.subTest(placement=placement, events=events):
                    run = self.run_planned(plan_of_cases(placement), [PLACED, "storm"], events)
                    self.assertEqual((run.status, run.stdout), (0, b"done\n"), run.stderr)
                    self.assertGreater(self.counters(run)[PLACED_ALLOCATIONS], 10_000)

    def test_allocations_live_from_before_main_to_behind_it(self):
        for placement in ((64, 0, 64), (64, 16, 64)):
            run = self.run_planned(plan_of_cases(placement), [PLACED, "lives"])
            self.assertEqual((run.status, run.stdout), (0, b"done\ndone\n"), run.stderr)
            self.assertGreater(self.counters(run)[PLACED_ALLOCATIONS], 10_000)

    def test_a_library_that_releases_past_us_gets_what_it_can_release(self):
        for placement, placed in (((64, 0, 64), True), ((64, 16, 64), False)):
            run = self.run_planned(plan_of_cases(placement), [PLACED, "deepbind", driver.program("releaser.so")])
            self.assertEqual((run.status, run.stdout), (0, b"done\n"), run.stderr)
            counters = self.counters(run)
            self.assertEqual((placed, not placed), (counters[PLACED_ALLOCATIONS] >= 1000, counters[REFUSED] >= 1000))
            self.assertIn("loaded with RTLD_DEEPBIND", " ".join(run.summary()["degradations"]))

    def test_sites_that_the_plan_does_not_name_stay_where_they_are(self):
        entries = [([(0, call_of(PLACED, "named_malloc", "malloc"))], (64, 0, 64), 40, 40)]
        run = self.run_planned(plan(entries, [PLACED]), [PLACED, "storm"])
        self.assertEqual((run.status, run.stdout), (0, b"done\n"), run.stderr)
        self.assertEqual(self.counters(run)[PLANNED_SITES], 1)
        other = bytearray(plan(entries, [PLACED]))
        other[1 - MODULE.size] ^= 1  # another build of the program
        run = self.run_planned(bytes(other), [PLACED, "storm"])
        self.assertEqual((run.status, run.stdout), (0, b"done\n"), run.stderr)
        self.assertEqual(self.counters(run)[PLACED_ALLOCATIONS], 0)

    def test_a_damaged_plan_changes_nothing_and_is_told(self):
        for data in (b"", plan_of_cases((64, 0, 64))[:-1], plan_of_cases((24, 0, 64)), b"x" * 1000):
            run = self.run_planned(data, [PLACED, "storm"])
            self.assertEqual((run.status, run.stdout), (0, b"done\n"), run.stderr)
            self.assertEqual(self.counters(run)[PLACED_ALLOCATIONS], 0)
            self.assertIn("Nothing was repaired by the plan", " ".join(run.summary()["degradations"]))

    def test_a_program_with_an_allocator_of_its_own_is_left_alone(self):
        run = self.run_planned(plan_of_cases((64, 0, 64)), [driver.program("own_allocator")])
        self.assertEqual((run.status, run.stdout), (0, b"100000000\n"), run.stderr)
        self.assertIn("the program has its own allocator", " ".join(run.summary()["degradations"]))

    def test_a_program_runs_as_without_it_whose_every_object_is_placed(self):
        command = ["cmake", "--help-full"]
        library = standard_library(shutil.which(command[0]))
        frames = [(0, call_of(library, "_Znwm", "malloc"))]
        plain = self.plain_run(command)
        for placement in ((64, 0, 64), (64, 48, 64)):
            with self.subTest(placement=placement):
                run = self.run_planned(plan([(frames, placement, 1, 1 << 20)], [library]), command)
                self.assertEqual((run.status, run.stdout), (plain.returncode, plain.stdout), run.stderr)
                self.assertGreater(self.counters(run)[PLACED_ALLOCATIONS], 1000)

    def test_what_is_not_contended_for_is_left_alone(self):
        for sample in ("requests_fixed", "reuse"):
            run = self.prof_run([driver.sample(sample)], events=["contention"], options=["--no-analyze"],
                                env={**os.environ, "PROF_REPAIR": "layout,locks"})
            self.assertEqual(run.status, 0, run.stderr)
            self.assertEqual(([], 0), (self.repairs(run), self.counters(run)[PLACED_ALLOCATIONS]))


class PlacingOfContended(PlannedRuns):
    """Threads must run at the same time, so this test needs the whole machine."""

    def test_what_the_run_finds_contended_for_is_laid_out_anew_in_this_run(self):
        # On a busy machine threads may rarely run at the same time.
        for _ in driver.attempts():
            run = self.prof_run([driver.sample("requests")], events=["contention"], options=["--no-analyze"],
                                env={**os.environ, "PROF_REPAIR": "layout"})
            self.assertEqual((run.status, run.stdout), (0, b"200000000\n"), run.stderr)
            if "Contention cannot be confirmed here" in " ".join(run.summary()["degradations"]):
                self.skipTest("the kernel refuses breakpoints here")
            if self.repairs(run):
                break
        self.assertEqual([(1, 8, 64, 0, 64, 0)], self.repairs(run))
        self.assertGreater(self.counters(run)[PLACED_ALLOCATIONS], 0)

    def test_what_no_placement_helps_is_declined(self):
        for _ in driver.attempts():
            run = self.prof_run([driver.program("heap_cases"), "released", "6000"], events=["contention"],
                                options=["--no-analyze"], env={**os.environ, "PROF_REPAIR": "layout"})
            self.assertEqual((run.status, run.stdout), (0, b"12000000000\n"), run.stderr)
            if "Contention cannot be confirmed here" in " ".join(run.summary()["degradations"]):
                self.skipTest("the kernel refuses breakpoints here")
            if self.repairs(run):
                break
        self.assertEqual([(3, 64, 16, 0, 1, 0)], self.repairs(run))


if __name__ == "__main__":
    driver.main()
