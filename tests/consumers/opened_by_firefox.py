#!/usr/bin/env python3
"""Firefox Profiler's command line reads the report's numbers, threads and times from a firefox export."""

import json
import os
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

import consumer

consumer.need(consumer.NODE, "npm")
CLI = consumer.CONSUMERS / "npm/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
ATTEMPTS = 20


class Session:
    """A profile that the command line has opened."""

    def query(self, *words):
        # The command stores its sessions in the home folder.
        return consumer.run([consumer.NODE, CLI, *words], env={**os.environ, "HOME": str(self.home), "PROFILER_CLI_NO_SYMBOLICATE": "1"})

    def open(self, export):
        self.addCleanup(self.query, "stop", "--all")
        # It allows its daemon half a second to start, which is too short on a busy machine.
        for attempt in range(ATTEMPTS):
            try:
                return self.query("load", export)
            except AssertionError as error:
                if "did not become ready" not in str(error) or attempt == ATTEMPTS - 1:
                    raise

    def handles(self):
        """Returns {thread: its name for the command line}."""
        words = json.loads(self.query("thread", "list", "--json"))
        return {thread["name"]: thread["threadHandle"] for thread in words["threads"]}


class OpenedByFirefox(Session, consumer.Exports):
    def load(self, *options):
        self.home = self.folder
        self.open(self.export("firefox", *options))

    def functions(self, handle):
        seen = json.loads(self.query("thread", "functions", "--thread", handle, "--limit", "0", "--json"))
        self.assertEqual(seen["weightType"], "tracing-ms")
        return {row["name"]: (row["totalSamples"] / 1e3, row["selfSamples"] / 1e3) for row in seen["functions"]}

    def check(self, metric):
        self.load(f"--metric={metric}")
        handles = self.handles()
        self.assertEqual(set(handles), set(self.threads()))
        for thread, handle in handles.items():
            seen = self.functions(handle)
            expected = self.flat(metric, f"--thread={thread.split()[0]}")
            for scope in (0, 1):
                self.assert_same_numbers({name: row[scope] for name, row in seen.items()},
                                         {name: row[scope] for name, row in expected.items()}, 1e-6,
                                         f"{metric} of {thread}")

    def test_cpu_time_of_each_thread(self):
        self.check("CPUTIME")

    def test_elapsed_time_of_each_thread(self):
        self.check("REALTIME")

    def test_samples_have_the_times_of_the_trace(self):
        export = json.loads(self.export("firefox").read_bytes())
        for thread, (_, stretches) in zip(export["threads"], sorted(self.measured_stretches().items()), strict=True):
            start = export["meta"]["startTime"]
            recorded = [begin for begin, _ in stretches[:-1]]
            shown = [round((start + time) * 1e6) for time in thread["samples"]["time"][:len(recorded)]]
            # Milliseconds since the epoch have the resolution of a microsecond.
            self.assertLess(max(abs(a - b) for a, b in zip(shown, recorded, strict=True)), 1000)


class DevicesInFirefox(Session, unittest.TestCase):
    """Two threads that submit to two queues, one of which executes two tasks at a time."""

    THREADS, QUEUES, TASKS = 2, 2, 50

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="prof-test-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        run = self.home / "run"
        run.mkdir()
        consumer.run([consumer.driver.BUILD / "tests/make_measurement", "--threads", self.THREADS, "--samples", 3000,
                      "--contexts", 20, "--queues", self.QUEUES, "--tasks", self.TASKS, "-o", run / "host-0-1-0.prof"])
        export = self.home / "export.json"
        consumer.run([consumer.driver.PROF, "export", run, "--format=firefox", "-o", export])
        self.start_ns = round(json.loads(export.read_bytes())["meta"]["startTime"] * 1e6)
        self.profiles = json.loads((run / "database/run.json").read_text())["profiles"]
        with sqlite3.connect(run / "database/launches.sqlite") as database:
            self.launches = database.execute("select name, queue, thread, submit_ns, start_ns, end_ns from launch "
                                             "join task on task.id = launch.task").fetchall()
            self.waits = database.execute("select name, thread, begin_ns, end_ns, launch_latency_ns, gap_ns, "
                                          "wake_latency_ns from wait join call on call.id = wait.call").fetchall()
        self.open(export)

    def label(self, profile):
        one = self.profiles[profile]
        place = f"device{one['device']}.queue{one['queue']}" if "queue" in one else one["thread"]
        return f"{one['rank']}.{place} {one['name']}"

    def markers(self, profile, kind):
        handle = self.handles()[self.label(profile)]
        words = json.loads(self.query("thread", "markers", "--thread", handle, "--list", "--limit", "0", "--json"))
        return [one for one in words["flatMarkers"] if one["markerType"] == kind]

    def assert_same_times(self, seen, expected):
        """Compares tuples of words and nanoseconds. Milliseconds since the epoch have the resolution of a microsecond."""
        self.assertEqual(len(seen), len(expected))
        for one, other in zip(sorted(seen), sorted(expected), strict=True):
            for a, b in zip(one, other, strict=True):
                self.assertAlmostEqual(a, b, delta=2000) if isinstance(a, int) else self.assertEqual(a, b)

    def test_tasks_submissions_and_waits_are_markers(self):
        flows = {}
        for queue in {launch[1] for launch in self.launches}:
            seen = []
            for one in self.markers(queue, "DeviceTask"):
                fields = {field["key"]: field["value"] for field in one["fields"]}
                flows[fields["flow"]] = (one["name"], round((one["start"] - fields["latency"]) * 1e6))
                seen.append((round(one["start"] * 1e6), round(one["duration"] * 1e6), round(fields["latency"] * 1e6),
                             fields["thread"], one["name"]))
            self.assert_same_times(seen, [(start - self.start_ns, end - start, start - submit, self.label(thread), name)
                                          for name, on, thread, submit, start, end in self.launches if on == queue])
        self.assertEqual(len(flows), self.QUEUES * self.TASKS)
        for thread in {launch[2] for launch in self.launches}:
            submissions = self.markers(thread, "DeviceSubmission")
            self.assertEqual(len(submissions), sum(launch[2] == thread for launch in self.launches))
            for one in submissions:
                name, submit = flows.pop(next(field["value"] for field in one["fields"] if field["key"] == "flow"))
                self.assertEqual(one["name"], name)
                self.assertAlmostEqual(one["start"] * 1e6, submit, delta=2000)
            seen = [(round(one["start"] * 1e6), round(one["duration"] * 1e6), *(round(field["value"] * 1e6) for field in one["fields"]),
                     one["name"]) for one in self.markers(thread, "DeviceWait")]
            self.assert_same_times(seen, [(begin - self.start_ns, end - begin, *parts, name)
                                          for name, on, begin, end, *parts in self.waits if on == thread])
        self.assertEqual(flows, {})


consumer.main()
