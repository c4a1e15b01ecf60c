#!/usr/bin/env python3
"""Programs that use OpenCL run under prof as without it, and prof follows what they do on the device."""

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import unittest

from driver import BUILD, PROF, EndToEnd, main, program, sample

CALLS = program("opencl_calls")
SAMPLES = ("overlap", "allocation", "reads", "shared", "asynchronous")
TWINS = ("overlap", "allocation", "reads", "shared")


def opencl_sample(name):
    return sample(f"opencl_{name}")


class OpenCl(EndToEnd):
    def assert_as_bare(self, command, status=0, **options):
        bare = self.plain_run(command, env=options.get("env"))
        run = self.prof_run(command, **options)
        self.assertEqual((status, bare.stdout), (run.status, run.stdout), run.stderr)
        self.assertEqual(status, bare.returncode)
        return run

    def surroundings(self, *options, **environment):
        run = self.prof_run(["env"], options=("-q", "--no-analyze", *options), env={**os.environ, **environment})
        return dict(line.split("=", 1) for line in run.stdout.decode().splitlines() if "=" in line)

    def test_samples_print_what_they_print_without_prof(self):
        for name in SAMPLES:
            with self.subTest(name):
                self.assert_as_bare([opencl_sample(name), "10"])

    def test_twins_print_the_same(self):
        for name in TWINS:
            with self.subTest(name):
                twin = self.plain_run([opencl_sample(f"{name}_fixed"), "10"])
                self.assertEqual(self.plain_run([opencl_sample(name), "10"]).stdout, twin.stdout)

    def test_the_programs_own_queries_work(self):
        self.assert_as_bare([CALLS, "queries"])

    def test_what_the_device_did_is_measured_where_it_was_launched(self):
        run = self.prof_run([opencl_sample("overlap"), "--schedule"])
        total = {name: run.total(name) for name in
                 ("GPU_EXECUTION_TIME", "GPU_IDLE_CAUSE", "CPU_IDLE", "CPU_IDLE_CAUSE", "LAUNCH_LATENCY", "GPU_GAP",
                  "WAKE_LATENCY")}
        # One queue in order: the sum of its commands is their union. The program's window ends before its end.
        busy, idle = run.stated("device_busy"), run.stated("device_idle")
        self.assert_within(total["GPU_EXECUTION_TIME"], 0.99 * busy, 1.01 * busy, "time on the device")
        self.assert_within(total["GPU_IDLE_CAUSE"], 0.9 * idle, 1.1 * idle, "idleness of the device")
        parts = sum(total[name] for name in ("CPU_IDLE_CAUSE", "LAUNCH_LATENCY", "GPU_GAP", "WAKE_LATENCY"))
        self.assert_within(parts, 0.995 * total["CPU_IDLE"], 1.005 * total["CPU_IDLE"], "the parts of all waits")
        self.assertGreater(run.inclusive("KernelM", "GPU_EXECUTION_TIME"), 0)
        self.assertGreater(run.inclusive("KernelN", "CPU_IDLE_CAUSE"), run.inclusive("KernelM", "CPU_IDLE_CAUSE"))
        self.assertAlmostEqual(run.inclusive("KernelN", "GPU_EXECUTION_TIME") +
                               run.inclusive("KernelM", "GPU_EXECUTION_TIME"),
                               run.inclusive("(anonymous namespace)::step", "GPU_EXECUTION_TIME"), places=6)

    def check_shared_device(self, sample):
        run = self.prof_run([opencl_sample(sample), "--schedule"])
        stated, common = run.stated("processes_idle"), run.stated("device_busy")
        devices = run.report("devices")["devices"]
        self.assertEqual(2, len(devices))
        # A process ends a little later than it states, and work is outstanding a little before and after it is active.
        idle = sum(device["idle_s"] for device in devices)
        self.assert_within(idle, 0.85 * stated, 1.25 * stated, "idleness of the device")
        self.assertLessEqual(run.total("GPU_IDLE_CAUSE"), 1.02 * idle)
        for device in devices:
            self.assert_within(device["occupied_s"], 0.98 * common, 1.1 * common, "work of both processes")
        return devices

    def test_processes_that_share_a_device_are_each_to_blame_while_none_uses_it(self):
        self.check_shared_device("shared")
        # Here they take turns: each alone would take the other's work for idleness.
        for device in self.check_shared_device("shared_fixed"):
            self.assertLess(device["busy_s"], 0.75 * device["occupied_s"])

    def stored(self, run, query):
        with contextlib.closing(sqlite3.connect(run.directory / "database/launches.sqlite")) as file:
            return file.execute(query).fetchall()

    def test_traces_have_the_waits_and_their_parts(self):
        run = self.prof_run([opencl_sample("overlap"), "10"], events=["REALTIME"], options=["--trace"])
        (waits, *sums), = self.stored(run, "select count(*), sum(end_ns - begin_ns), sum(launch_latency_ns), sum(gap_ns), "
                                           "sum(wake_latency_ns) from wait")
        self.assertGreater(waits, 10)
        # Each of the times is in whole quanta of 256 ns.
        for nanoseconds, metric in zip(sums, ("CPU_IDLE", "LAUNCH_LATENCY", "GPU_GAP", "WAKE_LATENCY")):
            self.assertAlmostEqual(nanoseconds * 1e-9, run.total(metric), delta=waits * 1e-6, msg=metric)
        self.assertIn(("clFinish",), self.stored(run, "select distinct name from call join wait on call = id"))
        self.assertEqual(run.report("stalls")["traces"]["threads"], 1)

    def test_traces_of_devices_can_be_sampled(self):
        command = [str(BUILD / "tests/enqueue_calls"), "5000"]
        exact = self.prof_run(command, options=["--trace", "--device-trace=exact"])
        sampled = self.prof_run(command, options=["--trace", "--device-trace=sampled"])
        kept = {}
        for run in (exact, sampled):
            executed = sum(device["tasks"] for device in run.report("devices")["devices"])
            (rows, seen), = self.stored(run, "select count(*), count(sampled_ns) from launch")
            kept[run] = rows / executed
            if run is exact:
                self.assertEqual(seen, 0)
        self.assertEqual(kept[exact], 1)
        self.assertLess(kept[sampled], 0.5)  # its kernels do nothing: few are there when one looks

    def test_threads_of_the_driver_are_no_threads_of_the_program(self):
        self.assertEqual(1, self.prof_run([opencl_sample("reads"), "10"]).summary()["run"]["threads"])

    def test_every_kind_of_call_works(self):
        for what in ("every-call", "out-of-order", "user-events", "threads", "many-queues"):
            with self.subTest(what):
                self.assert_as_bare([CALLS, what], options=("--trace",))

    def test_a_loader_that_the_program_opens_itself(self):
        self.assert_as_bare([program("opencl_opened")])

    def test_processes_that_leave_with_work_outstanding(self):
        self.assert_as_bare([CALLS, "outstanding"], status=3)
        self.assert_as_bare([CALLS, "outstanding-at-once"], status=3)

    def test_forks_with_and_before_a_context(self):
        run = self.assert_as_bare([CALLS, "fork"])
        self.assertEqual(2, run.summary()["run"]["processes"])
        self.assert_as_bare([CALLS, "fork-first"])

    def test_without_a_driver(self):
        env = {**os.environ, "OCL_ICD_VENDORS": str(self.folder / "none.icd")}
        self.assert_as_bare([CALLS, "queries"], status=77, env=env)

    def test_a_kernel_that_never_ends_can_be_killed(self):
        self.assertIn(b"killed", self.report_of_killed([CALLS, "endless"], "summary"))

    def test_the_users_layers_stay_and_devices_can_be_left_alone(self):
        self.assertEqual(str(BUILD / "lib/libhpcrun.so"), self.surroundings().get("OPENCL_LAYERS"))
        self.assertEqual(f"/x/layer.so:{BUILD / 'lib/libhpcrun.so'}",
                         self.surroundings(OPENCL_LAYERS="/x/layer.so").get("OPENCL_LAYERS"))
        self.assertNotIn("OPENCL_LAYERS", self.surroundings("--no-devices"))
        self.assertEqual("/x/layer.so", self.surroundings("--no-devices", OPENCL_LAYERS="/x/layer.so")["OPENCL_LAYERS"])
        self.assert_as_bare([CALLS, "queries"], options=("--no-devices",))

    def test_a_loader_without_layers_is_stood_in_front_of(self):
        # A loader of that kind: the one at hand, told of another variable.
        loader = next(path for path in map(pathlib.Path, ("/usr/lib/x86_64-linux-gnu/libOpenCL.so.1",
                                                          "/usr/lib64/libOpenCL.so.1")) if path.exists())
        old = self.folder / "old"
        old.mkdir()
        (old / "libOpenCL.so.1").write_bytes(loader.read_bytes().replace(b"OPENCL_LAYERS", b"OPENCL_SREYAL"))
        env = {**os.environ, "LD_LIBRARY_PATH": str(old)}
        seen = self.surroundings(LD_LIBRARY_PATH=str(old))
        self.assertTrue(seen["LD_PRELOAD"].endswith("libhpcrun.so:" + str(BUILD / "lib/libhpcrun-opencl.so")))
        self.assertNotIn("OPENCL_LAYERS", seen)
        for what in ("queries", "threads", "every-call"):
            self.assert_as_bare([CALLS, what], env=env)


if __name__ == "__main__":
    if not pathlib.Path(CALLS).exists():
        print("built without OpenCL")
        sys.exit(77)
    if subprocess.run([CALLS, "queries"], stdout=subprocess.DEVNULL).returncode == 77:
        print("no OpenCL device; install pocl-opencl-icd")
        sys.exit(77)
    main()
