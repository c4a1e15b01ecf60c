#!/usr/bin/env python3
"""A browser shows the report's numbers in an html export, which works with mouse and keyboard and loads nothing."""

import json
import os
import pathlib

import consumer

consumer.need(consumer.NODE, "npm")
SCRIPT = pathlib.Path(__file__).with_name("html.mjs")


class OpenedByBrowser(consumer.Exports):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        chromium = consumer.browser(cls)
        case = cls("a_run")
        done = consumer.run([consumer.NODE, SCRIPT, case.export("html"), *filter(None, [os.environ.get("PROF_SCREENSHOTS")])],
                            env={**os.environ, "CONSUMERS": str(consumer.CONSUMERS), "CHROMIUM": chromium})
        cls.seen = json.loads(done)

    def lines(self, frames, function):
        """Returns the texts of the frames of a function."""
        return [frame["title"].splitlines() for frame in frames
                if frame["title"].splitlines()[0].removesuffix(" (inlined)") == function]

    def test_it_says_what_it_shows(self):
        self.assertEqual(self.seen["title"], "Flame graph of exported")
        self.assertIn("exported", self.seen["about"])
        self.assertEqual(self.seen["metrics"], ["CPUTIME", "REALTIME"])
        self.assertEqual(set(self.seen["threads"][1:]), set(self.threads()))
        self.assertEqual(self.seen["requests"], [])

    def milliseconds(self, seconds):
        return f"{seconds * 1e3:.4g} ms" if seconds < 1 else f"{seconds:.2f} s"

    def test_frames_have_the_costs_of_the_report(self):
        for frames, metric, options in (("whole", "CPUTIME", ()), ("second_metric", "REALTIME", ()),
                                        ("second_thread", "CPUTIME", ("--thread=1",))):
            [row] = [row for row in self.measured.report("top-down", f"--metric={metric}", *options)["rows"]
                     if row["function"] == "work"]
            [lines] = self.lines(self.seen[frames], "work")
            inclusive = row["values"][metric]["inclusive"]
            self.assertIn(f" of {metric}", lines[1])
            shown = lines[1].split(", ")[0]
            value, unit = shown.split(" ")
            scale = {"s": 1, "ms": 1e3}[unit]
            self.assertAlmostEqual(float(value) / scale, inclusive, delta=0.006 if unit == "s" else 6e-5, msg=shown)
        self.assertEqual(self.lines(self.seen["second_thread"], "main"), [])

    def test_frames_are_read_out(self):
        for frame in self.seen["whole"]:
            self.assertEqual(frame["role"], "treeitem")
            self.assertTrue(frame["label"])
        self.assertTrue(any("(inlined)" in frame["title"] for frame in self.seen["whole"]))

    def test_a_search_marks_and_adds_up(self):
        marked = {frame["title"].splitlines()[0].removesuffix(" (inlined)") for frame in self.seen["searched"] if frame["matches"]}
        self.assertEqual(marked, {"mix", "mix_for"})
        share = self.flat("CPUTIME")["mix_for"][0] / self.measured.report("top-down")["totals"]["CPUTIME"]
        shown = float(self.seen["found"].split(" %")[0])
        self.assertAlmostEqual(shown, share * 100, delta=0.6)

    def test_zoom_by_keyboard(self):
        self.assertIn(self.seen["focused"].split(",")[0], ("_start", "clone3"))
        wide = [frame for frame in self.seen["zoomed"] if frame["label"] == self.seen["focused"]]
        self.assertEqual(max(frame["width"] for frame in self.seen["zoomed"]), wide[0]["width"])
        self.assertLess(len(self.seen["zoomed"]), len(self.seen["whole"]))
        self.assertEqual(self.seen["after"], len(self.seen["whole"]))

    def test_the_list_of_functions(self):
        shares = {row[4]: float(row[3].removesuffix(" %")) for row in self.seen["functions"]}
        total = self.measured.report("top-down")["totals"]["CPUTIME"]
        for function, (inclusive, exclusive) in self.flat("CPUTIME").items():
            if exclusive > 0:
                self.assertAlmostEqual(shares[function], inclusive / total * 100, delta=0.6, msg=function)


consumer.main()
