#!/usr/bin/env python3
"""Atomic operations of converted threads with private pages: the cases of atomic_cases.cpp, which must fail if code is not
patched. Also in how many of the system's programs and libraries atomic instructions can be replaced."""

import os
import pathlib
import subprocess
import sys
import unittest

TESTS = pathlib.Path(os.environ["PROF_BUILD"]) / "tests"
PATIENCE = 60  # s


def run(*command):
    return subprocess.run([TESTS / command[0], *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE)


class Atomics(unittest.TestCase):
    def holds(self, *case):
        result = run("atomic_cases", *case)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        print(result.stdout, end="")

    def fails_unpatched(self, case):
        result = run("atomic_cases", case, "unpatched")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("not so", result.stderr)

    def test_sums_of_all_widths_are_exact(self):
        self.holds("sums")

    def test_they_are_not_where_code_is_left_as_it_is(self):
        self.fails_unpatched("sums")

    def test_a_spin_lock_guards_what_lies_on_another_private_page(self):
        self.holds("spin_lock")

    def test_references_are_counted(self):
        self.holds("references")

    def test_they_are_not_counted_where_code_is_left_as_it_is(self):
        self.fails_unpatched("references")

    def test_threads_change_over_in_the_midst_of_trampolines(self):
        self.holds("storm")

    def test_code_with_jumps_is_mapped_in_one_piece(self):
        self.holds("sums", "kept")
        self.holds("storm", "kept")

    def test_faults_are_the_program_s(self):
        self.holds("fault")


class SystemPrograms(unittest.TestCase):
    """Returns files that exist on any machine that can build the project. None is run."""

    LIBRARIES = ["libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1", "libatomic.so.1", "libelf.so.1", "libdw.so.1",
                 "libsqlite3.so.0", "libz.so.1", "libprotobuf.so.32", "libcrypto.so.3"]
    PROGRAMS = ["/usr/bin/python3", "/usr/bin/cmake", "/usr/bin/git"]

    def test_nearly_all_can_be_planned_for(self):
        folder = pathlib.Path("/usr/lib/x86_64-linux-gnu")
        files = [folder / name for name in self.LIBRARIES] + [pathlib.Path(name) for name in self.PROGRAMS]
        files = [file for file in files if file.exists()]
        result = run("plan_atomics", *files)
        self.assertEqual(result.returncode, 0, result.stdout)
        lines = result.stdout.splitlines()
        print(result.stdout, end="")
        declined = [line for line in lines if ": " in line]
        self.assertGreater(len(lines), 3)
        self.assertLessEqual(len(declined), 1, "\n".join(declined))
        self.assertGreater(sum(int(line.split()[0]) for line in lines), 500)

    def test_what_jumps_over_lock_prefixes_is_declined(self):
        result = run("plan_atomics", "/usr/lib/x86_64-linux-gnu/libc.so.6")
        if not result.stdout:
            self.skipTest("the C library lies elsewhere")
        self.assertIn(": the code jumps past a lock prefix", result.stdout)


if __name__ == "__main__":
    sys.exit(not unittest.main(verbosity=2, exit=False).result.wasSuccessful())
