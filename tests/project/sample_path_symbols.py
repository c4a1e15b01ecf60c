#!/usr/bin/env python3
"""The code that runs inside signal handlers calls only what sample_path_allowlist.txt allows.

Lists the undefined symbols of the sample path's static library that the library does not define itself. Each must be on
the list, with its reason. Code that runs before the C library is initialized calls nothing at all.
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def undefined_symbols(archive):
    listing = subprocess.run(["nm", "--no-sort", str(archive)], check=True, capture_output=True, text=True).stdout
    defined, undefined = set(), {}
    member = ""
    for line in listing.splitlines():
        if line.endswith(":"):
            member = line[:-1]
            continue
        fields = line.split()
        if len(fields) == 2 and fields[0] in "Uwv":
            undefined.setdefault(fields[1], set()).add(member)
        elif len(fields) == 3 and fields[1] not in "Uwv":
            defined.add(fields[2])
    return {name: members for name, members in undefined.items() if name not in defined}


def read_allowlist(path):
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition(" ")
        if not reason.strip():
            sys.exit(f"{path.name}:{number}: {name} has no reason")
        allowed[name] = reason.strip()
    return allowed


def main():
    archive = pathlib.Path(os.environ["PROF_BUILD"]) / "archive/libhpcrun_sample_path.a"
    allowlist = pathlib.Path(os.environ["PROF_SOURCE"]) / "tests/project/sample_path_allowlist.txt"
    used = undefined_symbols(archive)
    allowed = read_allowlist(allowlist)
    failures = [f"{name} is used by {', '.join(sorted(members))} and not allowed in a handler"
                for name, members in sorted(used.items()) if name not in allowed]
    # The check must be able to fail: an archive of code that calls malloc must be detected.
    with tempfile.TemporaryDirectory() as folder:
        planted = f"{folder}/planted.o"
        subprocess.run(["gcc", "-x", "c", "-c", "-o", planted, "-"], text=True, check=True,
                       input="extern void* malloc(unsigned long); void* f(void) { return malloc(1); }")
        if "malloc" not in undefined_symbols(planted) or "malloc" in allowed:
            failures.append("a planted call of malloc was overlooked")
    early, = (pathlib.Path(os.environ["PROF_BUILD"]) / "hpcrun/process").rglob("sanitized_start.cpp.o")
    variables = {"_GLOBAL_OFFSET_TABLE_", "__libc_stack_end", "environ"}
    failures += [f"{name} is used by sanitized_start.cpp, before the C library is initialized"
                 for name in sorted(undefined_symbols(early).keys() - variables)]
    for failure in failures:
        print(failure)
    print(f"{len(used)} symbols from outside, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
