#!/usr/bin/env python3
"""Programs compiled by `prof c++` get C++'s guarantees wherever one of their threads is when another one runs, when its pages are
committed, and when it is converted or comes home: one of two converted threads is run instruction by instruction (stepped.cpp). The
same cases fail if the pass, or the library that interposes on the C library, leaves something out."""

import pathlib
import tempfile

from compiling import BUILD, PLUGIN, SOURCE, Compiling, listed, main, run

TESTS = BUILD / "tests"
STEPPED = SOURCE / "tests/repair/isolate/pass/stepped.cpp"

NEED_COMMITS = {"message_release_acquire", "message_consume", "message_seq_cst", "message_fences", "message_exchange",
                "message_volatile", "spin_lock", "ticket_lock"}
NEED_ACCESSES = {"stores_seq_cst", "stores_fences", "counter", "figure_3", "figure_11", "spin_lock", "ticket_lock"}
NEED_LIBRARY = {"mutex", "read_write_lock", "pthread_spin_lock", "semaphore"}


class Stepped(Compiling):
    built = {}  # folders, by how they were compiled; two tests have the same program

    def build(self, *options, library="isolated_pages"):
        key = (*options, library)
        if key in self.built:
            self.folder = self.built[key]
            return
        self.folder = pathlib.Path(self.enterClassContext(tempfile.TemporaryDirectory(prefix="prof-cc-")))
        self.compile("-std=c++20", "-O2", f"-I{SOURCE}", *options, STEPPED, "-o", "stepped", "-pthread", f"-L{TESTS}", f"-l{library}",
                     f"-Wl,-rpath,{TESTS}", "-Wl,-z,now", language="c++")
        self.built[key] = self.folder

    def stepped(self, case):
        return run([self.folder / "stepped", case])

    def fails(self, cases):
        for case in sorted(cases):
            with self.subTest(case):
                done = self.stepped(case)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("wrong with", done.stderr)

    def test_hold_at_every_place(self):
        self.build()
        cases = set(run([self.folder / "stepped"]).stdout.split())
        self.assertGreaterEqual(cases, NEED_COMMITS | NEED_ACCESSES | NEED_LIBRARY)
        for case in listed(sorted(cases), 2):
            with self.subTest(case):
                done = self.stepped(case)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                print(done.stdout, end="")

    def test_all_commits_are_tried_with_all_places(self):
        self.build()
        done = run([self.folder / "stepped", "message_release_acquire", "pairs"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        print(done.stdout, end="")

    def leave_out(self, what):
        self.build("-Xclang", "-load", "-Xclang", PLUGIN, "-mllvm", f"-prof-regions-leave-out={what}")

    def test_without_commits_they_do_not(self):
        self.leave_out("commits")
        self.fails(NEED_COMMITS)

    def test_without_common_memory_they_do_not(self):
        self.leave_out("accesses")
        self.fails(NEED_ACCESSES)

    def test_without_commits_around_calls_locks_do_not(self):
        self.build(library="uncommitted_pages")
        self.fails(NEED_LIBRARY)


main()
