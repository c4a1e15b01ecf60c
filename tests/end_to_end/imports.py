#!/usr/bin/env python3
"""prof imports its own exports, and perf's recordings, with the same numbers."""

import json
import os
import pathlib
import shutil
import subprocess

import driver

COUNTED_IN_NANOSECONDS = 0.5e-9  # sums may differ by rounding


class Imports(driver.EndToEnd):
    def prof(self, *arguments):
        done = subprocess.run([str(driver.PROF), *map(str, arguments)], capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, database, view="top-down", *options):
        report = json.loads(self.prof("report", database, f"--view={view}", "--format=json", "--threshold=0", *options))
        return report["rows"]

    def paths(self, database, metric):
        """Returns the exclusive cost of each path of functions from the entry point on."""
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

    def record(self, *options, name="perf.data"):
        """Returns perf's recording of a program, or skips the test."""
        file = self.folder / name
        if not shutil.which("perf"):
            self.skipTest("perf is not installed (Debian: linux-perf)")
        done = subprocess.run(["perf", "record", "-o", file, *options, driver.program("exported")], capture_output=True,
                              text=True, timeout=100, env={**os.environ, "HOME": str(self.folder)})
        if done.returncode != 0 or not file.exists() or not file.stat().st_size:
            self.skipTest(f"perf cannot record here: {done.stderr.strip().splitlines()[-1:]}")
        return file

    def scripted(self, file):
        """Returns for each event how many samples `perf script` shows, and the sum of their periods."""
        text = subprocess.run(["perf", "script", "-i", file, "-G", "-F", "event,period"], capture_output=True, text=True,
                              timeout=100).stdout
        sums = {}
        for line in text.splitlines():
            period, event = line.split()
            count, total = sums.get(event.rstrip(":"), (0, 0))
            sums[event.rstrip(":")] = (count + 1, total + int(period))
        self.assertTrue(sums)
        return sums

    def assert_sums(self, file):
        """Checks that the database has the samples and the sum of periods of each event that `perf script` has."""
        database = self.folder / "perf.database"
        self.prof("import", file, "-o", database)
        rows, summary = self.rows(database), json.loads(self.prof("report", database, "--format=json"))
        expected = self.scripted(file)
        self.assertEqual(set(summary["sampling"]["metrics"]), set(expected))
        for event, (count, total) in expected.items():
            self.assertEqual(summary["sampling"]["metrics"][event]["samples"], count)
            scale = 1e-9 if "clock" in event else 1
            found = sum(row["values"].get(event, {}).get("inclusive", 0) for row in rows if row["depth"] == 0)
            self.assertAlmostEqual(found, total * scale, delta=1e-9 * count)
        return rows, summary

    def share(self, rows, function, metric="cpu-clock"):
        """Returns the inclusive share of the run of the outermost rows of a function."""
        total = sum(row["values"].get(metric, {}).get("inclusive", 0) for row in rows if row["depth"] == 0)
        names, cost = {}, 0
        for row in rows:
            above = names.get(row["parent"], ())
            names[row["id"]] = above + (row["function"],)
            if driver.names(row["function"], function) and not any(driver.names(name, function) for name in above):
                cost += row["values"].get(metric, {}).get("inclusive", 0)
        return cost / total

    def test_perf_recordings_have_the_sums_of_perf_script(self):
        for options in (["-e", "cpu-clock", "-F", "2000"], ["-e", "cpu-clock", "-F", "2000", "-g"],
                        ["-e", "cpu-clock,page-faults", "-F", "2000", "-g"], ["-z", "-e", "task-clock", "-g"]):
            with self.subTest(options=options):
                rows, _ = self.assert_sums(self.record(*options))
                metric = "task-clock" if "task-clock" in options else "cpu-clock"
                # All of the program's work is there, as in perf report.
                self.assertGreater(self.share(rows, "mix_for", metric), 0.8)

    def test_recorded_stacks_are_unwound(self):
        file = self.record("-e", "cpu-clock", "-F", "2000", "--call-graph", "dwarf")
        rows, summary = self.assert_sums(file)
        self.assertGreater(summary["stacks"]["complete"], 0.98 * summary["sampling"]["samples"])
        self.assertGreater(self.share(rows, "main"), 0.4)
        self.assertGreater(self.share(rows, "start_thread"), 0.2)
        self.assertTrue([row for row in rows if row["inlined"] and driver.names(row["function"], "mix")])

    def test_memory_accesses_of_perf_become_findings_about_contention(self):
        seeds = self.folder / "seeds"
        subprocess.run([driver.BUILD / "tests/make_fuzz_seeds", seeds], check=True, timeout=100)
        self.prof("import", seeds / "perf" / "memory", "-o", self.folder / "imported")
        report = json.loads(self.prof("report", self.folder / "imported", "--view=contention", "--format=json"))
        (found,) = report["data"]
        self.assertEqual((found["sharing"], found["kind"], found["source"]), ("false", "unknown", "Intel PEBS by perf"))
        self.assertEqual((found["hitm"], found["remote_hitm"]), (200000, 0))  # 40 samples that represent 5,000 each
        self.assertEqual(found["latency_cycles"], 200000 * 300)
        self.assertEqual([side["offset"] for side in found["sides"] if side["access"] == "writes"], [0, 8])
        (finding,) = report["findings"]
        self.assertEqual((finding["kind"], finding["severity"]), ("false-sharing", "high"))
        self.assertIn("found the line modified in another processor's cache (HITM)", finding["sentence"])
        summary = json.loads(self.prof("report", self.folder / "imported", "--format=json"))
        self.assertIn(finding["sentence"], [one["sentence"] for one in summary["findings"]])
        self.assertIn("memory accesses are not known, because their instructions are not available", " ".join(summary["degradations"]))
        text = self.prof("report", self.folder / "imported", "--view=contention").decode()
        self.assertIn("b.......", text)

    def test_perf_reads_the_same_from_the_recording_of_memory_accesses(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed (Debian: linux-perf)")
        seeds = self.folder / "seeds"
        subprocess.run([driver.BUILD / "tests/make_fuzz_seeds", seeds], check=True, timeout=100)
        shutil.copy(seeds / "perf" / "memory", self.folder / "perf.data")
        done = subprocess.run(["perf", "mem", "-i", self.folder / "perf.data", "report", "--stdio"], capture_output=True,
                              text=True, timeout=100)
        loads = done.stdout.partition("cpu/mem-stores/P")[0]
        self.assertIn("Total weight : 12000", loads)  # 40 loads of 300 cycles
        lines = [line for line in loads.splitlines() if "0x00007f000000100" in line]
        self.assertEqual(len(lines), 2, done.stdout + done.stderr)
        for line in lines:
            self.assertRegex(line, r"\b20 +300 +L3 hit .* HitM ")

    def test_recordings_without_memory_accesses_tell_what_to_record(self):
        stacks = self.folder / "stacks"
        stacks.write_text("main;work 3\n")
        self.prof("import", stacks, "-o", self.folder / "imported")
        done = subprocess.run([driver.PROF, "report", self.folder / "imported", "--view=contention"], capture_output=True,
                              text=True, timeout=100)
        self.assertEqual(done.returncode, 125)
        self.assertIn("import a recording of perf c2c", done.stderr)

    def test_perf_in_a_pipe(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed (Debian: linux-perf)")
        database = self.folder / "piped"
        perf = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1000", "-g", "-o", "-", driver.program("exported")]
        with subprocess.Popen(perf, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
            done = subprocess.run([str(driver.PROF), "import", "-", "-o", str(database)], stdin=recorder.stdout,
                                  capture_output=True, text=True, timeout=100)
            recorder.stdout.close()
            complaint = recorder.stderr.read().decode()
        if recorder.returncode != 0:
            self.skipTest(f"perf cannot record here: {complaint.strip().splitlines()[-1:]}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.share(self.rows(database), "mix_for"), 0.8)

    def test_threads_and_times_of_perf_recordings(self):
        database = self.folder / "perf.database"
        self.prof("import", self.record("-e", "cpu-clock", "-F", "2000"), "-o", database)
        self.assertTrue((database / "trace.db").exists())
        summary = json.loads(self.prof("report", database, "--format=json"))
        self.assertEqual(summary["run"]["threads"], 2)
        self.assertIn("perf record", summary["run"]["command"])

    def test_broken_files_are_refused_in_one_line(self):
        for name, contents in (("empty", b""), ("letter", b"Dear reader,\nnothing to see\n"), ("cut", b"PERFILE2\0\0"),
                               ("zipped", b"\x1f\x8b\x08\0\0"), ("elf", b"\x7fELF\2\1\1\0")):
            file = self.folder / name
            file.write_bytes(contents)
            done = subprocess.run([str(driver.PROF), "import", str(file)], capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(str(file), done.stderr)
            self.assertFalse(pathlib.Path(str(file) + ".database").exists())


if __name__ == "__main__":
    driver.main()
