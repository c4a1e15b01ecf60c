#!/usr/bin/env python3
"""The stalls of a team of processes are found if one of them wakes up late, and no others are.

Chance: when twelve processes get a processor. What is lost is compared with what the program timed itself, from -20 to +10 %, so that a
delay is in both; samples are 5 ms apart, which is 3.4 % of a stall of 290 ms if both ends miss. Accepted: 1e-3 a run, by choice: six such
comparisons, whose failures were not counted. Not less, because the two tests on a busy machine depend on the scheduler, whose
distribution is not known, and wider limits would accept a stall in six that is missing."""

import contextlib
import os
import subprocess
import sys

import driver


def stalls(run, *options):
    return run.report("stalls", *options)


@contextlib.contextmanager
def busy(count, processors=None):
    """Runs programs that compute meanwhile, on all processors or on these."""
    place = f"import os; os.sched_setaffinity(0, {processors})\n" if processors else ""
    programs = [subprocess.Popen([sys.executable, "-c", place + "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


class StallRuns(driver.EndToEnd):
    def measured(self, sample, *arguments):
        run = self.prof_run([driver.sample(sample), *arguments], events=["REALTIME"], options=["--trace"])
        self.assertEqual(run.status, 0, run.stderr)
        return run


class Stalls(StallRuns):
    def assert_found(self, run, report):
        stated, found = run.stated("lost_s"), report["totals"]["STALL"]
        print(f"lost: stated {stated:.3f} s, found {found:.3f} s in {len(report['stalls'])} stalls")
        # Ten times up to 290 ms; how much of that is lost depends on the machine.
        self.assertGreater(stated, 0.5)
        self.assert_within(found, 0.8 * stated, 1.1 * stated, "time lost")

    def test_late_wakeups_are_stalls(self):
        run = self.measured("late_wakeup")
        report = stalls(run)
        self.assert_found(run, report)
        self.assertEqual(report["traces"]["bystanders"], 1)  # the parent, which waits for its children
        self.assertEqual(report["traces"]["threads"], 12)

        finding = report["findings"][0]
        self.assertEqual(finding["kind"], "stall")
        self.assertIn("wait_for_input", finding["sentence"])
        self.assertIn("pthread_barrier_wait", finding["sentence"])
        blocked = finding["contexts"][0]
        self.assertEqual(blocked["role"], "blocked")
        self.assertTrue(any(driver.names(frame["function"], "wait_for_input") for frame in blocked["frames"]))
        self.assertGreater(finding["values"]["threads"], 5)
        self.assertIn(finding["sentence"], [one["sentence"] for one in run.summary()["findings"]])

        # One of twelve is not less than 8 %.
        self.assertEqual(stalls(run, "--stall-share=8")["totals"]["STALL"], 0)
        self.assertEqual(stalls(run, "--stall-factor=1000")["totals"]["STALL"], 0)

    def test_they_are_found_on_a_busy_machine(self):
        with busy(2 * len(os.sched_getaffinity(0))):
            run = self.measured("late_wakeup")
        self.assert_found(run, stalls(run))

    def test_the_twin_has_none(self):
        run = self.measured("late_wakeup_fixed")
        self.assertFalse([one for one in stalls(run)["findings"] if "wait_for_input" in one["sentence"]])

    def test_a_thread_without_a_processor_is_not_blocked(self):
        processor = max(os.sched_getaffinity(0))
        with busy(1, [processor]):
            runs = {how: self.prof_run([driver.program("starved"), str(processor), how], events=["REALTIME"],
                                       options=["--trace"]) for how in ("not", "sleep", "lock")}
        for how, run in runs.items():
            report, starved = stalls(run), run.stated("starved_s")
            print(f"{how}: without a processor for {starved:.3f} s, stalls {report['totals']['STALL']:.3f} s")
            self.assertGreater(starved, 0.3)
            self.assertLess(report["totals"]["STALL"], 0.1 * starved)
            self.assertGreater(run.summary()["run"]["run_queue_s"], 0.9 * starved)

    def test_a_program_without_a_processor_is_not_said_to_wait(self):
        processor = max(os.sched_getaffinity(0))
        with busy(4, [processor]):
            alone = self.prof_run(["taskset", "-c", str(processor), driver.program("copied_text")])
            threads = self.prof_run([driver.program("starved"), str(processor), "not"])
        summary = alone.summary()
        without = summary["run"]["program_s"] - summary["run"]["cpu_s"]
        self.assertGreater(without, summary["run"]["program_s"] / 2)
        self.assertGreater(summary["run"]["run_queue_s"], 0.8 * without)
        self.assertNotIn("waiting", [finding["kind"] for finding in summary["findings"]])
        self.assertGreater(threads.summary()["run"]["run_queue_s"], 0.9 * threads.stated("starved_s"))


class StallNotes(StallRuns):
    """Cases that do not depend on when threads run: they run beside other tests."""

    def test_where_descriptors_are_few_it_says_what_is_not_known(self):
        program = [driver.program("many_threads"), "200", "0.02"]
        run = self.prof_run(["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *program], events=["REALTIME"],
                            options=["--trace"])
        self.assertEqual((run.status, run.stdout), (0, b"200 threads done\n"), run.stderr)
        unknown = "some threads that wait for a processor appear blocked"
        self.assertEqual(1, sum(unknown in note for note in stalls(run)["notes"]))
        few = self.measured("late_wakeup_fixed", "2")
        self.assertFalse(any(unknown in note for note in stalls(few)["notes"]))

    def refusal(self, directory):
        done = subprocess.run([str(driver.PROF), "report", str(directory), "--view=stalls"], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_what_cannot_tell_stalls_says_what_can(self):
        untraced = self.prof_run([driver.sample("late_wakeup_fixed"), "2"], events=["REALTIME"])
        self.assertIn("no trace was recorded; measure with prof run --trace -e REALTIME",
                      self.refusal(untraced.directory))
        cpu = self.prof_run([driver.sample("late_wakeup_fixed")], events=["CPUTIME"], options=["--trace"])
        self.assertIn("the traces follow CPUTIME, which does not advance while a thread is blocked",
                      self.refusal(cpu.directory))
        both = self.prof_run([driver.sample("late_wakeup_fixed")], events=["CPUTIME", "REALTIME"],
                             options=["--trace"])
        self.assertIn("named before other events", self.refusal(both.directory))


driver.main()
