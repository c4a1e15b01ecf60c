#!/usr/bin/env python3
"""The bundle runs in a system with only libc, as root and as an ordinary user, from a path with spaces, and loads only
its runtime into the measured program."""

import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import bare

MOST_BYTES = 40_000_000
OLDEST_GLIBC = (2, 36)
PLACE = "/opt/my tools/prof"


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="prof-bundle-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        cls.said = bare.checked([bare.SOURCE / "tools/bundle", cls.folder / "made"])
        cls.tarball, = (cls.folder / "made").glob("*.tar.gz")
        cls.bare = bare.add_only_libc(cls.folder / "root")
        with tarfile.open(cls.tarball) as archive:
            archive.extractall(cls.folder / "unpacked")
        unpacked, = (cls.folder / "unpacked").iterdir()
        cls.inside = cls.bare.root / PLACE.lstrip("/")
        cls.inside.parent.mkdir(parents=True)
        unpacked.rename(cls.inside)
        cls.bare.add(bare.SPIN, "/usr/bin/spin")

    def assert_works(self, user, name):
        directory = f"/home/{name}"
        done = self.bare.run([f"{PLACE}/bin/prof", "run", "-o", directory, "spin"], user=user)
        self.assertEqual((done.returncode, done.stdout), (7, "child 1\nparent 1\n"), done.stderr)
        report = self.bare.checked([f"{PLACE}/bin/prof", "report", directory, "--view=flat", "--format=json"], user=user)
        self.assertGreater(bare.flat_shares(report)["turn"], 0.9)
        return done.stderr

    def test_its_sizes_are_those_that_the_docs_tell(self):
        unpacked, packed = (float(size) for size in re.findall(r": ([\d.]+) MB$", self.said, re.M))
        page = (bare.SOURCE / "docs/install.md").read_text()
        told = [float(size) for size in re.search(r"It is ([\d.]+) MB, ([\d.]+) MB packed", page).groups()]
        for real, documented in zip((unpacked, packed), told):
            self.assertLess(abs(real - documented), 0.15 * documented, f"docs/install.md tells {documented} MB")

    def test_it_works_as_root(self):
        self.assert_works("0:0", "root")

    def test_it_works_as_an_ordinary_user(self):
        self.assert_works(bare.NOBODY, "user")

    def test_what_is_loaded_later_is_there(self):
        self.assertRegex(self.bare.checked([f"{PLACE}/bin/prof", "version"]), r"libpfm4 +\d")

    def test_only_the_runtime_is_mapped_into_the_program(self):
        maps = self.assert_works("0:0", "maps")
        mapped = set(re.findall(r"/opt/my tools/prof/\S+", maps))
        self.assertEqual(mapped, {f"{PLACE}/lib/prof/libprof-runtime.so"})

    def test_a_build_that_is_not_whole_is_refused_with_one_line(self):
        build = self.folder / "part"
        (build / "bin").mkdir(parents=True)
        shutil.copy2("/bin/true", build / "bin/prof")
        done = subprocess.run([bare.SOURCE / "tools/bundle", self.folder / "none"], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PROF_BUILD": str(build)})
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"tools/bundle: {build} lacks files that belong into the bundle; run tools/build first\n"))

    def test_it_is_small(self):
        files = [path for path in self.inside.rglob("*") if path.is_file()]
        self.assertLess(sum(path.stat().st_size for path in files), MOST_BYTES)
        self.assertLess(self.tarball.stat().st_size, MOST_BYTES)

    def test_it_runs_with_the_oldest_glibc_that_is_promised(self):
        stated = re.search(r"glibc (\d+)\.(\d+)", self.said)
        self.assertLessEqual(tuple(map(int, stated.groups())), OLDEST_GLIBC)

    def test_every_library_comes_with_its_licence(self):
        documents = self.inside / "share/doc/prof"
        libraries = {path.name for path in (self.inside / "lib/prof").iterdir() if ".so." in path.name}
        packages = dict(re.findall(r"^(\S+): (\S+) .*source \S+ \S+$", (documents / "libraries.txt").read_text(), re.M))
        self.assertEqual(set(packages), libraries)
        self.assertTrue({"libstdc++.so.6", "libdw.so.1"} <= libraries, libraries)
        for package in packages.values():
            self.assertGreater((documents / "licenses" / package).stat().st_size, 0)
        self.assertTrue((documents / "licenses/GPL-3").is_file(), "elfutils refers to it")


bare.skip_unless_bare_systems_can_be_made()
unittest.main(verbosity=2)
