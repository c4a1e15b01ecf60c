"""Writes repair plans (hpcrun/measurement/repair_plan.h) for tests and benchmarks, from the code of programs."""

import re
import struct
import subprocess

PLACE, GLOBAL_LOCKS = 1, 3
MODULE = struct.Struct("<B64s1024s")
HEADER, ENTRY, FRAME = struct.Struct("<8sIIII"), struct.Struct("<IIIIIIQQ"), struct.Struct("<IIQ")


def call_of(library, function, callee):
    """Returns the offset of the function's frame as it makes the call."""
    code = subprocess.run(["objdump", "-d", f"--disassemble={function}", library], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    lines = [line for line in code.splitlines() if re.match(r"\s+[0-9a-f]+:\t", line)]
    for line, after in zip(lines, lines[1:]):
        if re.search(rf"\bcall\b.*<{callee}@plt>", line):
            return int(after.split(":")[0], 16) - 1
    raise AssertionError(f"{function} does not call {callee}:\n{code}")


def build_id(library):
    notes = subprocess.run(["readelf", "-n", library], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True).stdout
    return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))


def standard_library(program):
    shown = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"libstdc\+\+\.so\.6 => (\S+)", shown).group(1)


def plan(entries, modules):
    """Returns a plan. Each entry has (module, offset) of its frames, innermost first, the placement, and minimum and
    maximum bytes."""
    data = HEADER.pack(b"profplan", len(entries), sum(len(frames) for frames, *_ in entries), len(modules), 0)
    first = 0
    for frames, placement, least, most in entries:
        data += ENTRY.pack(PLACE, first, len(frames), *placement, least, most)
        first += len(frames)
    for frames, *_ in entries:
        for module, offset in frames:
            data += FRAME.pack(module, 0, offset)
    return data + b"".join(map(planned_module, modules))


def planned_module(module):
    identity = build_id(module)
    return MODULE.pack(len(identity), identity, str(module).encode())


def plan_for_variable(program, name):
    """Returns a plan that moves locks in the variable."""
    symbols = subprocess.run(["nm", "-S", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    address, size = re.search(rf"^(\w+) (\w+) \w {name}$", symbols, re.M).groups()
    return (HEADER.pack(b"profplan", 1, 1, 1, 0)
            + ENTRY.pack(GLOBAL_LOCKS, 0, 1, 16, 0, 1, int(size, 16), int(size, 16))
            + FRAME.pack(0, 0, int(address, 16)) + planned_module(program))
