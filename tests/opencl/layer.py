#!/usr/bin/env python3
"""The OpenCL layer by itself, over an engine that only records its calls (recording_engine.cpp). Programs run as
without the layer, and every command, wait and name reaches the engine with its times."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROF_BUILD"])
LAYER = BUILD / "tests/programs/libopencl_recording.so"
CALLS = str(BUILD / "tests/programs/opencl_calls")


def sample(name):
    return str(BUILD / "samples" / f"opencl_{name}")


class Task:
    def __init__(self, words):
        self.queue, self.kind, self.name = int(words[0]), words[1], words[2]
        self.bytes, self.submitted, self.start, self.end = map(int, words[3:7])


class Call:
    def __init__(self, words):
        self.kind, self.function = words[0], words[1]
        self.begin, self.end = int(words[2]), int(words[3])
        self.scope = words[4:]


class Recording:
    def __init__(self, path):
        lines = [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []
        self.tasks = [Task(line[1:]) for line in lines if line[0] == "task"]
        self.calls = [Call(line[1:]) for line in lines if line[0] == "call"]
        self.queues = [line[1:] for line in lines if line[0] == "queue"]
        self.devices = [line[1:] for line in lines if line[0] == "device"]
        self.discarded = [line for line in lines if line[0] == "discarded"]

    def calls_of(self, function):
        return [call for call in self.calls if call.function == function]

    def busy_s(self):
        total, reached = 0, 0
        for task in sorted(self.tasks, key=lambda task: task.start):
            if task.end > reached:
                total += task.end - max(task.start, reached)
                reached = task.end
        return total / 1e9


class Layer(unittest.TestCase):
    def run_both(self, *command, status=0, environment=None):
        """Returns the recording of a run that had the same result as the bare program."""
        environment = environment or {"OPENCL_LAYERS": str(LAYER)}
        bare = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "recording"
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                                  env={**os.environ, **environment, "RECORDING": str(path)})
            recording = Recording(path)
        self.assertEqual((bare.returncode, bare.stdout), (done.returncode, done.stdout), done.stderr)
        self.assertEqual(status, done.returncode)
        self.stderr = done.stderr.decode()
        return recording

    def stated(self, name):
        return float(re.search(rf"^{name} (\S+)$", self.stderr, re.M)[1])

    def test_the_program_sees_the_queues_that_it_asked_for(self):
        self.assertGreater(len(self.run_both(CALLS, "queries").tasks), 0)

    def test_a_schedule_is_that_which_the_program_measured(self):
        for name in ("overlap", "allocation", "reads", "reads_fixed", "asynchronous"):
            with self.subTest(name):
                recording = self.run_both(sample(name), "--schedule", "20")
                self.assertEqual(self.stated("device_tasks"), len(recording.tasks))
                # The same times of the same driver, except for the rounding of the program's output.
                self.assertAlmostEqual(self.stated("device_busy"), recording.busy_s(), delta=2e-4)

    def test_times_lie_between_submission_and_the_end_of_the_wait(self):
        recording = self.run_both(sample("overlap"), "20")
        waits = sorted((call.begin, call.end) for call in recording.calls if call.kind == "wait")
        for task in recording.tasks:
            self.assertLessEqual(task.submitted, task.start)
            self.assertLess(task.start, task.end)
            self.assertTrue(any(task.end <= end for _, end in waits))

    def test_names_bytes_and_kinds_are_known(self):
        tasks = self.run_both(sample("overlap"), "20").tasks
        self.assertEqual({"KernelM": 20, "KernelN": 20},
                         {name: sum(task.name == name for task in tasks) for name in ("KernelM", "KernelN")})
        self.assertEqual([("from-device", 4)], [(t.kind, t.bytes) for t in tasks if t.kind != "kernel"])

    def test_every_command_is_a_task(self):
        recording = self.run_both(CALLS, "every-call")
        kinds = [task.kind for task in recording.tasks]
        self.assertEqual({"kernel", "to-device", "from-device", "on-device", "fill"}, set(kinds))
        self.assertIn(("from-device", 64), [(t.kind, t.bytes) for t in recording.tasks], "a rectangle of 4 x 4 x 1")
        self.assertEqual(1, len(recording.discarded), "the map beyond the end")
        functions = {call.function for call in recording.calls}
        for function in ("clEnqueueTask", "clEnqueueReadBufferRect", "clEnqueueMapBuffer", "clEnqueueBarrier",
                         "clCreateBuffer", "clReleaseMemObject", "clBuildProgram", "clFinish"):
            self.assertIn(function, functions)

    def test_a_wait_is_for_what_has_to_end(self):
        for name, function in (("overlap", "clFinish"), ("allocation", "clEnqueueReadBuffer")):
            calls = self.run_both(sample(name), "5").calls_of(function)
            self.assertTrue(calls and all(call.kind == "wait" and call.scope == ["q0"] for call in calls))
        calls = self.run_both(CALLS, "user-events").calls_of("clWaitForEvents")
        self.assertEqual("short", calls[0].kind, "a user event is no device's")
        calls = self.run_both(CALLS, "out-of-order").calls_of("clWaitForEvents")
        self.assertTrue(calls[0].kind == "wait" and set(calls[0].scope) == {"q0"})
        waits = [call for call in self.run_both(sample("reads_fixed"), "30").calls_of("clWaitForEvents")
                 if call.kind == "wait"]
        self.assertTrue(all(scope.startswith("t") for call in waits for scope in call.scope))

    def test_out_of_order_queues_and_user_events(self):
        recording = self.run_both(CALLS, "out-of-order")
        self.assertIn("any-order", [queue[1] for queue in recording.queues])
        self.assertEqual(12, sum(task.name == "work" for task in recording.tasks))
        gated = self.run_both(CALLS, "user-events").tasks[0]
        self.assertGreater(gated.start - gated.submitted, 25e6, "it began when the event was set")

    def test_threads_lose_no_task(self):
        recording = self.run_both(CALLS, "threads")
        self.assertEqual(2000, sum(task.name == "add" for task in recording.tasks))

    def test_queues_that_come_and_go_share_lines(self):
        recording = self.run_both(CALLS, "many-queues")
        self.assertLess(len(recording.queues), 100)
        self.assertEqual(3000, sum(task.kind == "kernel" for task in recording.tasks))
        names = [task.name for task in recording.tasks if task.kind == "kernel"]
        self.assertEqual((1500, 1500), (names.count("add"), names.count("work")), "of handles that come again")

    def test_a_loader_that_the_program_opens(self):
        recording = self.run_both(str(BUILD / "tests/programs/opencl_opened"))
        self.assertEqual(["triple"], [task.name for task in recording.tasks if task.kind == "kernel"])
        self.assertEqual(1, len(recording.calls_of("clFinish")))

    def test_loaders_without_layers_are_stood_in_front_of(self):
        preloaded = {"LD_PRELOAD": f"{LAYER} {BUILD / 'lib/libprof-opencl.so'}"}
        for what in ("queries", "every-call", "threads", "fork-first"):
            by_layer = self.run_both(CALLS, what)
            recording = self.run_both(CALLS, what, environment=preloaded)
            self.assertEqual(len(by_layer.tasks), len(recording.tasks))
            self.assertEqual({call.function for call in by_layer.calls}, {call.function for call in recording.calls})
        # A program without OpenCL, or one that opens it itself, runs unnoticed.
        self.run_both("ls", "/", environment=preloaded)
        opened = self.run_both(str(BUILD / "tests/programs/opencl_opened"), environment=preloaded)
        self.assertEqual([], opened.tasks)

    def test_processes_that_leave_or_fork(self):
        self.run_both(CALLS, "outstanding", status=3)
        self.run_both(CALLS, "outstanding-at-once", status=3)
        self.assertEqual(5, sum(task.name == "work" for task in self.run_both(CALLS, "fork").tasks))
        self.run_both(CALLS, "fork-first")

    def test_the_device_has_a_name_for_files(self):
        uuid = self.run_both(CALLS, "queries").devices[0][0]
        self.assertRegex(uuid, r"^[A-Za-z0-9_.-]+$")


if __name__ == "__main__":
    if subprocess.run([CALLS, "queries"], stdout=subprocess.DEVNULL).returncode == 77:
        print("no OpenCL device; install pocl-opencl-icd")
        sys.exit(77)
    unittest.main(verbosity=2)
