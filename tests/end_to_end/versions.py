#!/usr/bin/env python3
"""`prof diff` finds the function that became slower between two builds of a program, and nothing between equal runs.

Chance: each function is sampled by a clock of CPU time, at 1 kHz: 60 ms have 59 to 61 samples. The function that takes twice the time is
10 standard errors away; adjusted p is about 1e-6 and needs to be below 0.01. Equal programs differ by 2 samples of 60 at most, and fail
the check at 10 %, six. Accepted: 0.01 a run, the p below which `prof diff` calls a difference significant, for the one comparison of
equal programs that are measured anew. Not less, because the test runs the script of the documentation, which has that limit; if
samples are neither lost nor merged it cannot fail."""

import json
import os
import pathlib
import re
import subprocess

import driver

# Each function takes a given amount of CPU time on any machine.
SOURCE = """#include <time.h>
volatile unsigned sink;
double now() { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
#define WORK(name) \\
  [[gnu::noinline]] void name(double s) { \\
    for (const double begin = now(); now() < begin + s;) { \\
      for (unsigned i = 0; i < 500000; ++i) sink = sink * 2654435761u + i; \\
    } \\
  }
WORK(parse)
WORK(hot)
WORK(print)
"""
BEFORE = SOURCE + "int main() { parse(0.06); hot(0.06); print(0.06); }\n"
# Other lines, other addresses, and twice the time in one function.
AFTER = "// A line more.\n" + SOURCE.replace("WORK(parse)\nWORK(hot)", "WORK(hot)\nWORK(parse)") + \
    "int main() { parse(0.06); hot(0.12); print(0.06); }\n"
RUNS = 3
SOURCE_TREE = pathlib.Path(os.environ.get("PROF_SOURCE", "."))


class Versions(driver.EndToEnd):
    def build_and_measure(self, name, source):
        (self.folder / "app.cpp").write_text(source)
        subprocess.run(["g++", "-O1", "-g", "-o", "app", "app.cpp"], cwd=self.folder, check=True, timeout=60)
        for turn in range(RUNS):
            run = self.prof_run(["./app"], directory=self.folder / f"{name}-{turn}", options=["-q"])
            self.assertEqual(run.status, 0, run.stderr)
        (self.folder / "app").rename(self.folder / f"app-{name}")
        return [f"{name}-{turn}" for turn in range(RUNS)]

    def check(self, *programs, **environment):
        """Runs check-regressions of docs/ci.md."""
        path = f"{driver.PROF.parent}:{os.environ['PATH']}"
        return subprocess.run(["./check-regressions", *programs], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120,
                              env={**os.environ, "PATH": path, "TURNS": "3", **environment})

    def diff(self, *arguments):
        return subprocess.run([str(driver.PROF), "diff", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)

    def test_versions(self):
        before = self.build_and_measure("before", BEFORE)
        after = self.build_and_measure("after", AFTER)
        sides = [",".join(before), ",".join(after)]

        done = self.diff(*sides, "--format=json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told = json.loads(done.stdout)
        worst = told["rows"][0]
        self.assertEqual(worst["frames"][0]["function"], "hot(double)")
        self.assertTrue(worst["significant"], worst)
        self.assertEqual(worst["presence"], "both")
        self.assertGreater(worst["exclusive"]["difference"], 0)

        done = self.diff("-q", "--before", *before, "--after", *after, "--fail-on-regress=10%")
        self.assertEqual(done.returncode, 3, done.stdout)
        lines = [line for line in done.stderr.splitlines() if "hot(double)" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^prof: regression: hot\(double\) \(app\.cpp:\d+\) \+\d+\.\d % "
                                   r"\(.+ -> .+, 3 runs per side, p [=<] [0-9.e-]+\)$")
        self.assertIn("regressions\n", done.stdout)

        # The script of the documentation, whose status is that of the CI job.
        script = re.search(r"<<'SCRIPT'\n(.*?)^SCRIPT$", (SOURCE_TREE / "docs/ci.md").read_text(), re.DOTALL | re.MULTILINE)
        (self.folder / "check-regressions").write_text(script.group(1))
        (self.folder / "check-regressions").chmod(0o755)
        done = self.check("./app-before", "./app-after", REGRESSION="10%")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("prof: regression: hot(double) (app.cpp:", done.stderr)
        done = self.check("./app-before", "./app-before", REGRESSION="10%")
        self.assertEqual((done.returncode, "regression" in done.stderr), (0, False), done.stderr)
        self.assertEqual(self.check("./app-before", "./no-such-program").returncode, 127)

        # hot moved to another line: the source was stored with each database.
        lines = json.loads(self.diff(*sides, "--by=line", "--format=json").stdout)
        worst = lines["rows"][0]
        self.assertEqual((worst["frames"][0]["line"], worst["presence"]),
                         (AFTER.splitlines().index("WORK(hot)") + 1, "both"))
        paths = json.loads(self.diff(*sides, "--by=path", "--format=json").stdout)
        self.assertEqual([frame["function"] for frame in paths["rows"][0]["frames"]][:2], ["hot(double)", "main"])

        # The same runs on both sides.
        done = self.diff("--before", *before, "--after", *before, "--fail-on-regress=0%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CPUTIME   the same, ", done.stdout)
        # A function that became faster is not a failure.
        self.assertEqual(self.diff(sides[1], sides[0], "--fail-on-regress=5%").returncode, 0)


driver.main()
