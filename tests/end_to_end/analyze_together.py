#!/usr/bin/env python3
"""`mpirun -n 4 prof analyze DIR`: processes share the work of an analysis, whose database equals that of one process
byte for byte. A process that dies or fails ends the others, and --resume continues."""

import functools
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from driver import BUILD, PROF, EndToEnd, listed, main, sample

MAKE_RANKS = BUILD / "tests/make_ranks"
FILES = ("meta.db", "profile.db", "cct.db", "trace.db", "run.json", "instructions.sqlite", "metrics/default.yaml")
# The steps that processes share, in their order; those of the first process only, and of all others.
STEPS = ("files", "outlines", "source", "contexts", "profile.db.sizes", "values", "cct.db.sizes", "cct", "trace.db",
         "metrics", "ranks", "left", "written")
OF_FIRST = ("files", "metrics", "written")
OF_OTHERS = ("left",)
RENAME = "/^rename"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
ENVIRONMENT = {**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


@functools.cache
def can_trace():
    return bool(shutil.which("strace")) and subprocess.run(["strace", "-o", "/dev/null", "true"],
                                                           stderr=subprocess.DEVNULL).returncode == 0


class AnalyzeTogether(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.real = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"prof-real-{os.getpid()}"
        subprocess.run([PROF, "run", "-q", "--no-analyze", "-o", cls.real, "--", sample("deep_calls"), "40", "20000", "1"],
                       check=True, stdout=subprocess.DEVNULL)
        cls.addClassCleanup(shutil.rmtree, cls.real, ignore_errors=True)

    def job(self, ranks, contexts=400, records=500):
        """Creates a directory with the measurements of that many ranks, two threads each."""
        directory = self.folder / "job"
        file = max(self.real.glob("*.prof"), key=lambda path: path.stat().st_size)
        subprocess.run([MAKE_RANKS, file, "-o", directory, "--ranks", str(ranks), "--threads", "2", "--contexts",
                        str(contexts), "--records", str(records)], check=True, stdout=subprocess.DEVNULL)
        return directory

    def begin(self, size, *words, ranks=None):
        """Starts as many processes as a launcher of PMI would, or some of them."""
        return [subprocess.Popen([PROF, "analyze", *map(str, words)], stderr=subprocess.PIPE,
                                 env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": str(size)})
                for rank in (range(size) if ranks is None else ranks)]

    def end(self, processes):
        """Returns the status of each process, and what they printed."""
        said = [process.communicate(timeout=100)[1].decode() for process in processes]
        return [process.returncode for process in processes], said

    def alone(self, *words):
        done = subprocess.run([PROF, "analyze", *map(str, words)], stderr=subprocess.PIPE, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stderr.decode()

    def assert_same(self, database, expected):
        for name in FILES:
            self.assertGreater((expected / name).stat().st_size, 100, name)
            self.assertTrue((database / name).read_bytes() == (expected / name).read_bytes(), f"{database}: {name}")
        self.assertEqual([], self.left_beside(database))

    def left_beside(self, database):
        return [path.name for path in database.parent.glob(f".{database.name}.*")]

    def test_the_database_is_that_of_one_process(self):
        job = self.job(25)
        expected = self.folder / "alone"
        self.alone("-j", "2", job, "-o", expected)
        for size in (2, 3, 4):
            database = self.folder / f"by{size}"
            status, said = self.end(self.begin(size, job, "-o", database))
            self.assertEqual([0] * size, status, said)
            self.assertEqual([""] * (size - 1), said[1:])  # only the first one prints
            self.assertEqual(str(database), said[0].splitlines()[-1])
            self.assert_same(database, expected)

    def test_the_order_of_inputs_and_empty_shares_change_nothing(self):
        job = self.job(3)
        halves = [self.folder / "a", self.folder / "b"]
        for number, file in enumerate(sorted(job.glob("*.prof"))):
            halves[number % 2].mkdir(exist_ok=True)
            shutil.copy(file, halves[number % 2] / f"{9 - number}.prof")  # without rank numbers in the names
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(*halves, "-o", expected)
        status, said = self.end(self.begin(4, *reversed(halves), "-o", database))  # more processes than ranks
        self.assertEqual([0] * 4, status, said)
        self.assert_same(database, expected)

    def test_damaged_and_missing_ranks_are_named_as_by_one_process(self):
        job = self.job(8)
        files = sorted(job.glob("*.prof"))
        files[1].unlink()
        for number in (2, 6):
            with open(files[number], "r+b") as file:
                file.truncate(files[number].stat().st_size // 2 if number == 2 else 100)
        expected, database = self.folder / "alone", self.folder / "database"
        told = self.alone(job, "-o", expected)
        self.assertIn("left out", told)
        status, said = self.end(self.begin(3, job, "-o", database))
        self.assertEqual([0] * 3, status, said)
        self.assertEqual(told.replace(str(expected), ""), said[0].replace(str(database), ""))
        self.assert_same(database, expected)

    def test_what_is_corrupt_is_told_as_by_one_process(self):
        job = self.job(8)
        files = sorted(job.glob("*.prof"))
        for number, file in enumerate(files):
            if number % 3 != 0:
                continue
            # Wrong bits in files of full length: everywhere in the first, in the middle in others.
            content = bytearray(file.read_bytes())
            places = range(64, len(content), 97) if number == 0 else range(len(content) // 3, 2 * len(content) // 3, 31)
            for place in places:
                content[place] ^= 0x55
            file.write_bytes(content)
        expected = self.folder / "alone"
        told = self.alone(job, "-o", expected)
        self.assertIn(files[0].name, told)
        for size in (2, 4):
            database = self.folder / f"by{size}"
            status, said = self.end(self.begin(size, job, "-o", database))
            self.assertEqual([0] * size, status, said)
            self.assertEqual(told.replace(str(expected), ""), said[0].replace(str(database), ""))
            self.assertEqual([""] * (size - 1), said[1:])
            self.assert_same(database, expected)

    @unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun (Debian: openmpi-bin)")
    def test_mpirun_starts_them(self):
        job = self.job(10)
        self.alone(job, "-o", self.folder / "alone")
        done = subprocess.run([*MPIRUN, "-n", "3", PROF, "analyze", job], stderr=subprocess.PIPE, env=ENVIRONMENT,
                              timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assert_same(job / "database", self.folder / "alone")

    def interrupted(self, job, database, victim=1):
        """Starts two processes, and kills one as soon as the other has read its share."""
        processes = self.begin(2, job, "-o", database)
        parts = database.parent / f".{database.name}.parts"
        deadline = time.monotonic() + 60
        while not (parts / f"outlines.{1 - victim}").exists():
            self.assertLess(time.monotonic(), deadline)
        processes[victim].send_signal(signal.SIGKILL)
        status, said = self.end([processes[victim], processes[1 - victim]])
        self.assertEqual([-signal.SIGKILL, 125], status, said)
        self.assertRegex(said[1], rf"process {victim} of 2 on \S+ was killed; continue with `prof analyze --resume`")
        return parts

    def test_after_one_was_killed_the_others_end_and_resume_goes_on(self):
        job = self.job(40, contexts=3000)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        shutil.copytree(expected, database)
        parts = self.interrupted(job, database)
        self.assert_untouched(database, expected)

        # Data is not read again: the part is still the same file.
        part = (parts / "outlines.0").stat().st_ino
        processes = self.begin(2, "--resume", job, "-o", database)
        while processes[0].poll() is None:
            try:
                self.assertEqual(part, (parts / "outlines.0").stat().st_ino)
            except FileNotFoundError:
                break  # all is done
        status, said = self.end(processes)
        self.assertEqual([0, 0], status, said)
        self.assertNotIn("from the start", said[0])
        self.assert_same(database, expected)

    def test_the_first_may_die_as_well(self):
        job = self.job(30, contexts=2000)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        self.interrupted(job, database, victim=0)
        self.assertFalse(database.exists())
        status, said = self.end(self.begin(2, "--resume", job, "-o", database))
        self.assertEqual([0, 0], status, said)
        self.assertNotIn("from the start", said[0])
        self.assert_same(database, expected)

    def killed_as(self, deaths, job, database):
        """Starts two processes, some of which are killed before a system call for a file takes effect:
                {rank: (system calls, file, at which of these calls)}. Descriptors of a file are found by its path. Names in a
                directory given by a descriptor, as for renaming and removing, are found by the name alone."""
        words = [PROF, "analyze", job, "-o", database]
        processes = []
        for rank in range(2):
            calls, file, number = (*deaths.get(rank, (None, None)), 1)[:3]
            fatal = ["strace", "-f", "-qqq", "-o", "/dev/null", "-P", file, "-e", f"trace={calls}",
                     "-e", f"inject={calls}:signal=KILL:when={number}"] if file else []
            processes.append(subprocess.Popen([str(word) for word in fatal + words], stderr=subprocess.PIPE,
                                              env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": "2"}))
        status, said = self.end(processes)
        for rank, of_one in enumerate(status):
            # A process that has done its part may have ended when the other one dies.
            self.assertIn(of_one, (-signal.SIGKILL,) if rank in deaths else (0, 125), (deaths, said))

    def assert_resumes_behind(self, deaths, job, database, expected):
        if not can_trace():
            self.skipTest("strace cannot follow a process here")
        self.killed_as(deaths, job, database)
        status, said = self.end(self.begin(2, "--resume", job, "-o", database))
        self.assertEqual([0, 0], status, said)
        self.assertNotIn("from the start", said[0])
        self.assert_same(database, expected)

    def test_whichever_step_they_die_in_resume_goes_on(self):
        job = self.job(6, contexts=300, records=100)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        everybody = [(1,), (0,), (0, 1)]
        tried = {*listed(STEPS, 2), *OF_OTHERS}
        for number, step in enumerate(STEPS):
            if step not in tried:
                continue
            victims = (0,) if step in OF_FIRST else (1,) if step in OF_OTHERS else everybody[number % 3]
            deaths = {rank: (RENAME, f"{step}.{rank}") for rank in victims}
            with self.subTest(step=step, victims=victims):
                self.assert_resumes_behind(deaths, job, database, expected)
                shutil.rmtree(database)

    def test_whichever_file_they_die_in_resume_goes_on(self):
        job = self.job(6, contexts=300, records=100)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        unfinished = self.folder / ".database.parts/database"
        for victim, name in listed([(0, "meta.db"), (0, "profile.db"), (1, "profile.db"), (1, "cct.db"), (0, "cct.db"),
                                    (0, "trace.db"), (1, "trace.db"), (0, "instructions.sqlite")], 2):
            with self.subTest(victim=victim, name=name):
                self.assert_resumes_behind({victim: ("/^p?write", unfinished / name)}, job, database, expected)
                shutil.rmtree(database)
        for name in listed(("default.yaml", "run.json"), 2):  # text files are written under a random name
            with self.subTest(name=name):
                self.assert_resumes_behind({0: (RENAME, name)}, job, database, expected)
                shutil.rmtree(database)

    def test_whenever_it_dies_as_the_database_takes_its_place_resume_goes_on(self):
        job = self.job(6, contexts=300, records=100)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        # Into a new place; and when all is done, while it removes the folder.
        for death in ((RENAME, "database"), (RENAME, ".database.parts")):
            with self.subTest(death=death):
                self.assert_resumes_behind({0: death}, job, database, expected)
                shutil.rmtree(database)

        # Over an older one, file by file: nothing reads it while meta.db is missing.
        older = self.folder / "older"
        smaller = self.folder / "smaller"
        smaller.mkdir()
        shutil.copy(sorted(job.glob("*.prof"))[0], smaller)
        self.alone(smaller, "-o", older)
        twice = ("run.json", "metrics/default.yaml", "findings.sqlite")  # these also get their names by renaming
        deaths = [("/^unlink", "meta.db")]
        deaths += [(RENAME, pathlib.Path(name).name, 2 if name in twice else 1)
                   for name in (*FILES, "findings.sqlite", "src")]
        for death in listed(deaths, 2):
            with self.subTest(death=death):
                shutil.copytree(older, database)
                self.assert_resumes_behind({0: death}, job, database, expected)
                shutil.rmtree(database)

    def test_the_first_does_not_end_before_those_that_resume_slowly(self):
        if not can_trace():
            self.skipTest("strace cannot follow a process here")
        job = self.job(6, contexts=300, records=100)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        parts = self.folder / ".database.parts"
        # Everything that the first process needs from the other is there.
        self.killed_as({0: (RENAME, "written.0")}, job, database)
        processes = self.begin(2, "--resume", job, "-o", database)
        while not (parts / "joined.1").exists():
            self.assertIsNone(processes[0].poll())
        processes[1].send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        processes[1].send_signal(signal.SIGCONT)
        status, said = self.end(processes)
        self.assertEqual([0, 0], status, said)
        self.assert_same(database, expected)

    def test_one_alone_removes_what_was_left(self):
        job = self.job(30, contexts=2000)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        parts = self.interrupted(job, database)
        self.assertTrue(parts.exists())
        self.alone(job, "-o", database)
        self.assert_same(database, expected)

    def test_one_that_was_interrupted_resumes(self):
        job = self.job(30, contexts=2000)
        expected, database = self.folder / "alone", self.folder / "database"
        self.alone(job, "-o", expected)
        process = subprocess.Popen([PROF, "analyze", "--resume", job, "-o", database], stderr=subprocess.DEVNULL)
        while not (self.folder / ".database.parts" / "outlines.0").exists():
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        self.assertFalse(database.exists())
        self.assertNotIn("from the start", self.alone("--resume", job, "-o", database))
        self.assert_same(database, expected)

    def assert_untouched(self, database, expected):
        for name in FILES:
            self.assertTrue((database / name).read_bytes() == (expected / name).read_bytes(), name)

    def test_damaged_parts_and_those_of_other_inputs_are_not_taken_up(self):
        job = self.job(30, contexts=2000)
        database = self.folder / "database"
        parts = self.interrupted(job, database)
        whole = (parts / "outlines.0").read_bytes()
        damaged = bytearray(whole)
        damaged[len(damaged) // 2] ^= 1
        (parts / "outlines.0").write_bytes(damaged)
        expected = self.folder / "alone"
        self.alone(job, "-o", expected)
        status, said = self.end(self.begin(2, "--resume", job, "-o", database))
        self.assertEqual([0, 0], status, said)
        self.assert_same(database, expected)

        shutil.rmtree(database)
        self.interrupted(job, database)
        sorted(job.glob("*.prof"))[0].unlink()
        self.alone(job, "-o", expected)
        status, said = self.end(self.begin(2, "--resume", job, "-o", database))
        self.assertEqual([0, 0], status, said)
        self.assertIn("analyzing from the start", said[0])
        self.assert_same(database, expected)

    def test_resume_where_nothing_is_left_begins(self):
        job = self.job(4)
        self.alone(job, "-o", self.folder / "alone")
        said = self.alone("--resume", job, "-o", self.folder / "database")
        self.assertIn("analyzing from the start", said)
        self.assert_same(self.folder / "database", self.folder / "alone")

    def test_a_full_disk_ends_all_and_leaves_what_was_there(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=777", "none", str(disk)],
                                 stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            self.skipTest("a small disk can only be mounted by root")
        self.addCleanup(subprocess.run, ["umount", str(disk)])
        small = self.job(2, contexts=100, records=100)
        self.alone("--no-sources", small, "-o", disk / "database")
        shutil.copytree(disk / "database", self.folder / "before")
        shutil.rmtree(small)
        job = self.job(40, contexts=3000)
        status, said = self.end(self.begin(3, "--no-sources", job, "-o", disk / "database"))
        self.assertEqual([125] * 3, status, said)
        lines = [line for text in said for line in text.splitlines()]
        self.assertTrue(any("No space left on device" in line for line in lines), said)
        self.assertTrue(all("No space left on device" in line for line in lines), said)
        self.assert_untouched(disk / "database", self.folder / "before")
        self.assertEqual([], self.left_beside(disk / "database"))

    def test_what_one_refuses_all_refuse(self):
        empty = self.folder / "empty"
        empty.mkdir()
        status, said = self.end(self.begin(3, empty))
        self.assertEqual([125] * 3, status, said)
        self.assertEqual(1, sum("no measurement files" in text for text in said), said)
        self.assertEqual(["", ""], said[1:])
        self.assertEqual([], list(empty.iterdir()))

    def test_two_analyses_do_not_write_one_database_together(self):
        job = self.job(40, contexts=3000)
        database = self.folder / "database"
        first = self.begin(2, job, "-o", database)
        while not (self.folder / ".database.parts" / "welcome").exists():
            self.assertIsNone(first[0].poll())
        other = self.end(self.begin(2, job, "-o", database, ranks=[0]))
        self.assertEqual([125], other[0])
        self.assertRegex(other[1][0], r"is being written by process \d+ on \S+; wait for it to end")
        status, said = self.end(first)
        self.assertEqual([0, 0], status, said)


if __name__ == "__main__":
    main()
