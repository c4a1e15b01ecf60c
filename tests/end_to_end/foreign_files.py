#!/usr/bin/env python3
"""Files that prof did not write stay unchanged, whatever paths a user passes to prof."""

import os
import subprocess

import driver

PROF_FAILED = 125
PROGRAM = ["sh", "-c", ":"]


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


class ForeignFiles(driver.EndToEnd):
    def project(self):
        """Creates a user's folder with names that a database or a run uses as well."""
        folder = self.folder / "project"
        for name in ("src/main.c", "run.json", "metrics/default.yaml"):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{{\"mine\": \"{name}\"}}\n")
        return folder

    def measured(self):
        run = self.prof_run(PROGRAM, options=["--no-analyze"])
        self.assertEqual(run.status, 0, run.stderr)
        return run.directory

    def prof(self, *arguments, **options):
        return subprocess.run([str(driver.PROF), *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              **options)

    def assert_refused(self, done, reason, remedy="-o"):
        self.assertEqual(done.returncode, PROF_FAILED, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(reason, lines[0])
        self.assertIn(remedy, lines[0])

    def test_a_database_is_not_written_over_a_project(self):
        measured, project = self.measured(), self.project()
        before = contents(project)
        self.assert_refused(self.prof("analyze", measured, "-o", ".", cwd=project), "holds other files")
        self.assert_refused(self.prof("analyze", measured, "-o", project), "holds other files")
        self.assertEqual(contents(project), before)

    def test_a_database_is_not_written_into_the_root_folder(self):
        self.assert_refused(self.prof("analyze", self.measured(), "-o", "/"), "holds other files")

    def test_a_database_is_not_written_over_measurements(self):
        measured = self.measured()
        before = contents(measured)
        self.assert_refused(self.prof("analyze", measured, "-o", measured), "holds other files")
        self.assertEqual(contents(measured), before)

    def test_nor_where_measurements_lie_in_a_database(self):
        measured = self.measured()
        database = self.folder / "database"
        self.assertEqual(self.prof("analyze", measured, "-o", database).returncode, 0)
        for file in measured.glob("*.prof"):
            file.rename(database / file.name)
        self.assert_refused(self.prof("analyze", database, "-o", database), "holds measurements")

    def test_a_fifo_in_the_place_of_a_file_makes_nothing_wait(self):
        measured = self.measured()
        self.assertEqual(self.prof("analyze", measured).returncode, 0)
        names = [str(path.relative_to(measured)) for path in measured.rglob("*")
                 if path.is_file() and path.parent.name in (measured.name, "database")]
        names += ["launch.json", "repair.json", "run-1.json", "clock-1.json", "x.prof", "x.ranks"]
        for name in names:
            path = measured / name
            kept = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            with self.subTest(name=name):  # prof() fails after some time
                self.prof("report", measured / "database" if path.parent != measured else measured)
            path.unlink(missing_ok=True)
            if kept is not None:
                path.write_bytes(kept)

    def test_force_replaces_a_run_and_nothing_else(self):
        measured = self.measured()
        self.assertEqual(self.prof("analyze", measured).returncode, 0)
        others = {"out.prof": "of cProfile\n", "notes.txt": "mine\n", "database/schema.sql": "mine\n"}
        for name, text in others.items():
            (measured / name).write_text(text)
        before = {path.name for path in measured.glob("*.prof")} - set(others)
        run = self.prof_run(PROGRAM, options=["--force", "--no-analyze"], directory=measured)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual({name: (measured / name).read_text() for name in others}, others)
        self.assertFalse(before & {path.name for path in measured.iterdir()})
        self.assertFalse((measured / "database/meta.db").exists())
        self.assertEqual(run.summary()["run"]["processes"], 1)  # analyzes into database/
        self.assertEqual((measured / "database/schema.sql").read_text(), "mine\n")

    def test_a_run_does_not_go_where_it_would_replace_files(self):
        mark = self.folder / "mark"
        project = self.project()
        database = self.folder / "other/database"
        database.mkdir(parents=True)
        (database / "schema.sql").write_text("mine\n")
        for folder, reason in ((project, "run.json"), (database.parent, "holds other files")):
            before = contents(folder)
            for options in ([], ["--force"]):
                self.assert_refused(self.prof("run", *options, "-o", folder, "touch", mark), reason)
            self.assertEqual(contents(folder), before)
        self.assertFalse(mark.exists())

    def test_a_run_goes_beside_other_files(self):
        folder = self.folder / "beside"
        folder.mkdir()
        (folder / "out.prof").write_text("of cProfile\n")
        run = self.prof_run(PROGRAM, directory=folder)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual((folder / "out.prof").read_text(), "of cProfile\n")
        self.assertGreater(run.summary()["run"]["processes"], 0)

    def test_a_database_is_written_into_an_empty_folder_and_over_a_database(self):
        measured, target = self.measured(), self.folder / "target"
        target.mkdir()
        for _ in range(2):
            done = self.prof("analyze", measured, "-o", target)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.prof("report", target).returncode, 0)


driver.main()
