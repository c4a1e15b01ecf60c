#!/usr/bin/env python3
"""inferno draws the report's numbers from a collapsed export."""

import collections
import re
import xml.etree.ElementTree

import consumer

FLAMEGRAPH = consumer.need(consumer.CONSUMERS / "inferno/bin/inferno-flamegraph", "inferno")
SVG = "{http://www.w3.org/2000/svg}"
START, WIDTH = (f"{{http://github.com/jonhoo/inferno}}{name}" for name in "xw")
TITLE = re.compile(r"(.*) \([\d,]+ samples, [\d.]+%\)", re.DOTALL)

Box = collections.namedtuple("Box", "row start width name")


class OpenedByInferno(consumer.Exports):
    def boxes(self, file):
        """Returns the drawn boxes, callers before callees, without the whole."""
        picture = xml.etree.ElementTree.fromstring(consumer.run([FLAMEGRAPH, "--minwidth=0", "--inverted", file]))
        boxes = []
        for group in picture.iter(f"{SVG}g"):
            title, drawn = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
            if title is not None and drawn is not None and drawn.get(WIDTH):
                boxes.append(Box(float(drawn.get("y")), int(drawn.get(START)), int(drawn.get(WIDTH)),
                                 TITLE.fullmatch(title.text)[1]))
        return sorted(boxes)[1:]

    def costs(self, file):
        """Returns {function: [inclusive, exclusive]} in seconds, with recursion counted once."""
        costs = collections.defaultdict(lambda: [0, 0])
        paths = {}  # of names, by the box at the end of the path
        for box in self.boxes(file):
            callers = [path for other, path in paths.items() if other.row < box.row
                       and other.start <= box.start < other.start + other.width]
            path = max(callers, key=len, default=())
            paths[box] = (*path, box.name)
            costs[box.name][1] += box.width / 1e6
            if path:
                costs[path[-1]][1] -= box.width / 1e6
            if box.name not in path:
                costs[box.name][0] += box.width / 1e6
        return costs

    def check(self, metric, *options):
        file = self.export("collapsed", f"--metric={metric}", *options)
        # Each line is rounded to whole microseconds.
        tolerance = 1e-6 * len(file.read_text().splitlines())
        costs = self.costs(file)
        for scope, what in ((0, "inclusive"), (1, "exclusive")):
            self.assert_same_numbers({name: row[scope] for name, row in costs.items()},
                                     {name: row[scope] for name, row in self.flat(metric, *options).items()}, tolerance,
                                     f"{what} {metric}")

    def test_costs_of_both_clocks(self):
        self.check("CPUTIME")
        self.check("REALTIME")

    def test_one_thread_alone(self):
        for thread in self.threads():
            self.check("CPUTIME", f"--thread={thread.split()[0]}")


consumer.main()
