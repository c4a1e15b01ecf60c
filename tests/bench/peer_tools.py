"""The profilers that tests/bench/peers compares: how each measures a program, and how its samples are read back. There
is one class per tool, with

    missing            why it cannot run here, or None
    stacks_only        true if only its stacks are of interest
    command(C, HZ, P)  the command, and its environment, to sample the command C; it records into the folder P
    bytes(P)           of the recording on disk, before any analysis
    samples(P)         their number
    stacks(P)          (weight, names of functions from the outermost to the leaf) of each sample or sum of samples
"""

import gzip
import json
import os
import re
import shutil
import struct
import subprocess

from measuring import BUILD, PROF, SOURCE, profiled
from symbols import Symbols

PEERS = SOURCE / "build/peers"


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode(errors="replace")


def collapsed(text):
    """Returns (weight, frames from the outermost) of each line."""
    for line in text.splitlines():
        stack, _, weight = line.rpartition(" ")
        yield int(weight), stack.split(";")


class Prof:
    missing = None
    stacks_only = False

    def __init__(self, name, *options):
        self.name = name
        self.options = options

    def version(self):
        return output_of(PROF, "--version").strip()

    def command(self, command, hz, place):
        return profiled(command, place / "prof", f"CPUTIME@{hz}", *self.options), None

    def bytes(self, place):
        return sum(path.stat().st_size for path in (place / "prof").rglob("*.prof"))

    def samples(self, place):
        report = output_of(PROF, "report", place / "prof", "--view=summary", "--format=json")
        return json.loads(report)["sampling"]["samples"]

    def stacks(self, place):
        for weight, frames in collapsed(output_of(PROF, "export", place / "prof", "--format=collapsed")):
            yield weight, frames[1:] if frames[0] in ("main thread", "application thread") else frames


class Perf:
    """`perf record`. A DWARF recording stores a number of bytes of the stack with each sample."""

    def __init__(self, name, call_graph, stacks_only=False):
        self.name = name
        self.call_graph = call_graph
        self.stacks_only = stacks_only
        self.missing = None if shutil.which("perf") else "perf is not installed"

    def version(self):
        return output_of("perf", "--version").split()[-1]

    def command(self, command, hz, place):
        return ["perf", "record", "-q", "-e", "cpu-clock", "-F", hz, "--call-graph", self.call_graph, "-o",
                place / "perf.data", "--", *command], None

    def bytes(self, place):
        return (place / "perf.data").stat().st_size

    def script(self, place):
        return output_of("perf", "script", "-i", place / "perf.data", "-F", "ip,sym", "--no-inline", "--max-stack",
                         "4096")

    def samples(self, place):
        return int(re.search(r"\bSAMPLE events:\s*(\d+)",
                             output_of("perf", "report", "-i", place / "perf.data", "--stats")).group(1))

    def stacks(self, place):
        for block in re.split(r"\n\n+", self.script(place)):
            frames = [line.split(None, 1)[1] for line in block.splitlines() if len(line.split(None, 1)) == 2]
            if frames:
                yield 1, frames[::-1]


class Samply:
    """Writes the Firefox Profiler's format, with addresses instead of names."""

    name = "samply"
    stacks_only = False
    binary = PEERS / "bin/samply"
    # Without hardware counters it uses another clock only if it reads 1 here. As root, the kernel permits what it does
    # then. The file is replaced for this process only.
    PARANOID = "/proc/sys/kernel/perf_event_paranoid"
    ENTER = f'mount --bind "$0" {PARANOID} && exec "$@"'

    def __init__(self):
        self.missing = None if self.binary.exists() else "tools/peers has not installed it"

    def version(self):
        return output_of(self.binary, "--version").split()[-1]

    def command(self, command, hz, place):
        record = [self.binary, "record", "--save-only", "--no-open", "-r", hz, "-o", place / "samply.json.gz", "--",
                  *command]
        if os.geteuid() != 0:
            return record, None
        (place / "paranoid").write_text("1\n")
        return ["unshare", "--mount", "sh", "-c", self.ENTER, place / "paranoid", *record], None

    def bytes(self, place):
        return (place / "samply.json.gz").stat().st_size

    def profile(self, place):
        return json.loads(gzip.decompress((place / "samply.json.gz").read_bytes()))

    def samples(self, place):
        return sum(sum(thread["samples"]["weight"]) for thread in self.profile(place)["threads"])

    def stacks(self, place):
        profile = self.profile(place)
        symbols = Symbols()
        for thread in profile["threads"]:
            frames, functions, stacks = thread["frameTable"], thread["funcTable"], thread["stackTable"]
            libraries = thread["resourceTable"]["lib"]

            def name(frame):
                resource = functions["resource"][frames["func"][frame]]
                if resource is None or resource < 0:
                    return "[unknown]"
                return symbols.name(profile["libs"][libraries[resource]]["path"], frames["address"][frame])

            paths = []  # a stack's prefix comes before it
            for prefix, frame in zip(stacks["prefix"], stacks["frame"]):
                paths.append(([] if prefix is None else paths[prefix]) + [name(frame)])
            for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
                yield weight, [] if stack is None else paths[stack]


class AsyncProfiler:
    """Preloaded, as its documentation describes for programs without Java."""

    name = "async-profiler"
    stacks_only = False

    def __init__(self):
        found = sorted(PEERS.glob("async-profiler-*/libasyncProfiler.so"))
        self.library = found[-1] if found else None
        self.missing = (None if found and shutil.which("jfr") else
                        "tools/peers has not installed it" if not found else "a JDK's jfr, which reads its files, is missing")

    def version(self):
        return self.library.parent.name.rpartition("-")[2]

    def command(self, command, hz, place):
        start = (f"start,event=cpu,interval={10**9 // hz},cstack=dwarf,jstackdepth=2048,file={place}/async.jfr")
        return command, {**os.environ, "LD_PRELOAD": str(self.library), "ASPROF_COMMAND": start}

    def bytes(self, place):
        return (place / "async.jfr").stat().st_size

    def samples(self, place):
        return int(re.search(r"jdk\.ExecutionSample\s+(\d+)", output_of("jfr", "summary", place / "async.jfr")).group(1))

    def stacks(self, place):
        printed = output_of("jfr", "print", "--json", "--stack-depth", "4096", "--events", "jdk.ExecutionSample",
                            place / "async.jfr")
        for event in json.loads(printed)["recording"]["events"]:
            frames = event["values"]["stackTrace"]["frames"]
            yield 1, [frame["method"]["name"] for frame in reversed(frames)]


class Gperftools:
    """The CPU profiler of gperftools, preloaded: a list of addresses per stack, and a copy of the memory map."""

    name = "gperftools"
    stacks_only = False
    library = "/usr/lib/x86_64-linux-gnu/libprofiler.so.0"

    def __init__(self):
        self.missing = None if os.path.exists(self.library) else "libgoogle-perftools4 is not installed"

    def version(self):
        return output_of("dpkg-query", "--show", "-f", "${Version}", "libgoogle-perftools4").partition("-")[0]

    def command(self, command, hz, place):
        return command, {**os.environ, "LD_PRELOAD": self.library, "CPUPROFILE": str(place / "gperftools.prof"),
                         "CPUPROFILE_FREQUENCY": str(hz)}

    def bytes(self, place):
        return (place / "gperftools.prof").stat().st_size

    def records(self, place):
        """Returns (count, addresses from the leaf) of each record, and the memory map."""
        content = (place / "gperftools.prof").read_bytes()
        words = struct.unpack(f"<{len(content) // 8}Q", content[:len(content) // 8 * 8])
        at = 2 + words[1]
        records = []
        while words[at:at + 3] != (0, 1, 0):
            records.append((words[at], words[at + 2:at + 2 + words[at + 1]]))
            at += 2 + words[at + 1]
        return records, content[(at + 3) * 8:].decode(errors="replace")

    def samples(self, place):
        return sum(count for count, _ in self.records(place)[0])

    def stacks(self, place):
        records, maps = self.records(place)
        symbols = Symbols(maps)
        for count, addresses in records:
            yield count, [symbols.mapped_name(address) for address in reversed(addresses)]


def all_tools():
    return [Prof("prof"), Prof("prof --trace", "--trace"), Perf("perf DWARF", "dwarf"),
            # Gigabytes in seconds, up to the depth that it can reach.
            Perf("perf DWARF 64 KiB", "dwarf,65528", stacks_only=True), Perf("perf frame pointers", "fp"), Samply(), AsyncProfiler(), Gperftools()]
