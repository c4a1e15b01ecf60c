"""For tests that open our exports with the programs they are made for: the measured run, its numbers from the report,
and the programs' paths. If a program is not installed, its test is skipped with the command that installs it.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import measured_trace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
import driver  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CONSUMERS = SOURCE / "build/consumers"
NODE = CONSUMERS / "npm/node_modules/node/bin/node"
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need(path, name):
    """Returns the path of a consumer, or skips the test."""
    if not pathlib.Path(path).exists():
        skip(f"{path} is not there; install it with: tools/consumers {name}")
    return str(path)


def browser(case):
    """Returns the path of a headless Chromium. If there is none, only the test of the page is skipped."""
    path = shutil.which("chromium-headless-shell")
    if not path or not (CONSUMERS / "npm").exists():
        case.skipTest("a headless Chromium is not there; install it with: tools/consumers browser npm")
    return path


def run(command, **options):
    """Returns the standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout.decode(errors='replace')[-2000:]}\n"
                             f"{done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


class Exports(driver.EndToEnd):
    """A run of a program with threads, inlined calls and two clocks, shared by all tests of a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("a_run")
        case.setUp()
        cls.folder_of_class = case.folder
        cls.addClassCleanup(case.doCleanups)
        cls.measured = case.prof_run([driver.program("exported")], events=["CPUTIME@1000", "REALTIME@200"],
                                options=["--trace"])
        assert cls.measured.status == 0, cls.measured.stderr

    def a_run(self):
        """Exists only to make the run."""

    def export(self, format, *options, name=None):
        path = self.folder_of_class / (name or f"export.{format}")
        run([driver.PROF, "export", self.measured.directory, f"--format={format}", "-o", path, *options])
        return path

    def flat(self, metric, *options):
        """Returns {function: (inclusive, exclusive)} from the report, and the entry points, which flat omits."""
        rows = self.measured.report("flat", f"--metric={metric}", *options)["rows"]
        rows += self.measured.report("top-down", f"--metric={metric}", "--depth=1", *options)["rows"]
        result = {}
        for row in rows:
            value = row["values"][metric]
            inclusive, exclusive = result.get(row["function"], (0, 0))
            result[row["function"]] = (inclusive + value["inclusive"], exclusive + value["exclusive"])
        return result

    def measured_stretches(self):
        """Returns {thread: [(begin, whether something ran)]} from the file that the measured process wrote."""
        file, = self.measured.directory.glob("*.prof")
        return measured_trace.stretches(file)

    def measured_sample_times(self):
        return sorted(begin for stretches in self.measured_stretches().values() for begin, ran in stretches if ran)

    def threads(self):
        """Returns {thread as reports and exports name it: its seconds of CPU time}."""
        profiles = json.loads((self.measured.directory / "database/run.json").read_text())["profiles"]
        result = {}
        for profile in profiles:
            label = f"{profile['process']}.{profile['thread']}"
            totals = self.measured.report("top-down", f"--thread={label}", "--metric=CPUTIME")["totals"]
            result[f"{label} {profile['name']}"] = totals["CPUTIME"]
        return result

    def assert_same_numbers(self, seen, expected, tolerance, what):
        """Compares two {function: number}: they must have the same functions, and numbers that differ only by rounding
        to whole units."""
        expected = {name: value for name, value in expected.items() if value > tolerance}
        for name, value in expected.items():
            self.assertIn(name, seen, what)
            self.assertAlmostEqual(seen[name], value, delta=tolerance, msg=f"{what} of {name}")
        unknown = {name: value for name, value in seen.items() if name not in expected and value > tolerance}
        self.assertEqual(unknown, {}, what)


main = driver.main
