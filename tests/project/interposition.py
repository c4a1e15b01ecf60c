#!/usr/bin/env python3
"""hpcrun/interpose/names.txt lists the functions that prof's libraries interpose on, and in which order.

Both directions are checked against the exports of the libraries, and the order against the LD_PRELOAD of a run.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
BUILD = pathlib.Path(os.environ["PROF_BUILD"])
LIST = SOURCE / "hpcrun/interpose/names.txt"
OWN = "hpcrun"  # prefix of the names by which prof's libraries find each other


def read_list():
    """Returns the order of libraries, the chain of each name, and the names that some builds lack."""
    order, chains, optional, chain = [], {}, set(), None
    for line in LIST.read_text().splitlines():
        if line.startswith("order "):
            order = line.split()[1:]
        elif line.startswith(" "):
            chains.update({name: chain for name in line.split()})
            if is_optional:
                optional.update(line.split())
        elif line and not line.startswith("#"):
            heading, _, condition = line.partition(", if ")
            chain, is_optional = heading.split(" > "), bool(condition)
    return order, chains, optional


def file_of(library):
    return f"libprof-{library}.so"


def exported(library):
    if not (BUILD / "lib" / file_of(library)).exists():
        return set()
    listed = subprocess.run(["nm", "-D", "-P", "--defined-only", BUILD / "lib" / file_of(library)], check=True,
                            capture_output=True, text=True).stdout
    names = {line.split()[0].split("@")[0] for line in listed.splitlines()}
    return {name for name in names if not name.startswith(OWN)}


def preloaded():
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([BUILD / "bin/prof", "run", "-q", "--no-analyze", "-o", f"{folder}/run", "-e", "contention", "-e", "locks",
                              "--repair=isolate", "/bin/sh", "-c", "echo $LD_PRELOAD"],
                             check=True, capture_output=True, text=True)
    return [pathlib.Path(path).name for path in run.stdout.strip().split(":")]


def problems():
    order, chains, optional = read_list()
    for name, chain in sorted(chains.items()):
        if chain != sorted(chain, key=order.index):
            yield f"{name}: {' > '.join(chain)} is not the order in which libraries are preloaded"
    for library in order:
        listed = {name for name, chain in chains.items() if library in chain}
        found = exported(library)
        for name in sorted(found - listed):
            yield f"{file_of(library)} exports {name}, which {LIST.name} does not list there"
        for name in sorted(listed - found - optional):
            yield f"{LIST.name} lists {name} for {file_of(library)}, which does not export it"
    files = [file_of(library) for library in order]
    ours = [name for name in preloaded() if name in files]
    if ours != [name for name in files if name in ours]:
        yield f"a run preloads {' '.join(ours)}, in another order than {LIST.name} has"
    if len(ours) < 4:
        yield f"a run of everything preloads {' '.join(ours)} only"


def main():
    found = list(problems())
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
