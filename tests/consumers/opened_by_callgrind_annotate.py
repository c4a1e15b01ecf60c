#!/usr/bin/env python3
"""callgrind_annotate reads the report's numbers from a callgrind export, with recursion counted once."""

import re
import shutil

import consumer

ANNOTATE = shutil.which("callgrind_annotate") or consumer.skip(
    "callgrind_annotate is not there; install it with: tools/consumers callgrind")
COST = r"([\d,]+|\.) *(?:\([^)]*\))?"
ROW = re.compile(rf"^ *{COST} +{COST} +[^ ]*?:(.*?)(?: \[[^\]]*\]*)?$")


def seconds(text):
    return 0 if text == "." else int(text.replace(",", "")) / 1e9


class OpenedByCallgrindAnnotate(consumer.Exports):
    def rows(self, *options):
        """Returns {function: (CPUTIME, REALTIME)}."""
        # It uses other names for files below its working folder.
        text = consumer.run([ANNOTATE, "--threshold=100", "--auto=no", *options, self.export("callgrind")], cwd="/").decode()
        result = {}
        for row in filter(None, map(ROW.match, text.splitlines())):
            self.assertNotIn(row[3], result, text)
            result[row[3]] = (seconds(row[1]), seconds(row[2]))
        return result, text

    def test_exclusive_and_inclusive_costs_of_both_clocks(self):
        for scope, option in ((1, "--inclusive=no"), (0, "--inclusive=yes")):
            rows, _ = self.rows(option)
            for place, metric in enumerate(("CPUTIME", "REALTIME")):
                # Threads are written as functions.
                seen = {name: row[place] for name, row in rows.items() if not name.startswith("thread ")}
                expected = {name: row[scope] for name, row in self.flat(metric).items()}
                self.assert_same_numbers(seen, expected, 1e-6, f"{option} {metric}")

    def test_threads_have_their_totals(self):
        rows, _ = self.rows("--inclusive=yes")
        self.assert_same_numbers({name[len("thread "):]: row[0] for name, row in rows.items() if name.startswith("thread ")},
                                 self.threads(), 1e-6, "CPUTIME of threads")

    def test_lines_have_their_costs(self):
        text = consumer.run([ANNOTATE, "--auto=yes", "--show=CPUTIME", self.export("callgrind")], cwd="/").decode()
        body = text[text.index("static inline uint64_t mix"):text.index("static void mix_for")]
        start = text.rindex("\n", 0, text.index("static inline uint64_t mix")) + 1
        body = text[start:start + len(body)]
        spent = sum(seconds(number) for number in re.findall(r"^ *([\d,]+) \(", body, re.MULTILINE))
        self.assertAlmostEqual(spent, self.flat("CPUTIME")["mix"][1], delta=1e-6, msg=body)


consumer.main()
