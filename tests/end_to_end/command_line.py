#!/usr/bin/env python3
"""Each failure of prof itself has status 125 and one line that begins with "prof: " and names the remedy."""

import datetime
import os
import subprocess
import unittest

import driver

PROF_FAILED = 125


class CommandLine(driver.EndToEnd):
    def prof(self, *arguments, stdout=subprocess.PIPE):
        return subprocess.run([str(driver.PROF), *arguments], cwd=self.folder, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=100)

    def check(self, arguments, *texts, **options):
        done = self.prof(*arguments, **options)
        self.assertEqual(done.returncode, PROF_FAILED, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("prof: "), lines[0])
        for text in texts:
            self.assertIn(text, lines[0])
        self.assertLess(len(lines[0]), 160)

    def test_subcommands(self):
        self.check(["nosuch"], "'nosuch'", "run, ", "analyze, ", "see prof --help")
        self.check(["rnu"], "'rnu'", "did you mean run?", "See prof --help")
        self.check(["list", "event"], "did you mean events?")
        self.check(["list"], "events", "see prof list --help")
        self.check(["help", "nosuch"], "'prof nosuch'", "one of run, ")
        self.check(["list", "nosuch"], "'nosuch'", "events", "see prof list --help")

    def test_options(self):
        self.check(["--nosuch"], "--nosuch", "see prof --help")
        self.check(["run", "--otput", "d", "true"], "--otput", "did you mean --output?", "See prof run --help")
        self.check(["run", "--output"], "--output needs a value", "see prof run --help")
        self.check(["run", "-e", "CPUTIM", "true"], "CPUTIM", "did you mean CPUTIME?")
        self.check(["report", "d", "--view=botom-up"], "did you mean bottom-up?")
        self.check(["version", "now"], "unexpected argument 'now'", "see prof version --help")
        self.check(["report"], "DATABASE|DIR is missing", "see prof report --help")
        self.check(["analyze"], "DIR is missing", "see prof analyze --help")
        self.check(["attach", "abc"], "'abc' is not a process ID", "see prof attach --help")
        self.check(["run", "-p", "-1"], "'-1' is not a process ID", "see prof run --help")
        self.check(["run", "--delay=soon", "true"], "--delay: 'soon' is not a number from 0 to", "see prof run --help")
        self.check(["run", "--trace=maybe", "true"], "--trace: 'maybe': expected true or false")
        self.check(["report", "d", "--nosuch"], "--nosuch", "see prof report --help")
        self.check(["report", "d", "--view=nosuch"], "'nosuch'", "top-down", "see prof report --help")
        self.check(["report", "d", "--depth=0"], "--depth", "'0'", "see prof report --help")
        self.check(["report", "d", "--threshold=nan"], "--threshold", "'nan'", "see prof report --help")
        self.check(["report", "d", "--metric="], "--metric needs a value", "see prof report --help")
        self.check(["analyze", "d", "-j", "0"], "'0'", "see prof analyze --help")
        self.check(["export", "d"], "--format", "see prof export --help")
        self.check(["diff", "a"], "compares runs before with runs after", "see prof diff --help")
        self.check(["diff", "a", "b", "--before", "c"], "use either BEFORE AFTER, or --before and --after", "see prof diff --help")
        self.check(["diff", "a", "b", "--by=fnction"], "did you mean function?")
        self.check(["diff", "a", "b", "--threshold=few%"], "--threshold", "'few'", "see prof diff --help")
        self.check(["diff", "a", "b", "--scaling=weak", "--fail-on-regress=5%"], "leave one of them out")
        self.check(["diff", "a", "b", "--scaling=weak", "--same-total"], "leave one of them out")
        self.check(["import"], "see prof import --help")
        self.check(["import", "f", "--format=nosuch"], "'nosuch'", "collapsed|perf|pprof", "see prof import --help")
        self.check(["import", "/nonexistent/f", "-o", "/tmp/nonexistent"], "/nonexistent/f", "No such file")

    def test_without_arguments_the_help_is_printed(self):
        done = self.prof()
        self.assertEqual((done.returncode, done.stderr), (PROF_FAILED, self.prof("--help").stdout))

    def test_a_setting_of_a_wrong_value(self):
        done = subprocess.run([str(driver.PROF), "run", "true"], stderr=subprocess.PIPE, text=True, cwd=self.folder,
                              env={**os.environ, "PROF_RUN_TRACE": "maybe"})
        self.assertEqual(done.returncode, PROF_FAILED)
        self.assertIn("PROF_RUN_TRACE: 'maybe': expected true or false", done.stderr)

    def test_a_run_that_ends_before_measuring_begins(self):
        run = self.prof_run(["true"], options=["--delay=100"])
        self.assertEqual(run.status, 0)
        self.assertIn(b"before measuring began (--delay)", run.stderr)

    def test_a_device_trace_without_a_trace(self):
        told = b"prof: --device-trace=sampled has no effect without --trace\n"
        for options, lines in ((["--device-trace=sampled"], 1), (["--device-trace=sampled", "--trace"], 0), ([], 0)):
            run = self.prof_run(["true"], options=["-q", "--no-analyze", *options])
            self.assertEqual((run.status, run.stderr.count(told)), (0, lines), run.stderr)

    def test_the_file_of_a_process_is_no_database(self):
        run = self.prof_run(["true"])
        file = next(run.directory.glob("*.prof"))
        self.check(["report", str(file)], "use its directory", str(run.directory))

    @unittest.skipIf(os.geteuid() != 0, "takes another user")
    def test_the_run_of_another_user(self):
        run = self.prof_run(["true"], options=["--share=world"])
        for file in run.directory.glob("*.prof"):
            file.chmod(0o600)
        command = driver.as_nobody([str(driver.PROF), "report", str(run.directory)])
        shown = self.plain_run(command)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(b"program   true", shown.stdout)
        (run.directory / "database").rename(run.directory / "kept")
        refused = self.plain_run(command)
        self.assertEqual(refused.returncode, PROF_FAILED)
        self.assertIn(b".prof: permission denied", refused.stderr)

    def test_databases(self):
        self.check(["report", "nowhere"], "nowhere")
        self.check(["analyze", "nowhere"], "nowhere")
        run = self.prof_run(["true"])
        self.check(["report", str(run.directory), "--metric=NOSUCH"], "NOSUCH", "CPUTIME")
        self.check(["report", str(run.directory), "--metric=CPUTYME"], "did you mean CPUTIME?")
        self.check(["export", str(run.directory), "--format=collapsed", "-o", "/nowhere/file"], "/nowhere/file")
        self.check(["diff", str(run.directory), "nowhere"], "nowhere")
        self.check(["diff", str(run.directory), str(run.directory), "--metric=CPUTYME"], "did you mean CPUTIME?")
        twice = f"{run.directory},{run.directory}/database"
        self.check(["diff", twice, str(run.directory)], "is listed twice")
        (run.directory / "database/run.json").write_text("{")
        self.check(["report", str(run.directory / "database")], "run.json", "analyze")

    def test_names_do_not_reach_the_terminal_as_they_are(self):
        self.check(["report", "no\x1b[31m\nwhere"], "no\\x1b[31m where")

    def test_an_answer_that_cannot_be_written(self):
        for arguments in (["--help"], ["--version"], ["list", "events"], ["run", "--help"]):
            with open("/dev/full", "w") as full:
                self.check(arguments, "No space left", stdout=full)

    def test_answers(self):
        for arguments in (["--help"], ["--version"], ["list", "events"], ["run", "--help"]):
            done = self.prof(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout)

    def test_the_start_of_a_run_is_in_utc(self):
        run = self.prof_run(["true"], options=["--no-analyze"], env={**os.environ, "TZ": "America/New_York"})
        stated = datetime.datetime.strptime(run.summary()["run"]["start"], "%Y-%m-%dT%H:%M:%SZ")
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        self.assertLess(abs(now - stated), datetime.timedelta(hours=1))


driver.main()
