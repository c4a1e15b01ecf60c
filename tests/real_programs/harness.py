"""Runs one program bare and under `prof run`, compares the results, and determines the quality of the profile."""

import dataclasses
import fnmatch
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import time

SOURCES = pathlib.Path(__file__).resolve().parent / "sources"
BUILD = pathlib.Path(os.environ.get("PROF_BUILD", "build/release")).resolve()
PROF = BUILD / "bin/prof"
RATE_HZ = 1000
READY_S = 30
LEAST_COMPLETE = 0.99
WORLD = 0o777
INFERRED = ("jit_frame_pointer", "searched_leaf")


class Harm(Exception):
    """A difference between the measured program and the bare one, or something that its profile lacks."""


@dataclasses.dataclass
class Outcome:
    status: int
    stdout: bytes
    stderr: bytes
    files: dict
    seconds: float


@dataclasses.dataclass
class Isolation:
    """The result of --repair=isolate."""
    conversions: int
    commits: int
    words: int
    reasons: tuple  # why pages were not isolated

    def __str__(self):
        return "; ".join((f"{self.conversions} conversions, {self.commits} commits, {self.words} words", *self.reasons))


@dataclasses.dataclass
class Row:
    """A line of the table; numbers are empty if nothing was measured."""
    name: str
    kind: str
    result: str = "ok"
    samples: int | None = None
    complete: float | None = None
    partial: float | None = None
    broken: float | None = None
    inferred: float | None = None  # complete, through code without unwind tables
    reason: str = ""
    processes: int | None = None
    threads: int | None = None
    bare_s: float = 0
    measured_s: float = 0
    isolation: Isolation | None = None


def missing(program):
    return [need for need in program.needs if not (os.path.exists(need) if "/" in need else shutil.which(need))]


def free_port():
    """Returns a port below those that the kernel gives to connections, which could take it before the server does."""
    while True:
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", random.randrange(10_000, 32_000)))
                return listener.getsockname()[1]
            except OSError:
                pass


class Runner:
    def __init__(self, program, folder, options):
        self.program = program
        self.options = options  # of `prof run`, in addition to those of every run
        self.folder = folder
        self.input = folder / "input"
        self.work = folder / "work"
        self.measurements = folder / "measurements"
        self.port = free_port() if program.is_server else 0
        self.environment = dict(os.environ, LC_ALL="C.UTF-8")
        # The environment of our tests is irrelevant for the program.
        for name in ("LD_PRELOAD", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            self.environment.pop(name, None)
        self.environment.update((name, self.fill(value)) for name, value in program.environment)

    def fill(self, text):
        return text.replace("{input}", str(self.input)).replace("{port}", str(self.port)).replace(
            "{sources}", str(SOURCES))

    def script(self, text, folder, what):
        done = subprocess.run(["bash", "-euc", self.fill(text)], cwd=folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=self.program.timeout)
        if done.returncode != 0:
            raise Harm(f"{what} failed: {done.stdout.decode(errors='replace')[-400:]}")
        return done.stdout

    def set_up(self):
        self.input.mkdir(parents=True)
        for folder in (self.folder, self.input):
            folder.chmod(WORLD)
        if self.program.setup:
            self.script(self.program.setup, self.input, "set-up")

    def command(self, measured):
        # With `exec`, the program is started instead of a shell.
        words = ["bash", "-c", f"exec {self.fill(self.program.command)}"]
        if not measured:
            return words
        trace = ["--trace"] if self.program.trace else []
        return [str(PROF), "run", "-e", f"CPUTIME@{RATE_HZ}", *trace, *self.options, "--no-analyze", "-o", str(self.measurements),
                "--", *words]

    def run(self, measured):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        self.work.chmod(WORLD)
        if measured:
            shutil.rmtree(self.measurements, ignore_errors=True)
            self.measurements.mkdir()
            self.measurements.chmod(WORLD)  # for programs that change their user
        if self.program.prepare:
            self.script(self.program.prepare, self.work, "preparation")
        streams = [self.folder / "stdout", self.folder / "stderr"]
        start = time.monotonic()
        with open(streams[0], "wb") as out, open(streams[1], "wb") as err:
            process = subprocess.Popen(self.command(measured), cwd=self.work, env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            try:
                client_output = self.serve(process, measured) if self.program.is_server else None
                status = process.wait(self.program.timeout)
            except subprocess.TimeoutExpired as late:
                raise Harm(f"{'measured' if measured else 'bare'} run: no end after {late.timeout:.0f} s") from None
            finally:
                end_session(process)
        seconds = time.monotonic() - start
        stdout, stderr = (path.read_bytes() for path in streams)
        if client_output is not None:
            stdout, stderr = client_output, b""
        return Outcome(status if status >= 0 else 128 - status, self.normalised(stdout),
                       self.normalised(without_prof(stderr)), self.files(), seconds)

    def serve(self, process, measured):
        deadline = time.monotonic() + READY_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    logs = [self.folder / "stderr", *sorted(self.work.glob("*.log"))]
                    log = b"".join(path.read_bytes()[-400:] for path in logs).decode(errors="replace")
                    raise Harm(f"{'measured' if measured else 'bare'} server did not come up: {log}") from None
                time.sleep(0.05)
        output = self.script(self.program.clients, self.work, "client")
        if self.program.stop.startswith("SIG"):
            process.send_signal(signal.Signals[self.program.stop])
        else:
            self.script(self.program.stop, self.work, "stopping")
        return output

    def normalised(self, text):
        for pattern, replacement in self.program.normalise:
            text = re.sub(pattern, replacement, text)
        return text

    def files(self):
        found = {}
        for path in sorted(self.work.rglob("*")):
            name = str(path.relative_to(self.work))
            if path.is_symlink() or not path.is_file():
                continue
            if any(fnmatch.fnmatch(name, pattern) for pattern in self.program.ignore):
                continue
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def report(self, view):
        done = subprocess.run([str(PROF), "report", str(self.measurements), f"--view={view}", "--format=json",
                               "--threshold=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode != 0:
            raise Harm(f"prof report failed: {done.stderr.decode(errors='replace')}")
        return json.loads(done.stdout)


def end_session(process):
    """Ends what a run left: a server that does not stop, or children that outlive their parent."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def without_prof(stderr):
    """Returns what the program wrote. A program may end its last line without a newline, which is then followed by
    prof's first line."""
    return re.sub(rb"prof: [^\n]*\n", b"", stderr)


def compare(program, bare, measured):
    if bare.status != program.status:
        raise Harm(f"bare run: status {bare.status}, not {program.status}: "
                   f"{(bare.stderr or bare.stdout)[-400:].decode(errors='replace')}")
    if measured.status != bare.status:
        raise Harm(f"status {measured.status} instead of {bare.status}: "
                   f"{measured.stderr[-400:].decode(errors='replace')}")
    for name in ("stdout", "stderr"):
        one, other = getattr(bare, name), getattr(measured, name)
        if one != other:
            raise Harm(f"{name} differs: {first_difference(one, other)}")
    if bare.files != measured.files:
        names = sorted(name for name in bare.files.keys() | measured.files.keys()
                       if bare.files.get(name) != measured.files.get(name))
        raise Harm(f"files differ: {', '.join(names[:5])}")


def first_difference(one, other):
    lines, others = one.splitlines(), other.splitlines()
    for number, (line, another) in enumerate(zip(lines, others), 1):
        if line != another:
            return f"line {number}: {line[:100]!r} became {another[:100]!r}"
    return f"{len(lines)} lines became {len(others)}: {(others or lines)[-1][:100]!r}"


def read_quality(runner, row):
    program = runner.program
    summary = runner.report("summary")
    stacks = summary["stacks"]
    walked = stacks["complete"] + stacks["partial"] + stacks["broken"]
    row.samples = summary["sampling"]["samples"]
    row.processes = summary["run"]["processes"]
    row.threads = summary["run"]["threads"]
    if walked:
        row.complete, row.partial, row.broken = (stacks[key] / walked for key in ("complete", "partial", "broken"))
        row.inferred = sum(stacks["reasons"].get(name, 0) for name in INFERRED) / walked
    whole = {"end_of_stack", "thread_start", "foreign_stack", *INFERRED}
    reasons = {name: count for name, count in stacks["reasons"].items() if name not in whole}
    if reasons:
        row.reason = max(reasons, key=reasons.get)
    repairs = summary.get("repairs", {})
    if repairs.get("isolate"):
        why = {page["why"] for page in repairs["pages"] if page["kind"] == "shared"}
        why.update(note for note in summary["degradations"] if "isolated" in note)
        row.isolation = Isolation(repairs["conversions"], repairs["commits"], repairs["merged_words"], tuple(sorted(why)))
        # The quality of samples is judged only without repairs.
        return
    if row.samples < program.least_samples:
        raise Harm(f"{row.samples} samples, fewer than {program.least_samples}")
    if row.processes < program.processes or row.threads < program.threads:
        raise Harm(f"{row.processes} processes with {row.threads} threads were measured, not "
                   f"{program.processes} with {program.threads}")
    if program.kind == "native" and row.complete < LEAST_COMPLETE:
        raise Harm(f"{100 * row.complete:.2f} % complete stacks")
    if program.hot:
        check_hot(runner, *program.hot)


def check_hot(runner, module, share):
    rows = runner.report("flat")["rows"]

    def cost(row):
        return row["values"].get("CPUTIME", {}).get("exclusive", 0)

    total = sum(map(cost, rows))
    inside = sum(cost(row) for row in rows if re.search(module, row["module"] or ""))
    if inside < share * total:
        raise Harm(f"{100 * inside / total:.0f} % of the time in {module}, expected {100 * share:.0f} %")


def examine(program, folder, options=()):
    """Makes one bare and one measured run. The row shows if the program was harmed, and the quality of its stacks."""
    row = Row(program.name, program.kind)
    try:
        runner = Runner(program, folder, options)
        if not runner.input.exists():
            runner.set_up()
        bare = runner.run(measured=False)
        measured = runner.run(measured=True)
        row.bare_s, row.measured_s = bare.seconds, measured.seconds
        compare(program, bare, measured)
        if program.kind != "unmeasured":
            read_quality(runner, row)
    except Harm as harm:
        row.result = str(harm)
    return row
