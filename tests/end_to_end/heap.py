#!/usr/bin/env python3
"""Allocations are traced if contention is searched for, and only then. Programs run as without prof.

Chance: whether two threads run at the same time, in two cases of six attempts each. Accepted: 2e-6 a run, if fewer than one attempt in ten
misses. Not less, because misses were not counted; the log names each further attempt. All other cases compare output, offsets and messages."""

import shutil
import sys

import driver


class Heap(driver.EndToEnd):
    def test_what_the_allocator_does_stays_as_it_is(self):
        plain = self.plain_run([driver.program("heap_cases"), "storm"])
        self.assertEqual(plain.returncode, 0, plain)
        run = self.prof_run([driver.program("heap_cases"), "storm"], events=["contention"])
        self.assertEqual((run.status, run.stdout), (0, plain.stdout), run.stderr)

    def test_blocks_lie_where_they_do_without(self):
        """Modulo the page size: false sharing must neither appear nor vanish because of measuring."""
        program = driver.program("heap_offsets")
        plain = self.plain_run([program])
        self.assertEqual((plain.returncode, plain.stdout.count(b"\n")), (0, 4), plain)
        for options in ([], ["-e", "contention"], ["-e", "locks"], ["--repair"], ["--repair=isolate"]):
            run = self.prof_run([program], options=options)
            self.assertEqual((run.status, run.stdout), (0, plain.stdout), (options, run.stderr))

    def test_call_paths_are_followed_as_far_as_can_be(self):
        told = {}
        for options in (["-e", "contention"], ["--repair"], ["--repair=isolate:always"]):
            for case, output in (("paths", b"131068\n"), ("released", b"60000000\n")):
                run = self.prof_run([driver.program("heap_cases"), case, "30"], options=options)
                self.assertEqual((run.status, run.stdout), (0, output), run.stderr)
                told[case] = "by more call paths, than prof can follow" in " ".join(run.summary()["degradations"])
            self.assertEqual(told, {"paths": True, "released": False}, options)

    def test_a_program_with_an_allocator_of_its_own_is_noted(self):
        run = self.prof_run([driver.program("own_allocator")], events=["contention"])
        self.assertEqual((run.status, run.stdout), (0, b"100000000\n"), run.stderr)
        text = self.plain_run([str(driver.PROF), "report", str(run.directory), "--view=contention"]).stdout.decode()
        self.assertIn("the program has its own allocator", " ".join(text.split()))

    def test_where_the_library_is_lost_the_report_says_so(self):
        command = ["env", f"LD_PRELOAD={driver.BUILD / 'lib/libprof-runtime.so'}", driver.sample("counters"), "10"]
        run = self.prof_run(command, events=["contention"])
        self.assertEqual(run.status, 0, run.stderr)
        text = self.plain_run([str(driver.PROF), "report", str(run.directory), "--view=contention"]).stdout.decode()
        self.assertIn("libprof-heap.so was not loaded", " ".join(text.split()))

    def test_the_library_comes_with_contention_alone(self):
        shown = "import os; print(os.environ['LD_PRELOAD']); print('prof-heap' in open('/proc/self/maps').read())"
        for events, there in ((["contention"], True), (["CPUTIME"], False)):
            run = self.prof_run([sys.executable, "-c", shown], events=events)
            preloaded, mapped = run.stdout.decode().splitlines()
            self.assertEqual(("libprof-heap.so" in preloaded, mapped), (there, str(there)))

    def test_programs_run_as_without_it(self):
        script = self.folder / "numbers"
        script.write_text("".join(f"{i * 7919 % 10007}\n" for i in range(20000)))
        commands = [[sys.executable, "-c", "import json, subprocess, threading\n"
                     "def work(): json.loads(json.dumps([list(range(1000))] * 50))\n"
                     "team = [threading.Thread(target=work) for _ in range(4)]\n"
                     "[one.start() for one in team]; [one.join() for one in team]\n"
                     "print(subprocess.run(['sh', '-c', 'echo below; exit 3']).returncode)"],
                    ["sort", "--parallel=2", str(script)],
                    ["xz", "-T2", "-c", str(script)],
                    ["bash", "-c", "for i in 1 2 3; do (echo $i $(expr $i + 1)); done | cat; exit 5"],
                    ["sqlite3", ":memory:", "create table t(a); insert into t values(1),(2); select sum(a) from t;"]]
        for command in commands:
            if not shutil.which(command[0]):
                continue
            with self.subTest(command[0]):
                plain = self.plain_run(command)
                run = self.prof_run(command, events=["contention"], options=["--no-analyze"])
                self.assertEqual((run.status, run.stdout), (plain.returncode, plain.stdout), run.stderr)


class HeapOfContended(driver.EndToEnd):
    """Threads have to run at the same time: alone on the machine."""

    def contended_data(self, case):
        """What was found of a program of two threads that count side by side."""
        # On a machine that is busy otherwise threads may hardly ever run at the same time.
        for _ in driver.attempts():
            run = self.prof_run([driver.program("heap_cases"), case], events=["contention"])
            self.assertEqual((run.status, run.stdout), (0, b"3000000000\n"), run.stderr)
            if "Contention cannot be confirmed here" in " ".join(run.summary()["degradations"]):
                self.skipTest("the kernel refuses breakpoints here")
            if data := run.report("contention")["data"]:
                break
        return data

    def test_an_object_is_known_after_its_release(self):
        data = self.contended_data("released")
        self.assertEqual([(one["kind"], one["bytes"], one["sharing"]) for one in data], [("allocation", 64, "false")])
        frames = data[0]["allocations"][0]["frames"]
        self.assertIn("released", frames[0]["function"])
        self.assertEqual({(side["thread"], side["offset"], side["bytes"]) for side in data[0]["sides"]}, {(0, 0, 8), (1, 8, 8)})

    def test_memory_that_the_program_maps_is_known_by_where_it_does(self):
        data = self.contended_data("mapped")
        self.assertEqual([(one["kind"], one["bytes"], one["sharing"]) for one in data], [("allocation", 1 << 20, "false")])
        frames = [frame["function"] for frame in data[0]["allocations"][0]["frames"]]
        self.assertIn("map_pool", frames[0])
        self.assertIn("mapped", frames[1])
        self.assertEqual({(side["thread"], side["offset"], side["bytes"]) for side in data[0]["sides"]},
                         {(0, 4096, 8), (1, 4104, 8)})

    def test_threads_that_allocate_all_the_time_contend_for_nothing(self):
        """Tables of the runtime are in use at each allocation, and are not the program's data."""
        run = self.prof_run([driver.BUILD / "tests/allocating_strings", "2", "30"], events=["contention"])
        self.assertEqual((run.status, run.stdout), (0, b"2115000000\n"), run.stderr)
        found = run.report("contention")["data"]
        self.assertEqual([one for one in found if "hpcrun" in str(one) or "libprof-" in str(one)], [])


if __name__ == "__main__":
    driver.main()
