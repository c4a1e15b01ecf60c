#!/usr/bin/env python3
"""What prof exports, and what perf records, prof imports with the same numbers."""

import json
import subprocess

import driver

COUNTED_IN_NANOSECONDS = 0.5e-9  # so that sums may differ by rounding


class Imports(driver.EndToEnd):
    def prof(self, *arguments):
        done = subprocess.run([str(driver.PROF), *map(str, arguments)], capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, database, view="top-down", *options):
        report = json.loads(self.prof("report", database, f"--view={view}", "--format=json", "--threshold=0", *options))
        return report["rows"]

    def paths(self, database, metric):
        """The exclusive cost of each path of functions from the entry point on."""
        names, costs = {}, {}
        for row in self.rows(database):
            above = names.get(row["parent"], ())
            names[row["id"]] = above + (row["function"],)
            cost = row["values"].get(metric, {}).get("exclusive", 0)
            if cost:
                costs[names[row["id"]]] = costs.get(names[row["id"]], 0) + cost
        return costs

    def assert_equal_paths(self, found, expected, tolerance):
        self.assertEqual(set(found), set(expected))
        for path, cost in expected.items():
            self.assertAlmostEqual(found[path], cost, delta=tolerance, msg=str(path))

    def measured(self):
        run = self.prof_run([driver.program("exported")], events=["CPUTIME", "REALTIME"])
        self.assertEqual(run.status, 0, run.stderr)
        return run.directory

    def test_pprof_comes_back_with_equal_numbers(self):
        directory, file = self.measured(), self.folder / "profile.pb.gz"
        self.prof("export", directory, "--format=pprof", "-o", file)
        database = self.prof("import", file, "-o", self.folder / "imported")
        for metric in ("CPUTIME", "REALTIME"):
            expected = self.paths(directory, metric)
            self.assertGreater(len(expected), 3)
            self.assert_equal_paths(self.paths(self.folder / "imported", metric), expected,
                                    len(expected) * 100 * COUNTED_IN_NANOSECONDS)
        lines = {(row["function"], row["file"], row["inlined"]) for row in self.rows(directory)}
        self.assertTrue({line for line in lines if line[1]} <=
                        {(row["function"], row["file"], row["inlined"]) for row in self.rows(self.folder / "imported")})

    def test_threads_come_back(self):
        directory, file = self.measured(), self.folder / "profile.pb.gz"
        self.prof("export", directory, "--format=pprof", "-o", file)
        self.prof("import", file, "-o", self.folder / "imported")
        summary = lambda of: json.loads(self.prof("report", of, "--format=json"))["run"]
        self.assertEqual(summary(self.folder / "imported")["threads"], summary(directory)["threads"])

    def test_collapsed_stacks_come_back_with_equal_numbers(self):
        directory, file = self.measured(), self.folder / "stacks"
        self.prof("export", directory, "--format=collapsed", "-o", file)
        self.prof("import", file)
        self.prof("export", str(file) + ".database", "--format=collapsed", "-o", self.folder / "again")
        self.assertEqual(sorted((self.folder / "again").read_text().splitlines()), sorted(file.read_text().splitlines()))


if __name__ == "__main__":
    driver.main()
