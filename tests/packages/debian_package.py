#!/usr/bin/env python3
"""The Debian package installs with apt in a minimal Debian 12, profiles a program there as an ordinary user, and leaves
nothing when it is removed."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import bare

RELEASE = "bookworm"
ARCHIVE = os.environ.get("PROF_DEBIAN_ARCHIVE", "http://deb.debian.org/debian")
KEPT = bare.BUILD.parent / f"debian-{RELEASE}"


def bare_debian():
    """Returns a minimal Debian, created once and kept below build/."""
    if not KEPT.exists():
        if shutil.which("debootstrap") is None:
            bare.skip("debootstrap is not installed")
        fresh = KEPT.with_name(f"{KEPT.name}.{os.getpid()}")
        made = bare.run(["debootstrap", "--variant=minbase", RELEASE, fresh, ARCHIVE])
        if made.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            bare.skip(f"no Debian could be made from {ARCHIVE}: {made.stdout.splitlines()[-1:]}")
        fresh.rename(KEPT)
    return KEPT


def with_packages_to_choose_from(folder):
    """Returns a copy of the minimal Debian with the archive's package lists."""
    subprocess.run(["cp", "--archive", bare_debian(), folder / "root"], check=True)
    debian = bare.Bare(folder / "root")
    debian.add("/etc/resolv.conf", "/etc/resolv.conf")
    updated = debian.run(["apt-get", "update", "-q", "--error-on=any"])
    if updated.returncode != 0:
        bare.skip(f"the Debian archive cannot be reached: {updated.stderr.splitlines()[-1:]}")
    return debian


class DebianPackage(unittest.TestCase):
    debian = None

    def files_of_ours(self):
        return set(self.debian.checked(["find", "/usr", "/etc", "/var", "-path", "*/prof*", "-not", "-path",
                                        "/var/lib/dpkg/info/prof.list"]).splitlines())

    def check_viewer(self, package):
        """Only the viewer's package depends on Qt."""
        files = bare.checked(["dpkg-deb", "--contents", package])
        self.assertIn("./usr/lib/prof/prof-viewer\n", files)
        self.assertNotIn("libprof-", files)
        depends = bare.checked(["dpkg-deb", "--field", package, "Depends"])
        self.assertIn("libqt6widgets6", depends)
        self.assertRegex(depends, r"prof \(= [0-9.]+\)")

    def test_install_run_remove(self):
        before = self.files_of_ours()
        for package in bare.checked([bare.SOURCE / "tools/package"]).splitlines():
            if pathlib.Path(package).name.startswith("prof-viewer_"):  # if Qt was available to build it
                self.check_viewer(package)
            else:
                self.debian.add(package, "/tmp/prof.deb")
        self.debian.add(bare.SPIN, "/usr/bin/spin")
        self.debian.checked(["apt-get", "install", "-q", "-y", "--no-install-recommends", "/tmp/prof.deb"],
                            environment={"DEBIAN_FRONTEND": "noninteractive"})
        self.assertTrue({"/usr/bin/prof", "/usr/lib/prof/libprof-runtime.so"} <= self.files_of_ours())

        self.assertRegex(self.debian.checked(["prof", "version"]), r"libpfm4 +\d")  # which links nothing

        done = self.debian.run(["prof", "run", "-o", "/home/m", "spin"], user=bare.NOBODY)
        self.assertEqual((done.returncode, done.stdout), (7, "child 1\nparent 1\n"), done.stderr)
        viewed = self.debian.run(["prof", "view", "/home/m", "--screenshot", "/tmp/x.png"], user=bare.NOBODY)
        self.assertEqual(viewed.returncode, 125, viewed.stderr)
        self.assertIn("install the package prof-viewer", viewed.stderr)
        report = self.debian.checked(["prof", "report", "/home/m", "--view=flat", "--format=json"], user=bare.NOBODY)
        self.assertGreater(bare.flat_shares(report)["turn"], 0.9)

        self.debian.checked(["apt-get", "purge", "-q", "-y", "prof"])
        self.assertEqual(self.files_of_ours(), before)


bare.skip_unless_bare_systems_can_be_made()
with tempfile.TemporaryDirectory(prefix="prof-debian-") as scratch:
    DebianPackage.debian = with_packages_to_choose_from(pathlib.Path(scratch))
    finished = unittest.main(verbosity=2, exit=False)
sys.exit(not finished.result.wasSuccessful())
