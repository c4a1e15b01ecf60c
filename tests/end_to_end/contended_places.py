#!/usr/bin/env python3
"""Threads that count in adjacent words are found wherever they do: in files, large pages, on other threads' stacks, in
generated code, in a crowd of threads, in programs without symbols. If the system refuses what the search needs, that is
reported.

Chance: whether two threads run at the same time. Accepted: 8e-6 a run, eight cases of six attempts each, if fewer than one attempt in ten
misses. Not less, because an attempt takes a second and a half, and misses were not counted; the log names each further attempt. Sharing,
words and threads must be right as soon as something is found."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import driver
from seccomp import refusing

PLACES = driver.program("contended_places")


class ContendedPlaces(driver.EndToEnd):
    def run_place(self, place, millions="1500", program=PLACES, **options):
        run = self.prof_run([program, place, millions], events=["contention"], **options)
        self.assertEqual((run.status, run.stdout), (0, b"%d\n" % (2 * int(millions) * 1_000_000)), run.stderr)
        return run

    def found(self, place, program=PLACES):
        """Returns the only finding, which has both threads with a word each."""
        # On a busy machine threads may rarely run at the same time.
        for _ in driver.attempts():
            run = self.run_place(place, program=program)
            if "Contention cannot be confirmed here" in " ".join(run.summary()["degradations"]):
                self.skipTest("the kernel refuses breakpoints here")
            if data := run.report("contention")["data"]:
                break
        self.assertEqual([one["sharing"] for one in data], ["false"], data)
        words = {}
        for side in data[0]["sides"]:
            if "writes" in side["access"]:
                words.setdefault(side["thread"], set()).add((side["line_offset"], side["bytes"]))
        self.assertEqual(sorted(map(sorted, words.values())), [[(0, 8)], [(8, 8)]], data)
        return run, data[0]

    def text(self, run):
        done = self.plain_run([str(driver.PROF), "report", str(run.directory), "--view=contention"])
        return " ".join(done.stdout.decode().split())

    def test_mappings_of_files_devices_and_large_pages(self):
        for place in ("file", "device", "large"):
            with self.subTest(place):
                _, data = self.found(place)
                self.assertEqual((data["kind"], data["bytes"]), ("allocation", 4 << 20))
                self.assertEqual({side["offset"] for side in data["sides"]}, {8192, 8200})
                self.assertIn("in_mapping", data["allocations"][0]["frames"][0]["function"])

    def test_on_the_stack_of_one_of_them(self):
        run, data = self.found("stack")
        self.assertEqual((data["kind"], data["name"]), ("unknown", "the stack of thread 0 (main)"))
        self.assertIn("in the stack of thread 0 (main)", self.text(run))

    def test_among_the_thread_local_variables_of_one_of_them(self):
        _, data = self.found("thread")
        self.assertEqual((data["kind"], data["name"]), ("unknown", "the thread-local variables of thread 0 (main)"))

    def test_by_generated_code(self):
        _, data = self.found("generated")
        self.assertEqual((data["kind"], data["name"]), ("variable", "(anonymous namespace)::global"))

    def test_while_a_thousand_threads_sleep(self):
        run, data = self.found("crowd")
        self.assertEqual(run.summary()["run"]["threads"], 1002)
        self.assertEqual(data["name"], "(anonymous namespace)::global")

    def test_a_program_without_symbols(self):
        bare = self.folder / "bare"
        subprocess.run(["strip", "--strip-all", "-o", str(bare), PLACES], check=True)
        run, data = self.found("crowd", program=str(bare))
        self.assertEqual((data["kind"], data["name"], data["module"]), ("unknown", "the data of bare", str(bare)))
        self.assertIn("bare+0x", self.text(run))
        self.assertIn(f"memory at {data['address']:#x} in the data of bare", " ".join(self.text(run).split()))

    def check_told(self, run):
        self.assertEqual(run.report("contention")["data"], [])
        self.assertIn("Contention cannot be confirmed here: the kernel refuses breakpoints", self.text(run))

    def test_where_breakpoints_are_refused_the_report_says_so(self):
        self.check_told(self.run_place("stack", "300", wrap=refusing("perf_event_open")))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and a mount name space")
    def test_where_the_level_forbids_events_the_report_says_so(self):
        level = self.folder / "perf_event_paranoid"
        level.write_text("3\n")
        mount = f'mount --bind {level} /proc/sys/kernel/perf_event_paranoid && exec "$@"'
        hidden = lambda command: ["unshare", "-m", "sh", "-c", mount, "sh", *command]
        self.check_told(self.run_place("stack", "300", wrap=lambda command: hidden(
            refusing("perf_event_open", error="EACCES")(driver.as_nobody(command)))))


driver.main()
