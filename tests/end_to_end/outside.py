#!/usr/bin/env python3
"""Programs that a preloaded runtime cannot run in, static ones and Go, are sampled from outside by perf events: with
the right names and shares, and without any effect on the program."""

import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import driver

HERE = pathlib.Path(__file__).resolve().parent
STATIC = ("static_work", "static_pie_work")
# Starts a program by posix_spawn, and then becomes it by syscall().
STARTER = """
import ctypes, os, sys
os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
def strings(values):
    return (ctypes.c_char_p * (len(values) + 1))(*values, None)
path = os.fsencode(sys.argv[1])
SYS_execve = 59
ctypes.CDLL(None).syscall(SYS_execve, path, strings([path]), strings([k + b"=" + v for k, v in os.environb.items()]))
"""


def perf_is_here():
    run = subprocess.run([str(driver.PROF), "run", "--no-analyze", "-o", "/dev/null/x", "--", driver.program("static_work")],
                         capture_output=True, text=True)
    return "perf events are refused" not in run.stderr


@unittest.skipUnless(perf_is_here(), "perf events are refused on this machine")
class Outside(driver.EndToEnd):
    go_programs = {}  # by what they were built of

    @classmethod
    def setUpClass(cls):
        cls.built = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="prof-test-")))

    def check_unharmed(self, run, command, bare=None, **options):
        """Compares with a bare run of the command, or of `bare`, which does the same for a shorter time."""
        bare = self.plain_run(bare or command, **options)
        self.assertEqual((run.status, run.stdout), (bare.returncode, bare.stdout), run.stderr)

    def share(self, run, function):
        return run.inclusive(function, "CPUTIME") / run.total("CPUTIME")

    def check_shares(self, run, heavy="heavy", light="light"):
        summary = run.summary()
        stacks = summary["stacks"]
        every = stacks["complete"] + stacks["partial"] + stacks["broken"]
        self.assertGreaterEqual(stacks["complete"] / every, 0.97, stacks)
        both = run.inclusive(heavy, "CPUTIME") + run.inclusive(light, "CPUTIME")
        # Time that the machine took from a part is also missing in what the program states.
        stated = {name: sum(run.all_stated(name)) for name in ("heavy", "light")}
        expected = stated["heavy"] / sum(stated.values()) if all(stated.values()) else 0.75
        # Four standard deviations of that many samples: on a busy machine short programs get few.
        margin = max(0.09, 4 * math.sqrt(expected * (1 - expected) / summary["sampling"]["samples"]))
        self.assert_within(run.inclusive(heavy, "CPUTIME") / both, expected - margin, expected + margin, "share of heavy")
        return summary

    def go(self, name, *sources, environment=None):
        """Returns a program that go builds from a folder of programs/."""
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        key = (name, *sources)
        if key in self.go_programs:
            return self.go_programs[key]
        target = self.built / str(len(self.go_programs)) / name
        target.parent.mkdir()
        source = HERE / "programs" / name
        built = subprocess.run(["go", "build", *sources, "-o", str(target), "."], cwd=source, capture_output=True, text=True,
                               env={**os.environ, "GO111MODULE": "off", "GOFLAGS": "", **(environment or {})})
        self.assertEqual(built.returncode, 0, built.stderr)
        self.go_programs[key] = str(target)
        return str(target)

    def test_static_programs_have_their_true_shares(self):
        for name in STATIC:
            command = [driver.program(name), "0.8"]
            run = self.prof_run(command)
            self.check_unharmed(run, command, bare=[command[0], "0.01"])
            summary = self.check_shares(run)
            stated = run.stated("heavy") + run.stated("light")
            self.assert_within(run.total("CPUTIME") / stated, 0.95, 1.05, "measured of stated CPU time")
            self.assertTrue(any("from outside" in line and "statically linked" in line
                                for line in summary["degradations"]), summary["degradations"])
            self.assertEqual(summary["run"]["processes"], 1)

    def compiled(self, name, compiler, *options):
        """Returns the program with selectable CPU time, built by a compiler that may be missing; None without it."""
        if not shutil.which(compiler):
            return None
        target = self.folder / name
        built = self.plain_run([compiler, "-O1", "-g", *options, str(HERE / "programs" / "foreign_runtime.c"), "-o",
                                str(target)])
        return str(target) if built.returncode == 0 else None

    def check_foreign(self, program, reason):
        run = self.prof_run([program])
        self.check_unharmed(run, [program])
        self.assertEqual((run.status, run.stdout), (42, b"worked\n"), run.stderr)
        self.assertTrue(any("from outside" in line and reason in line for line in run.summary()["degradations"]),
                        run.summary()["degradations"])
        self.assertGreater(run.inclusive("work", "CPUTIME") / run.total("CPUTIME"), 0.8)
        below = self.prof_run(["sh", "-c", '"$0"; echo $?; exec "$@"', program, sys.executable, "-c", STARTER, program],
                              options=["--no-analyze"])
        self.assertEqual((below.status, below.stdout), (42, b"worked\n42\nworked\nworked\n"), below.stderr)

    def test_a_program_with_a_copy_of_the_loaders_variables_runs(self):
        """As node does: the copy is made after the runtime has read what the kernel stored on the stack."""
        source = self.folder / "stack_end.c"
        source.write_text("#include <stdio.h>\nextern void* __libc_stack_end;\nextern char** environ;\n"
                          'int main(void) { return printf("%d %d\\n", __libc_stack_end != 0, environ != 0) < 0; }\n')
        subprocess.run(["gcc", "-no-pie", "-fno-pie", source, "-o", self.folder / "stack_end"], check=True)
        run = self.prof_run([str(self.folder / "stack_end")], options=["--no-analyze"])
        self.assertEqual((run.status, run.stdout), (0, b"1 1\n"), run.stderr)

    def sanitized(self):
        """Yields programs with a sanitizer that runs on this kernel, for each way to build them."""
        clang = next(filter(shutil.which, ("clang-14", "clang-15", "clang")), "clang")
        ways = [("gcc", "address"), (clang, "address"), (clang, "address", "-no-pie"), (clang, "thread"), (clang, "memory"),
                ("gcc", "address", "-static-libasan"), ("gcc", "thread", "-static-libtsan")]
        found = 0
        for compiler, sanitizer, *options in ways:
            name = "-".join((compiler, sanitizer, *options))
            program = self.compiled(name, compiler, f"-fsanitize={sanitizer}", *options)
            if not program or self.plain_run([program]).returncode != 42:
                continue
            found += 1
            with self.subTest(name):
                yield program
        if not found:
            self.skipTest("no compiler here builds programs with a sanitizer")

    def check_below_static(self, program, is_first):
        """The static program passes the runtime on, which leaves before the sanitizer is initialized."""
        starter = driver.program("static_starter")
        command = [starter, program, "one", "two words"]
        run = self.prof_run(command, options=[] if is_first else ["--no-analyze"])
        self.check_unharmed(run, command)
        self.assertEqual((run.status, run.stdout.splitlines()[-2:]), (42, [b"not preloaded", b"worked"]))
        if not is_first:
            return
        degradations = run.summary()["degradations"]
        self.assertTrue(any("from outside" in line and "sanitizer" in line for line in degradations), degradations)
        # Named by a script's first line, and by a path relative to the working folder.
        script = self.folder / "script"
        script.write_text(f"#!{program} option\n")
        script.chmod(0o755)
        relative = [starter, f"{self.folder.name}/{pathlib.Path(program).name}", "one"]
        for command, options in (([starter, str(script), "one"], {}), (relative, {"cwd": self.folder.parent})):
            self.check_unharmed(self.prof_run(command, options=["--no-analyze"], **options), command, **options)

    def test_programs_with_a_sanitizer_run_unharmed(self):
        for number, program in enumerate(self.sanitized()):
            self.check_below_static(program, number == 0)
            if number == 0:
                self.check_foreign(program, "sanitizer")
            else:
                run = self.prof_run(["sh", "-c", f"{program}; exec {program}"], options=["--no-analyze"])
                self.assertEqual((run.status, run.stdout), (42, b"worked\nworked\n"), run.stderr)

    def test_programs_of_another_C_library_run_unharmed(self):
        """Programs of musl; without musl-gcc, one of glibc whose loader has another name."""
        program = self.compiled("musl", "musl-gcc")
        if not program:
            loader = self.folder / "ld-other.so.1"
            loader.symlink_to("/lib64/ld-linux-x86-64.so.2")
            program = self.compiled("other", "gcc", f"-Wl,--dynamic-linker={loader}")
        self.check_foreign(program, "a C library other than glibc")

    def test_as_an_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        run = self.prof_run([driver.program("static_work"), "0.5", "status"], wrap=driver.as_nobody)
        self.assertEqual((run.status, run.stdout), (7, b"worked\n"), run.stderr)
        if "perf_event_open" in run.stderr.decode():
            self.skipTest("perf events are refused to ordinary users here")
        self.check_shares(run)

    def test_threads_and_their_trace(self):
        run = self.prof_run([driver.program("static_work"), "0.4", "threads"], options=["--trace"])
        self.assertEqual((run.status, run.stdout), (0, b"worked\n"))
        summary = self.check_shares(run)
        self.assertEqual(summary["run"]["threads"], 2)

    def test_a_forked_child_has_a_file_of_its_own(self):
        for _ in range(3):  # on a busy machine prof may read the buffers too late
            run = self.prof_run([driver.program("static_work"), "0.4", "fork"])
            self.assertEqual((run.status, run.stdout), (0, b"worked\n"))
            self.assertEqual(self.check_shares(run)["run"]["processes"], 2)
            if run.total("CPUTIME") >= 0.74:
                break
        self.assert_within(run.total("CPUTIME"), 0.74, 0.9, "CPU time of both")

    def test_stacks_larger_than_the_recorded_piece_say_so(self):
        run = self.prof_run([driver.program("static_work"), "0.4", "deep"])
        stacks = run.summary()["stacks"]
        self.assertGreater(stacks["reasons"].get("stack_cut", 0), 0, stacks)
        self.assertLessEqual(stacks["broken"], 2, stacks)

    def test_a_dynamic_program_below_measures_itself_once(self):
        """A static program that starts a dynamic one: each time is counted once."""
        run = self.prof_run([driver.program("static_starter"), driver.sample("hot_loop")])
        self.assertEqual(run.status, 0, run.stderr)
        summary = run.summary()
        self.assert_within(run.total("CPUTIME") / summary["run"]["cpu_s"], 0.8, 1.1, "measured of used CPU time")

    def test_REALTIME_alone_is_refused_in_one_line(self):
        run = self.prof_run([driver.program("static_work")], events=["REALTIME"])
        self.assertEqual(run.status, 125)
        self.assertIn("where REALTIME is not available", run.stderr.decode())
        self.assertEqual(len(run.stderr.decode().splitlines()), 1)
        self.assertFalse(run.directory.exists())

    def test_REALTIME_beside_CPUTIME_is_left_out_and_said(self):
        run = self.prof_run([driver.program("static_work"), "0.2"], events=["CPUTIME", "REALTIME"])
        self.assertEqual(run.status, 0)
        self.assertTrue(any("REALTIME" in line for line in run.summary()["degradations"]))

    def test_go_programs_have_their_true_shares(self):
        program = self.go("go_work")
        for arguments in ([], ["children", "status"]):
            run = self.prof_run([program, *arguments])
            self.check_unharmed(run, [program, *arguments])
            summary = self.check_shares(run, "main.heavy", "main.light")
            self.assertTrue(any("Go program" in line for line in summary["degradations"]))

    def test_wrappers_do_not_hide_such_programs(self):
        static = driver.program("static_work")
        for wrapper in (["sh", "-c", f"{static} 0.6; true"], ["timeout", "20", static, "0.6"],
                        ["env", "A=1", static, "0.6"]):
            run = self.prof_run(wrapper)
            self.assertEqual((run.status, run.stdout), (0, b"worked\n"), run.stderr)
            self.check_shares(run)
            self.assert_within(run.total("CPUTIME"), 0.56, 0.75, f"CPU time below {wrapper[0]}")

    WAYS = ("execve", "fexecve", "execveat", "execveat-empty", "execveat-cwd", "vfork", "spawn", "spawnp")

    def test_however_a_program_starts_them(self):
        ways = (*self.WAYS, *("cleared " + way for way in self.WAYS), "system", "popen")
        for way in ways:
            with self.subTest(way):
                starter = [driver.program("starts"), way, driver.program("static_work")]
                run = self.prof_run([*starter, "0.5", "status"])
                self.check_unharmed(run, None, bare=[*starter, "0.01", "status"])
                self.check_shares(run)
                self.assert_within(run.total("CPUTIME"), 0.48, 0.65, f"CPU time of a program started by {way}")
                self.assertEqual(run.status, 7)

    def test_a_cleared_environment_below_posix_spawn(self):
        """A dynamic program, too, is sampled from outside if the runtime cannot be preloaded."""
        starter = [driver.program("starts"), "cleared spawn", driver.program("known_work")]
        run = self.prof_run([*starter, "0.3"])
        self.check_unharmed(run, None, bare=[*starter, "0.01"])
        self.check_shares(run)
        self.assert_within(run.total("CPUTIME"), 0.28, 0.45, "CPU time")

    def test_stripped_go_programs_have_their_names_and_lines(self):
        """From the table that Go's runtime needs itself."""
        for option in ("-buildmode=exe", "-buildmode=pie"):
            program = self.go("go_work", "-ldflags=-s -w", option)
            run = self.prof_run([program])
            # Without unwind tables the caller of a leaf, main.heavy, is not on the stack.
            flat = {row["function"]: row for row in run.report("flat")["rows"]}
            self.assertGreater(flat["main.spin"]["values"]["CPUTIME"]["inclusive"], 0.1 * run.total("CPUTIME"))
            self.assertGreater(flat["main.work"]["values"]["CPUTIME"]["inclusive"],
                               flat["main.spin"]["values"]["CPUTIME"]["inclusive"])
            text = (HERE / "programs/go_work/main.go").read_text().splitlines()
            for function in ("spin", "work"):
                row = flat[f"main.{function}"]
                self.assertTrue(row["file"].endswith("go_work/main.go"), row)
                begun = [line for line in text[:row["line"]] if line.startswith("func ")]
                self.assertIn(f"func {function}(", begun[-1])
            unnamed = sum(row["values"].get("CPUTIME", {}).get("exclusive", 0) for name, row in flat.items()
                          if "+0x" in name)
            self.assertLess(unnamed, 0.02 * run.total("CPUTIME"))

    def test_go_programs_started_by_posix_spawn(self):
        run = self.prof_run([driver.program("starts"), "spawn", self.go("go_work")])
        self.assertEqual(run.status, 0, run.stderr)
        self.check_shares(run, "main.heavy", "main.light")

    def test_scripts_of_a_static_interpreter(self):
        script = self.folder / "script"
        script.write_text(f"#! {driver.program('static_work')} 0.2\n")
        script.chmod(0o755)
        for way in ("execve", "spawn"):
            run = self.prof_run([driver.program("starts"), way, str(script)])
            self.assertEqual((run.status, run.stdout), (0, b"worked\n"), run.stderr)
            self.assertGreater(run.inclusive("heavy", "CPUTIME"), 0, way)

    def test_what_posix_spawn_cannot_start_fails_as_without_us(self):
        text = self.folder / "text"
        text.write_text("nothing that could be executed\n")
        text.chmod(0o755)
        plain = self.folder / "plain"
        plain.write_bytes(pathlib.Path(driver.program("static_work")).read_bytes())
        for file in ("/no/such/program", str(text), str(plain), "/"):
            for way in ("spawn", "spawnp", "cleared spawn"):
                command = [driver.program("starts"), way, file]
                self.check_unharmed(self.prof_run(command, options=["--no-analyze"]), command)

    def test_a_static_program_below_a_static_one_is_counted_once(self):
        run = self.prof_run(["sh", "-c", f"{driver.program('static_starter')} {driver.program('static_work')} 0.4; true"])
        self.check_shares(run)
        self.assert_within(run.total("CPUTIME"), 0.37, 0.5, "CPU time")

    def test_cgo_programs_below_a_shell_are_sampled_from_outside(self):
        program = self.go("cgo_work", environment={"CGO_ENABLED": "1"})
        for command in ([program], ["sh", "-c", f"{program}; true"]):
            run = self.prof_run(command)
            self.assertEqual((run.status, run.stdout), (0, b"worked\n"), run.stderr)
            self.assert_within(run.inclusive("c_spin", "CPUTIME") / run.total("CPUTIME"), 0.3, 0.8, "share of C")
            self.assertGreater(run.inclusive("main.spin", "CPUTIME"), 0)
            stacks = run.summary()["stacks"]
            self.assertLessEqual(stacks["broken"], 0.02 * run.samples(), stacks)
            self.assertEqual(run.inclusive("[jit]", "CPUTIME"), 0)

    def test_go_stacks_are_whole_to_their_goroutines_start(self):
        run = self.prof_run([self.go("go_work"), "deep"])
        rows = run.report("top-down")["rows"]
        deepest = max(row["depth"] for row in rows if row["function"].startswith("main.descend"))
        self.assertGreaterEqual(deepest, 61)
        starts = {row["function"] for row in rows if row["depth"] == 1}
        self.assertIn("runtime.goexit", starts)
        self.check_shares(run, "main.heavy", "main.light")


if __name__ == "__main__":
    driver.main()
