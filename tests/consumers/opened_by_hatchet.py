#!/usr/bin/python3
"""Hatchet reads the report's numbers from a cali export, also by rank; and the lines for Extra-P add up to them."""

import collections
import json
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
PYTHON = SOURCE / "build/venv/bin/python"
if not os.environ.get("PROF_IN_VENV"):
    if not PYTHON.exists():
        print("skipped: Hatchet is not there; install it with: tools/setup")
        sys.exit(77)
    os.execve(PYTHON, [PYTHON, __file__], {**os.environ, "PROF_IN_VENV": "1"})

import consumer  # noqa: E402
import hatchet  # noqa: E402

EXACT_S = 1e-9




class OpenedByHatchet(consumer.Exports):
    def test_cali_has_the_numbers_of_the_report(self):
        frame = hatchet.GraphFrame.from_caliperreader(str(self.export("cali"))).dataframe.reset_index()
        for metric, exclusive, inclusive in (("CPUTIME", "time", "time (inc)"), ("REALTIME", "REALTIME", "REALTIME (inc)")):
            seen_own, seen_all = collections.Counter(), collections.Counter()
            for _, row in frame.iterrows():
                path = [node.frame["name"] for node in row["node"].path()]
                seen_own[path[-1]] += row[exclusive]
                if path.count(path[-1]) == 1:
                    seen_all[path[-1]] += row[inclusive]
            expected = self.flat(metric)
            self.assert_same_numbers(seen_own, {name: own for name, (_, own) in expected.items()}, EXACT_S, metric)
            self.assert_same_numbers(seen_all, {name: all_ for name, (all_, _) in expected.items()}, EXACT_S, metric)

    def test_cali_has_each_rank(self):
        runs = [self.prof_run([consumer.driver.program("exported")], options=["-q"],
                              env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}).directory for rank in (0, 1)]
        both = self.folder / "both.db"
        consumer.run([consumer.driver.PROF, "analyze", "-q", *runs, "-o", both])
        path = self.folder / "ranks.cali"
        consumer.run([consumer.driver.PROF, "export", both, "--format=cali", "-o", path])
        graph = hatchet.GraphFrame.from_caliperreader(str(path))
        self.assertEqual(graph.metadata["mpi.world.size"], 2)
        seen = graph.dataframe.reset_index().groupby("rank")["time"].sum()
        for rank, run in enumerate(runs):
            report = json.loads(consumer.run([consumer.driver.PROF, "report", run, "--format=json"]))
            self.assertAlmostEqual(seen[rank], report["totals"]["CPUTIME"], delta=EXACT_S)

    def test_the_lines_for_extra_p_have_the_numbers_of_the_report(self):
        lines = [json.loads(line) for line in self.export("extrap").read_text().splitlines()]
        threads = len(self.threads())
        self.assertEqual({(*line["params"].items(),) for line in lines}, {(("threads", threads),)})
        for metric in ("CPUTIME", "REALTIME"):
            seen = collections.Counter()
            for line in lines:
                if line["metric"] == metric:
                    seen[line["callpath"].split("->")[-1]] += line["value"] * threads
            own = {name.replace("->", "→"): cost for name, (_, cost) in self.flat(metric).items()}
            self.assert_same_numbers(seen, own, EXACT_S, metric)


consumer.main()
