#!/usr/bin/env python3
"""Runs real programs bare and under `prof run` and compares: output, files left behind, exit status, and whether
samples have complete stacks. Prints one table; the status is 1 if a program was harmed."""

import argparse
import contextlib
import os
import pathlib
import shlex
import shutil
import sys
import tempfile

import build_tools
import harness
import interpreters
import parallel
import servers
import tools

PROGRAMS = [*build_tools.PROGRAMS, *interpreters.PROGRAMS, *parallel.PROGRAMS, *servers.PROGRAMS, *tools.PROGRAMS]
SKIPPED = 77
COLUMNS = ("program", "code", "samples", "complete", "no CFI", "partial", "broken", "most often", "processes",
           "threads", "bare", "measured", "result")
LAYOUT = "{:<23} {:<10} {:>8} {:>9} {:>7} {:>7} {:>7} {:<18} {:>9} {:>7} {:>7} {:>8}  {}"


def share(value):
    return "" if value is None else f"{100 * value:.2f} %"


def text(value):
    return "" if value is None else str(value)


def print_row(row):
    print(LAYOUT.format(row.name, row.kind, text(row.samples), share(row.complete), share(row.inferred),
                        share(row.partial), share(row.broken), row.reason, text(row.processes), text(row.threads),
                        f"{row.bare_s:.2f} s", f"{row.measured_s:.2f} s", " ".join(row.result.split())),
          f"({row.isolation})" if row.isolation else "", flush=True)


def named(names):
    known = {program.name: program for program in PROGRAMS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no such program in the list: {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[name] for name in names]


def chosen(options):
    programs = named(options.names) or PROGRAMS
    return [program for program in programs if program.quick or not options.quick]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs of the list; all of them by default")
    parser.add_argument("--quick", action="store_true", help="only the few that run with the other tests")
    parser.add_argument("--runs", type=int, default=1, help="how often each is compared")
    parser.add_argument("--with", dest="more", default="", metavar="OPTIONS",
                        help="for prof run, as in --with '-e contention'")
    parser.add_argument("--list", action="store_true", help="print the names and what each needs")
    parser.add_argument("--keep", metavar="DIR", help="leave inputs, output and measurements in this folder")
    options = parser.parse_args()
    programs = chosen(options)
    if options.list:
        for program in programs:
            print(f"{program.name:<24} {' '.join(program.needs)}")
        return 0
    with place(options.keep) as folder, long_chains():
        return run_all(programs, options.runs, folder, shlex.split(options.more))


@contextlib.contextmanager
def place(keep=None):
    """A folder for files to compare, or the one to keep."""
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="prof-programs-")).resolve()
    folder.mkdir(exist_ok=True)
    folder.chmod(harness.WORLD)
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def long_chains():
    """As the report recommends for programs with kernel call chains: Go's compiler recurses deeper."""
    setting = pathlib.Path("/proc/sys/kernel/perf_event_max_stack")
    try:
        before = setting.read_text()
        setting.write_text("1024")
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            setting.write_text(before)


def examine(program, folder, options):
    return harness.examine(program, folder / program.name.replace(" ", "-"), options)


def run_all(programs, runs, folder, options):
    harmed, absent, compared = set(), set(), set()
    print(LAYOUT.format(*COLUMNS))
    for turn in range(runs):
        for program in programs:
            if needed := harness.missing(program):
                absent.add(f"{program.name} ({', '.join(needed)})")
                continue
            row = examine(program, folder, options)
            print_row(row)
            compared.add(program.name)
            if row.result != "ok":
                harmed.add(f"{program.name} in run {turn + 1}")
    print(f"{len(compared) - len({name.rsplit(' in run', 1)[0] for name in harmed})} of {len(compared)} programs "
          f"unharmed in {runs} run{'s' if runs > 1 else ''} each")
    for what, names in (("harmed", harmed), ("not here, hence not run", absent)):
        if names:
            print(f"{what}: {'; '.join(sorted(names))}")
    if harmed:
        return 1
    return 0 if compared else SKIPPED


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
