"""Measures wasted stores and loads with prof, and reads the reports."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measuring import PROF, profiled  # noqa: E402

from programs import PROGRAMS  # noqa: E402
from sources import Built, Missing  # noqa: E402

KINDS = {"dead-store": "dead_share", "silent-store": "silent_share", "redundant-load": "redundant_share"}
PATCHES = {"bzip2": "bzip2.patch", "hmmer2": "hmmer2.patch"}


def chosen(names):
    """Yields the built programs with these names, or all. Prints why others are left out."""
    unknown = set(names) - {program.name for program in PROGRAMS}
    if unknown:
        raise SystemExit(f"no such program: {', '.join(sorted(unknown))}; use {', '.join(program.name for program in PROGRAMS)}")
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        try:
            yield Built(program)
        except Missing as reason:
            print(f"  {program.name:<8} left out: {reason}", flush=True)


def sampled(command, directory, rate=100):
    return profiled(command, directory, f"memory-waste@{rate}")


def exact(command, directory, *options):
    return [PROF, "exact", *(options or ("--dead-stores", "--silent-stores", "--redundant-loads")), "-o", directory, "--", *command]


def report(directory):
    done = subprocess.run([str(PROF), "report", str(directory), "--view=memory-waste", "--format=json"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def shares(report):
    """Returns the share of each kind with its interval, in percent."""
    return {kind: [100 * report["totals"][name][part] for part in ("value", "low", "high")]
            for kind, name in KINDS.items() if report["totals"].get(name)}


def site(context):
    """Returns the instruction's place as precisely as both modes give it."""
    leaf = context["frames"][0]
    place = leaf.get("line") or leaf.get("offset")
    return f"{leaf['function'].split('(')[0]}:{place}"


def pairs(report, kind):
    """Returns the bytes of each pair of places, in percent of the wasted bytes of this kind, the most first."""
    found = {}
    for pair in report["pairs"]:
        if pair["kind"] == kind:
            key = tuple(site(context) for context in pair["contexts"])
            found[key] = found.get(key, 0) + pair["bytes"]
    whole = sum(found.values()) or 1
    return {key: 100 * found[key] / whole for key in sorted(found, key=found.get, reverse=True)}


def predicted_saving(report, cpu_s):
    """Returns the largest bound of a finding as a share of the run's CPU time; None without one. Findings at one line share it."""
    bounds = [finding["saving"]["high_s"] for finding in report["findings"] if finding.get("saving")]
    return max(bounds) / cpu_s if bounds else None
