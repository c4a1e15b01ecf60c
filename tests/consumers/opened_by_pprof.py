#!/usr/bin/env python3
"""go tool pprof reads the report's numbers, threads and inlined calls from a pprof export."""

import re

import consumer

PPROF = consumer.need(consumer.CONSUMERS / "pprof/pprof", "pprof")
ROW = re.compile(r"^\s*(\d+)(?:ns)?\s+\S+\s+\S+\s+(\d+)(?:ns)?\s+\S+\s+(.*?)( \(inline\))?$")


class OpenedByPprof(consumer.Exports):
    def pprof(self, *options):
        return consumer.run([PPROF, *options, self.export("pprof")]).decode()

    def top(self, metric, *options):
        """Returns {function: (flat, cumulative)} in seconds, by full names; otherwise pprof omits the parameters of C++
        functions."""
        text = self.pprof("-top", f"-sample_index={metric}", "-unit=ns", "-nodecount=100000", "-nodefraction=0",
                          "-symbolize=demangle=none", *options)
        rows = [match for match in map(ROW.match, text.splitlines()) if match]
        self.assertEqual(len(rows), len({row[3] for row in rows}), "each function has one row")
        return {row[3]: (int(row[1]) / 1e9, int(row[2]) / 1e9) for row in rows}

    def test_costs_of_both_clocks(self):
        for metric in ("CPUTIME", "REALTIME"):
            report = self.flat(metric)
            top = self.top(metric)
            for scope, what in ((0, "exclusive"), (1, "inclusive")):
                self.assert_same_numbers({name: row[scope] for name, row in top.items()},
                                         {name: row[1 - scope] for name, row in report.items()}, 1e-6,
                                         f"{what} {metric}")

    def test_threads_are_labels(self):
        tags = self.pprof("-tags", "-sample_index=CPUTIME", "-unit=ns")
        for name, seconds in self.threads().items():
            self.assertRegex(tags, rf"{round(seconds * 1e9)}ns \([^)]*\): {re.escape(name)}")

    def test_one_thread_alone(self):
        [worker] = [name for name in self.threads() if "rker" in name]
        label = worker.split()[0]
        report = self.flat("CPUTIME", f"--thread={label}")
        top = self.top("CPUTIME", f"-tagfocus=thread={label} .*")
        self.assert_same_numbers({name: row[0] for name, row in top.items()},
                                 {name: row[1] for name, row in report.items()}, 1e-6, "exclusive CPUTIME")

    def test_inlined_calls_and_their_lines(self):
        raw = self.pprof("-raw")
        self.assertIn("duration", raw.lower())
        mix = [line for line in raw.splitlines() if re.search(r"\bmix\b.*exported\.cpp:1[0-9]:", line)]
        self.assertTrue(mix, raw[:3000])
        # The function into which it was inlined follows in the same location, without a number of its own.
        after = raw.splitlines()[raw.splitlines().index(mix[0]) + 1]
        self.assertRegex(after, r"^\s+.*mix_for.*exported\.cpp:2[0-9]:")

    def test_the_difference_of_a_profile_and_itself_is_nothing(self):
        file = self.export("pprof")
        self.assertIn("Showing nodes accounting for 0", self.pprof("-top", f"-diff_base={file}"))

    def test_a_damaged_file_is_refused(self):
        whole = self.export("pprof").read_bytes()
        damaged = self.folder_of_class / "damaged"
        damaged.write_bytes(whole[:len(whole) // 2])
        with self.assertRaises(AssertionError):
            consumer.run([PPROF, "-top", damaged])


consumer.main()
