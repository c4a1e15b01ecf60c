#!/usr/bin/env python3
"""speedscope's schema accepts a speedscope export, and its page shows the report's numbers."""

import collections
import json
import os
import pathlib

import consumer

consumer.need(consumer.NODE, "npm")
SCRIPT = pathlib.Path(__file__).with_name("speedscope.mjs")


class OpenedBySpeedscope(consumer.Exports):
    def profiles(self, *options):
        export = json.loads(self.export("speedscope", *options).read_bytes())
        frames = [frame["name"] for frame in export["shared"]["frames"]]
        return {profile["name"]: profile for profile in export["profiles"]}, frames

    def costs(self, profile, frames):
        """Returns {function: (inclusive, exclusive)} as speedscope computes them."""
        inclusive, exclusive = collections.Counter(), collections.Counter()
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            for function in {frames[frame] for frame in stack}:
                inclusive[function] += weight / 1e9
            if stack:
                exclusive[frames[stack[-1]]] += weight / 1e9
        return {name: (value, exclusive[name]) for name, value in inclusive.items()}

    def assert_costs(self, seen, expected, what):
        for scope in (0, 1):
            self.assert_same_numbers({name: row[scope] for name, row in seen.items()},
                                     {name: row[scope] for name, row in expected.items()}, 1e-6, what)

    def test_costs_of_both_clocks_and_each_thread(self):
        profiles, frames = self.profiles()
        for metric in ("CPUTIME", "REALTIME"):
            self.assert_costs(self.costs(profiles[f"{metric}, all threads"], frames), self.flat(metric), metric)
            for thread in self.threads():
                self.assert_costs(self.costs(profiles[f"{metric}, {thread}"], frames),
                                  self.flat(metric, f"--thread={thread.split()[0]}"), f"{metric} of {thread}")

    def test_time_passes_in_the_trace_as_on_the_clock(self):
        profiles, _ = self.profiles()
        traced = [profile for name, profile in profiles.items() if name.startswith("over time, ")]
        self.assertEqual(len(traced), len(self.threads()))
        wall = self.measured.summary()["run"]["wall_s"]
        for profile in traced:
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
        self.assert_within(max(profile["endValue"] for profile in traced) / 1e9, 0.8 * wall, wall, "the longest trace")

    def test_the_page_shows_it(self):
        chromium = consumer.browser(self)
        done = consumer.run([consumer.NODE, SCRIPT, self.export("speedscope"), "mix"],
                            env={**os.environ, "CONSUMERS": str(consumer.CONSUMERS), "CHROMIUM": chromium})
        seen = json.loads(done)
        exclusive = self.flat("CPUTIME")["mix"][1]
        [row] = [row for row in seen["rows"] if row[2].strip() == "mix"]
        self.assertTrue(row[1].strip().startswith(f"{exclusive * 1e3:.2f}ms"), f"{row} for {exclusive} s")


consumer.main()
