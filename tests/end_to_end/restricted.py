#!/usr/bin/env python3
"""Under the limits of containers, users and machines, prof measures what is possible, and reports what is not in one
line. The program's result never changes."""

import json
import os
import shutil
import subprocess
import sys
import unittest

import driver
from seccomp import refusing

WORK = [driver.program("known_work"), "0.5"]
# For the timer, which has a quarter of the samples. On a busy machine its ticks miss what a program did at its end, and
# few samples are inaccurate.
WORK_OF_TICKS = [driver.program("known_work"), "2"]
OUTPUT = b"worked\n"


def under(setting):
    """Applies a limit of the shell to prof and the program."""
    return lambda command: ["bash", "-c", f'{setting}; exec "$@"', "bash", *command]


def unsharing(*options, setting="true"):
    return lambda command: ["unshare", *options, "--", *under(setting)(command)]


def can_unshare(*options):
    return subprocess.run(["unshare", *options, "--", "true"], capture_output=True).returncode == 0


class Restricted(driver.EndToEnd):
    def check_measured(self, run, samples=50):
        self.assertEqual((run.status, run.stdout), (0, OUTPUT), run.stderr)
        self.assertGreaterEqual(run.samples(), samples, run.stderr)
        both = run.inclusive("heavy", "CPUTIME") + run.inclusive("light", "CPUTIME")
        self.assert_within(run.inclusive("heavy", "CPUTIME") / both, 0.6, 0.9, "share of heavy")
        return run.summary()

    def check_refused(self, run, *words):
        self.assertEqual((run.status, run.stdout), (125, b""), run.stderr)
        lines = run.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertFalse(run.directory.exists())

    def check_unharmed(self, run):
        self.assertEqual((run.status, run.stdout), (0, OUTPUT), run.stderr)

    # Seccomp filters, as container runtimes set them.

    def test_perf_refused_leaves_the_timer(self):
        for error in ("EPERM", "ENOSYS"):
            run = self.prof_run(WORK_OF_TICKS, wrap=refusing("perf_event_open", error=error))
            summary = self.check_measured(run)
            self.assertIn("timer", summary["sampling"]["source"])
            self.assertTrue(any("seccomp" in line for line in summary["degradations"]))
            # As many as the kernel's tick allows, without losing time.
            self.assert_within(summary["sampling"]["delivered_hz"], 60, 1010, "samples a second")
            stated = run.stated("heavy") + run.stated("light")
            self.assert_within(run.total("CPUTIME") / stated, 0.95, 1.05, "measured of stated CPU time")

    @unittest.skipUnless(os.geteuid() == 0 and can_unshare("-m"), "needs root and a mount name space")
    def test_kernels_of_distributions_at_perf_event_paranoid_3(self):
        """Debian's and Ubuntu's kernels answer EACCES to ordinary users; other kernels have no such level."""
        level = self.folder / "perf_event_paranoid"
        level.write_text("3\n")
        shown = unsharing("-m", setting=f"mount --bind {level} /proc/sys/kernel/perf_event_paranoid")
        patched = lambda command: shown(refusing("perf_event_open", error="EACCES")(driver.as_nobody(command)))
        run = self.prof_run(WORK, wrap=patched)
        self.check_unharmed(run)
        summary = run.summary()
        self.assertIn("timer", summary["sampling"]["source"])
        self.assertGreater(summary["sampling"]["samples"], 0)
        self.assertTrue(any("perf_event_paranoid" in line for line in summary["degradations"]), summary["degradations"])
        static = driver.program("static_work")
        self.check_refused(self.prof_run([static], wrap=patched), "statically linked", "perf_event_paranoid=2")
        doctor = subprocess.run(patched([str(driver.PROF), "doctor", "--json"]), capture_output=True, text=True)
        rows = {row["id"]: row for row in json.loads(doctor.stdout)["checks"]}
        self.assertIn("3", rows["perf_event_paranoid"]["state"])
        self.assertTrue(rows["perf_event_paranoid"]["remedy"])

    def test_perf_and_safe_loads_refused_leave_whole_stacks(self):
        run = self.prof_run(WORK_OF_TICKS, wrap=refusing("perf_event_open", "process_vm_readv", "memfd_create", "pidfd_open"))
        stacks = self.check_measured(run)["stacks"]
        self.assertGreaterEqual(stacks["complete"], 0.97 * run.samples(), stacks)

    def test_nothing_to_sample_by_is_refused(self):
        self.check_refused(self.prof_run(WORK, wrap=refusing("perf_event_open", "timer_create")), "CPUTIME", "seccomp")

    def test_timers_refused_leave_CPUTIME_but_not_REALTIME(self):
        if "sigtrap" not in self.prof_run(WORK).summary()["sampling"]["source"]:
            self.skipTest("perf events are refused on this machine")
        self.check_measured(self.prof_run(WORK, wrap=refusing("timer_create")))
        self.check_refused(self.prof_run(WORK, events=["REALTIME"], wrap=refusing("timer_create")), "REALTIME")

    def test_static_programs_need_perf(self):
        static = driver.program("static_work")
        self.check_refused(self.prof_run([static], wrap=refusing("perf_event_open")), "statically linked", "seccomp")
        run = self.prof_run(["sh", "-c", f"{static} 0.1; true"], wrap=refusing("perf_event_open"))
        self.check_unharmed(run)
        self.assertTrue(any("were not measured" in line for line in run.summary()["degradations"]))

    # Limits of the shell.

    def test_limits_that_take_nothing_away(self):
        for limit in ("-n 64", "-l 0", "-l 64", "-v 1000000", "-i 0", "-c 0", "-s 256"):
            with self.subTest(limit):
                self.check_measured(self.prof_run(WORK, wrap=under(f"ulimit {limit}")))

    def test_few_descriptors(self):
        for limit in (16, 10, 8):
            with self.subTest(limit):
                run = self.prof_run(WORK, options=["--no-analyze"], wrap=under(f"ulimit -n {limit}"))
                if run.status == 125:
                    self.assertIn("ulimit -n", run.stderr.decode())
                else:
                    self.check_measured(run)

    def test_files_that_may_not_grow(self):
        run = self.prof_run(WORK, options=["--no-analyze"], wrap=under("ulimit -f 4"))
        self.check_unharmed(run)
        self.assertEqual(sum("File too large" in line for line in run.stderr.decode().splitlines()), 1, run.stderr)

    def test_no_signals_may_be_pending(self):
        run = self.prof_run(WORK, wrap=lambda c: under("ulimit -i 0")(refusing("perf_event_open")(c)))
        self.check_refused(run, "ulimit -i")

    def test_an_empty_environment(self):
        for wrapper in (["env", "-i"], ["env", "-u", "HOME", "-u", "PATH", "TMPDIR=/nonexistent"]):
            self.check_measured(self.prof_run(WORK, wrap=lambda command: [*wrapper, *command]))

    # Namespaces.

    @unittest.skipUnless(can_unshare("-m"), "cannot make a mount name space")
    def test_no_proc(self):
        without = unsharing("-m", setting="umount -l /proc")
        self.check_measured(self.prof_run(WORK, wrap=without))
        if os.geteuid() == 0:
            self.check_measured(self.prof_run([driver.program("static_work"), "0.5"], wrap=without))

    @unittest.skipUnless(can_unshare("-m") and os.geteuid() == 0, "cannot mount")
    def test_a_proc_that_hides_processes(self):
        hidden = unsharing("-m", setting="mount -t proc -o hidepid=2 proc /proc")
        self.check_measured(self.prof_run(WORK, wrap=lambda c: hidden(driver.as_nobody(c))))

    @unittest.skipUnless(can_unshare("-Ur"), "cannot make a user name space")
    def test_a_user_name_space(self):
        self.check_measured(self.prof_run(WORK, wrap=unsharing("-Ur")))

    @unittest.skipUnless(can_unshare("-m") and os.geteuid() == 0, "cannot mount")
    def test_a_file_system_that_is_read_only(self):
        place = self.folder / "read-only"
        place.mkdir()
        wrap = unsharing("-m", setting=f"mount -t tmpfs none {place}; mount -o remount,ro {place}; cd {place}")
        run = self.prof_run(WORK, wrap=wrap, directory=place / "run")
        self.check_refused(run, "Read-only file system", "-o")
        run = self.prof_run(WORK, wrap=wrap)  # only the working folder
        self.check_measured(run)

    @unittest.skipUnless(os.geteuid() == 0, "only root may chroot")
    def test_a_chroot_without_the_runtime(self):
        """The loader in the chroot must not complain that it cannot preload the runtime; the program is sampled from
        outside."""
        root = self.folder / "root"
        libraries = subprocess.run(["ldd", WORK[0]], capture_output=True, text=True, check=True).stdout
        for word in libraries.split() + [WORK[0]]:
            if word.startswith("/"):
                target = root / word[1:]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, target)
        run = self.prof_run(["chroot", str(root), *WORK])
        self.check_unharmed(run)
        self.assertNotIn("ld.so", run.stderr.decode())

    # Programs that cannot load the runtime.

    def test_programs_below_a_cleared_environment(self):
        run = self.prof_run(["env", "-i", *WORK])
        self.check_unharmed(run)
        degradations = run.summary()["degradations"]
        if not any("refused" in line for line in degradations):
            self.check_measured(run)
            self.assertTrue(any("from outside" in line for line in degradations), degradations)

    def test_a_setuid_program_runs_unharmed_below_a_shell(self):
        if os.geteuid() != 0:
            self.skipTest("only root may make one")
        program = self.folder / "setuid"
        shutil.copy(WORK[0], program)
        program.chmod(0o4755)
        run = self.prof_run(["sh", "-c", f"{program} 0.1; true"], wrap=driver.as_nobody)
        self.check_unharmed(run)
        refused = self.prof_run([str(program)], wrap=driver.as_nobody)
        self.check_refused(refused, "raised privileges")

    def test_32_bit_programs_run_unharmed_below_a_shell(self):
        source = self.folder / "exit.s"
        source.write_text(".globl _start\n_start: movl $1, %eax\nmovl $42, %ebx\nint $0x80\n")
        program = self.folder / "exit32"
        built = subprocess.run(["gcc", "-m32", "-nostdlib", "-static", "-o", str(program), str(source)],
                               capture_output=True)
        if built.returncode or subprocess.run([str(program)], stderr=subprocess.DEVNULL).returncode != 42:
            self.skipTest("32-bit programs cannot be built or run here")
        run = self.prof_run(["sh", "-c", f"{program}; echo $?"])
        self.assertEqual((run.status, run.stdout), (0, b"42\n"), run.stderr)
        self.check_refused(self.prof_run([str(program)]), "64-bit x86")

    def test_scripts_with_and_without_an_interpreter_line(self):
        for head in ("#!/bin/sh\n", "#!/usr/bin/env sh\n", ""):
            script = self.folder / "script"
            script.write_text(f"{head}{' '.join(WORK)}\nexit 3\n")
            script.chmod(0o755)
            for command in ([str(script)], ["sh", "-c", f"{script}; exit 3"]):
                run = self.prof_run(command)
                self.assertEqual((run.status, run.stdout), (3, OUTPUT), run.stderr)
                self.assertGreater(run.inclusive("heavy", "CPUTIME"), 0)

    # Wrappers.

    def test_wrappers_do_not_hide_the_program(self):
        wrappers = [["timeout", "60"], ["sh", "-c", '"$@"; exit $?', "sh"], ["env", "A=1"], ["nice"], ["setsid", "-w"],
                    ["nohup"], ["stdbuf", "-o0"], ["xargs", "-P2", "-n1"], ["/usr/bin/time", "-o", "/dev/null"],
                    ["numactl", "--all"], ["sudo", "-E"], ["runuser", "-u", "root", "--"]]
        for wrapper in wrappers:
            if not shutil.which(wrapper[0]) or (wrapper[0] in ("sudo", "runuser") and os.geteuid() != 0):
                continue
            with self.subTest(wrapper[0]):
                stdin = subprocess.PIPE if wrapper[0] == "xargs" else subprocess.DEVNULL
                command = [*wrapper, *WORK]
                if wrapper[0] == "xargs":
                    command = ["sh", "-c", f"echo 0.5 | {' '.join(wrapper)} {WORK[0]}"]
                    stdin = subprocess.DEVNULL
                run = self.prof_run(command, stdin=stdin)
                self.check_measured(run)
                self.assertGreater((run.inclusive("heavy", "CPUTIME") + run.inclusive("light", "CPUTIME"))
                                   / run.total("CPUTIME"), 0.7)


if __name__ == "__main__":
    driver.main()
