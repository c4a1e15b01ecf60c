#!/usr/bin/env python3
"""`prof view` writes pictures of every page without a display, analyzes measurements, and refuses what it cannot open
with one line."""

import csv
import os
import pathlib
import re
import struct
import subprocess
import unittest

import driver

LIMIT_S = 60  # for one picture or table
VIEWER = driver.PROF.parent.parent / "lib/prof-viewer"


def size_of_png(path):
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG"), head
    return struct.unpack(">II", head[16:24])


@unittest.skipUnless(VIEWER.exists(), "built without Qt")
class Viewer(driver.EndToEnd):
    def view(self, *words):
        return self.plain_run([str(driver.PROF), "view", *map(str, words)], timeout=LIMIT_S)

    def pages(self):
        """Returns the names of all pages, as listed by the refusal of an unknown one."""
        said = self.view("--view", "nothing").stderr.decode()
        pages = re.search(r"\{(.*)\}", said).group(1).split(",")
        self.assertIn("summary", pages)
        return pages

    def refused(self, *words):
        """Returns the only line that a refusal prints."""
        run = self.view(*words)
        self.assertEqual(run.returncode, 125, run.stderr)
        line, = run.stderr.decode().splitlines()
        self.assertLess(len(line.replace(str(self.folder), "")), 160)
        return line

    def test_every_page_of_a_run_is_a_picture(self):
        run = self.prof_run([driver.sample("counters")], events=["contention"])
        folder = self.folder
        for page in self.pages():
            picture = folder / f"{page}.png"
            done = self.view(run.directory, "--view", page, "--screenshot", picture, "--size", "900x500")
            self.assertEqual((done.returncode, done.stderr), (0, b""), page)
            self.assertEqual(size_of_png(picture), (900, 500))
        drawing = folder / "contention.svg"
        done = self.view(run.directory, "--view", "contention", "--screenshot", drawing, "--theme", "dark")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<svg", drawing.read_text()[:400])

    def test_a_picture_says_what_it_shows(self):
        run = self.prof_run([driver.sample("deep_calls"), "40", "20000", "1"], options=["--trace"])
        drawing = self.folder / "flame.svg"
        done = self.view(run.directory, "--view", "flame-graph", "--thread", "1", "--time", "0..100", "--screenshot", drawing)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        said = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawing.read_text()))
        for part in ("deep_calls", "TRACED_TIME", "1 of 2 threads", "0.0"):
            self.assertIn(part, said)
        self.assertRegex(said, r"all: \d+ ms")

    def test_measurements_are_analyzed_first(self):
        run = self.prof_run([driver.sample("hot_loop")], options=["--no-analyze"])
        picture = self.folder / "summary.png"
        done = self.view(run.directory, "-q", "--screenshot", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(size_of_png(picture), (1280, 800))

    def table(self, directory, page, *words):
        """Returns the rows of a page as dictionaries, by the titles of the columns, with their depth."""
        file = self.folder / f"{page}.csv"
        done = self.view(directory, "--view", page, "--table", file, *words)
        self.assertEqual((done.returncode, done.stderr), (0, b""), page)
        with file.open(newline="") as lines:
            return list(csv.DictReader(lines))

    def paths_of_table(self, rows, costs):
        """Returns call path -> its costs; a table has each path once."""
        paths, path = {}, []
        for row in rows:
            path = path[:int(row["depth"])] + [row["Function"]]
            self.assertNotIn(tuple(path), paths)
            paths[tuple(path)] = [float(row[cost]) for cost in costs]
        return paths

    def paths_of_report(self, report, metric):
        paths, names = {}, {}
        for row in report["rows"]:
            name = row["function"] + (" [inlined]" if row["inlined"] else "")
            names[row["id"]] = names.get(row["parent"], ()) + (name,)
            values = row["values"][metric]
            paths[names[row["id"]]] = [values["inclusive"], values["exclusive"]]
        return paths

    def test_tables_have_the_values_of_the_report(self):
        run = self.prof_run([driver.sample("counters")], events=["CPUTIME"])
        for page in ("top-down", "bottom-up", "flat"):
            report = run.report(page)
            metric = next(iter(report["units"]))
            shown = self.paths_of_table(self.table(run.directory, page), (f"{metric} incl", f"{metric} excl"))
            wanted = self.paths_of_report(report, metric)
            self.assertEqual(shown.keys(), wanted.keys(), page)
            for path, costs in wanted.items():
                for cost, value in zip(costs, shown[path]):
                    self.assertAlmostEqual(cost, value, 9, f"{page}: {path}")

    def numbers(self, rows, columns):
        return [[float(row[column]) for column in columns] for row in rows]

    def assert_same_numbers(self, shown, wanted):
        self.assertEqual(len(shown), len(wanted))
        for some, others in zip(shown, wanted):
            for one, other in zip(some, others):
                self.assertAlmostEqual(one, other, 9)

    def test_threads_have_the_values_of_the_report(self):
        run = self.prof_run([driver.sample("counters")], events=["CPUTIME"])
        rows = self.table(run.directory, "threads")
        self.assertGreater(len(rows), 1)
        for row in rows:
            thread = row["thread"].split()[0]
            self.assertAlmostEqual(float(row["value"]), run.report("flat", f"--thread={thread}")["totals"]["CPUTIME"], 9)

    def instructions_by_objdump(self, program, function):
        """Returns the addresses of its instructions, in hexadecimal. The compiler may have cloned it for its callers:
        "f(int) [clone .isra.0]"."""
        symbols = subprocess.run(["nm", "-S", "-C", program], capture_output=True, text=True, check=True).stdout
        begin, size = next(line.split()[:2] for line in symbols.splitlines() if f" {function}" in line)
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--start-address=0x{begin}",
                               f"--stop-address={int(begin, 16) + int(size, 16):#x}", program],
                              capture_output=True, text=True, check=True).stdout
        return re.findall(r"^\s*([0-9a-f]+):\t", code, re.MULTILINE)

    def test_instructions_are_those_of_the_function_and_cost_what_it_does(self):
        run = self.prof_run([driver.sample("hot_loop")], events=["CPUTIME"])
        row = next(row for row in run.report("flat")["rows"] if row["function"].startswith("find_customer"))
        rows = self.table(run.directory, "source", "--function", row["function"])
        self.assertEqual([row["address"] for row in rows],
                         self.instructions_by_objdump(driver.sample("hot_loop"), "find_customer("))
        # The line of inlined code is followed by its function.
        own = sum(float(row["CPUTIME excl"]) for row in rows if "  " not in row["line"])
        self.assertGreater(own, 0)
        self.assertAlmostEqual(own, row["values"]["CPUTIME"]["exclusive"], 9)
        modules = {pathlib.Path(module["path"]).name: module["build_id"] for module in run.summary()["modules"]}
        notes = subprocess.run(["readelf", "-n", driver.sample("hot_loop")], capture_output=True, text=True, check=True)
        self.assertIn(f"Build ID: {modules['hot_loop']}", notes.stdout)
        self.assertIn("no such function", self.refused(run.directory, "--view", "source", "--function", "nothing", "--table",
                                                       self.folder / "x.csv"))

    def test_contention_has_the_values_of_the_report(self):
        run = self.prof_run([driver.sample("counters")], events=["contention"])
        rows = [row for row in self.table(run.directory, "contention") if row["depth"] == "0"]
        costs = [finding["cost"] for finding in run.report("contention")["findings"]]
        self.assert_same_numbers(self.numbers(rows, ("of CPU time", "cost")),
                                 [[cost["share_of_run"], cost["value"]] for cost in costs])

    def test_locks_have_the_values_of_the_report(self):
        run = self.prof_run([driver.sample("long_holder")], events=["locks"])
        locks = run.report("locks")["locks"]
        self.assertTrue(locks)
        rows = [row for row in self.table(run.directory, "locks") if row["depth"] == "0"]
        self.assert_same_numbers(self.numbers(rows[:len(locks)], ("waited", "how often", "longest")),
                                 [[lock["waited_s"], lock["waits"], lock["longest_s"]] for lock in locks])

    def test_stalls_have_the_values_of_the_report(self):
        run = self.prof_run([driver.sample("late_wakeup")], events=["REALTIME"], options=["--trace"])
        stalls = run.report("stalls")["stalls"]
        rows = [row for row in self.table(run.directory, "stalls") if row["depth"] == "0"]
        self.assert_same_numbers(self.numbers(rows, ("when", "lost to the run")),
                                 [[stall["threads"][0]["begin_s"], stall["lost_s"]] for stall in stalls])

    @unittest.skipUnless(pathlib.Path(driver.sample("opencl_overlap")).exists(), "built without OpenCL")
    def test_idleness_has_the_values_of_the_report(self):
        run = self.prof_run([driver.sample("opencl_overlap")])
        report = run.report("idleness")
        rows = [row for row in self.table(run.directory, "idleness") if row["depth"] == "1"]
        blamed = report["device_idle"] + report["cpu_idle"] + report["waits"]
        self.assertTrue(blamed)
        self.assert_same_numbers(self.numbers(rows[:len(blamed)], ("time", "share", "of run at most")),
                                 [[one["value_s"], one["share_of_idleness"], one["share_of_run"]] for one in blamed])

    def test_a_page_without_a_table_is_told(self):
        run = self.prof_run([driver.sample("hot_loop")])
        self.assertIn("summary", self.refused(run.directory, "--view", "summary", "--table", self.folder / "x.csv"))

    def test_tables_go_where_they_are_asked_to(self):
        """Pipes are written as well; anything that is not a regular file, and the database's own files, are not."""
        run = self.prof_run([driver.sample("hot_loop")], options=["--trace"])
        table = self.folder / "flat.csv"
        self.assertEqual(0, self.view(run.directory, "--view", "flat", "--table", table).returncode)
        done = self.view(run.directory, "--view", "flat", "--table", "-")
        self.assertEqual((0, table.read_bytes()), (done.returncode, done.stdout), done.stderr)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            self.assertEqual(0, self.view(run.directory, "--view", "flat", "--table", pipe).returncode)
            self.assertEqual(table.read_bytes(), reader.communicate(timeout=20)[0])
        self.assertTrue(pipe.is_fifo())
        self.assertIn("/dev/full", self.refused(run.directory, "--view", "flat", "--table", "/dev/full"))
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())
        # A link with that name is replaced; its target stays unchanged.
        named = self.folder / "named"
        named.write_text("another's")
        for option in ("--table", "--screenshot"):
            link = self.folder / "link.png"
            link.symlink_to(named)
            self.assertEqual(0, self.view(run.directory, "--view", "flat", option, link).returncode)
            self.assertEqual((named.read_text(), link.is_symlink()), ("another's", False))
            link.unlink()

        own = run.directory / "database" / "meta.db"
        before = own.read_bytes()
        for option in ("--table", "--screenshot"):
            other = own if option == "--table" else own.with_name("picture.png")
            other.touch()
            self.assertIn("is a file of the open database", self.refused(run.directory, "--view", "flat", option, other))
        self.assertEqual(before, own.read_bytes())
        self.assertIn("locks", self.refused(run.directory, "--view", "locks", "--table", table))

        # Nor over the measurements of another run that is compared.
        other = self.prof_run([driver.sample("hot_loop")])
        inner = next((other.directory / "database" / "src").rglob("*.cpp"), other.directory / "database" / "profile.db")
        measured = next(other.directory.glob("*.prof"))
        for file, why in ((other.directory / "database" / "meta.db", "is a file of the open database"), (inner, "is a file of"),
                          (measured, "is a measurement of the open run"), (other.directory / "run.json", "is a measurement")):
            before = file.read_bytes()
            self.assertIn(why, self.refused(run.directory, "--compare", other.directory, "--view", "flat", "--table", file))
            self.assertEqual(before, file.read_bytes())

        # A page with unreadable data is not a success.
        trace = run.directory / "database" / "trace.db"
        damaged = bytearray(trace.read_bytes())
        for at in range(len(damaged) // 2, len(damaged), 97):
            damaged[at] ^= 0x5a
        trace.write_bytes(damaged)
        for option, file in (("--table", "timeline.csv"), ("--screenshot", "timeline.png")):
            self.assertIn("trace.db", self.refused(run.directory / "database", "--view", "timeline", option, self.folder / file))

    def test_two_runs_are_compared(self):
        first, second = (self.prof_run([driver.sample("hot_loop")], directory=self.folder / name)
                         for name in ("before", "after"))
        for page in ("diff", "top-down", "flame-graph"):
            picture = self.folder / f"compared-{page}.png"
            done = self.view(first.directory, "--compare", second.directory, "--same-total", "--view", page,
                             "--screenshot", picture)
            self.assertEqual((done.returncode, done.stderr), (0, b""), page)
            self.assertEqual(size_of_png(picture), (1280, 800))
        self.assertIn("nowhere", self.refused(first.directory, "--compare", self.folder / "nowhere", "--screenshot",
                                              self.folder / "x.png"))

    def test_a_display_that_does_not_answer_is_one_line(self):
        run = self.prof_run([driver.sample("hot_loop")])
        for display in ({"DISPLAY": ":4711"}, {"DISPLAY": "nonsense"}, {}):
            environment = {name: value for name, value in os.environ.items()
                           if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
            with self.subTest(display):
                done = subprocess.run([str(driver.PROF), "view", run.directory], env=environment | display,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 125, done.stderr)
                line, = done.stderr.splitlines()
                self.assertLess(len(line), 160)
                self.assertIn("--screenshot", line)

    def test_what_cannot_be_opened_or_written_is_one_line(self):
        run = self.prof_run([driver.sample("hot_loop")])
        folder = self.folder
        database = next(pathlib.Path(run.directory).glob("**/meta.db")).parent
        self.assertIn("nowhere", self.refused(database, "--screenshot", "/nowhere/x.png"))
        self.assertIn("NOTHING", self.refused(database, "--metric", "NOTHING", "--screenshot", folder / "x.png"))
        small = self.refused(database, "--view", "timeline", "--size", "200x200", "--screenshot", folder / "x.png")
        least = re.search(r"does not fit into 200x200; use --size (\d+)x(\d+)$", small)
        self.assertIsNotNone(least, small)
        picture = folder / "least.png"
        done = self.view(database, "--view", "timeline", "--size", "x".join(least.groups()), "--screenshot", picture)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(size_of_png(picture), tuple(map(int, least.groups())))
        (database / "profile.db").write_bytes(b"HPCPROF-profdb__")
        self.assertIn("profile.db", self.refused(database, "--screenshot", folder / "x.png"))
        self.assertIn("no-such-place", self.refused(folder / "no-such-place", "--screenshot", folder / "x.png"))
        self.assertFalse((folder / "x.png").exists())


if __name__ == "__main__":
    driver.main()
