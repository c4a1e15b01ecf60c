#!/usr/bin/env python3
"""Each source line has its own cost: the time that the program spends there, as in the csv export.

Not by chance: each of the three lines takes its CPU time in one piece, so that a clock of CPU time at 1 kHz is off by one sample at either
end of 100, 300 and 600 ms. A busy machine lengthens the run, not its CPU time."""

import collections
import csv
import io
import pathlib
import subprocess

import driver

SOURCE = pathlib.Path(__file__).resolve().parent / "programs/lines.cpp"
NANOSECOND = 1e-9  # costs are whole numbers of it; sums of seconds differ by rounding


def marked(name):
    """Returns the number of the marked line of the program, and its text."""
    found = [(number, text) for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
             if text.endswith(f"// LINE {name}")]
    assert len(found) == 1, found
    return found[0]


class Lines(driver.EndToEnd):
    def prof(self, *arguments):
        done = subprocess.run([str(driver.PROF), *map(str, arguments)], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def by_line(self, rows, cost):
        sums = collections.Counter()
        for row in rows:
            if pathlib.Path(row["file"] or "").name != SOURCE.name:
                continue
            sums[row["function"], row["file"] or "", int(row["line"] or 0)] += float(cost(row))
        return {line: round(seconds / NANOSECOND) for line, seconds in sums.items() if seconds}

    def test_lines(self):
        run = self.prof_run([driver.program("lines")], events=["CPUTIME@1000"])
        self.assertEqual(run.status, 0, run.stderr)
        rows, total = run.report("lines")["rows"], run.total("CPUTIME")

        for name, share, function in (("small", 0.1, "small"), ("own", 0.3, "uneven"), ("inlined", 0.6, "mix")):
            of_line = [row for row in rows if row["line"] == marked(name)[0]]
            self.assertEqual(len(of_line), 1, of_line)
            self.assertIn(function, of_line[0]["function"])
            self.assertEqual(of_line[0]["inlined"], function == "mix")
            self.assertEqual(of_line[0]["module"], driver.program("lines"))
            self.assert_within(of_line[0]["values"]["CPUTIME"]["exclusive"] / total, share - 0.05, share + 0.05, name)

        export = list(csv.DictReader(io.StringIO(self.prof("export", run.directory, "--format=csv"))))
        exported = self.by_line(export, lambda row: row["CPUTIME (sec)"])
        self.assertGreaterEqual(len(exported), 3)
        self.assertEqual(self.by_line(rows, lambda row: row["values"]["CPUTIME"]["exclusive"]), exported)
        self.assertAlmostEqual(sum(row["values"]["CPUTIME"]["exclusive"] for row in rows), total, delta=NANOSECOND)
        as_csv = csv.DictReader(io.StringIO(self.prof("report", run.directory, "--view=lines", "--format=csv",
                                                      "--threshold=0")))
        self.assertEqual(self.by_line(as_csv, lambda row: row["CPUTIME exclusive (sec)"]), exported)

        text = self.prof("report", run.directory, "--view=lines").splitlines()
        heaviest, (number, source) = text[2], marked("inlined")
        self.assertIn(f"lines.cpp:{number} ", heaviest)
        self.assertTrue(heaviest.endswith("  " + source.strip()), heaviest)


if __name__ == "__main__":
    driver.main()
