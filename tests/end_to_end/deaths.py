#!/usr/bin/env python3
"""However a process ends, its samples are there, and its status is what the shell would report."""

import os
import signal
import subprocess

import driver

SECONDS = 0.5


class Deaths(driver.EndToEnd):
    def check(self, end, status, *arguments, spun=SECONDS, said=None):
        command = [driver.program("deaths"), str(SECONDS), end, *arguments]
        run = self.prof_run(command, events=["CPUTIME@1000"])
        self.assertEqual(run.stdout, said or f"spun, then {end}\n".encode(), run.stderr)
        self.assertEqual(run.status, status, run.stderr)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.9 * spun, 1.1 * spun, f"CPUTIME before {end}")
        return run

    def check_nothing_is_missing(self, run):
        self.assertNotIn(b"did not end normally", run.stderr)

    def test_return(self):
        self.check_nothing_is_missing(self.check("return", 0))

    def test_kill_9(self):
        run = self.check("kill", 128 + signal.SIGKILL)
        self.check_nothing_is_missing(run)
        self.assertIn(b"killed by SIGKILL", run.stderr)

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT)

    def test_segmentation_fault(self):
        self.check("segv", 128 + signal.SIGSEGV)

    def test_terminating_signal(self):
        self.check("term", 128 + signal.SIGTERM)

    def test_exit_without_destructors(self):
        self.check_nothing_is_missing(self.check("_exit", 7))

    def test_exec_keeps_what_came_before_and_after(self):
        self.check("exec", 9, spun=2 * SECONDS, said=b"spun, then exec\nspun, then return\n")

    def test_forked_child_is_measured_as_well(self):
        run = self.check("fork", 11, spun=2 * SECONDS)
        self.check_nothing_is_missing(run)
        self.assertEqual(run.summary()["run"]["processes"], 2)

    def test_a_wrapper_does_not_hide_its_child(self):
        run = self.prof_run(["timeout", "60", driver.program("deaths"), str(SECONDS), "return", "5"],
                            events=["CPUTIME@1000"])
        self.assertEqual(run.status, 5)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.9 * SECONDS, 1.1 * SECONDS, "CPUTIME")

    def test_processes_share_unwind_tables_that_go_with_the_run(self):
        run = self.prof_run(["sh", "-c", 'true; ls "$PROF_DIRECTORY/unwind-tables" | wc -l'])
        self.assertGreater(int(run.stdout), 1, "libc.so.6 and the loader at least are worth it")
        self.assertFalse((run.directory / "unwind-tables").exists())

    def test_killing_prof_and_program_at_once_leaves_a_readable_measurement(self):
        directory = self.folder / "killed"
        launched = subprocess.Popen(
            [str(driver.PROF), "run", "-e", "CPUTIME@1000", "-o", str(directory), "--", driver.program("deaths"),
             str(SECONDS), "wait"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.assertEqual(launched.stdout.readline(), b"spun, then wait\n")
        os.killpg(launched.pid, signal.SIGKILL)
        launched.communicate()
        analyzed = self.plain_run([str(driver.PROF), "analyze", str(directory)])
        self.assertEqual(analyzed.returncode, 0, analyzed.stderr)
        self.assertIn(b"did not end normally, or still runs", analyzed.stderr)
        run = driver.Run(analyzed, directory)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.9 * SECONDS, 1.1 * SECONDS, "CPUTIME")


driver.main()
