#!/usr/bin/env python3
"""The numbers that Python's csv and json read from exports add up to those of the report."""

import collections
import csv
import json

import consumer


class OpenedByPython(consumer.Exports):
    def assert_costs(self, inclusive, exclusive, expected, what):
        self.assert_same_numbers(inclusive, {name: row[0] for name, row in expected.items()}, 1e-9, f"inclusive {what}")
        self.assert_same_numbers(exclusive, {name: row[1] for name, row in expected.items()}, 1e-9, f"exclusive {what}")

    def test_csv(self):
        with open(self.export("csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertIn('a "wörker";1', {row["name"] for row in rows})
        for metric in ("CPUTIME", "REALTIME"):
            inclusive, exclusive = collections.Counter(), collections.Counter()
            for row in rows:
                cost = float(row[f"{metric} (sec)"])
                exclusive[row["function"]] += cost
                for function in set(row["stack"].split(";")):
                    inclusive[function] += cost
            self.assert_costs(inclusive, exclusive, self.flat(metric), metric)
        self.assertEqual({row["inlined"] for row in rows if row["function"] == "mix"}, {"true"})

    def test_json(self):
        export = json.loads(self.export("json").read_bytes())
        self.assertEqual(export["schema"], "prof-export/1")
        names = [frame["function"] for frame in export["frames"]]
        nodes = export["nodes"]
        for m, metric in enumerate(metric["name"] for metric in export["metrics"]):
            inclusive, exclusive = collections.Counter(), collections.Counter()
            for thread in export["threads"]:
                for node, *costs in thread["values"]:
                    exclusive[names[nodes[node][1]]] += costs[m]
                    functions = set()
                    while node is not None:
                        parent, frame, *_ = nodes[node]
                        functions.add(names[frame])
                        node = parent
                    for function in functions:
                        inclusive[function] += costs[m]
            self.assert_costs(inclusive, exclusive, self.flat(metric), metric)

    def test_the_trace_of_json(self):
        export = json.loads(self.export("json").read_bytes())
        self.assertEqual(sum(thread["samples"] for thread in export["threads"]), self.measured.samples())
        seen = {thread["thread"]: [(time, node is not None) for time, node in thread["trace"]]
                for thread in export["threads"]}
        self.assertEqual(seen, self.measured_stretches())

    def test_each_sample_of_cpu_time_is_a_moment_of_the_trace(self):
        """Under REALTIME, expirations that were merged while a thread waited are several samples at one moment."""
        run = self.prof_run([consumer.driver.program("exported")], events=["CPUTIME@1000"], options=["--trace"])
        export = json.loads(consumer.run([consumer.driver.PROF, "export", run.directory, "--format=json"]))
        for thread in export["threads"]:
            self.assertGreater(thread["samples"], 10)
            self.assertEqual(sum(node is not None for _, node in thread["trace"]), thread["samples"], thread["name"])


consumer.main()
