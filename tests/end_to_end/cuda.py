#!/usr/bin/env python3
"""Programs that use CUDA run under prof as without it, and prof traces the device. There is no GPU: the libraries are
those of tests/cuda, which have a schedule of their own.

Chance: when threads get a processor. Times of kernels are those of the schedule, and exact. Waits are compared with it within 2 to 20 ms,
less what the process itself was late by where it states that. Accepted: 1e-3 a run, by choice, for some thirty comparisons whose failures were
not counted. Not less, because the scheduler's distribution is not known, and wider limits would hide a wait of the wrong cause."""

import os
import pathlib
import subprocess
import sys
import unittest

from driver import BUILD, PROF, EndToEnd, main, program

CALLS = program("cuda_calls")
FAKES = BUILD / "tests/fake_cuda"
WAIT_PARTS = ("CPU_IDLE_CAUSE", "LAUNCH_LATENCY", "GPU_GAP", "WAKE_LATENCY")


class CudaPrograms(EndToEnd):
    """Shared by both ways of timing tasks."""

    way = {}  # of the environment

    def surroundings(self, **more):
        self.schedule = self.folder / "schedule"
        return {**os.environ, "LD_LIBRARY_PATH": str(FAKES), "FAKE_CUDA_SCHEDULE": str(self.schedule), **self.way, **more}

    def stated(self, name):
        return dict(line.split() for line in self.schedule.read_text().splitlines())[name]

    def assert_as_bare(self, command, status=0, options=(), **more):
        env = self.surroundings(**more)
        bare = self.plain_run(command, env=env)
        run = self.prof_run(command, options=options, env=env)
        self.assertEqual((status, bare.stdout), (run.status, run.stdout), run.stderr)
        self.assertEqual(status, bare.returncode)
        return run

    def follow(self, what, options=(), **more):
        return self.assert_as_bare([CALLS, what], options=options, **more)

    def assert_busy(self, measured, seconds, what):
        self.assertAlmostEqual(seconds, measured, places=5, msg=what)

    def assert_time(self, run, kernel, seconds):
        self.assert_busy(run.inclusive(kernel, "GPU_EXECUTION_TIME"), seconds, kernel)

    def assert_waits_are_whole(self, run):
        whole = run.total("CPU_IDLE")
        self.assert_within(sum(run.total(part) for part in WAIT_PARTS), 0.995 * whole, 1.005 * whole, "parts of waits")

    def assert_copies(self, run, seconds):
        self.assert_busy(run.total("COPY_TIME"), seconds, "copies")

    def idleness(self, run):
        return run.total("GPU_IDLE_CAUSE")

    def assert_schedule(self, run):
        """Compares idleness with the device's own schedule, within 2 %, and what the process did before and after: on a
        busy machine it may get no processor then."""
        device, = run.report("devices")["devices"]
        idle = float(self.stated("device_idle"))
        beyond = max(0, device["window_s"] - float(self.stated("device_window")))
        self.assert_within(self.idleness(run), 0.98 * idle - 0.002, 1.02 * idle + 0.004 + beyond, "idleness of the device")

    def degradations(self, run):
        return " ".join(run.summary()["degradations"])

    def assert_not_degraded(self, run):
        self.assertEqual("", self.degradations(run))

    def path_of(self, run, kernel):
        """Returns the path, from the kernel outwards."""
        rows = {row["id"]: row for row in run.report("top-down")["rows"]}
        row = next(row for row in rows.values() if row["function"] == kernel)
        path = []
        while row:
            path.append(row["function"])
            row = rows.get(row["parent"])
        return path


class Attributions:
    """Which contexts are blamed: tests of CudaPrograms."""

    def test_what_the_device_did_is_measured_where_it_was_launched(self):
        run = self.follow("overlap")
        self.assert_time(run, "KernelM", 0.18)
        self.assert_time(run, "KernelN", 0.12)
        self.assertAlmostEqual(0.12, run.inclusive("KernelN", "CPU_IDLE_CAUSE"), delta=0.003)
        self.assertLess(run.inclusive("KernelM", "CPU_IDLE_CAUSE"), 0.02)
        self.assert_busy(run.inclusive("(anonymous namespace)::overlap_step", "GPU_EXECUTION_TIME"), 0.3, "both kernels")
        self.assert_waits_are_whole(run)
        self.assert_schedule(run)
        self.assert_not_degraded(run)
        self.assertEqual(1, run.summary()["run"]["threads"])

    def test_frames_of_the_interface_are_not_in_call_paths(self):
        run = self.follow("overlap")
        self.assertEqual(["KernelN", "cuLaunchKernel", "(anonymous namespace)::launch",
                          "(anonymous namespace)::overlap_step"], self.path_of(run, "KernelN")[:4])

    def test_calls_that_wait_without_saying_so(self):
        run = self.follow("allocation")
        self.assert_time(run, "CalcForces", 0.12)
        # cuMemFree waits for the kernel, and does not wait while it frees: the device is idle for 0.6 ms.
        self.assertAlmostEqual(0.12, run.inclusive("cuMemFree_v2", "CPU_IDLE"), delta=0.006)
        self.assertGreater(run.inclusive("cuMemFree_v2", "GPU_IDLE_CAUSE"), 40 * 0.6e-3)
        self.assertGreater(run.inclusive("cuMemAlloc_v2", "GPU_IDLE_CAUSE"), 40 * 0.4e-3)
        self.assertEqual(160, run.total("H_TO_D_BYTES"))
        self.assert_waits_are_whole(run)
        self.assert_schedule(run)

    def test_a_program_that_never_waits(self):
        run = self.follow("asynchronous")
        self.assert_time(run, "Filter", 0.12)
        self.assertEqual(0, run.total("CPU_IDLE"))
        self.assert_schedule(run)

    def test_a_wait_for_one_stream_blames_no_other(self):
        run = self.follow("streams")
        self.assert_time(run, "Lasting", 0.24)
        self.assert_time(run, "Brief", 0.08)
        self.assertAlmostEqual(0.08, run.inclusive("Brief", "CPU_IDLE_CAUSE"), delta=0.002)
        self.assertLess(run.inclusive("Lasting", "CPU_IDLE_CAUSE"), 0.01)
        self.assert_waits_are_whole(run)

    def test_a_wait_for_an_event_is_for_what_was_before_it(self):
        run = self.follow("events")
        self.assertAlmostEqual(0.08, run.inclusive("Before", "CPU_IDLE_CAUSE"), delta=0.02)
        self.assertEqual(0, run.inclusive("After", "CPU_IDLE_CAUSE"))
        self.assert_waits_are_whole(run)

    def test_every_kind_of_call_works(self):
        for what in ("every-call", "threads", "many-streams"):
            with self.subTest(what):
                run = self.follow(what, options=("--trace",))
                self.assert_not_degraded(run)
        self.assert_time(run, "Step", 0.003)

    def test_copies_have_kinds_and_bytes(self):
        run = self.follow("every-call")
        self.assertEqual(1e6, run.total("H_TO_D_BYTES"))
        self.assertEqual(1e6, run.total("D_TO_H_BYTES"))
        for name in ("[copy to device]", "[copy from device]", "[copy on device]", "[fill]"):
            self.assertGreater(run.inclusive(name, "COPY_TIME"), 0, name)

    def test_asynchronous_copies_of_pageable_memory_wait(self):
        run = self.follow("pageable")
        # Ten copies of 2 ms of each kind.
        self.assert_copies(run, 20 * 2.005e-3)
        self.assert_within(run.total("CPU_IDLE_CAUSE"), 0.019, run.total("CPU_IDLE"), "blame for waits")
        # The difference: a busy machine wakes the thread late.
        self.assertGreater(run.total("CPU_IDLE_CAUSE") + run.total("WAKE_LATENCY"), 0.9 * run.total("CPU_IDLE"))
        self.assert_waits_are_whole(run)

    def test_processes_that_leave_with_work_outstanding(self):
        run = self.assert_as_bare([CALLS, "outstanding"], status=3)
        self.assert_time(run, "Done", 0.001)
        self.assertIn("1 device task was submitted, but no completion was recorded", self.degradations(run))

    def test_processes_that_leave_at_once(self):
        for what in ("at-once", "in-handler"):
            with self.subTest(what):
                run = self.assert_as_bare([CALLS, what], status=3)
                self.assert_time(run, "Brief", 0.01)
                self.assertGreater(run.total("GPU_IDLE_CAUSE"), 0.005)

    def test_what_was_collected_before_a_kill_stays(self):
        run = self.prof_run([CALLS, "killed"], env=self.surroundings())
        self.assertEqual((128 + 9, b"launched\n"), (run.status, run.stdout))
        self.assert_time(run, "Brief", 0.01)

    def test_forks_with_and_before_a_context(self):
        run = self.follow("fork")
        self.assertEqual(2, run.summary()["run"]["processes"])
        self.assert_time(run, "Parents", 0.002)
        run = self.follow("fork-first")
        self.assert_time(run, "Parents", 0.002)
        self.assert_time(run, "Childs", 0.002)

    def test_a_kernel_that_never_ends_can_be_killed(self):
        shown = self.report_of_killed([CALLS, "endless"], "devices", env=self.surroundings())
        self.assertIn(b"Fake GPU", shown)


class Cuda(Attributions, CudaPrograms):
    def test_kernels_of_a_graph_belong_to_its_launch(self):
        run = self.follow("graph")
        self.assert_time(run, "NodeA", 0.04)
        self.assert_time(run, "NodeB", 0.06)
        launched = run.inclusive("(anonymous namespace)::launch_graph", "GPU_EXECUTION_TIME")
        self.assertAlmostEqual(0.1, launched, places=5)
        self.assert_waits_are_whole(run)
        self.assert_schedule(run)

    def test_calls_of_the_runtime_count_once(self):
        for ids in ({}, {"FAKE_CUDA_RUNTIME_IDS": "1"}):
            with self.subTest(ids):
                run = self.assert_as_bare([program("cuda_runtime_calls")], **ids)
                self.assert_time(run, "Saxpy", 0.05)
                self.assertEqual((100, 100), (run.total("H_TO_D_BYTES"), run.total("D_TO_H_BYTES")))
                self.assertGreater(run.inclusive("cudaFree", "GPU_IDLE_CAUSE"), 25 * 0.5e-3)
                self.assertEqual(0, run.inclusive("cuMemFree_v2", "GPU_IDLE_CAUSE"), "inside cudaFree")
                self.assert_waits_are_whole(run)

    def test_launches_by_the_runtime_end_in_its_function(self):
        run = self.assert_as_bare([program("cuda_runtime_calls")])
        self.assertEqual(["Saxpy", "cudaLaunchKernel"], self.path_of(run, "Saxpy")[:2])

    def test_cupti_that_counts_by_another_clock(self):
        run = self.follow("overlap", FAKE_CUPTI="no-clock")
        self.assertAlmostEqual(0.12, run.inclusive("KernelN", "CPU_IDLE_CAUSE"), delta=0.003)
        self.assert_schedule(run)

    def test_records_that_come_late(self):
        run = self.follow("overlap", FAKE_CUPTI="late")
        self.assert_time(run, "KernelN", 0.12)
        self.assert_schedule(run)

    def test_records_without_an_end_and_lost_ones_are_told(self):
        run = self.follow("overlap", FAKE_CUPTI="zero-end")
        self.assertIn("20 device tasks were submitted, but no completion was recorded", self.degradations(run))
        self.assertLess(run.total("GPU_EXECUTION_TIME"), 0.25)
        run = self.follow("overlap", FAKE_CUPTI="drop")
        self.assertIn("CUPTI dropped 20 records of tasks", self.degradations(run))

    def test_cupti_alone_where_it_is_asked_for(self):
        taken = self.follow("overlap", FAKE_CUPTI="taken", PROF_CUDA_MODE="cupti")
        self.assertIn("CUPTI is in use by CUPTI for another profiler", self.degradations(taken))
        self.assertIn("GPU work is not measured", self.degradations(taken))
        self.assertEqual([], taken.report("devices")["devices"])
        self.assertGreater(taken.samples(), 0)

    def test_cupti_that_never_answers_holds_no_process_up(self):
        run = self.assert_as_bare([CALLS, "at-once"], status=3, FAKE_CUPTI="stuck")
        self.assertGreater(run.samples(), 0)

    def test_programs_that_look_the_driver_up(self):
        run = self.assert_as_bare([program("cuda_loaded_calls"), "overlap"])
        self.assert_time(run, "KernelN", 0.12)
        self.assertEqual(["KernelN", "cuLaunchKernel", "(anonymous namespace)::launch"], self.path_of(run, "KernelN")[:3])
        self.assert_not_degraded(run)

    def test_cupti_that_only_an_environment_names(self):
        alone = self.folder / "alone"
        alone.mkdir()
        (alone / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
        found = self.follow("overlap", LD_LIBRARY_PATH=str(alone), PROF_CUPTI=str(FAKES / "libcupti.so.13"))
        self.assert_time(found, "KernelN", 0.12)
        self.assert_not_degraded(found)

    def test_without_a_driver(self):
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        run = self.prof_run([CALLS, "overlap"], env=env)
        self.assertEqual(127, run.status, "the dynamic linker's own")
        doctor = subprocess.run([str(PROF), "doctor"], stdout=subprocess.PIPE, env=env, timeout=60)
        if not any(pathlib.Path(place, "libcuda.so.1").exists() for place in ("/lib/x86_64-linux-gnu", "/usr/lib64")):
            self.assertIn("no NVIDIA driver (libcuda.so.1 not found)", doctor.stdout.decode())

    def test_the_users_injection_stays_and_devices_can_be_left_alone(self):
        runtime = str(BUILD / "lib/libprof-runtime.so")

        def injection(*options, **environment):
            run = self.prof_run(["env"], options=("--no-analyze", *options), env={**os.environ, **environment})
            found = dict(line.split("=", 1) for line in run.stdout.decode().splitlines() if "=" in line)
            return found.get("CUDA_INJECTION64_PATH"), run.stderr.decode()

        self.assertEqual(runtime, injection()[0])
        kept, said = injection(CUDA_INJECTION64_PATH="/x/tool.so")
        self.assertEqual("/x/tool.so", kept)
        self.assertIn("CUDA programs are not traced", said)
        self.assertIsNone(injection("--no-devices")[0])
        run = self.follow("overlap", options=("--no-devices",))
        self.assertEqual([], run.report("devices")["devices"])


if __name__ == "__main__":
    if not pathlib.Path(CALLS).exists():
        print("built without CUDA")
        sys.exit(77)
    main()
