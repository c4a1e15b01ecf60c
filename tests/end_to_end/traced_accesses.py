"""Counts dead stores byte by byte in the trace of Valgrind's Lackey, independently of prof. Slow: for runs of a few million
instructions."""

import collections
import re
import subprocess
import tempfile

# Where Valgrind maps position-independent programs.
PROGRAM_BASE = 0x108000
LINE = re.compile(r"^(?:I |( [SLM])) +([0-9a-f]+),(\d+)$")


class DeadStores:
    """Bytes of dead stores by the addresses of both instructions, as in the program's file if they belong to it."""

    def __init__(self):
        self.written = 0
        self.dead = collections.Counter()
        self.unread = {}  # address of a byte: instruction that stored it last, if no load followed

    def load(self, address, size):
        for byte in range(address, address + size):
            self.unread.pop(byte, None)

    def store(self, address, size, instruction):
        self.written += size
        for byte in range(address, address + size):
            first = self.unread.get(byte)
            if first is not None:
                self.dead[first, instruction] += 1
            self.unread[byte] = instruction


def dead_stores(command):
    counted = DeadStores()
    with tempfile.NamedTemporaryFile("r", prefix="prof-trace-") as trace:
        subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={trace.name}", *map(str, command)], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        instruction = 0
        for line in trace:
            found = LINE.match(line)
            if not found:
                continue
            kind, address, size = found[1], int(found[2], 16), int(found[3])
            if not kind:
                instruction = address - PROGRAM_BASE
                continue
            if kind != " S":
                counted.load(address, size)
            if kind != " L":
                counted.store(address, size, instruction)
    return counted
