"""Fetches Debian sources with apt-get, builds the programs and prepares their inputs, once, in ~/.cache/prof-bench or $PROF_BENCH_CACHE.
Nothing is installed. APT gets its own lists, because most machines' have no sources."""

import os
import pathlib
import shlex
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("PROF_BENCH_CACHE", pathlib.Path.home() / ".cache/prof-bench"))
RELEASE = "bookworm"
ARCHIVE = os.environ.get("PROF_DEBIAN_ARCHIVE", "http://deb.debian.org/debian")


class Missing(Exception):
    """The reason why a program cannot be built or run here."""


def apt_get(*words, cwd=None):
    apt = CACHE / "apt"
    if not (apt / "sources.list").exists():
        for folder in ("lists/partial", "cache/archives/partial"):
            (apt / folder).mkdir(parents=True, exist_ok=True)
        (apt / "sources.list").write_text(f"deb-src {ARCHIVE} {RELEASE} main\n")
        apt_get("update")
    options = {"Dir::Etc::sourcelist": apt / "sources.list", "Dir::Etc::sourceparts": "/dev/null", "Dir::State::lists": apt / "lists",
               "Dir::Cache": apt / "cache", "APT::Sandbox::User": "root"}
    shell(["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items()), *words], cwd)


def shell(command, cwd):
    words = command if isinstance(command, list) else ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Missing(f"{words[-1][:80]} failed: {' '.join(done.stdout.decode(errors='replace').split())[-300:]}")


def once(folder, make):
    """Makes the folder if an earlier run has not finished it."""
    done = folder.with_name(folder.name + ".done")
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        done.touch()
    return folder


def unpacked(package, folder):
    archives = once(CACHE / "archives" / package, lambda place: apt_get("--download-only", "source", package, cwd=place))
    shell(["dpkg-source", "--no-check", "-x", *map(str, archives.glob("*.dsc")), str(folder / "unpacked")], folder)
    shell("find unpacked -mindepth 1 -maxdepth 1 -exec mv -t . {} + && rmdir unpacked", folder)


def common_text():
    """Returns a file of English and C that is the same on each machine."""
    def make(folder):
        unpacked("sqlite3", folder)
        shell("find . -type f -name '*.[ch]' -o -type f -name '*.test' | LC_ALL=C sort | xargs cat > all && head -c 12000000 all > text", folder)

    return once(CACHE / "text", make) / "text"


class Built:
    """A program that can run, with its folders. `patch` is a file in patches/; without it, the program as in Debian."""

    def __init__(self, program, patch=None):
        self.program = program
        for need, package in program.needs:
            if not (os.path.exists(need) if "/" in need else shutil.which(need)):
                raise Missing(f"{need} is missing (Debian: {package})")
        if program.package and not shutil.which("apt-get"):
            raise Missing("apt-get is missing: sources are fetched from Debian")
        self.folder = CACHE / program.name
        self.source, self.input = self.folder / (patch or "source"), self.folder / "input"
        if program.package:
            once(self.source, lambda folder: self.build(folder, patch))
        once(self.input, self.prepare)

    def fill(self, text):
        for name, value in {"source": self.source, "input": self.input, "cores": os.cpu_count()}.items():
            text = text.replace("{%s}" % name, str(value))
        return text.replace("{text}", str(common_text())) if "{text}" in text else text

    def build(self, folder, patch):
        unpacked(self.program.package, folder)
        if self.program.also:
            (folder / self.program.also).mkdir()
            unpacked(self.program.also, folder / self.program.also)
        if patch:
            shell(f"patch -p1 < {HERE / 'patches' / patch}", folder)
        if self.program.build:
            shell(self.fill(self.program.build), folder)

    def prepare(self, folder):
        if self.program.prepare:
            shell(self.fill(self.program.prepare), folder)

    def command(self):
        return shlex.split(self.fill(self.program.command))
