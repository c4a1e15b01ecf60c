#!/usr/bin/env python3
"""A program that uses one of the runtime's signals through any function of the C library gets the same results as
without a profiler: SIGTRAP under perf's clock, and the timers' real-time signal under a timer."""

import os

import driver

TRIGGERS = {"sigtrap": ["sigtrap"], "realtime": ["timer"]}


class SignalCalls(driver.EndToEnd):
    def check(self, case, program="signal_calls", triggers=TRIGGERS, measured_in="main"):
        for signal in triggers:
            for trigger in triggers[signal]:
                with self.subTest(signal=signal, trigger=trigger):
                    command = [driver.program(program), case, signal]
                    plain = self.plain_run(command, timeout=20)
                    # Timers, which also sample programs that use SIGTRAP, take few samples on a busy machine.
                    for _ in range(4):
                        run = self.prof_run(command, events=["CPUTIME@1000"], timeout=20,
                                            env={**os.environ, "PROF_TRIGGER": trigger})
                        self.assertEqual(run.stdout.decode(), plain.stdout.decode(), run.stderr)
                        self.assertEqual((run.status, plain.returncode), (0, 0), run.stderr)
                        measured = run.inclusive(measured_in, "CPUTIME")
                        if measured > 0 or trigger == "timer":
                            break
                    if trigger != "timer":
                        self.assertGreater(measured, 0)

    def test_handlers_installed_by_old_functions(self):
        self.check("old_handlers")

    def test_samples_work_in_any_state_of_the_processor(self):
        for state in "counter", "alignment":
            with self.subTest(state=state):
                run = self.prof_run([driver.program("processor_state"), state], events=["CPUTIME@1000", "REALTIME@1000"],
                                    options=["--trace"])
                self.assertEqual((run.status, run.stdout), (42, b"worked\n"), run.stderr)
                self.assertGreater(run.inclusive("(anonymous namespace)::work", "CPUTIME"), 0, run.stderr)

    def test_a_thread_pointer_of_the_programs_own_stays(self):
        command = [driver.program("processor_state"), "thread_pointer"]
        for trigger in "sigtrap", "timer":
            with self.subTest(trigger=trigger):
                run = self.prof_run(command, events=["CPUTIME@1000"], env={**os.environ, "PROF_TRIGGER": trigger})
                self.assertEqual((run.status, run.stdout), (42, b"worked\n"), run.stderr)
                self.assertGreater(run.inclusive("(anonymous namespace)::work", "CPUTIME"), 0, run.stderr)

    def test_programs_that_forbid_system_calls_run_unharmed(self):
        ways = [("prctl", "CPUTIME"), ("seccomp", "REALTIME"), ("strict", "REALTIME"), ("execute", "CPUTIME")]
        for way, event in ways:
            command = [driver.program("seccomp_traps"), way]
            plain = self.plain_run(command, timeout=20)
            if plain.returncode == 77:
                self.skipTest("seccomp is not available here")
            with self.subTest(way=way, event=event):
                run = self.prof_run(command, events=[f"{event}@1000"], timeout=20)
                self.assertEqual((run.status, run.stdout), (plain.returncode, plain.stdout), run.stderr)
                self.assertTrue(any("seccomp" in line for line in run.summary()["degradations"]), run.stderr)
                self.assertGreater(run.inclusive("(anonymous namespace)::work", event), 0, run.stderr)

    def test_queued_values_of_a_real_time_signal_arrive_whole(self):
        """Whichever signal the runtime's timers use, none of the program's is lost, and none ends it."""
        ways = [("sigwaitinfo", ["REALTIME@1000"], None), ("sigtimedwait", ["CPUTIME@1000"], "setsig"),
                ("signalfd", ["CPUTIME@1000"], "timer")]
        for way, events, trigger in ways:
            with self.subTest(way=way, trigger=trigger):
                env = {**os.environ, "PROF_TRIGGER": trigger} if trigger else None
                run = self.prof_run([driver.program("queued_signals"), way], events=events, env=env,
                                    options=["--no-analyze"], timeout=60)
                self.assertEqual((run.status, run.stdout), (42, b"sum 499500\n"), run.stderr)

    def test_masks_of_system_v(self):
        self.check("old_masks")

    def test_masks_of_bsd(self):
        self.check("bsd_masks", triggers={"sigtrap": ["sigtrap"]})

    def test_a_mask_swapped_in_place(self):
        self.check("swaps_in_place")

    def test_a_timer_of_the_programs_own(self):
        self.check("waits_for_its_timer", "signal_waits")

    def test_signals_that_queue(self):
        self.check("queues", "signal_waits")

    def test_values_that_look_like_our_descriptors(self):
        self.check("values", "signal_waits", triggers={"realtime": ["setsig", "timer"]})

    def test_signals_read_from_a_descriptor(self):
        self.check("reads_descriptor", "signal_waits")

    def test_a_signal_taken_before_another_thread_waits_for_it(self):
        self.check("another_thread_waits", "signal_waits")

    def test_a_thread_cancelled_as_it_waits(self):
        self.check("a_waiting_thread_is_cancelled", "signal_waits")

    def test_calls_that_wait_with_another_mask(self):
        self.check("waits_with_masks", "signal_waits")

    def test_a_child_of_vfork_that_resets_all_signals(self):
        self.check("a_vfork_child_resets_all", "signal_children")

    def test_a_fork_with_a_pending_signal(self):
        self.check("forks_with_one_pending", "signal_children")

    def test_forks_while_another_thread_changes_actions(self):
        self.check("forks_while_actions_change", "signal_children")

    def test_jumps_that_restore_the_mask(self):
        self.check("jumps")

    def test_contexts_with_masks_of_their_own(self):
        self.check("switches_contexts")

    def test_threads_created_with_a_mask(self):
        self.check("threads_with_masks", measured_in="(anonymous namespace)::masked_routine")

    def test_a_signal_raised_in_its_handler(self):
        self.check("raises_in_handler")

    def test_exec_keeps_what_is_ignored_blocked_and_pending(self):
        self.check("executes", "signal_children")

    def test_exec_in_a_child_of_vfork(self):
        self.check("executes_in_vfork_child", "signal_children")

    def test_spawned_processes(self):
        self.check("spawns", "signal_children")

    def test_commands_behind_a_pipe(self):
        self.check("opens_a_pipe", "signal_children")


driver.main()
