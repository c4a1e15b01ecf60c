"""Minimal systems for the tests of packages: a folder in which a command runs as in its root, as root or as an ordinary
user, with separate /proc and processes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["PROF_SOURCE"]).resolve()
BUILD = pathlib.Path(os.environ["PROF_BUILD"]).resolve()
SPIN = BUILD / "tests/packages/spin"
NOBODY = "65534:65534"

ENTER = """
mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$@"
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_unless_bare_systems_can_be_made():
    if re.search("^PROF_SANITIZE:.*=.", (BUILD / "CMakeCache.txt").read_text(), re.M):
        skip("no packages are made of builds with sanitizers")
    if os.geteuid() != 0:
        skip("making a bare system needs root")
    enter = subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "--bind", "/dev", "/dev"],
                           capture_output=True, text=True)
    if enter.returncode != 0:
        skip(f"this machine lets nobody make namespaces: {enter.stderr.strip()}")


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", **options)


def checked(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Bare:
    """A system with its root in `root`."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        for folder in ("dev", "proc", "tmp", "home"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for folder in ("tmp", "home"):  # for ordinary users too
            (self.root / folder).chmod(0o1777)

    def run(self, command, user="0:0", environment=None, cwd="/home"):
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/home", **(environment or {})}
        inside = [f"--userspec={user}", "--groups=", self.root, "/bin/sh", "-c", 'cd "$0" && exec "$@"', cwd, *command]
        return run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", ENTER, self.root,
                    *inside], env=clean, timeout=400)

    def checked(self, command, **options):
        done = self.run(command, **options)
        if done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode} in the bare system:\n{done.stdout}{done.stderr}")
        return done.stdout

    def add(self, path, place):
        """Adds a file of this machine to the system."""
        target = self.root / str(place).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def add_only_libc(root):
    """Returns a system with a loader, libc, libm and a shell that needs nothing else."""
    bare = Bare(root)
    for library in re.findall(r"(/\S+/(?:libc|libm|ld-linux-x86-64)\.so\.\d)", checked(["ldd", BUILD / "bin/prof"])):
        bare.add(library, library)
    bare.add("/bin/sh", "/bin/sh")
    return bare


def flat_shares(report):
    """Returns function -> its exclusive share of the CPU time, from a flat report in JSON."""
    rows = json.loads(report)["rows"]
    times = {row["function"]: row["values"]["CPUTIME"]["exclusive"] for row in rows}
    return {function: time / sum(times.values()) for function, time in times.items()}
