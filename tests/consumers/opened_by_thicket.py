#!/usr/bin/python3
"""Thicket reads cali exports of several runs as one ensemble, with the reports' numbers."""

import collections
import json
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
PYTHON = SOURCE / "build/venv/bin/python"  # with Hatchet, which Thicket requires
THICKET = SOURCE / "build/consumers/thicket"
if not os.environ.get("PROF_IN_VENV"):
    for folder, installer in ((PYTHON, "tools/setup"), (THICKET, "tools/consumers thicket")):
        if not folder.exists():
            print(f"skipped: {folder} is not there; install it with: {installer}")
            sys.exit(77)
    os.execve(PYTHON, [PYTHON, __file__], {**os.environ, "PROF_IN_VENV": "1", "PYTHONPATH": str(THICKET)})

import consumer  # noqa: E402
import thicket  # noqa: E402

EXACT_S = 1e-9


class OpenedByThicket(consumer.Exports):
    def test_the_runs_of_an_ensemble_have_the_numbers_of_their_reports(self):
        runs = [self.measured.directory,
                self.prof_run([consumer.driver.program("exported")], options=["-q"],
                              events=["CPUTIME@1000", "REALTIME@200"]).directory]
        files = []
        for number, run in enumerate(runs):
            files.append(str(self.folder / f"run{number}.cali"))
            consumer.run([consumer.driver.PROF, "export", run, "--format=cali", "-o", files[-1]])
        ensemble = thicket.Thicket.from_caliperreader(files, disable_tqdm=True)
        self.assertEqual(len(runs), len(ensemble.profile))
        self.assertEqual(len(runs), len(ensemble.metadata))
        rows = ensemble.dataframe.reset_index()
        for file, run in zip(files, runs):
            key = next(key for key, path in ensemble.profile_mapping.items() if path == file)
            of_run = rows[rows["profile"] == key]
            for metric, exclusive in (("CPUTIME", "time"), ("REALTIME", "REALTIME")):
                seen = collections.Counter()
                for _, row in of_run.iterrows():
                    if row[exclusive] == row[exclusive]:  # other runs have call paths that this one lacks
                        seen[row["node"].frame["name"]] += row[exclusive]
                report = [json.loads(consumer.run([consumer.driver.PROF, "report", run, f"--view={view}",
                                                   f"--metric={metric}", "--format=json", "--threshold=0", *more]))["rows"]
                          for view, more in (("flat", ()), ("top-down", ("--depth=1",)))]
                expected = collections.Counter()
                for row in (*report[0], *report[1]):
                    expected[row["function"]] += row["values"][metric]["exclusive"]
                self.assert_same_numbers(seen, expected, EXACT_S, f"{metric} of {run}")


consumer.main()
