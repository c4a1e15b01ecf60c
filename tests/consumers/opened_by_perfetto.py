#!/usr/bin/env python3
"""Perfetto's trace processor, in its own page, sees the numbers, threads and times of the report in a perfetto export."""

import collections
import json
import os
import pathlib
import subprocess

import consumer

consumer.need(consumer.NODE, "npm")
consumer.need(consumer.CONSUMERS / "perfetto", "perfetto")
SCRIPT = pathlib.Path(__file__).with_name("perfetto.mjs")
QUERIES = {
    "errors": "select name, value from stats where value > 0 and severity = 'error'",
    "samples": "select t.name, s.ts, s.callsite_id from perf_sample s join thread t using (utid) order by s.id",
    "callsites": "select c.id, c.parent_id, f.name from stack_profile_callsite c join stack_profile_frame f on c.frame_id = f.id",
    "counters": "select t.name, k.name, c.ts, c.value from counter c join thread_counter_track k on c.track_id = k.id "
                "join thread t using (utid) order by c.id",
    "modules": "select distinct f.name, m.name from stack_profile_frame f join stack_profile_mapping m on f.mapping = m.id",
}


class OpenedByPerfetto(consumer.Exports):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        chromium = consumer.browser(cls)
        file = cls("a_run").export("perfetto")
        done = subprocess.run([consumer.NODE, SCRIPT, file], input=json.dumps(QUERIES).encode(), capture_output=True, timeout=120,
                              env={**os.environ, "CONSUMERS": str(consumer.CONSUMERS), "CHROMIUM": chromium})
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode(errors="replace"))
        cls.seen = json.loads(done.stdout)
        cls.callsites = {site: (parent, name) for site, parent, name in cls.seen["callsites"]}

    def functions(self, callsite):
        path = []
        while callsite is not None:
            callsite, function = self.callsites[callsite]
            path.append(function)
        return path

    def test_it_reads_without_errors(self):
        self.assertEqual(self.seen["errors"], [])

    def test_each_thread_has_its_totals(self):
        spent = collections.defaultdict(float)
        for thread, metric, _, value in self.seen["counters"]:
            spent[metric, thread] = max(spent[metric, thread], value)
        for thread, seconds in self.threads().items():
            self.assertAlmostEqual(spent["CPUTIME", thread], seconds, delta=1e-6)
            total = self.measured.report("top-down", f"--thread={thread.split()[0]}")["totals"]["REALTIME"]
            self.assertAlmostEqual(spent["REALTIME", thread], total, delta=1e-6)

    def test_functions_have_their_costs(self):
        """What a counter grows by at the time of a sample is the sample's."""
        at_time = collections.defaultdict(list)
        for thread, time, callsite in self.seen["samples"]:
            at_time[thread, time].append(callsite)
        for metric in ("CPUTIME", "REALTIME"):
            costs = collections.defaultdict(lambda: [0, 0])
            ambiguous = 0
            last = collections.defaultdict(float)
            for thread, name, time, value in self.seen["counters"]:
                if name != metric:
                    continue
                cost, last[thread] = value - last[thread], value
                samples = at_time[thread, time]
                self.assertTrue(samples, "a cost without a sample")
                if len(samples) > 1:
                    ambiguous += cost
                path = self.functions(samples[0])
                costs[path[0]][1] += cost
                for function in set(path):
                    costs[function][0] += cost
            for scope in (0, 1):
                self.assert_same_numbers({name: row[scope] for name, row in costs.items()},
                                         {name: row[scope] for name, row in self.flat(metric).items()}, 1e-6 + ambiguous,
                                         metric)

    def test_there_are_as_many_samples_as_were_recorded(self):
        self.assertEqual(len(self.seen["samples"]), len(self.measured_sample_times()))
        self.assertEqual({thread for thread, _, _ in self.seen["samples"]}, set(self.threads()))

    def test_samples_have_the_times_of_the_trace(self):
        self.assertEqual(sorted(int(time) for _, time, _ in self.seen["samples"]), self.measured_sample_times())

    def test_frames_have_modules(self):
        modules = dict(self.seen["modules"])
        self.assertTrue(modules["mix"].endswith("/exported"), modules)
        self.assertIn("libc.so", modules["start_thread"])


consumer.main()
