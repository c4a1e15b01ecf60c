#!/usr/bin/env python3
"""`prof run` ends with the program's status, or with the status that shells and env(1) use if there is none."""

import os

import driver

PROF_FAILED = 125
NOT_EXECUTABLE = 126
NOT_FOUND = 127


class ExitStatus(driver.EndToEnd):
    def check(self, command, status, **options):
        run = self.prof_run(command, **options)
        self.assertEqual(run.status, status, run.stderr)
        return run

    def test_the_programs_own(self):
        self.check(["true"], 0)
        self.check(["false"], 1)
        self.check(["sh", "-c", "exit 42"], 42)
        self.check(["sh", "-c", "exit 255"], 255)

    def test_128_and_the_signal_that_killed_it(self):
        run = self.check(["sh", "-c", "kill -TERM $$"], 128 + 15, options=[])
        self.assertIn("killed by SIGTERM, exit status 143\n", run.stderr.decode())
        self.assertEqual(run.summary()["run"]["signal"], 15)

    def test_a_status_above_128_is_no_signal(self):
        run = self.check(["sh", "-c", "exit 143"], 143, options=[])
        self.assertIn(", exit status 143\n", run.stderr.decode())
        self.assertNotIn("killed", run.stderr.decode())
        self.assertNotIn("signal", run.summary()["run"])

    def test_a_program_that_is_not_there(self):
        run = self.check([str(self.folder / "absent")], NOT_FOUND)
        self.assertIn("absent", run.stderr.decode())

    def test_a_file_that_is_not_executable(self):
        text = self.folder / "text"
        text.write_text("no program\n")
        self.check([str(text)], NOT_EXECUTABLE)

    def test_a_name_that_is_empty(self):
        run = self.check([""], NOT_FOUND)
        self.assertIn("name is empty", run.stderr.decode())

    def test_a_program_in_a_folder_that_may_not_be_searched(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o600)
        wrap = driver.as_nobody if os.geteuid() == 0 else lambda command: command
        run = self.check([str(closed / "program")], NOT_EXECUTABLE, wrap=wrap)
        self.assertIn("program: Permission denied", run.stderr.decode())
        self.assertFalse(run.directory.exists())

    def test_a_script_whose_interpreter_is_not_there(self):
        script = self.folder / "script"
        script.write_text("#!/nonexistent/interpreter -x\n")
        script.chmod(0o755)
        run = self.check([str(script)], NOT_EXECUTABLE)
        self.assertIn("/nonexistent/interpreter", run.stderr.decode())
        self.assertFalse(run.directory.exists())

    def test_an_unknown_event_stops_before_the_program_runs(self):
        mark = self.folder / "mark"
        run = self.check(["touch", str(mark)], PROF_FAILED, events=["NO_SUCH_EVENT"])
        self.assertIn("NO_SUCH_EVENT", run.stderr.decode())
        self.assertFalse(mark.exists())

    def test_an_impossible_rate_stops_before_the_program_runs(self):
        mark = self.folder / "mark"
        for rate in ("0", "-5", "many"):
            self.check(["touch", str(mark)], PROF_FAILED, events=[f"CPUTIME@{rate}"])
        self.assertFalse(mark.exists())

    def check_refused(self, reason, **options):
        """Expects one line, before the program runs and before anything is created."""
        mark = self.folder / "mark"
        run = self.check(["touch", str(mark)], PROF_FAILED, **options)
        lines = run.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(reason, lines[0])
        self.assertFalse(mark.exists())
        self.assertFalse(run.directory.exists())

    def test_an_event_named_twice(self):
        self.check_refused("CPUTIME", events=["CPUTIME@500", "CPUTIME@2000"])

    def test_too_many_events(self):
        self.check_refused("at most", events=["CPUTIME"] * 9)

    def test_a_trigger_that_does_not_exist(self):
        self.check_refused("PROF_TRIGGER=bogus", env={**os.environ, "PROF_TRIGGER": "bogus"})

    def test_a_trigger_that_exists(self):
        run = self.check(["true"], 0, env={**os.environ, "PROF_TRIGGER": "timer"})
        self.assertNotIn("sigtrap", run.summary()["sampling"]["source"])

    def test_an_unknown_option(self):
        self.check(["true"], PROF_FAILED, options=["--no-such-option"])

    def test_nothing_to_run(self):
        self.check([], PROF_FAILED)

    def test_the_programs_output_is_its_own(self):
        run = self.check(["sh", "-c", "echo to output; echo to error >&2; cat"], 0)
        self.assertEqual(run.stdout, b"to output\n")
        self.assertIn(b"to error\n", run.stderr)

    def test_the_database_is_the_last_line(self):
        run = self.check(["true"], 0)
        self.assertIn(str(run.directory / "database"), run.stderr.decode().splitlines()[-1])


driver.main()
