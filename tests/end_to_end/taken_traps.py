#!/usr/bin/env python3
"""A program that removes its handlers of SIGTRAP, and sends the signal to single threads, while breakpoints raise it.
Its own signals reach its handlers, or kill it if there is none. The breakpoints' signals never do.

Chance: whether threads run at the same time in a run, so that a breakpoint is hit. Output and status must be right in each run. Accepted:
6e-6 a run, six cases of six attempts each, if fewer than one attempt in ten misses. Not less, because a case computes for half a second
only, and how often that is too short was not counted; the log names each further attempt."""

import driver


class TakenTraps(driver.EndToEnd):
    def check(self, name, ends_with=0):
        command = [driver.program("taken_traps"), name]
        plain = self.plain_run(command)
        # If threads rarely run at the same time, no breakpoint is hit, and nothing is tested.
        for _ in driver.attempts():
            run = self.prof_run(command, events=["contention@1000"])
            self.assertEqual(run.stdout.decode(), plain.stdout.decode(), run.stderr)
            self.assertEqual(run.status, ends_with, run.stderr)
            if "Contention cannot be confirmed here" in " ".join(run.summary()["degradations"]):
                self.skipTest("the kernel refuses breakpoints here")
            if run.report("contention")["data"]:
                return
        self.fail("no breakpoint was hit")

    def test_handlers_that_are_taken_back_and_installed_anew(self):
        self.check("takes_back")

    def test_a_handler_that_comes_and_goes_all_the_time(self):
        self.check("alternates")

    def test_each_that_is_sent_to_a_thread_is_taken(self):
        self.check("answers")

    def test_each_that_is_sent_to_a_thread_that_blocks_it_at_times(self):
        self.check("answers_unblocked")

    def test_each_that_is_sent_to_a_thread_that_waits_for_it(self):
        self.check("answers_waited_for")

    def test_without_a_handler_the_programs_own_kills_it(self):
        self.check("dies", ends_with=128 + 5)


driver.main()
