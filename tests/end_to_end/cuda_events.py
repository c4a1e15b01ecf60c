#!/usr/bin/env python3
"""If CUPTI is not available, tasks of CUDA programs are timed by events in their streams, with the same causes and call
paths. The libraries are those of tests/cuda, which have a schedule of their own.

Chance: when threads get a processor, as in cuda.py. Times between the events around tasks are longer than the tasks, by what the fake device
states, within 0.5 ms. Accepted: 1e-3 a run, by choice, for some thirty comparisons whose failures were not counted. Not less, because the
scheduler's distribution is not known, and wider limits would hide a wait of the wrong cause."""

import pathlib
import sys
import unittest

from cuda import CALLS, FAKES, Attributions, CudaPrograms
from driver import main, program

LOADED = program("cuda_loaded_calls")


class CudaByEvents(Attributions, CudaPrograms):
    """The same as with CUPTI, which another tool uses."""

    way = {"FAKE_CUPTI": "taken"}

    def longest(self, seconds):
        """Returns the time between the events around tasks, which is longer than the tasks. The fake device states the
        difference if the program survives until then."""
        beside = float(self.stated("beside_tasks")) if self.schedule.exists() else 0.0115
        return 1.001 * seconds + beside + 0.0005

    def assert_busy(self, measured, seconds, what):
        self.assert_within(measured, seconds, self.longest(seconds), what)

    # Copies that wait count as active until their call has returned.
    def assert_copies(self, run, seconds):
        self.assert_within(run.total("COPY_TIME"), seconds, self.longest(seconds) + run.total("CPU_IDLE"), "copies")

    def idleness(self, run):
        return run.total("GPU_IDLE_CAUSE") + run.total("COPY_TIME")

    def assert_not_degraded(self, run):
        told = self.degradations(run)
        self.assertIn("GPU work is timed by events in its streams", told)
        self.assertEqual(1, len(run.summary()["degradations"]), told)

    def test_what_is_wrong_with_cupti_is_told(self):
        def told(**more):
            run = self.follow("overlap", **more)
            self.assert_time(run, "KernelN", 0.12)
            self.assert_not_degraded(run)
            return self.degradations(run)

        self.assertIn("CUPTI is in use by CUPTI for another profiler, and supports one tool at a time (error 39)", told())
        self.assertIn("API version 17, older than CUDA 12", told(FAKE_CUPTI="old"))
        self.assertIn("API version 150000; this prof supports", told(FAKE_CUPTI="new"))
        self.assertIn("cannot load /nowhere/libcupti.so.13", told(PROF_CUPTI="/nowhere/libcupti.so.13"))
        self.assertIn("CUPTI is not used, because PROF_CUDA_MODE=events is set", told(FAKE_CUPTI="", PROF_CUDA_MODE="events"))
        alone = self.folder / "alone"
        alone.mkdir()
        (alone / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
        self.assertIn("libcupti.so was not found", told(LD_LIBRARY_PATH=str(alone)))

    def test_a_mode_that_does_not_exist(self):
        run = self.prof_run([CALLS, "overlap"], env=self.surroundings(PROF_CUDA_MODE="event"))
        self.assertEqual(125, run.status)
        self.assertIn(b"PROF_CUDA_MODE is event; set it to events or cupti, or unset it", run.stderr)

    def test_a_graph_is_one_task(self):
        run = self.follow("graph")
        self.assert_time(run, "[graph]", 0.1)
        self.assertEqual("cuGraphLaunch", self.path_of(run, "[graph]")[1])
        self.assertEqual(20, run.report("devices")["devices"][0]["tasks"])
        self.assert_waits_are_whole(run)
        self.assert_schedule(run)

    def test_a_stream_that_is_captured_gets_no_events(self):
        run = self.follow("capture")  # prints the nodes of the graph
        self.assertIn(b"nodes: NodeA NodeB NodeA NodeB", run.stdout)
        self.assert_time(run, "Elsewhere", 0.02)

    def test_programs_that_look_the_driver_up(self):
        for inner in ({}, {"FAKE_CUDA_INNER": "1"}):
            with self.subTest(inner):
                run = self.assert_as_bare([LOADED, "overlap"], **inner)
                self.assert_time(run, "KernelN", 0.12)
                self.assertAlmostEqual(0.12, run.inclusive("KernelN", "CPU_IDLE_CAUSE"), delta=0.012)
                self.assertEqual(["KernelN", "cuLaunchKernel", "(anonymous namespace)::launch"],
                                 self.path_of(run, "KernelN")[:3])
                self.assert_schedule(run)

    def test_the_lookup_of_others_stays_as_it_was(self):
        for way in ({"FAKE_CUPTI": "taken"}, {"FAKE_CUPTI": ""}):
            run = self.assert_as_bare([program("cuda_lookups")], **way)
            self.assertIn(b"next of the library: 3\n", run.stdout)

    def test_calls_of_the_runtime_lead_to_the_drivers(self):
        run = self.assert_as_bare([program("cuda_runtime_calls")])
        self.assert_time(run, "Saxpy", 0.05)
        self.assertEqual((100, 100), (run.total("H_TO_D_BYTES"), run.total("D_TO_H_BYTES")))
        path = self.path_of(run, "Saxpy")
        self.assertEqual(["Saxpy", "cuLaunchKernel"], path[:2])
        self.assertLess(path.index("cudaLaunchKernel"), path.index("(anonymous namespace)::step"))
        self.assert_waits_are_whole(run)

    def test_more_tasks_at_once_than_events(self):
        run = self.follow("many", FAKE_CUDA_EVENTS="24")
        self.assertIn("tasks could not be timed by events", self.degradations(run))
        self.assertGreater(run.inclusive("Outstanding", "GPU_EXECUTION_TIME"), 0.002)
        run = self.follow("many")
        self.assert_time(run, "Outstanding", 0.1)
        self.assert_not_degraded(run)

    def test_contexts_that_go_with_work_outstanding(self):
        run = self.follow("contexts")
        self.assertIn("tasks could not be timed by events", self.degradations(run))
        self.assert_time(run, "Ended", 0.02)


if __name__ == "__main__":
    if not pathlib.Path(CALLS).exists():
        print("built without CUDA")
        sys.exit(77)
    main()
