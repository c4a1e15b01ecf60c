#!/usr/bin/env python3
"""Reads what `prof view --screenshot` paints: shares of colours equal the shares in reports, and texts are present.
Uses real runs of samples, each of which has something to show on its page.

Chance: what there is to draw. Pixels are compared with reports of the same measurement, so sampling cannot make them differ. `statistics`
is measured up to six times until its contention is found, and misses it with less than 1e-9 (driver.ATTEMPTS). `hot_loop` has some 1,800
samples in the functions that are searched. `late_wakeup` has ten stalls of up to 290 ms, of which one is enough. Accepted: 1e-6 a run. Not
less, because no count of runs supports less."""

import collections
import csv
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import driver
from pictures import Drawing, Picture

VIEWER = driver.PROF.parent.parent / "lib/prof-viewer"
LIMIT_S = 60  # for one picture
TOLERANCE = 0.01


@unittest.skipUnless(VIEWER.exists(), "built without Qt")
class ViewerPixels(driver.EndToEnd):
    SAMPLES = {
        "hot_loop": {"command": ["hot_loop"], "options": ["--trace"]},
        "statistics": {"command": ["statistics", "400"], "events": ["contention"]},
        "hot_loop_fixed": {"command": ["hot_loop_fixed"]},
        "long_holder": {"command": ["long_holder"], "events": ["locks"]},
        "late_wakeup": {"command": ["late_wakeup"], "events": ["REALTIME"], "options": ["--trace"]},
        "opencl_allocation": {"command": ["opencl_allocation"], "options": ["--trace"]},
    }

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="prof-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.runs_of_samples = {}

    def measured(self, name):
        """A run of a sample, shared by all tests."""
        if name not in self.runs_of_samples:
            how = self.SAMPLES[name]
            program, *words = how["command"]
            if not pathlib.Path(driver.sample(program)).exists():
                self.skipTest(f"{program} was not built: there is no OpenCL here")
            for _ in driver.attempts():
                shutil.rmtree(self.shared / name, ignore_errors=True)
                run = self.prof_run([driver.sample(program), *words], events=how.get("events", ()),
                                    options=how.get("options", ()), directory=self.shared / name)
                if name != "statistics" or run.status != 0 or run.report("contention")["data"]:
                    break
            if name.startswith("opencl") and run.status != 0:
                self.skipTest(f"{program} found no device: {run.stderr.decode(errors='replace')[-200:]}")
            self.assertEqual(run.status, 0, run.stderr.decode(errors="replace"))
            self.runs_of_samples[name] = run
        return self.runs_of_samples[name]

    def view(self, run, page, *words, env=None):
        done = self.plain_run([str(driver.PROF), "view", run.directory, "--view", page, *map(str, words)], timeout=LIMIT_S,
                              env=env)
        self.assertEqual((done.returncode, done.stderr), (0, b""), page)
        return done.stdout.decode()

    def shown(self, run, page, *words, size="1000x500"):
        """Returns the page's pixels, and its texts with their positions."""
        files = [self.folder / f"{page}.{kind}" for kind in ("png", "svg")]
        for file in files:
            self.view(run, page, "--size", size, "--screenshot", file, *words)
        return Picture(files[0]), Drawing(files[1])

    def table(self, run, page):
        return list(csv.DictReader(io.StringIO(self.view(run, page, "--table", "-"))))

    def assert_written(self, picture, text):
        """Checks that the picture has more than background wherever the drawing has a text."""
        box = picture.colours(text.x, text.y - 10, text.x + 6 * min(len(text.words), 20), text.y + 2)
        ground = box.most_common(1)[0][1]
        self.assertGreater(sum(box.values()) - ground, 0.05 * sum(box.values()), text)

    def assert_says(self, picture, drawing, *parts):
        said = drawing.said()
        for part in parts:
            self.assertIn(part, said)
            words = part.split()[0]
            self.assert_written(picture, next(text for text in drawing.texts if words in text.words))

    def test_frames_are_as_wide_as_what_was_spent_in_them(self):
        run = self.measured("hot_loop")
        picture, drawing = self.shown(run, "flame-graph")
        top = drawing.one("all: ")
        whole = picture.run(top.x - 2, top.y - 11)
        costs = {row["function"]: row["values"]["CPUTIME"]["inclusive"] for row in run.report("flat")["rows"]}
        total = run.total("CPUTIME")
        for function in ("find_customer", "book_orders", "_start", "start_thread"):
            frames = [text for text in drawing.all(function) if text.y > top.y]
            self.assertTrue(frames, function)
            wide = sum(picture.run(frame.x - 2, frame.y - 11) + 1 for frame in frames)
            self.assertAlmostEqual(wide / whole, costs[function] / total, delta=TOLERANCE, msg=function)
            colours = {picture.pixel(frame.x - 2, frame.y - 11) for frame in frames}
            self.assertEqual(len(colours), 1, f"{function} has several colours")

    def test_bars_of_tables_are_as_long_as_their_shares(self):
        run = self.measured("hot_loop")
        picture, drawing = self.shown(run, "flat")
        costs = {row["function"]: row["values"]["CPUTIME"]["inclusive"] for row in run.report("flat")["rows"]}
        head = drawing.one("CPUTIME incl")
        end = drawing.one("CPUTIME excl").x

        def bar(function):
            text = next(text for text in drawing.all(function) if text.words == function and text.y > head.y)
            line = picture.line(text.y + 2, head.x - 100, end)
            return sum(pixel != line[-1] for pixel in line)
        longest = bar("book_orders")
        self.assertGreater(longest, 50)
        for function in ("main", "clone3"):
            share = costs[function] / costs["book_orders"]
            self.assertAlmostEqual(bar(function) / longest, share, delta=TOLERANCE + 1 / longest, msg=function)

    def test_colours_of_the_timeline_have_the_shares_of_their_functions(self):
        for name in ("hot_loop", "late_wakeup"):
            run = self.measured(name)
            picture, drawing = self.shown(run, "timeline", size="1600x900")
            shares = {row["Function"]: float(row["Share"]) for row in self.table(run, "timeline")}
            head, below = drawing.one("Function"), drawing.one("all rows")
            axis = next(text for text in drawing.texts if re.fullmatch(r"0(\.0*)? s", text.words))
            # The colours are those next to the names in the table; letters are on the colour before them.
            colours = {text.words: picture.pixel(text.x - 10, text.y - 4) for text in drawing.texts
                       if text.words in shares and text.x > head.x}
            plot = collections.Counter()
            for y in range(int(axis.y) + 5, int(below.y) - 25):
                known = None
                for pixel in picture.line(y, axis.x + 1, head.x - 20):
                    known = pixel if pixel in colours.values() else None if pixel == 0xffffff else known
                    plot[known] += 1
            whole = plot.total() - plot[None]
            self.assertGreater(whole, 10_000)
            told = [function for function in colours if shares[function] > 2 * TOLERANCE]
            self.assertTrue(told, shares)
            for function in told:
                self.assertAlmostEqual(plot[colours[function]] / whole, shares[function], delta=TOLERANCE, msg=f"{name}: {function}")

    def test_bars_of_threads_are_as_high_as_their_values(self):
        run = self.measured("hot_loop")
        picture, drawing = self.shown(run, "threads")
        values = sorted(float(row["value"]) for row in self.table(run, "threads"))
        below, title = drawing.one("threads by descending"), drawing.one("threads")
        table = next(text for text in drawing.texts if text.words == "thread")
        area = [picture.line(y, title.x, table.x - 20) for y in range(int(title.y) + 5, int(below.y) - 40)]
        ground = area[0][0]
        heights = [sum(pixel != ground for pixel in column) for column in zip(*area)]
        pieces = [(height, len(list(columns))) for height, columns in itertools.groupby(heights)]
        bars = sorted(height for height, wide in pieces if wide > 20 and height > 20)
        self.assertEqual(len(bars), len(values), heights)
        for height, value in zip(bars, values):
            self.assertAlmostEqual(height / bars[-1], value / values[-1], delta=2 * TOLERANCE)

    def test_bytes_of_a_contended_line_are_those_of_its_threads(self):
        run = self.measured("statistics")
        picture, drawing = self.shown(run, "contention")
        begin, end = (next(text for text in drawing.texts if text.words == byte) for byte in ("0", "64"))
        rows = run.report("contention")["data"][0]["pictures"][0]["rows"]
        labels = [text for text in drawing.texts if text.x < begin.x - 20 and text.y > begin.y and "statistics" in text.words]
        labels = [text for text in labels if text.x > begin.x - 300 and ":" not in text.words]
        self.assertEqual(len(labels), len(rows), labels)
        for label, row in zip(sorted(labels, key=lambda text: text.y), rows):
            line = picture.line(label.y - 9, begin.x, end.x - 4)
            unused = sum(pixel == 0xffffff for pixel in line) / len(line)
            self.assertAlmostEqual(unused, row["bytes"].count(".") / 64, delta=2 * TOLERANCE, msg=label.words)
        finding = run.report("contention")["findings"][0]
        self.assert_says(picture, drawing, finding["sentence"].split(" of an ")[0][:40], "Change:", "in common")

    def test_pages_of_findings_are_written(self):
        locks = self.measured("long_holder")
        lock = locks.report("locks")["locks"][0]
        picture, drawing = self.shown(locks, "locks")
        self.assert_says(picture, drawing, lock["name"], "waited", "Change:")

        stalls = self.measured("late_wakeup")
        picture, drawing = self.shown(stalls, "stalls")
        self.assert_says(picture, drawing, "clock_nanosleep", "blocked for", "Show in the timeline")
        # Each stall has its row.
        when = [f"{stall['threads'][0]['begin_s']:.3f} s" for stall in stalls.report("stalls")["stalls"]]
        for text in when:
            self.assert_written(picture, drawing.one(text))

        picture, drawing = self.shown(self.measured("hot_loop"), "threads")
        self.assert_says(picture, drawing, "CPUTIME", "hot_loop")

        summary = self.measured("statistics")
        picture, drawing = self.shown(summary, "summary")
        self.assert_says(picture, drawing, "Findings", "spent", "Contention", "statistics.cpp:")

    def test_the_hottest_line_of_the_source_is_heated(self):
        run = self.measured("hot_loop")
        picture, drawing = self.shown(run, "source")
        hot = next(text for text in drawing.texts if "customers[i].number" in text.words)
        cold = next(text for text in drawing.texts if "customers.size();" in text.words)
        heat, ground = (picture.colours(text.x, text.y - 12, text.x + 300, text.y + 4).most_common(1)[0][0]
                        for text in (hot, cold))
        self.assertNotEqual(heat, ground)

    def test_idleness_is_told_with_its_time(self):
        run = self.measured("opencl_allocation")
        picture, drawing = self.shown(run, "idleness", size="1000x600")
        blamed = run.report("idleness")["device_idle"][0]
        self.assert_says(picture, drawing, blamed["function"], "what keeps devices idle", "Show in the timeline")

    def test_diff_says_what_prof_diff_says(self):
        before, after = self.measured("hot_loop"), self.measured("hot_loop_fixed")
        picture, drawing = self.shown(before, "diff", "--compare", after.directory)
        done = self.plain_run([str(driver.PROF), "diff", before.directory, after.directory, "--format=json"], timeout=LIMIT_S)
        report = json.loads(done.stdout)
        said = drawing.said()
        changed = {context["frames"][0]["function"]: (finding["values"]["before"], finding["values"]["after"])
                   for finding in report["findings"] for context in finding.get("contexts", [])[:1]}
        self.assertTrue(changed)
        for function, (old, new) in changed.items():
            self.assertIn(function, said)
            told = re.search(re.escape(function) + r" .*?: (?:gone: was|([\d.]+ m?s) instead of) ([\d.]+ m?s)", said)
            self.assertIsNotNone(told, said)
            for words, value in zip(told.groups("0 s"), (new, old)):
                number, unit = words.split()
                self.assertAlmostEqual(float(number) * (1e-3 if unit == "ms" else 1), value, delta=0.01 * value + 1e-3)
        self.assert_says(picture, drawing, "before", "hot_loop_fixed", "Functions that take less")

    def test_pictures_have_all_pixels_of_a_large_screen(self):
        run = self.measured("hot_loop")
        picture = self.folder / "large.png"
        self.view(run, "flame-graph", "--size", "900x300", "--screenshot", picture, env=os.environ | {"QT_SCALE_FACTOR": "2"})
        large = Picture(picture)
        self.assertEqual((large.width, large.height), (1800, 600))
        # They are painted, not copied: letters have edges at odd pixels as well.
        odd = sum(large.pixel(x, y) != large.pixel(x + 1, y) for y in range(0, 600, 5) for x in range(0, 1800, 2))
        self.assertGreater(odd, 50)


if __name__ == "__main__":
    driver.main()
