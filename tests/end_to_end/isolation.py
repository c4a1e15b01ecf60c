#!/usr/bin/env python3
"""Pages that threads share falsely become each thread's own while the program runs, or stay as they are with the reason; the
program does what it does without."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import driver
import repair_runs

LIFE = driver.program("isolated_life")
LOCKS = driver.program("wandering_locks")
FOUND = {"statistics": ["1500"], "references_locked": ["400"]}
# Threads use what is shared atomically, or other data and may synchronise by that.
DECLINED = {"counters": (["60"], "atomic operations work on it"), "workers": (["60"], "atomic operations work on it"),
            "references": (["400"], "atomic operations of the program's own")}
# Of programs whose threads meet by calls of the C library. Those that meet by atomic loads have to be compiled for it.
ALWAYS = {"statistics": ["300"], "neighbours": ["200"], "phases": ["200"], "sessions": ["20"], "requests": ["5"],
          "references_locked": ["10"], "lock_array": ["5"], "total": ["5"], "counters": ["5"]}


class Isolation(repair_runs.RepairRuns):
    def repairs(self, run):
        return run.summary()["repairs"]

    def pages(self, run, kind):
        return [page for page in self.repairs(run)["pages"] if page["kind"] == kind]

    def bare(self, command):
        done = self.plain_run(command)
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def test_pages_that_threads_are_found_to_share_are_isolated(self):
        for sample, arguments in FOUND.items():
            with self.subTest(sample):
                command = [driver.sample(sample), *arguments]
                run = self.run_until(lambda run: self.pages(run, "isolated"), command, self.bare(command),
                                     options=["--repair=isolate"])
                page = self.pages(run, "isolated")[0]
                self.assertGreater(page["share"], 0.02)
                repairs = self.repairs(run)
                self.assertEqual((repairs["isolate"], repairs["layout"], repairs["locks"]), (True, False, False))
                self.assertGreater(repairs["conversions"], 0)
                self.assertGreater(repairs["converted_s"], 0)
                self.assertIn(b" isolated since ", run.stderr)
                found = run.report("contention")["data"]
                self.assertTrue(any("each thread had its page for itself" in data["repair"] for data in found), found)

    def test_what_atomic_operations_work_on_stays_common(self):
        for sample, (arguments, why) in DECLINED.items():
            with self.subTest(sample):
                command = [driver.sample(sample), *arguments]
                run = self.run_until(lambda run: self.pages(run, "shared"), command, self.bare(command), options=["--repair=isolate"])
                self.assertIn(why, " ".join(page["why"] for page in self.pages(run, "shared")))

    def test_programs_do_the_same_with_pages_isolated_at_random(self):
        merged = 0
        for sample, arguments in ALWAYS.items():
            with self.subTest(sample):
                command = [driver.sample(sample), *arguments]
                run = self.prof_run(command, options=["--repair=isolate:always"])
                self.assertEqual((run.status, run.stdout), (0, self.bare(command)), run.stderr)
                merged += self.repairs(run)["merged_words"]
        self.assertGreater(merged, 0)

    def test_what_threads_wrote_under_locks_is_seen_by_the_next(self):
        """In an annotated program who took a mutex alone commits when another thread takes it, in others each time."""
        steps = 6_000_000
        told = f"{6 * steps} of {6 * steps} additions, 0 torn\n".encode()
        programs = {False: LOCKS}
        if shutil.which("clang++-14") and (driver.BUILD / "lib/prof-regions.so").exists():
            programs[True] = self.folder / "annotated"
            subprocess.run([driver.PROF, "c++", "-std=c++20", "-O2", "-g", "-pthread", "-o", programs[True],
                            pathlib.Path(__file__).parent / "programs/wandering_locks.cpp"], check=True, timeout=100)
        for is_annotated, program in programs.items():
            for how in ("isolate", "isolate:always"):
                with self.subTest(how, is_annotated=is_annotated):
                    run = self.run_until(lambda run: self.pages(run, "isolated"), [program, str(steps)], told, options=[f"--repair={how}"])
                    repairs = self.repairs(run)
                    self.assertGreater(repairs["merged_words"], 0)
                    if is_annotated:
                        self.assertLess(repairs["commits"], steps)

    def test_a_program_lives_as_it_would(self):
        for how in ("count", "spawn", "signals", "map", "load", "fork"):
            with self.subTest(how):
                # On a busy machine it takes longer until threads are processes; a fork may come before.
                for milliseconds in (400, 1500, 5000):
                    run = self.prof_run([LIFE, how, str(milliseconds)], options=["--repair=isolate:always"])
                    self.assertEqual((run.status, run.stdout), (0, f"{how} right\n".encode()), run.stderr)
                    if how == "fork" or self.repairs(run)["conversions"]:
                        break
                else:
                    self.fail(f"{how}: no thread became a process")

    def test_a_program_ends_as_it_would(self):
        for how, status, output in (("exit", 3, b""), ("_exit", 4, b""), ("abort", 128 + signal.SIGABRT, b""),
                                    ("fault", 128 + signal.SIGSEGV, b""), ("exec", 0, b"executed\n")):
            with self.subTest(how):
                run = self.prof_run([LIFE, how], options=["--repair=isolate:always"])
                self.assertEqual((run.status, run.stdout), (status, output), run.stderr)

    def processes(self, mark):
        """Those that have it in their environment and have not ended, by what they execute."""
        found = {}
        for process in pathlib.Path("/proc").iterdir():
            try:
                if process.name.isdigit() and mark in (process / "environ").read_bytes():
                    found[int(process.name)] = os.path.basename(os.readlink(process / "exe"))
            except OSError:
                pass
        return found

    def wait_for(self, what, message):
        deadline = time.monotonic() + 60
        while not (found := what()):
            self.assertLess(time.monotonic(), deadline, message)
            time.sleep(0.05)
        return found

    def test_nothing_is_left_of_a_program_that_is_killed(self):
        for victim in ("program", "twin"):
            with self.subTest(victim):
                name, value = "ISOLATION_TEST", f"{os.getpid()}-{time.monotonic_ns()}"
                mark = f"{name}={value}".encode()

                def tasks():
                    return sorted(pid for pid, program in self.processes(mark).items() if program == "statistics")

                run = subprocess.Popen([driver.PROF, "run", "--no-analyze", "--repair=isolate:always", "-o", self.folder / victim,
                                        driver.sample("statistics"), "1000000"],
                                       env={**os.environ, name: value}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                while run.poll() is None:
                    found = self.wait_for(lambda: run.poll() is not None or (len(tasks()) > 1 and tasks()), "no thread became a process")
                    if found is not True:
                        # A twin may be about to leave.
                        try:
                            os.kill(found[0] if victim == "program" else found[-1], signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                        time.sleep(0.2)
                run.communicate(timeout=60)
                self.assertEqual(run.returncode, 128 + signal.SIGKILL)
                self.wait_for(lambda: not self.processes(mark), "processes are left")


if __name__ == "__main__":
    driver.main()
