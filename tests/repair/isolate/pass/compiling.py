"""Compiles with `prof cc` for tests. They are skipped without clang 14, or if prof was built without LLVM."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROF_BUILD"])
SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
PROF = BUILD / "bin/prof"
PLUGIN = BUILD / "lib/prof-regions.so"

sys.path.insert(0, str(SOURCE / "tests/end_to_end"))
from driver import listed  # noqa: E402

if not shutil.which("clang-14") or not PLUGIN.exists():
    print("clang-14 is not installed, or prof was built without LLVM 14")
    sys.exit(77)


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, **options)


class Compiling(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="prof-cc-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    def checked(self, command, **options):
        done = run(command, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def compile(self, *arguments, language="cc"):
        """Compiles in the test's folder, without any message of the compiler."""
        done = self.checked([PROF, language, "-Wall", "-Werror", *arguments], cwd=self.folder)
        self.assertEqual(done.stderr, "")


def main():
    sys.exit(not unittest.main(verbosity=2, exit=False).result.wasSuccessful())
