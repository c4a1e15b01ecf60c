#!/usr/bin/env python3
"""Every #include follows an arrow of the table of rooms in docs/architecture.md, and the table has no other arrows.

A room includes itself and what its row names: rooms, or single headers. Rows go from the ground up; an arrow to a
later row says "(upwards: ...)". Run without arguments it checks the source tree, then checks itself: each forbidden
include planted in a copy of the tree, and each fault planted in the table, must be found. --rows prints for every
folder what it includes, to write a row from.
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile

PAGE = "docs/architecture.md"
HEADING = "## The rooms"

# Must be found if planted: (file, line to add)
FORBIDDEN = [
    ("hpcrun/elf/planted.h", '#include "hpcrun/guest/syscalls.h"'),
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
    ("hpcrun/heap/preload/planted.h", '#include "hpcrun/heap/heap.h"'),
    ("hpcrun/heap/planted.h", '#include "repair/layout/placing.h"'),
    ("hpcrun/contention/planted.h", '#include "repair/isolate/runtime/isolating.h"'),
    ("hpcrun/heap/planted.cpp", '#include "hpcrun/contention/observer.h"'),
    ("hpcrun/process/planted.cpp", '#include "repair/layout/placing.h"'),
    ("hpcrun/unwind/planted.cpp", '#  include <hpcrun/cct/cct.h>'),
    ("analysis/database/planted.h", '#include "../../hpcrun/unwind/unwinder.h"'),
    ("analysis/attribution/planted.h", '#include "analysis/database/model.h"'),
    ("analysis/pipeline/planted.cpp", '#include "analysis/findings/finding.h"'),
    ("analysis/run/planted.h", '#include "analysis/database/model.h"'),
    ("prof/run/planted.cpp", '#include "hpcrun/process/start.h"'),
    ("prof/launch/planted.h", '#include "hpcrun/sample/handler.h"'),
    ("prof/base/planted.h", '#include "prof/launch/launch.h"'),
    ("prof/launch/planted.cpp", '#include "prof/doctor/machine.h"'),
    ("prof/report/planted.h", '#include "prof/export/formats.h"'),
    ("prof/external_sampler/planted.h", '#include "hpcrun/sample/state.h"'),
    ("analysis/views/tree/planted.h", '#include "prof/base/message.h"'),
    ("analysis/views/tree/planted.cpp", '#include "analysis/views/run/run_summary.h"'),
    ("analysis/views/run/planted.h", '#include "analysis/findings/finding.h"'),
    ("viewer/trace/planted.h", '#include "viewer/document/document.h"'),
]

# The one file of the runtime that includes repairs; libraries of their own may, as their rows say.
COMPOSING_FILE = "hpcrun/process/kinds.cpp"

# Must be found when it is planted in the page: (text, its replacement, beginning of the complaint)
FAULTY_ROWS = [
    ("| `prof/base` |", "| `prof/basis` |", "prof/base/"),
    ("| `hpcrun/guest` |", "| `hpcrun/guest/` |", "hpcrun/guest/"),
    ("lists in words | – |", "lists in words | `analysis/views/tree` |", "analysis/words -> analysis/views/tree runs upwards"),
    ("| `hpcrun/elf`, `hpcrun/guest`, `hpcrun/model` |", "| `hpcrun/elf`, `hpcrun/guest`, `hpcrun/model`, `hpcrun/cct` |", "hpcrun/unwind -> hpcrun/cct"),
    ("| `hpcrun/elf`, `hpcrun/guest`, `hpcrun/model` |", "| as above |", "hpcrun/unwind: the cell of its includes"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
ARROW = re.compile(r"`([^`]+)`|\(([^()]*)\)")
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".S"}


class Table:
    """The rows of the page, in their order: self.arrows is {room: {target: explanation}}."""

    def __init__(self, page):
        self.arrows = {}
        self.faults = []
        section = page.split(f"\n{HEADING}\n", 1)[1].split("\n## ", 1)[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| `") and len(cells) == 3:
                room = cells[0].strip("`")
                self.arrows[room] = self.read_cell(room, cells[2])

    def read_cell(self, room, cell):
        targets, last = {}, None
        for match in ARROW.finditer(cell):
            if match.group(1):
                last = match.group(1)
                targets[last] = ""
            elif last:
                targets[last] = match.group(2)
        if ARROW.sub("", cell).strip(" ,–"):
            self.faults.append(f"{room}: the cell of its includes has more than names in `` and explanations in (): {cell}")
        return targets

    def room_of(self, path):
        """Returns the longest row that the path is in, or None."""
        return max((room for room in self.arrows if path.startswith(room + "/")), key=len, default=None)

    def arrow_to(self, room, target):
        """Returns the arrow of the room that leads to the file, or None."""
        for arrow in self.arrows[room]:
            if target == arrow or target.startswith(arrow + "/"):
                return arrow
        return None

    def upward_arrows(self):
        """Returns arrows to a room in a later row that do not say so."""
        order = {room: number for number, room in enumerate(self.arrows)}
        for room, targets in self.arrows.items():
            for target, explanation in targets.items():
                place = order.get(target, order.get(self.room_of(target), -1))
                if place > order[room] and not explanation.startswith("upwards"):
                    yield f"{room} -> {target} runs upwards: move the row, or say why in (upwards: ...)"


def resolve(root, source, name):
    """Returns the included file relative to the root, or None if it does not belong to the project."""
    for base in (source.parent, root):
        candidate = pathlib.Path(os.path.normpath(base / name))
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def project_files(root):
    for top in ("analysis", "hpcrun", "prof", "repair", "samples", "tests", "viewer"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def includes(root):
    """Returns (file, line number, included file) of all includes of the project's own files; line 0 for none."""
    for path in project_files(root):
        relative = path.relative_to(root).as_posix()
        yield relative, 0, None
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            target = resolve(root, path, match.group(1)) if match else None
            if target:
                yield relative, number, target


def is_room_of_its_own(room, path):
    """Returns whether a folder is a room. In tests and samples folders mirror other rooms; elsewhere a folder is a
    room."""
    return room in ("tests", "samples") or os.path.dirname(path) == room


def faults(found_includes, page):
    table = Table(page)
    found = table.faults + list(table.upward_arrows())
    taken = set()
    for file, number, target in found_includes:
        room = table.room_of(file)
        if number == 0:
            if room is None or not is_room_of_its_own(room, file):
                found.append(f"{file}: its folder has no row in {PAGE}")
            continue
        if room is None or table.room_of(target) == room:
            continue
        if room == os.path.dirname(COMPOSING_FILE) and target.startswith("repair/") and file != COMPOSING_FILE:
            found.append(f"{file}:{number}: only {COMPOSING_FILE} may include {target}")
        arrow = table.arrow_to(room, target)
        taken.add((room, arrow))
        if arrow is None:
            found.append(f"{file}:{number}: {room} must not include {target}")
    for room, targets in table.arrows.items():
        found += [f"{room} -> {target}: no include takes this arrow; delete it" for target in targets
                  if (room, target) not in taken]
    return found


def unfound_plants(root, page):
    """Returns the forbidden includes that faults() overlooks."""
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
        found = "\n".join(faults(list(includes(copy)), page))
        return [f"the forbidden include in {name}" for name, _ in FORBIDDEN if f"{name}:1:" not in found]


def unfound_rows(found_includes, page):
    """Returns the faults of the table that faults() overlooks."""
    return [f"{after} in place of {before}" for before, after, complaint in FAULTY_ROWS
            if not any(line.startswith(complaint) for line in faults(found_includes, page.replace(before, after, 1)))]


def print_rows(found_includes):
    rows = {}
    for file, number, target in found_includes:
        row = rows.setdefault(os.path.dirname(file), {})
        if number and os.path.dirname(target) != os.path.dirname(file):
            row.setdefault(os.path.dirname(target), set()).add(os.path.basename(target))
    for folder, targets in sorted(rows.items()):
        print(f"{folder}: " + ", ".join(f"{target} ({', '.join(sorted(names))})" for target, names in sorted(targets.items())))


def main():
    root = pathlib.Path(os.environ.get("PROF_SOURCE", ".")).resolve()
    found_includes = list(includes(root))
    if "--rows" in sys.argv:
        print_rows(found_includes)
        return 0
    page = (root / PAGE).read_text()
    found = faults(found_includes, page)
    for line in found:
        print(line)
    overlooked = unfound_plants(root, page) + unfound_rows(found_includes, page)
    for plant in overlooked:
        print(f"the check overlooked {plant}")
    print(f"{len(list(project_files(root)))} files, {len(Table(page).arrows)} rooms, {len(found)} faults")
    return 1 if found or overlooked else 0


if __name__ == "__main__":
    sys.exit(main())
