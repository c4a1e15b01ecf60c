"""Runs the `prof` command for the end-to-end tests and reads its reports. It depends only on prof's command line and
the JSON of docs/json.md."""

import atexit
import functools
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("PROF_BUILD", "build/release")).resolve()
PROF = BUILD / "bin/prof"
PROGRAMS = BUILD / "tests/programs"
SAMPLES = BUILD / "samples"
NOBODY = 65534
# Runs of a program until its threads are seen to contend. If both processors are the program's, a run of a contended sample misses it
# with a probability below 2.2 % (95 % confidence: 0 of 140 runs, docs/performance.md), and six in a row do with less than 1e-9. For
# programs whose misses were not counted it is 1e-6 if fewer than one run in ten misses.
ATTEMPTS = 6
DEVIATIONS = 5  # beyond which 6e-7 of a normal distribution lies


def listed(items, part):
    """Returns the whole list under `tools/test --long`, else one of `part` of its items."""
    return list(items)[::1 if "PROF_LONG" in os.environ else part]


def attempts(most=ATTEMPTS):
    """Yields the numbers of attempts. Prints all but the first, so that the logs show how often a run misses."""
    for number in range(1, most + 1):
        if number > 1:
            print(f"attempt {number} of {most}", flush=True)
        yield number


def margin(share, samples, most):
    """Returns how far a share of that many samples may be from the true one: DEVIATIONS standard deviations, and at most `most`."""
    return min(most, DEVIATIONS * math.sqrt(share * (1 - share) / samples))


def program(name):
    return str(PROGRAMS / name)


def sample(name):
    return str(SAMPLES / name)


def lack_of_mpi():
    """Returns the reason why MPI programs cannot run here; empty if they can."""
    if not shutil.which("mpirun"):
        return "there is no mpirun (Debian: openmpi-bin)"
    if not (PROGRAMS / "mpi_ranks").exists():
        return "prof was built where there was no MPI (Debian: libopenmpi-dev)"
    return ""


BECOME_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


@functools.cache
def build_for_nobody():
    """Returns the build, or a copy of what tests run from it if an ordinary user may not enter its folder (a clone in
    /root)."""
    if subprocess.run([*BECOME_NOBODY, "test", "-x", str(PROF)]).returncode == 0:
        return BUILD
    copy = pathlib.Path(tempfile.mkdtemp(prefix="prof-build-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for part in ("bin", "lib", "samples", "tests/programs"):
        shutil.copytree(BUILD / part, copy / part)
    return copy


def as_nobody(command):
    """Returns the command as an ordinary user runs it."""
    inside = f"{BUILD}/"
    return BECOME_NOBODY + [str(build_for_nobody() / word[len(inside):]) if word.startswith(inside) else word
                            for word in command]


class Run:
    """The result of one `prof run`: status as the shell reports it, output, and the measurement directory."""

    def __init__(self, done, directory):
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr
        self.directory = directory

    def report(self, view, *options):
        command = [str(PROF), "report", str(self.directory), f"--view={view}", "--format=json", "--threshold=0",
                   *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"{command} failed:\n{done.stderr.decode()}\nafter a run that said:\n"
                                 f"{self.stderr.decode(errors='replace')}")
        return json.loads(done.stdout)

    def summary(self):
        return self.report("summary")

    def all_stated(self, name):
        """Returns the numbers that the program's processes printed on standard error after `name`."""
        lines = [line.split() for line in self.stderr.decode(errors="replace").splitlines()]
        return [float(words[1]) for words in lines if len(words) == 2 and words[0] == name]

    def stated(self, name):
        """Returns the first of them."""
        for number in self.all_stated(name):
            return number
        raise AssertionError(f"the program did not state {name}:\n{self.stderr.decode(errors='replace')}")

    def samples(self):
        return self.summary()["sampling"]["samples"]

    def total(self, metric):
        """Returns the run's total of a metric: the sum over the top-level rows."""
        rows = self.report("top-down")["rows"]
        return sum(row["values"].get(metric, {}).get("inclusive", 0) for row in rows if row["depth"] == 0)

    def inclusive(self, function, metric):
        """Returns the cost of a function and its callees: the flat row whose name begins like this."""
        rows = self.report("flat")["rows"]
        return sum(row["values"].get(metric, {}).get("inclusive", 0)
                   for row in rows if names(row["function"], function))


def names(shown, function):
    """True if `shown` is that function, with or without its parameters."""
    return shown == function or shown.startswith(function + "(")


class EndToEnd(unittest.TestCase):
    """A test case with a separate folder, to which an ordinary user may write as well."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prof-test-"))
        self.folder.chmod(0o777)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runs = 0

    def prof_run(self, command, *, events=(), options=(), directory=None, wrap=lambda c: c, timeout=100,
                 cwd=None, env=None, stdin=subprocess.DEVNULL, prof=PROF):
        """Runs prof run -e EVENT... -o DIR -- command under `wrap` (another user, another limit)."""
        self.runs += 1
        directory = directory or self.folder / f"run{self.runs}"
        whole = [str(prof), "run"]
        for event in events:
            whole += ["-e", event]
        whole += [*options, "-o", str(directory), "--", *command]
        done = subprocess.run(wrap(whole), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout, cwd=cwd or self.folder, env=env)
        return Run(done, directory)

    def plain_run(self, command, **options):
        return subprocess.run(command, stdin=options.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=options.pop("cwd", self.folder), **options)

    def output_of(self, command):
        """Returns the output of a program whose threads contend, and which prints the same each time. It comes from the
        fixed version if there is one, else from a run on one processor, on which threads cannot contend. Both are
        faster."""
        program, *arguments = map(str, command)
        if os.access(f"{program}_fixed", os.X_OK):
            run = self.plain_run([f"{program}_fixed", *arguments])
        else:
            run = self.plain_run(["taskset", "--cpu-list", str(min(os.sched_getaffinity(0))), program, *arguments])
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def report_of_killed(self, command, view, env=None):
        """Kills a program that prints "launched" once a device has its kernel, and returns the report."""
        directory = self.folder / "killed"
        prof = subprocess.Popen([str(PROF), "run", "-q", "--no-analyze", "-o", str(directory), "--", *command],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        self.assertEqual(b"launched\n", prof.stdout.readline())
        children = pathlib.Path(f"/proc/{prof.pid}/task/{prof.pid}/children").read_text().split()
        self.assertEqual(1, len(children))
        os.kill(int(children[0]), signal.SIGKILL)
        self.assertEqual(128 + signal.SIGKILL, prof.wait(timeout=60))
        prof.stdout.close()
        report = subprocess.run([str(PROF), "report", str(directory), f"--view={view}"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(0, report.returncode, report.stderr)
        return report.stdout

    def assert_within(self, value, low, high, what):
        self.assertTrue(low <= value <= high, f"{what} is {value}, not within [{low}, {high}]")


def main():
    unittest.main(verbosity=2)
