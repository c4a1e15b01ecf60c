#!/usr/bin/env python3
"""`cmake --install` makes a prefix that works, also after it was moved to a path with spaces and colons."""

import os
import pathlib
import shutil
import tempfile
import unittest

import bare


class Installation(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prof-install-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.prefix = self.folder / "prefix"
        bare.checked(["cmake", "--install", bare.BUILD, "--prefix", self.prefix])

    def assert_works(self, prefix):
        directory = self.folder / "m"
        prof = prefix / "bin/prof"
        done = bare.run([prof, "run", "--force", "-o", directory, bare.SPIN])
        self.assertEqual((done.returncode, done.stdout), (7, "child 1\nparent 1\n"), done.stderr)
        self.assertIn(f"{prefix}/lib", done.stderr, "the runtime is not the installed one")
        report = bare.checked([prof, "report", directory, "--view=flat", "--format=json"])
        self.assertGreater(bare.flat_shares(report)["turn"], 0.9)

    def test_what_users_need_is_there(self):
        for path in ("bin/prof", "lib/prof/libprof-runtime.so", "lib/prof/libprof-heap.so", "lib/prof/libprof-locks.so", "lib/prof/libprof-isolate.so", "lib/prof/hpcrun-exec", "share/doc/prof/README.md", "share/doc/prof/LICENSE",
                     "share/doc/prof/docs/sampling.md", "share/doc/prof/docs/images/report.svg"):
            self.assertTrue((self.prefix / path).is_file(), path)

    def test_it_works_where_it_is(self):
        self.assert_works(self.prefix)

    def test_it_works_after_a_move_to_a_path_that_no_preload_list_can_hold(self):
        moved = self.folder / "a place: with $spaces"
        self.prefix.rename(moved)
        self.assert_works(moved)

    def test_a_link_that_others_could_replace_is_not_preloaded(self):
        moved = self.folder / "a place"
        self.prefix.rename(moved)
        temporary = self.folder / "tmp"
        (temporary / f"prof-{os.geteuid()}").mkdir(parents=True)
        (temporary / f"prof-{os.geteuid()}").chmod(0o777)
        done = bare.run([moved / "bin/prof", "run", "-o", self.folder / "m", bare.SPIN],
                        env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("TMPDIR", done.stderr)


unittest.main(verbosity=2)
