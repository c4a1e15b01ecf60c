#!/usr/bin/env python3
"""Files that prof writes are readable by their user only unless they are shared, and other users cannot redirect or
extend them."""

import os
import pathlib
import stat
import subprocess
import time
import unittest

import driver

PROF_FAILED = 125
AS_ROOT = unittest.skipIf(os.geteuid() != 0, "only root writes to what other users own")
BUSY = """
#line 1 "%s"
static unsigned first(unsigned n) { volatile unsigned sum = 0; for (unsigned i = 0; i < n; ++i) sum += i; return sum; }
#line 1 "%s"
static unsigned second(unsigned n) { volatile unsigned sum = 0; for (unsigned i = 0; i < n; ++i) sum += i; return sum; }
int main(void) { return first(80000000) == second(80000000) ? 0 : 1; }
"""


def modes(folder):
    """Returns the permissions of a folder and everything below it."""
    paths = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): (path.is_dir(), stat.S_IMODE(path.lstat().st_mode)) for path in paths}


def write_pprof(file, source):
    """Writes a pprof profile of one sample in a function of a source file."""
    field = lambda number, data: bytes([number << 3 | 2, len(data)]) + data
    number = lambda which, value: bytes([which << 3, value])
    texts = ["", "cpu", "nanoseconds", "function", str(source)]
    file.write_bytes(field(1, number(1, 1) + number(2, 2)) + field(2, field(1, b"\1") + field(2, b"\5"))
                     + field(4, number(1, 1) + field(4, number(1, 1) + number(2, 7)))
                     + field(5, number(1, 1) + number(2, 3) + number(4, 4))
                     + b"".join(field(6, text.encode()) for text in texts))


class WrittenFiles(driver.EndToEnd):
    def setUp(self):
        super().setUp()
        self.victim = self.folder / "victim"
        self.victim.write_text("precious\n")
        self.victim.chmod(0o600)

    def prof(self, *arguments, wrap=lambda command: command, **options):
        return subprocess.run(wrap([str(driver.PROF), *map(str, arguments)]), capture_output=True, text=True,
                              timeout=100, **options)

    def assert_refused(self, done, reason):
        self.assertEqual(done.returncode, PROF_FAILED, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertIn("choose another directory with -o", done.stderr)

    def assert_modes(self, folder, of_folder, of_file):
        for name, (is_folder, mode) in modes(folder).items():
            self.assertEqual(oct(mode), oct(of_folder if is_folder else of_file), name)

    def measured(self, *options, umask=0o022):
        directory = self.folder / f"measured{len(list(self.folder.iterdir()))}"
        done = self.prof("run", *options, "-o", directory, "sh", "-c", ":", umask=umask)
        self.assertEqual(done.returncode, 0, done.stderr)
        return directory, done.stderr

    def test_results_are_their_users_alone_whatever_the_umask(self):
        directory, said = self.measured(umask=0)
        self.assert_modes(directory, 0o700, 0o600)
        self.assertNotIn("may read", said)

    def test_results_are_shared_where_that_is_asked_for(self):
        directory, said = self.measured("--share=group", umask=0o077)
        self.assert_modes(directory, 0o750, 0o640)
        self.assertEqual(said.count("may read"), 1, said)
        self.assertIn("source files", said)
        directory, _ = self.measured("--no-analyze")
        done = self.prof("analyze", "--share=world", directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_modes(directory, 0o755, 0o644)
        if os.geteuid() == 0:
            shown = self.prof("report", directory, wrap=driver.as_nobody)
            self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_an_imported_database_is_its_users_alone_or_shared(self):
        profile = self.folder / "profile"
        write_pprof(profile, self.victim)
        for options, modes_ in (([], (0o700, 0o600)), (["--share=group"], (0o750, 0o640))):
            database = self.folder / f"database{len(options)}"
            done = self.prof("import", profile, *options, "-o", database, umask=0)
            self.assertEqual(done.returncode, 0, done.stderr)
            copy = database / "src" / self.victim.relative_to("/")
            self.assertEqual(copy.read_text(), "precious\n")
            self.assertEqual(oct(stat.S_IMODE(copy.stat().st_mode)), "0o600")  # not more than the original's
            copy.unlink()
            self.assert_modes(database, *modes_)

    @AS_ROOT
    def test_root_does_not_copy_what_the_author_of_a_recording_may_not_read(self):
        profile = self.folder / "profile"
        write_pprof(profile, self.victim)
        os.chown(profile, driver.NOBODY, driver.NOBODY)
        done = self.prof("import", profile, "-o", self.folder / "database")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list((self.folder / "database").rglob("victim")), [])

    @AS_ROOT
    def test_root_does_not_copy_sources_that_the_measured_user_may_not_read(self):
        public = self.folder / "public.c"
        public.write_text("public\n")
        source, program = self.folder / "busy.c", self.folder / "busy"
        source.write_text(BUSY % (self.victim, public))
        subprocess.run(["gcc", "-O0", "-g", "-o", str(program), str(source)], check=True)
        run = self.prof_run([str(program)], options=["--no-analyze"], wrap=driver.as_nobody)
        self.assertEqual(run.status, 0, run.stderr)
        for output in (self.folder / "database", None):
            done = self.prof("analyze", run.directory, *(["-o", output] if output else []))
            self.assertEqual(done.returncode, 0, done.stderr)
            database = output or run.directory / "database"
            self.assertEqual([path.name for path in database.rglob("src/**/*") if path.is_file()], ["public.c"])
            owner = 0 if output else driver.NOBODY  # a user's directory stays the user's completely
            self.assertEqual({path.stat().st_uid for path in [database, *database.rglob("*")]}, {owner})

    @AS_ROOT
    def test_root_refuses_the_directory_and_the_links_of_another_user(self):
        theirs, own = self.folder / "theirs", self.folder / "own"
        own.mkdir()
        theirs.mkdir()
        os.symlink(own, theirs / "link")
        os.symlink(self.victim, theirs / "run.json.writing")
        for path in (theirs, theirs / "link", theirs / "run.json.writing"):
            os.chown(path, driver.NOBODY, driver.NOBODY, follow_symlinks=False)
        before = modes(theirs)
        measured, _ = self.measured()
        for directory, reason in ((theirs, "belongs to"), (theirs / "link", "another user")):
            self.assert_refused(self.prof("run", "-o", directory, "true"), reason)
            self.assert_refused(self.prof("analyze", measured, "-o", directory / "database"
                                          if directory != theirs else theirs / "link/database"), "another user")
        self.assertEqual(modes(theirs), before)
        self.assertEqual(list(own.iterdir()), [])
        self.assertEqual(self.victim.read_text(), "precious\n")

    @AS_ROOT
    def test_links_that_a_measured_user_plants_lead_root_nowhere(self):
        spin = driver.as_nobody(["sh", "-c", "while test ! -e over; do :; done"])
        process = subprocess.Popen(spin, cwd=self.folder)
        try:
            directory = self.folder / "attached"
            directory.mkdir()
            for name in ("attached", "run.json.writing", "repair.json.writing"):
                os.symlink(self.victim, directory / name)
                os.chown(directory / name, driver.NOBODY, driver.NOBODY, follow_symlinks=False)
            os.chown(directory, driver.NOBODY, driver.NOBODY)
            while "sh" not in pathlib.Path(f"/proc/{process.pid}/comm").read_text():
                time.sleep(0.01)  # setpriv becomes the shell
            done = self.prof("attach", process.pid, "--duration", "0.3", "-o", directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.victim.read_text(), "precious\n")
            written = [path for path in directory.rglob("*") if not path.is_symlink()]
            self.assertIn(directory / "run.json", written)
            self.assertIn(directory / "database/meta.db", written)
            self.assertEqual({path.stat().st_uid for path in written}, {driver.NOBODY})
        finally:
            (self.folder / "over").touch()
            process.wait(timeout=60)

    @AS_ROOT
    def test_root_gives_a_directory_that_it_makes_to_the_measured_user(self):
        process = subprocess.Popen(driver.as_nobody(["sh", "-c", "while test ! -e over; do :; done"]), cwd=self.folder)
        try:
            while "sh" not in pathlib.Path(f"/proc/{process.pid}/comm").read_text():
                time.sleep(0.01)
            directory = self.folder / "new"
            done = self.prof("attach", process.pid, "--duration", "0.3", "-o", directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(directory.stat().st_uid, driver.NOBODY)
            self.assert_modes(directory, 0o700, 0o600)
            taken = self.folder / "taken"
            taken.mkdir()
            (taken / "file").touch()
            self.assert_refused(self.prof("attach", process.pid, "-o", taken), "is neither empty nor the directory of")
        finally:
            (self.folder / "over").touch()
            process.wait(timeout=60)


driver.main()
