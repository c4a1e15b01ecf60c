#!/usr/bin/env python3
"""Firefox Profiler's command line sees the numbers, threads and times of the report in a firefox export."""

import json
import os

import consumer

consumer.need(consumer.NODE, "npm")
CLI = consumer.CONSUMERS / "npm/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
ATTEMPTS = 20


class OpenedByFirefox(consumer.Exports):
    def query(self, *words):
        # The command leaves its sessions in the home folder.
        return consumer.run([consumer.NODE, CLI, *words], env={**os.environ, "HOME": str(self.folder), "PROFILER_CLI_NO_SYMBOLICATE": "1"})

    def load(self, *options):
        self.addCleanup(self.query, "stop", "--all")
        export = self.export("firefox", *options)
        # It gives its daemon half a second to start, which a busy machine does not keep.
        for attempt in range(ATTEMPTS):
            try:
                return self.query("load", export)
            except AssertionError as error:
                if "did not become ready" not in str(error) or attempt == ATTEMPTS - 1:
                    raise

    def handles(self):
        """{thread: how the command line calls it}"""
        words = json.loads(self.query("thread", "list", "--json"))
        return {thread["name"]: thread["threadHandle"] for thread in words["threads"]}

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
            # Milliseconds since the epoch hold microseconds.
            self.assertLess(max(abs(a - b) for a, b in zip(shown, recorded, strict=True)), 1000)


consumer.main()
