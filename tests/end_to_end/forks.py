#!/usr/bin/env python3
"""Forked children are measured separately, without any of their parent's data. Children of which the C library does not
notify the runtime are not measured."""

import json
import os
import shutil
import sys

import driver


def with_trigger(trigger):
    return dict(os.environ, PROF_TRIGGER=trigger)


class ForksOfAllocators(driver.EndToEnd):
    """Between fork handlers the program's allocator is locked, as those of browsers are."""

    def assert_no_allocation(self, options=(), events=(), trigger=None):
        env = with_trigger(trigger) if trigger else None
        run = self.prof_run([driver.program("locked_allocator")], events=list(events),
                            options=["--no-analyze", *options], env=env)
        self.assertEqual((run.status, run.stdout), (42, b"child 7\nchild 7\n"), run.stderr)

    def test_nothing_is_allocated_while_a_process_forks(self):
        for events in ["CPUTIME"], ["REALTIME@1000", "CPUTIME"], ["contention", "locks"], ["contention:pages"]:
            with self.subTest(events=events):
                self.assert_no_allocation(events=events)
        for options in ["--trace"], ["--repair"], ["--repair=isolate:always"]:
            with self.subTest(options=options):
                self.assert_no_allocation(options)
        for trigger in ["timer", "setsig"]:
            with self.subTest(trigger=trigger):
                self.assert_no_allocation(trigger=trigger)


class Forks(driver.EndToEnd):
    def run_case(self, case, **options):
        return self.prof_run([driver.program("forks"), case], events=["CPUTIME@1000"], **options)

    def test_children_without_fork_handlers_run_unharmed(self):
        for case in ["_Fork", "clone"]:
            for trigger in ["sigtrap", "timer", "setsig"]:
                with self.subTest(case=case, trigger=trigger):
                    run = self.run_case(case, env=with_trigger(trigger))
                    self.assertEqual((run.status, run.stdout), (0, b"exited 7\n"), run.stderr)

    def test_a_child_forked_as_the_modules_are_listed_is_measured(self):
        run = self.run_case("callback")
        self.assertEqual((run.status, run.stdout), (0, b"exited 11\n"), run.stderr)
        self.assertEqual(run.summary()["run"]["processes"], 2)

    def test_children_without_samples_are_counted_and_leave_no_file(self):
        # Each ends at once; few if any live long enough for a sample.
        program = "import os\nfor i in range(40):\n  p = os.fork()\n  if p == 0: os._exit(i)\n  os.waitpid(p, 0)"
        run = self.prof_run([sys.executable, "-c", program], events=["CPUTIME@10"])
        self.assertEqual(run.status, 0, run.stderr)
        about = run.summary()["run"]
        self.assertEqual((about["processes"], about["threads"]), (41, 41))
        self.assertLess(len(list(run.directory.glob("*.prof"))), 20)

    def test_children_that_end_within_a_period_are_sampled_by_what_they_use(self):
        # Half a period each. A fixed first period would omit all of them, or take all. The probability that fewer than
        # 250 or more than 650 of 800 are sampled is below 1e-20.
        run = self.prof_run([driver.program("forks"), "short"], events=["CPUTIME@500"])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.summary()["run"]["processes"], 801)
        self.assert_within(len(list(run.directory.glob("*.prof"))), 250, 650, "children with a sample")
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.4, 1.2, "CPUTIME of the children, 0.8 s")

    def test_a_child_without_samples_makes_few_system_calls(self):
        # The tracer prints when the program has ended.
        run = self.prof_run([driver.program("forks"), "traced"], events=["CPUTIME@1"], options=["--no-analyze"],
                            wrap=lambda command: ["sh", "-c", '"$@" | cat; exit 0', "sh", *command])
        if not run.stdout:
            self.skipTest("this process may not trace its children")
        children, calls = map(int, run.stdout.replace(b",", b"").split()[1::2])
        self.assertEqual(children, 10, run.stdout)
        self.assertLessEqual(calls, 15)

    def test_children_execute_programs_under_their_parents_count(self):
        program = ("import os\nfor i in range(20):\n  p = os.fork()\n"
                   "  if p == 0: os.execv('/bin/true', ['true'])\n  os.waitpid(p, 0)")
        run = self.prof_run([sys.executable, "-c", program], events=["CPUTIME@10"])
        self.assertEqual(run.summary()["run"]["processes"], 21)

    def test_a_cleared_environment_does_not_stop_the_measurement(self):
        run = self.run_case("clearenv")
        self.assertEqual(run.stdout, b"exited 11\n", run.stderr)
        self.assertEqual(run.summary()["run"]["processes"], 2)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.09, 0.11, "CPUTIME of the child")

    @driver.unittest.skipUnless(os.getuid() == 0, "needs privileges to drop")
    def test_children_that_cannot_write_are_reported_once(self):
        run = self.run_case("unprivileged")
        self.assertEqual(run.stdout, 3 * b"exited 11\n", run.stderr)
        self.assertEqual(run.stderr.count(b"cannot write measurements"), 1, run.stderr)

    @driver.unittest.skipUnless(os.getuid() == 0, "needs privileges to drop")
    def test_a_child_that_drops_its_privileges_is_measured(self):
        run = self.run_case("drops")
        self.assertEqual(run.stdout, b"exited 11\n", run.stderr)
        self.assertEqual(run.summary()["run"]["processes"], 2)
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.09, 0.11, "CPUTIME of the child")

    def test_generations_of_children_keep_no_descriptors_of_their_ancestors(self):
        run = self.run_case("descriptors", env=with_trigger("setsig"))
        self.assertEqual(run.stdout, b"perf descriptors 1\n", run.stderr)

    def test_a_childs_memory_is_its_own(self):
        run = self.run_case("memory", options=["--no-analyze"])
        self.assertIn(b"exited 11\n", run.stdout, run.stderr)
        parent = run.stdout.split()[1].decode()
        alone = self.folder / "child"
        shutil.copytree(run.directory, alone)
        [file] = alone.glob(f"*-{parent}-*.prof")
        file.unlink()
        child = self.plain_run([driver.PROF, "report", alone, "--view=summary", "--format=json"])
        self.assertLess(json.loads(child.stdout)["overhead"]["runtime_bytes"],
                        run.summary()["overhead"]["runtime_bytes"] / 4)


driver.main()
