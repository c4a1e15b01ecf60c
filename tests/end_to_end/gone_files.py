#!/usr/bin/env python3
"""If the file of executed code is gone, or is another one for prof than for the program, the names are those of the
executed code."""

import os
import shutil
import subprocess
import unittest

import driver

ENOUGH_S = 0.15  # of the 0.25 s that the program works


class GoneFiles(driver.EndToEnd):
    def copied(self, name):
        copy = self.folder / name
        shutil.copy(driver.program(name), copy)
        copy.chmod(0o755)
        return str(copy)

    def check(self, function, *command, wrap=lambda command: command):
        run = self.prof_run(command, events=["CPUTIME@1000"], wrap=wrap)
        self.assertEqual((run.status, run.stdout), (0, b"worked 1\n"), run.stderr)
        self.assertGreater(run.inclusive(function, "CPUTIME"), ENOUGH_S, run.report("flat"))
        return run

    def has_line(self, run, source):
        return any((row.get("file") or "").endswith(source) and row.get("line") for row in run.report("lines")["rows"])

    def test_a_program_that_deletes_itself_keeps_names_and_lines(self):
        run = self.check("deleted_work", self.copied("gone_files"), "self")
        self.assertTrue(self.has_line(run, "spin.h"), run.report("lines"))

    def test_a_library_that_is_unlinked_after_it_was_loaded_keeps_its_names(self):
        self.check("plugin_work", driver.program("gone_files"), "library", self.copied("plugin.so"))

    def test_code_in_a_memory_file_has_names(self):
        self.check("plugin_work", driver.program("gone_files"), "memory", driver.program("plugin.so"))

    @unittest.skipIf(os.geteuid() != 0, "is an ordinary user anyway")
    def test_ordinary_users_have_the_names_that_lie_in_memory(self):
        self.folder.chmod(0o777)
        self.check("plugin_work", driver.program("gone_files"), "library", self.copied("plugin.so"),
                   wrap=driver.as_nobody)
        self.check("plugin_work", driver.program("gone_files"), "memory", driver.program("plugin.so"),
                   wrap=driver.as_nobody)

    def test_a_library_of_another_mount_namespace_has_its_own_names(self):
        path = self.folder / "mounted.so"
        shutil.copy(driver.program("early.so"), path)
        inside = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"',
                  driver.program("plugin.so"), str(path)]
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("mount namespaces are not allowed here")
        run = self.check("plugin_work", *inside, driver.program("gone_files"), "kept", str(path))
        self.assertTrue(self.has_line(run, "plugin.cpp"), run.report("lines"))

    def test_force_removes_what_was_saved(self):
        run = self.check("plugin_work", driver.program("gone_files"), "memory", driver.program("plugin.so"))
        self.assertEqual(len(list(run.directory.glob("saved-*.elf"))), 1)
        self.prof_run(["true"], options=["--force"], directory=run.directory)
        self.assertEqual(list(run.directory.glob("saved-*")), [])


driver.main()
