#!/usr/bin/env python3
"""Threads and processes begin and end in every possible way, at 4 kHz and with every trigger, as without a profiler.
Each is measured separately, and nothing is left of those that have ended."""

import os
import time

import driver

TRIGGERS = {"sigtrap": ["CPUTIME@4000"], "timer": ["CPUTIME@4000"], "setsig": ["CPUTIME@4000"],
            "wall": ["REALTIME@2000"], "slow wall": ["REALTIME@20"]}


class Lives(driver.EndToEnd):
    def check(self, *arguments, triggers=("sigtrap", "timer", "setsig", "wall"), after=lambda run: None):
        command = [driver.program("lives"), *map(str, arguments)]
        plain = self.plain_run(command, timeout=60)
        for name in triggers:
            with self.subTest(trigger=name):
                trigger = "sigtrap" if "wall" in name else name
                run = self.prof_run(command, events=TRIGGERS[name], options=["--no-analyze"],
                                    env={**os.environ, "PROF_TRIGGER": trigger})
                self.assertEqual((run.stdout, run.status), (plain.stdout, plain.returncode), run.stderr)
                after(run)

    def processes(self, run, count):
        self.assertEqual(run.summary()["run"]["processes"], count)

    def test_many_threads_leave_nothing(self):
        self.check("churn", 20_000, triggers=["sigtrap"])
        self.check("churn", 1_000, triggers=["timer", "setsig", "wall"])

    def test_a_pool_of_2000_threads(self):
        # Each thread that waits at the barrier gets its samples.
        self.check("pool", 2000, triggers=["sigtrap", "slow wall"],
                   after=lambda run: self.assertEqual(run.summary()["run"]["threads"], 2001))

    def test_1000_detached_threads_a_second(self):
        self.check("detached", 2000, triggers=["sigtrap", "wall"],
                   after=lambda run: self.assertEqual(run.summary()["run"]["threads"], 2001))

    def test_the_smallest_stacks(self):
        self.check("small_stacks", 20)

    def test_threads_cancelled_at_any_instruction(self):
        self.check("cancel_at_once", 300)

    def test_threads_cancelled_where_they_agree(self):
        self.check("cancel_later", 300)

    def test_a_thread_that_outlives_main(self):
        self.check("main_exits", triggers=["sigtrap", "wall"], after=lambda run: self.assertGreater(
            run.inclusive("spin", "CPUTIME") + run.inclusive("spin", "REALTIME"), 0.2))

    def test_a_grandchild_that_nobody_waits_for(self):
        self.check("double_fork", triggers=["sigtrap", "wall"], after=lambda run: self.processes(run, 3))

    def test_a_daemon(self):
        marker = self.folder / "marker"
        run = self.prof_run([driver.program("lives"), "daemon", str(marker)], events=["CPUTIME@1000"],
                            options=["--no-analyze"])
        self.assertEqual((run.stdout, run.status), (b"", 0), run.stderr)
        while not marker.exists():  # the test's own limit ends this
            time.sleep(0.05)
        self.processes(run, 2)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.18, 0.22, "CPUTIME of the daemon")

    def test_static_programs_inherit_no_timer_and_no_event(self):
        self.check("executes", driver.program("static"))

    def test_forks_of_a_process_with_many_threads(self):
        self.check("forks_of_many", 25)


driver.main()
