#!/usr/bin/env python3
"""The findings of the summary are in findings.sqlite, with their evidence, after each analysis and import."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess

import driver

COLUMNS = ("kind", "severity", "metric", "value", "unit", "share_of_run", "sentence", "advice")


def stored(database):
    """Returns [(columns, evidence)] in file order."""
    with contextlib.closing(sqlite3.connect(f"file:{database}/findings.sqlite?mode=ro", uri=True)) as file:
        assert file.execute("pragma user_version").fetchone() == (1,)
        rows = file.execute(f"select {', '.join(COLUMNS)}, evidence from finding order by id").fetchall()
    return [(dict(zip(COLUMNS, row)), json.loads(row[-1])) for row in rows]


class Findings(driver.EndToEnd):
    def assert_as_reported(self, database, reported):
        rows = stored(database)
        self.assertEqual([evidence for _, evidence in rows], reported)
        self.assertTrue(rows)
        for columns, finding in rows:
            cost = finding.get("cost", {})
            self.assertEqual(columns, {**{name: finding.get(name) for name in COLUMNS},
                                       "value": cost.get("value"), "unit": cost.get("unit"),
                                       "share_of_run": cost.get("share_of_run")})

    def test_a_run_keeps_what_its_summary_says(self):
        run = self.prof_run([driver.sample("hot_loop")])
        self.assert_as_reported(run.directory / "database", run.summary()["findings"])
        hottest = stored(run.directory / "database")[0][1]
        self.assertEqual(hottest["kind"], "hot-path")
        self.assertGreater(len(hottest["contexts"][0]["frames"]), 1)

    def test_a_line_is_named_for_the_library_code_that_it_calls(self):
        source = pathlib.Path(__file__).parent / "programs/copied_text.cpp"
        line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "has to name" in text)
        run = self.prof_run([driver.program("copied_text")])
        # On a busy machine, a program that waited for its files to be read is said to wait as well.
        hottest = next(finding for finding in run.summary()["findings"] if finding["kind"] == "hot-path")
        frame = hottest["contexts"][0]["frames"][0]
        self.assertTrue(frame["function"].startswith("unquoted("), frame)
        self.assertEqual((frame["file"].rsplit("/", 1)[-1], frame["line"]), ("copied_text.cpp", line))
        self.assertGreater(hottest["cost"]["share_of_run"], 0.8)

    def test_a_program_that_waits_is_said_to_wait(self):
        run = self.prof_run(["sleep", "0.5"], events=["CPUTIME", "REALTIME"])
        waiting = [finding for finding in run.summary()["findings"] if finding["kind"] == "waiting"]
        self.assertEqual(len(waiting), 1)
        self.assertGreater(waiting[0]["cost"]["share_of_run"], 0.8)

    def test_stalls_are_kept(self):
        run = self.prof_run([driver.sample("late_wakeup")], events=["REALTIME"], options=["--trace"])
        self.assert_as_reported(run.directory / "database", run.summary()["findings"])
        self.assertIn("stall", [columns["kind"] for columns, _ in stored(run.directory / "database")])

    def test_another_analysis_and_an_import_make_it_anew(self):
        run = self.prof_run([driver.sample("hot_loop")])
        file = run.directory / "database/findings.sqlite"
        file.write_text("no SQLite")
        subprocess.run([driver.PROF, "analyze", "-q", run.directory], check=True, timeout=100)
        self.assert_as_reported(run.directory / "database", run.summary()["findings"])
        stacks = self.folder / "stacks.txt"
        subprocess.run([driver.PROF, "export", run.directory, "--format=collapsed", "-o", stacks], check=True, timeout=100)
        subprocess.run([driver.PROF, "import", "-q", stacks, "-o", self.folder / "imported"], check=True, timeout=100)
        self.assertEqual(stored(self.folder / "imported")[0][0]["kind"], "hot-path")
        self.assertEqual([path.name for path in self.folder.glob("**/*.writing-*")], [])


driver.main()
