#!/usr/bin/env python3
"""Calls that wait, and calls that transfer much, return the same under running clocks as without a profiler. Their time
is measured, however the wait or the process ends."""

import os
import signal

import driver

# Signals that could interrupt a wait: from timers on the wall clock, from F_SETSIG, from both.
SOURCES = {
    "timers": ("sigtrap", ["REALTIME@2000"]),
    "queued": ("setsig", ["CPUTIME@2000"]),
    "both": ("setsig", ["REALTIME@1000", "CPUTIME@1000"]),
}


class Waits(driver.EndToEnd):
    def check(self, program, case):
        command = [driver.program(program), case]
        plain = self.plain_run(command, timeout=60)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for name, (trigger, events) in SOURCES.items():
            with self.subTest(sources=name):
                run = self.prof_run(command, events=events, options=["--no-analyze"],
                                    env={**os.environ, "PROF_TRIGGER": trigger})
                self.assertEqual(run.stdout.decode(), plain.stdout.decode(), run.stderr)
                self.assertEqual(run.status, 0, run.stderr)

    def test_timeouts_pass(self):
        self.check("waits", "timeouts")

    def test_transfers_are_complete(self):
        self.check("waits", "transfers")

    def test_the_programs_own_signals_interrupt(self):
        self.check("interrupted_waits", "interruptions")

    def test_a_program_gets_the_signals_that_it_comes_to_handle(self):
        self.check("interrupted_waits", "takes_signals")

    def test_samples_on_their_way_are_no_signals_of_the_program(self):
        self.check("interrupted_waits", "takes_signals_while_threads_compute")

    def test_a_program_may_handle_all_signals(self):
        self.check("interrupted_waits", "takes_all_signals")

    def test_a_program_gets_the_signals_that_it_comes_to_wait_for(self):
        self.check("interrupted_waits", "waits_for_signals")

    def test_sampling_goes_on_after_a_jump_out_of_a_wait(self):
        self.check("left_waits", "jumps")
        run = self.prof_run([driver.program("left_waits"), "jumps"], events=["REALTIME@200"])
        passed = sum(float(line.split()[1]) for line in run.stderr.decode().splitlines()
                     if line.startswith("spin_after_jump_wall"))
        self.assert_within(run.inclusive("(anonymous namespace)::spin_after_jump", "REALTIME"), 0.93 * passed,
                           1.07 * passed, "REALTIME after the jumps")

    def check_end(self, how, status, said=b"", most=1.1):
        run = self.prof_run([driver.program("left_waits"), "ends", how], events=["REALTIME@200"])
        self.assertEqual((run.stdout, run.status), (said, status), run.stderr)
        blocked = run.stated("blocked")
        measured = run.inclusive("(anonymous namespace)::block_in_poll", "REALTIME")
        self.assert_within(measured, 0.95 * blocked, most * blocked + 0.05, f"REALTIME of a wait until {how}")
        # The call is shown as the C library's, as if the program had called it directly.
        ours = sum(row["values"].get("REALTIME", {}).get("inclusive", 0) for row in run.report("flat")["rows"]
                   if row["module"].endswith("/libprof-runtime.so"))
        self.assertLess(ours, 0.1 * blocked)

    def test_waits_that_a_return_from_main_cuts_short_count(self):
        self.check_end("return", 0)

    def test_waits_that_an_immediate_exit_cuts_short_count(self):
        self.check_end("_exit", 3)

    def test_waits_that_an_exec_cuts_short_count(self):
        self.check_end("exec", 0)

    def test_waits_of_cancelled_threads_count(self):
        self.check_end("cancel", 0, b"cancelled 1, cleaned 1\n")

    def test_waits_of_killed_processes_count(self):
        self.check_end("kill", 128 + signal.SIGKILL, most=1.3)
        self.check_end("term", 128 + signal.SIGTERM, most=1.3)


driver.main()
