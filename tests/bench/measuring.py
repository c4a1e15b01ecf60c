"""How the benchmarks measure: all ways of running a program are run in turns (A B C A B C ...), each run is charged the
CPU time of its whole process tree, and a figure is the median over the turns of a ratio within one turn."""

import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROF_BUILD", SOURCE / "build/release")).resolve()
PROF = BUILD / "bin/prof"
DEEP_CALLS = BUILD / "samples/deep_calls"
STATIC_DEEP_CALLS = BUILD / "tests/bench/static_deep_calls"
EMPTY_SIGTRAP = BUILD / "tests/bench/libempty_sigtrap.so"


class Cost:
    """The resources that a process and all processes that it waited for used."""

    def __init__(self, user_s, kernel_s, wall_s, max_rss_bytes):
        self.user_s = user_s
        self.cpu_s = user_s + kernel_s
        self.wall_s = wall_s
        self.max_rss_bytes = max_rss_bytes


def run(command, env=None):
    return run_side_by_side([(command, env, None)])[0]


def run_side_by_side(runs):
    """Runs commands that begin together, each with its environment and the processors that it may use (None: ours).
    Disturbances then affect all of them, so that their CPU times can be compared to a percent. One after the other they
    would differ by ten."""
    return [cost_of(*one) for one in [start(*run) for run in runs]]


def start(command, env, cpus):
    said = tempfile.TemporaryFile()
    process = subprocess.Popen([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                               preexec_fn=cpus and (lambda: os.sched_setaffinity(0, cpus)))
    return command, process, said, time.monotonic()


def cost_of(command, process, said, start_s):
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with said:
        if process.returncode != 0:
            said.seek(0)
            raise SystemExit(f"{command} ended with {process.returncode}:\n{said.read().decode(errors='replace')}")
    return Cost(usage.ru_utime, usage.ru_stime, time.monotonic() - start_s, usage.ru_maxrss * 1024)


class Scratch:
    """A folder for measurements, on a file system of the machine's disk."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="prof-bench-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def profiled(command, directory, event, *options):
    shutil.rmtree(directory, ignore_errors=True)
    return [PROF, "run", "-e", event, *options, "--no-analyze", "-o", directory, "--", *command]


def empty_handler(hz, count_file):
    return {**os.environ, "LD_PRELOAD": str(EMPTY_SIGTRAP), "EMPTY_SIGTRAP_HZ": str(hz),
            "EMPTY_SIGTRAP_COUNT": str(count_file)}


def samples_in(directory):
    done = subprocess.run([str(PROF), "report", str(directory), "--view=summary", "--format=json"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["sampling"]["samples"]


def spread(values, digits=2):
    """Returns the median and the range, for printing."""
    return f"{statistics.median(values):.{digits}f} (from {min(values):.{digits}f} to {max(values):.{digits}f})"


def median_between(values):
    """Returns a 95 % confidence interval of the true median, by ranks alone, for any distribution. Fewer than six
    values are not enough."""
    below, rank = 0.0, 0  # probability that at most this many of them lie below it
    while rank < len(values) and (below := below + math.comb(len(values), rank) / 2 ** len(values)) <= 0.025:
        rank += 1
    in_order = sorted(values)
    return (in_order[rank - 1], in_order[-rank]) if rank else (-math.inf, math.inf)
