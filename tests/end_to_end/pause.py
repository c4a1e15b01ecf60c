#!/usr/bin/env python3
"""Time in a pause is not measured anywhere: with prof_start() and prof_stop(), with `prof pause` and `prof resume`, and
with --delay and --duration."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import driver

REGIONS = ("before_region", "inside_region", "after_region")


class Pause(driver.EndToEnd):
    def shares(self, run):
        return {name: run.inclusive(name, "CPUTIME") for name in REGIONS}

    def prof(self, *arguments):
        done = subprocess.run([str(driver.PROF), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stderr.decode()

    def start(self, command, *, options=(), name="paused"):
        """Starts prof run in the background, and returns when the program is ready."""
        directory = self.folder / name
        launched = subprocess.Popen([str(driver.PROF), "run", *options, "-o", str(directory), "--", *command],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(launched.wait)
        self.addCleanup(launched.kill)
        self.assertEqual(launched.stdout.readline(), b"ready\n")
        return launched, directory

    def end(self, launched, directory):
        output, errors = launched.communicate(timeout=60)
        self.assertEqual(launched.returncode, 0, errors)
        return driver.Run(subprocess.CompletedProcess([], launched.returncode, output, errors), directory)

    def pid_of(self, directory):
        return next(directory.glob("*.prof")).stem.split("-")[-2]

    def test_a_program_marks_what_is_measured(self):
        for trigger in ("sigtrap", "timer"):
            for event in ("CPUTIME@1000", "REALTIME@200"):
                with self.subTest(trigger=trigger, event=event):
                    self.check_region(trigger, event)

    def check_region(self, trigger, event):
        run = self.prof_run([driver.program("regions"), "0.6"], events=[event],
                            options=["--paused", "--trace"], env={**os.environ, "PROF_TRIGGER": trigger})
        self.assertEqual(run.status, 0, run.stderr)
        metric = event.split("@")[0]
        inside = run.inclusive("inside_region", metric)
        # On a busy machine more wall time passes, but the pauses are still longer.
        self.assertGreater(inside, 0.5 * run.stated("inside"))
        for name in ("before_region", "after_region"):
            self.assertLess(run.inclusive(name, metric), 0.02, name)
        self.assertGreater(run.summary()["sampling"]["paused_s"], run.stated("before") + run.stated("after") - 0.05)
        self.assertIn(b"paused", run.stderr)

    def test_without_the_runtime_the_calls_do_nothing(self):
        for extra in ([], ["-fno-pie", "-no-pie"], ["-static"]):
            source = self.folder / "plain.c"
            source.write_text("#include <prof.h>\nint main(void) { prof_start(); prof_stop(); return 3; }\n")
            target = self.folder / "plain"
            include = pathlib.Path(__file__).resolve().parents[2] / "include"
            subprocess.run(["gcc", "-Wall", "-Werror", *extra, f"-I{include}", "-o", str(target), str(source)], check=True)
            self.assertEqual(subprocess.run([str(target)]).returncode, 3, extra)

    def test_position_dependent_programs_reach_the_runtime(self):
        source = self.folder / "fixed.c"
        source.write_text("#include <prof.h>\nint main(void) { prof_start(); for (volatile long i = 0; i < 1000000000; ++i);"
                          " return 0; }\n")
        target = self.folder / "fixed"
        include = pathlib.Path(__file__).resolve().parents[2] / "include"
        subprocess.run(["gcc", "-O1", "-fno-pie", "-no-pie", f"-I{include}", "-o", str(target), str(source)], check=True)
        run = self.prof_run([str(target)], options=["--paused"])
        self.assertGreater(run.samples(), 50)

    def test_from_outside(self):
        flag = self.folder / "flag"
        flag.touch()
        launched, directory = self.start([driver.program("regions"), "0.05", str(flag)], options=["-e", "CPUTIME@1000"])
        pid = self.pid_of(directory)
        self.assertEqual(self.prof("pause", directory), (0, ""))
        # The program's own calls would resume measuring, because the latest call wins. In naps there are only ours.
        flag.unlink()
        run = self.end(launched, directory)
        self.assertGreater(run.summary()["sampling"]["paused_s"], 0)
        status, said = self.prof("pause", pid)
        self.assertEqual(status, 125)
        self.assertEqual(said.count("\n"), 1, said)

    def test_a_paused_process_takes_no_samples(self):
        loop = ["python3", "-c", "import sys, time\nprint('ready', flush=True)\nend = time.monotonic() + 4\n"
                "while time.monotonic() < end: pass"]
        launched, directory = self.start(loop, options=["-e", "CPUTIME@1000", "-e", "REALTIME@200", "--trace"])
        time.sleep(0.8)
        pid = self.pid_of(directory)
        self.assertEqual(self.prof("pause", pid), (0, ""))
        self.assertIn("already", self.prof("pause", pid)[1])
        time.sleep(1.5)
        self.assertEqual(self.prof("resume", pid), (0, ""))
        run = self.end(launched, directory)
        paused = run.summary()["sampling"]["paused_s"]
        self.assertGreater(paused, 1.4)
        whole = run.summary()["run"]["wall_s"]
        self.assert_within(run.total("REALTIME"), 0.5, whole - paused + 0.1, "wall time outside the pause")
        self.assertLess(run.total("CPUTIME"), whole - paused + 0.1)

    def test_delay_and_duration(self):
        run = self.prof_run([driver.program("naps"), "2"], events=["REALTIME@200"],
                            options=["--delay", "0.5", "--duration", "1"])
        self.assertEqual(run.status, 0, run.stderr)
        self.assert_within(run.total("REALTIME"), 0.7, 1.3, "time in the window")

    SLEEPS = [sys.executable, "-c", "import sys, time\nprint('ready', flush=True)\ntime.sleep(float(sys.argv[1]))\n"
              "end = time.monotonic() + float(sys.argv[2])\nwhile time.monotonic() < end: pass"]

    def check_wait(self, name, sleep, spin, *changes, killed_after=None):
        """Checks a sleep during which measuring is paused or resumed at these seconds: all time that was not paused
        counts."""
        launched, directory = self.start([*self.SLEEPS, str(sleep), str(spin)], name=name,
                                         options=["-e", "REALTIME@200", "--trace"])
        pid = self.pid_of(directory)
        begun = time.monotonic()
        for i, at in enumerate(changes):
            time.sleep(max(0, begun + at - time.monotonic()))
            self.assertEqual(self.prof("resume" if i % 2 else "pause", pid), (0, ""))
        if killed_after:
            time.sleep(max(0, begun + killed_after - time.monotonic()))
            os.kill(int(pid), signal.SIGKILL)
            output, errors = launched.communicate(timeout=60)
            run = driver.Run(subprocess.CompletedProcess([], launched.returncode, output, errors), directory)
        else:
            run = self.end(launched, directory)
        summary = run.summary()
        paused = summary["sampling"]["paused_s"]
        self.assertGreater(paused, 0.4)
        # Not the wall time: on a busy machine the process needs some time to reach its first measured moment.
        measured = summary["run"]["program_s"]
        self.assert_within(measured, sleep / 2 if killed_after is None else 0.5, summary["run"]["wall_s"] - paused + 0.05,
                           f"{name}: what the run says of the time outside of the pauses")
        self.assert_within(run.total("REALTIME"), measured - 0.1, measured + 0.1, f"{name}: time outside of the pauses")
        return run, measured

    def traced(self, run, function=""):
        """Returns the seconds in functions whose names contain the text."""
        exported = self.folder / "trace.json"
        subprocess.run([str(driver.PROF), "export", str(run.directory), "--format=json", "-o", str(exported)], check=True)
        export = json.loads(exported.read_text())
        inside = []
        for parent, frame, *_ in export["nodes"]:
            inside.append(function in export["frames"][frame]["function"] or
                          (parent is not None and inside[parent]))
        thread = export["threads"][0]
        ends = [begin for begin, _ in thread["trace"][1:]] + [thread["trace_end"]]
        return sum(end - begin for (begin, node), end in zip(thread["trace"], ends) if node is not None and inside[node]) * 1e-9

    def test_a_wait_across_pauses_counts_outside_of_them(self):
        for name, changes in (("one", (0.6, 1.2)), ("two", (0.4, 0.8, 1.2, 1.6))):
            with self.subTest(pauses=name):
                run, _ = self.check_wait(name, 2.5, 0.2, *changes)
                slept = 2.5 - run.summary()["sampling"]["paused_s"]
                self.assert_within(self.traced(run, "nanosleep"), slept - 0.1, slept + 0.1, f"{name}: time in the trace")

    def test_a_wait_that_ends_in_a_pause_counts_up_to_it(self):
        # The trace begins with the first sample, and has gaps in which the thread waited for a processor.
        run, measured = self.check_wait("ends", 1.5, 0.5, 0.8)
        ready = run.summary()["run"].get("run_queue_s", 0)
        self.assert_within(self.traced(run), measured - 0.2 - ready, measured + 0.1, "time in the trace")

    def test_a_wait_that_the_end_of_the_process_cuts_short_counts_outside_of_pauses(self):
        self.check_wait("killed", 30, 0, 0.4, 0.9, 1.3, 1.8, killed_after=2.3)
        self.check_wait("killed_paused", 30, 0, 0.4, 0.9, 1.3, killed_after=2.3)

    def outside_work(self, seconds):
        """Returns what prof samples from outside: a static program with known CPU time, alone and below a shell."""
        static = driver.program("static_work")
        return [static, seconds], ["sh", "-c", f"{static} {seconds}; true"]

    def test_delay_and_duration_of_programs_sampled_from_outside(self):
        for command in self.outside_work("1.5"):
            run = self.prof_run(command, options=["--delay", "0.4", "--duration", "0.5", "--trace"])
            self.assertEqual((run.status, run.stdout), (0, b"worked\n"), run.stderr)
            # Never more than the window; less on a busy machine, as the whole run shows.
            got = min(1, 1.5 / run.summary()["run"]["wall_s"])
            self.assert_within(run.total("CPUTIME"), 0.15 * got, 0.52, "CPU time in the window")
            self.assertGreater(run.summary()["sampling"]["paused_s"], 0.8)

    def test_a_program_sampled_from_outside_starts_paused(self):
        for command in self.outside_work("0.3"):
            run = self.prof_run(command, options=["--paused"])
            self.assertEqual((run.status, run.stdout), (0, b"worked\n"), run.stderr)
            self.assertEqual(run.samples(), 0)

    def test_pause_of_a_process_sampled_from_outside(self):
        for whole_run in (False, True):
            program = driver.program("static_work")
            launched, directory = self.start(["sh", "-c", f"echo ready; exec {program} 3"],
                                             options=["--trace"], name=f"paused{whole_run}")
            time.sleep(1)
            target = directory if whole_run else self.pid_of(directory)
            self.assertEqual(self.prof("pause", target), (0, ""))
            time.sleep(1)
            self.assertEqual(self.prof("resume", target), (0, ""))
            run = self.end(launched, directory)
            paused = run.summary()["sampling"]["paused_s"]
            self.assertGreater(paused, 0.9)
            spent = run.stated("heavy") + run.stated("light")
            measured = run.total("CPUTIME")
            self.assertGreater(measured, spent - paused - 0.1)
            self.assertLess(measured, run.summary()["run"]["wall_s"] - paused + 0.05)
            if spent > 0.9 * run.summary()["run"]["wall_s"]:  # the program was the only user of a processor
                self.assertLess(measured, spent - 0.8 * paused)

    def test_what_cannot_be_paused_is_said_in_one_line(self):
        for target, words in (("1", "not being measured"), (self.folder, "no process of this run"),
                              (self.folder / "none", "neither"), ("999999999", "no process")):
            status, said = self.prof("pause", target)
            self.assertEqual(status, 125, said)
            self.assertIn(words, said)
            self.assertEqual(said.count("\n"), 1, said)


driver.main()
