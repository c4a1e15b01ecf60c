#!/usr/bin/env python3
"""Threads are shown by their latest names, however and whenever these were set, and however the process ends."""

import gzip
import json
import signal
import subprocess

import driver

NAMES = {"renamed-main", "self-named", "by-creator", "by-prctl", "by-system-call", "late-name", "request-2000", "has-ended",
         "idle-one"}


class ThreadNames(driver.EndToEnd):
    def export(self, run, form):
        target = self.folder / f"exported.{form}"
        done = subprocess.run([str(driver.PROF), "export", str(run.directory), f"--format={form}", "-o", str(target)],
                              stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return target

    def names(self, run):
        threads = json.loads(self.export(run, "json").read_text())["threads"]
        return sorted(thread["name"] for thread in threads)

    def check(self, how, status=0, events=("CPUTIME@1000",), more=(), program="thread_names"):
        run = self.prof_run([driver.program(program), how], events=events, options=["--trace"])
        if "perf events are refused" in run.stderr.decode():
            self.skipTest("perf events are refused on this machine")
        self.assertEqual(run.status, status, run.stderr)
        self.assertEqual(self.names(run), sorted(NAMES | set(more)))
        return run

    def test_a_process_that_returns(self):
        run = self.check("return")
        for form in ("csv", "pprof", "speedscope", "firefox", "perfetto", "html", "callgrind"):
            with self.subTest(format=form):
                exported = self.export(run, form).read_bytes()
                if exported.startswith(b"\x1f\x8b"):
                    exported = gzip.decompress(exported)
                for name in NAMES - {"idle-one"}:  # without any cost
                    self.assertIn(name.encode(), exported)
        shown = subprocess.run([str(driver.PROF), "report", str(run.directory), "--thread=late-name"], capture_output=True,
                               text=True, timeout=60)
        self.assertIn("late-name", shown.stdout, shown.stderr)

    def test_processes_that_end_at_once(self):
        self.check("_exit")
        self.check("kill", 128 + signal.SIGKILL)
        self.check("kill", 128 + signal.SIGKILL, events=["REALTIME@200"])

    def test_a_process_that_executes_another(self):
        self.check("exec", more=["true"])

    def test_the_child_of_a_fork(self):
        self.check("fork", more=["child-of-fork"])

    def test_programs_sampled_from_outside(self):
        self.check("return", program="static_thread_names")
        self.check("kill", 128 + signal.SIGKILL, program="static_thread_names")

    def test_names_cost_little_of_the_file(self):
        run = self.prof_run([driver.program("thread_names"), "return"], options=["--no-analyze"])
        written = b"".join(file.read_bytes() for file in run.directory.glob("*.prof"))
        self.assertLess(written.count(b"request-"), 100)

    def test_a_process_that_was_attached_to(self):
        for options in ((), ("-e", "REALTIME@200")):
            with self.subTest(options=options):
                process = subprocess.Popen([driver.program("thread_names"), "attach"], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True)
                self.addCleanup(process.communicate)
                self.assertEqual(process.stdout.readline(), "ready\n")
                directory = self.folder / f"attached{len(options)}"
                prof = subprocess.Popen([str(driver.PROF), "attach", str(process.pid), "-o", str(directory), *options],
                                        stderr=subprocess.PIPE, text=True)
                self.addCleanup(prof.communicate)
                self.assertIn("is being measured", prof.stderr.readline())
                self.assertEqual(process.stdout.readline(), "renamed\n")
                prof.send_signal(signal.SIGINT)
                said = prof.communicate(timeout=60)[1]
                self.assertEqual(prof.returncode, 0, said)
                process.communicate("\n", timeout=60)
                self.assertEqual(process.returncode, 0)
                # The thread that had ended before is not listed.
                self.assertEqual(self.names(driver.Run(prof_done(said), directory)), sorted(NAMES - {"has-ended"}))


def prof_done(said):
    return subprocess.CompletedProcess([], 0, b"", said.encode())


driver.main()
