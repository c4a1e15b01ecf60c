#!/usr/bin/env python3
"""Every #include follows an arrow of docs/architecture.md: a room includes itself and the rooms its row names.

Run without arguments it checks the source tree, then checks itself: each forbidden include planted in a copy
of the tree's headers must be found.
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile

# room -> what it may include: rooms, or single headers of a room
ARROWS = {
    "hpcrun/guest": [],
    "hpcrun/measurement": ["hpcrun/guest"],
    "hpcrun/model": [],
    "hpcrun/memory": ["hpcrun/guest", "hpcrun/model", "hpcrun/measurement", "hpcrun/unwind", "hpcrun/cct", "hpcrun/sample",
                      "repair/isolate/contract/interface.h", "repair/layout"],
    "hpcrun/memory/preload": ["hpcrun/memory/heap_hooks.h"],
    "hpcrun/unwind": ["hpcrun/guest", "hpcrun/model"],
    "hpcrun/cct": ["hpcrun/guest", "hpcrun/measurement", "hpcrun/unwind/frame.h"],
    "hpcrun/sample": ["hpcrun/guest", "hpcrun/measurement", "hpcrun/unwind", "hpcrun/cct"],
    "hpcrun/device": ["hpcrun/guest", "hpcrun/measurement", "hpcrun/unwind", "hpcrun/cct", "hpcrun/model",
                      "hpcrun/sample"],
    "hpcrun/device/opencl": ["hpcrun/guest", "hpcrun/device/engine.h", "hpcrun/device/device_clock.h"],
    "hpcrun/device/cuda": ["hpcrun/guest", "hpcrun/device/engine.h", "hpcrun/device/device_clock.h"],
    "hpcrun/sync": ["hpcrun/guest", "hpcrun/measurement", "hpcrun/unwind", "hpcrun/cct", "hpcrun/sample",
                    "hpcrun/memory/contended_lines.h", "hpcrun/memory/heap.h", "hpcrun/memory/isolating.h"],
    "hpcrun/sync/preload": ["hpcrun/guest", "hpcrun/sync/interface.h", "repair/locks"],
    "repair/isolate/contract": ["hpcrun/measurement/why_shared.h"],
    "repair/isolate/session": ["hpcrun/guest", "repair/isolate/contract"],
    "repair/isolate/memory": ["hpcrun/guest", "repair/isolate/contract", "repair/isolate/session"],
    "repair/isolate/pages": ["hpcrun/guest", "repair/isolate/contract"],
    "repair/isolate/atomics": ["hpcrun/guest", "hpcrun/model", "repair/isolate/contract", "repair/isolate/memory", "repair/isolate/pages",
                               "repair/isolate/pass"],
    "repair/isolate/controller": ["hpcrun/guest", "hpcrun/model", "repair/isolate/contract", "repair/isolate/session", "repair/isolate/memory",
                                  "repair/isolate/pages", "repair/isolate/atomics"],
    "repair/isolate/preload": ["hpcrun/guest", "hpcrun/sample/config.h", "repair/isolate"],
    "repair/isolate/pass": [],
    "repair/locks": ["hpcrun/guest", "hpcrun/memory/contended_lines.h", "hpcrun/sync/interface.h", "hpcrun/sync/shadow_lock.h"],
    "hpcrun/mpi": ["hpcrun/guest"],
    "hpcrun/process": ["hpcrun/guest", "hpcrun/mpi/rank.h", "hpcrun/measurement", "hpcrun/unwind", "hpcrun/cct", "hpcrun/sample",
                       "hpcrun/device", "hpcrun/memory", "hpcrun/sync"],
    "repair/layout": ["hpcrun/measurement", "hpcrun/model", "hpcrun/unwind/frame.h"],
    "analysis": ["hpcrun/guest/cut_mapping.h", "hpcrun/measurement", "hpcrun/model", "hpcrun/unwind/frame.h"],
    # What prof tells the runtime (config.h), and the same way to open events when it probes the machine.
    "viewer": ["analysis", "hpcrun/model"],
    "viewer/trace": ["analysis"],
    "viewer/options": [],
    "prof": ["analysis", "viewer/options", "hpcrun/guest/program_file.h", "hpcrun/measurement", "hpcrun/model",
             "hpcrun/sample/config.h", "hpcrun/sample/perf_event.h", "repair/isolate/pass/regions.h"],
    # Does for a program from outside what the runtime does inside: with the same tables, tree and file.
    "prof/external_sampler": ["analysis/attribution/elf_section.h", "hpcrun/guest", "hpcrun/measurement", "hpcrun/cct",
                     "hpcrun/unwind", "hpcrun/sample/config.h", "prof/base/message.h"],
    "samples": [],
    "tests": ["hpcrun", "repair", "analysis", "viewer", "prof", "samples"],
}

# What must be found when it is planted: (file, line to add)
FORBIDDEN = [
    ("hpcrun/guest/planted.h", '#include "hpcrun/unwind/frame.h"'),
    ("hpcrun/cct/planted.h", '#include "hpcrun/unwind/unwinder.h"'),
    ("hpcrun/sample/planted.cpp", '#include "hpcrun/process/start.h"'),
    ("hpcrun/sample/planted.h", '#include "hpcrun/device/engine.h"'),
    ("hpcrun/device/opencl/planted.h", '#include "hpcrun/sample/state.h"'),
    ("hpcrun/device/cuda/planted.h", '#include "hpcrun/device/opencl/queues.h"'),
    ("hpcrun/mpi/planted.h", '#include "hpcrun/sample/state.h"'),
    ("hpcrun/sync/preload/planted.h", '#include "hpcrun/sample/state.h"'),
    ("repair/isolate/controller/planted.cpp", '#include "hpcrun/process/start.h"'),
    ("repair/isolate/session/planted.cpp", '#include "repair/isolate/memory/common_memory.h"'),
    ("repair/isolate/pass/planted.cpp", '#include "repair/isolate/pages/own_pages.h"'),
    ("repair/locks/planted.cpp", '#include "hpcrun/sample/state.h"'),
    ("hpcrun/model/planted.h", '#include "hpcrun/guest/clock.h"'),
    ("hpcrun/memory/preload/planted.h", '#include "hpcrun/memory/heap.h"'),
    ("repair/layout/planted.h", '#include "hpcrun/memory/heap.h"'),
    ("hpcrun/unwind/planted.cpp", '#  include <hpcrun/cct/cct.h>'),
    ("analysis/database/planted.h", '#include "../../hpcrun/unwind/unwinder.h"'),
    ("prof/planted.cpp", '#include "hpcrun/process/start.h"'),
    ("prof/planted.h", '#include "hpcrun/sample/handler.h"'),
    ("prof/external_sampler/planted.h", '#include "hpcrun/sample/state.h"'),
    ("analysis/planted.h", '#include "prof/planted.cpp"'),
    ("viewer/trace/planted.h", '#include "viewer/document/document.h"'),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".S"}


def room_of(path):
    """The longest row of the table that the path lies in, or None."""
    rooms = [room for room in ARROWS if path.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def allowed(room, target):
    if target.startswith(room + "/"):
        return True
    return any(target == arrow or target.startswith(arrow + "/") for arrow in ARROWS[room])


def resolve(root, source, name):
    """The included file relative to the root, or None for one that is not the project's."""
    for base in (source.parent, root):
        candidate = pathlib.Path(os.path.normpath(base / name))
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def project_files(root):
    for top in sorted({room.split("/")[0] for room in ARROWS}):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def violations(root):
    found = []
    for path in project_files(root):
        relative = path.relative_to(root).as_posix()
        room = room_of(relative)
        if room is None:
            found.append(f"{relative}: lies in no room of the table")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            target = resolve(root, path, match.group(1)) if match else None
            if target and not allowed(room, target):
                found.append(f"{relative}:{number}: {room} must not include {target}")
    return found


def unfound_plants(root):
    """The forbidden includes that violations() overlooks."""
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory).resolve()
        for path in project_files(root):
            target = copy / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        for name, line in FORBIDDEN:
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(line + "\n")
        found = "\n".join(violations(copy))
        return [name for name, _ in FORBIDDEN if f"{name}:1:" not in found]


def main():
    root = pathlib.Path(os.environ["PROF_SOURCE"]).resolve()
    found = violations(root)
    for line in found:
        print(line)
    unfound = unfound_plants(root)
    for name in unfound:
        print(f"the check overlooked the forbidden include planted in {name}")
    print(f"{len(list(project_files(root)))} files, {len(found)} forbidden includes")
    return 1 if found or unfound else 0


if __name__ == "__main__":
    sys.exit(main())
