#!/usr/bin/env python3
"""A running process is measured, and continues unchanged.

attach.py [N]: attaches N times to a busy server (by default 4, and 10 under tools/test --long).
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

import driver

TURNS = int(sys.argv.pop()) if len(sys.argv) > 1 and sys.argv[-1].isdigit() else 10 if "PROF_LONG" in os.environ else 4

# Programs run until a file appears in their folder, or for a minute.
SPIN = """
import os, time
def deep(n):
    return sum(i * i for i in range(n))
print('ready', flush=True)
end = time.monotonic() + 60
while time.monotonic() < end and not os.path.exists('over'):
    deep(1000)
print('fine')
"""
PERL = ("$| = 1; print qq(ready\\n); $end = time + 60; while (time < $end) { last if ++$x % 10000 == 0 && -e 'over' }"
        "print qq(fine\\n)")

# Programs in which the interrupted place matters most. Each prints "ready", and later "fine".
C_PROGRAMS = {
    "loop": "for (;;) { for (volatile int i = 0; i < 1000000; ++i); if (over()) break; }",
    "malloc": "while (!over()) for (int i = 0; i < 10000; ++i) { char* p = malloc(i % 3000 + 1); p[0] = 1; free(p); }",
    "dlopen": "while (!over()) { void* h = dlopen(\"libm.so.6\", RTLD_NOW); if (!h) return 1; dlclose(h);"
              " for (volatile int i = 0; i < 20000; ++i); }",
    "sleep": "struct timespec s = {5, 500000000}; return nanosleep(&s, 0) ? 1 : (puts(\"fine\"), 0);",
    "poll": "int n = 0; while (!over()) if (poll(0, 0, 100) < 0) ++n; if (n) return 1;",
}
C_FRAME = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static time_t end;
static int over(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec >= end || access("over", F_OK) == 0;
}
int main(void) {
  struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); end = t.tv_sec + 60;
  puts("ready"); fflush(stdout);
  %s
  puts("fine");
  return 0;
}
"""


def threads(pid):
    return sorted(os.listdir(f"/proc/{pid}/task"))


def descriptors(pid):
    folder = f"/proc/{pid}/fd"
    return sorted((number, os.readlink(f"{folder}/{number}")) for number in os.listdir(folder))


class Attach(driver.EndToEnd):
    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, process.stdout.readline().strip()

    def python(self):
        process, said = self.start([sys.executable, "-c", SPIN])
        self.assertEqual(said, "ready")
        return process

    def compiled(self, name):
        source = self.folder / f"{name}.c"
        source.write_text(C_FRAME % C_PROGRAMS[name])
        target = self.folder / name
        subprocess.run(["gcc", "-O1", "-o", str(target), str(source)], check=True)
        process, said = self.start([str(target)])
        self.assertEqual(said, "ready")
        return process

    def attach(self, pid, *options, directory="measured", wrap=lambda command: command):
        directory = self.folder / directory
        done = subprocess.run(wrap([str(driver.PROF), "attach", str(pid), "-o", str(directory), *options]),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        return driver.Run(done, directory)

    def background(self, pid, *options):
        """Starts prof attach, and waits until it measures."""
        attached = subprocess.Popen([str(driver.PROF), "attach", str(pid), "-o", str(self.folder / "measured"), *options],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(attached.communicate)
        self.addCleanup(attached.kill)
        self.assertIn("is being measured", attached.stderr.readline())
        return attached

    def check_unharmed(self, process):
        over = self.folder / "over"
        over.touch()
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (0, "fine\n"), errors)
        over.unlink()

    def test_a_busy_server_loses_no_request(self):
        server, port = self.start([driver.program("echo_server"), "4"])
        client = subprocess.Popen([driver.program("echo_client"), port, "6"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.kill)
        time.sleep(0.3)
        before = descriptors(server.pid)
        samples = 0
        for turn in range(TURNS):
            run = self.attach(server.pid, "--no-analyze", "--duration", "0.2", directory=f"turn{turn}")
            self.assertEqual(run.status, 0, run.stderr)
            self.assertIsNone(server.poll(), "the server died")
            samples += run.samples() if turn % 10 == 0 else 0
        self.assertGreater(samples, 20)
        time.sleep(0.1)
        self.assertEqual(descriptors(server.pid), before)
        client.stdin.close()
        stated = dict(line.split() for line in client.stdout)
        self.assertEqual((client.wait(timeout=30), stated["lost"]), (0, "0"))
        print(f"{TURNS} times attached: {stated['answers']} answers, {stated['lost']} lost, longest "
              f"{stated['longest_ms']} ms")
        server.terminate()
        _, errors = server.communicate(timeout=30)
        self.assertEqual(server.returncode, 0, errors)
        self.assertEqual(errors.split(), ["served", stated["answers"], "failures", "0"])

    def test_programs_are_measured_wherever_they_are_met(self):
        for name in C_PROGRAMS:
            with self.subTest(name):
                process = self.compiled(name)
                run = self.attach(process.pid, "--duration", "0.5", directory=f"of-{name}")
                self.assertEqual(run.status, 0, run.stderr)
                if name in ("loop", "malloc", "dlopen"):
                    self.assertGreater(run.samples(), 20)
                    self.assertEqual(run.summary()["stacks"]["broken"], 0)
                self.check_unharmed(process)

    def test_a_program_that_only_just_starts(self):
        # The loader prints its steps, and takes most of a second.
        loud = dict(os.environ, LD_DEBUG="all", LD_BIND_NOW="1", LD_DEBUG_OUTPUT=str(self.folder / "loader"))
        for turn in range(4):
            process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(2); print('fine')"], env=loud,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            time.sleep(0.02 * turn)
            run = self.attach(process.pid, "--no-analyze", "--duration", "0.1", directory=f"turn{turn}")
            self.assertEqual(run.status, 0, run.stderr)
            self.assertIn(b"is being measured", run.stderr)
            self.check_unharmed(process)

    def test_programs_that_only_wait_are_left_in_time(self):
        # A stopped wait continues as another system call, which prof must recognize.
        waits = {"nanosleep": "struct timespec s = {4, 0}; if (nanosleep(&s, 0)) return 1;",
                 "clock_nanosleep": "struct timespec s = {4, 0}; if (clock_nanosleep(CLOCK_REALTIME, 0, &s, 0)) return 1;",
                 "poll": "if (poll(0, 0, 4000) != 0) return 1;"}
        for name, code in waits.items():
            with self.subTest(name):
                C_PROGRAMS[name] = code
                process = self.compiled(name)
                for turn in range(2):
                    start = time.monotonic()
                    run = self.attach(process.pid, "--no-analyze", "--duration", "0.1", directory=f"{name}{turn}")
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assertNotIn(b"cannot detach", run.stderr)
                    self.assertIsNone(process.poll(), "met only after its wait")
                    print(f"{name}: {time.monotonic() - start:.2f} s")
                self.check_unharmed(process)

    def test_python_shows_its_functions(self):
        process = self.python()
        run = self.attach(process.pid, "--duration", "1", "-e", "CPUTIME@1000", "-e", "REALTIME@200", "--trace")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.total("CPUTIME"), 0.05, "of the second in which it computes, on a busy machine")
        self.assert_within(run.total("REALTIME"), 0.8, 1.05 * run.summary()["run"]["wall_s"] + 0.05, "wall time of one thread")
        self.assertEqual(len(threads(process.pid)), 1)
        self.check_unharmed(process)

    def test_an_interrupt_detaches(self):
        process = self.python()
        attached = self.background(process.pid)
        time.sleep(0.5)
        attached.send_signal(signal.SIGINT)
        _, errors = attached.communicate(timeout=60)
        self.assertEqual(attached.returncode, 0, errors)
        self.assertIn("CPUTIME", errors)
        self.assertEqual([name for _, name in descriptors(process.pid) if ".prof" in name or "perf_event" in name], [])
        self.check_unharmed(process)

    def test_the_end_of_the_process_ends_the_measuring(self):
        process = self.python()
        attached = self.background(process.pid)
        time.sleep(1)
        self.check_unharmed(process)
        _, errors = attached.communicate(timeout=60)
        self.assertEqual(attached.returncode, 0, errors)
        self.assertIn("it ended", errors)
        run = driver.Run(subprocess.CompletedProcess([], 0, b"", errors.encode()), self.folder / "measured")
        self.assertGreater(run.samples(), 100)

    def test_another_program_in_the_process_ends_it_as_well(self):
        process, said = self.start(["bash", "-c", "echo ready; for ((i = 0; i < 2000000; ++i)); do :; done; exec sleep 1"])
        self.assertEqual(said, "ready")
        run = self.attach(process.pid, "--no-analyze")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertIn(b"executed another program", run.stderr)
        self.assertEqual(process.wait(timeout=30), 0)

    def test_forked_children_are_measured_and_left_alone_afterwards(self):
        program = ("import os, time\nprint('ready', flush=True)\ntime.sleep(4)\n"
                   "child = os.fork()\nend = time.monotonic() + 6\nwhile time.monotonic() < end: pass\n"
                   "if child == 0: os._exit(7)\n"
                   "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\nprint('fine')")
        process, said = self.start([sys.executable, "-c", program])
        self.assertEqual(said, "ready")
        run = self.attach(process.pid, "--duration", "6")
        self.assertEqual(run.summary()["run"]["processes"], 2, run.stderr)
        self.check_unharmed(process)

    def test_threads_that_wait_are_let_go_where_they_wait(self):
        # Python repeats interrupted calls. The child waits under timers as well. On a busy machine four attachments
        # take more than ten seconds.
        program = ("import os, select, threading, time\nend = time.monotonic() + 24\nleft, right = os.pipe()\n"
                   "def sleep(): time.sleep(end - time.monotonic())\n"
                   "def read(): assert os.read(left, 9) == b'over'\n"
                   "def poll(): select.poll().poll(24000)\n"
                   "def naps():\n    while time.monotonic() < end: time.sleep(0.001)\n"
                   "waiting = [threading.Thread(target=how) for how in (sleep, read, poll, naps)]\n"
                   "for thread in waiting: thread.start()\nprint('ready', flush=True)\ntime.sleep(2)\n"
                   "child = os.fork()\nif child == 0:\n    time.sleep(1)\n    select.select([], [], [], 1)\n"
                   "    os._exit(7)\nassert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
                   "time.sleep(end - time.monotonic())\nos.write(right, b'over')\n"
                   "for thread in waiting: thread.join()\nprint('fine')")
        process, said = self.start([sys.executable, "-c", program])
        self.assertEqual(said, "ready")
        for turn, (trigger, event) in enumerate((("sigtrap", "REALTIME@500"), ("setsig", "CPUTIME@500")) * 2):
            run = self.attach(process.pid, "--duration", "1.5" if turn == 0 else "0.5", "-e", event,
                              directory=f"turn{turn}",
                              wrap=lambda command: ["env", f"PROF_TRIGGER={trigger}", *command])
            self.assertEqual(run.status, 0, (run.stderr, process.poll()))
            if event.startswith("REALTIME"):  # five threads, and the child's
                self.assertGreater(run.total("REALTIME"), 1)
        self.check_unharmed(process)

    def test_late_samples_of_an_attachment_end_nothing_in_the_next_one(self):
        # The kernel sends them at its own time. Here the program sends them to itself as soon as the number is caught.
        program = ("import ctypes, os, signal, struct, threading, time\nnumber = signal.SIGRTMAX - 1\nlibc = ctypes.CDLL(None)\n"
                   "info = ctypes.create_string_buffer(struct.pack('iiiiqi', number, 0, 1, 0, 0, 77), 128)\n"
                   "def is_caught():\n    caught = [line for line in open('/proc/self/status') if line.startswith('SigCgt')][0]\n"
                   "    return int(caught.split()[1], 16) >> (number - 1) & 1\n"
                   "print('ready', flush=True)\nend = time.monotonic() + 60\n"
                   "while not is_caught() and time.monotonic() < end: time.sleep(0.01)\n"
                   "sent = 0\nwhile not os.path.exists('over') and time.monotonic() < end:\n"
                   "    assert libc.syscall(297, os.getpid(), threading.get_native_id(), number, info) == 0\n"
                   "    sent += 1\n    time.sleep(0.002)\nassert sent > 100\nprint('fine')")
        process, said = self.start([sys.executable, "-c", program])
        self.assertEqual(said, "ready")
        for turn, (trigger, event) in enumerate((("setsig", "CPUTIME@500"), ("sigtrap", "REALTIME@500"))):
            run = self.attach(process.pid, "--duration", "0.7", "-e", event, directory=f"turn{turn}",
                              wrap=lambda command: ["env", f"PROF_TRIGGER={trigger}", *command])
            self.assertEqual(run.status, 0, (run.stderr, process.poll()))
        self.check_unharmed(process)

    def test_a_killed_prof_leaves_the_process_alive(self):
        process = self.python()
        attached = self.background(process.pid)
        attached.kill()
        attached.wait()
        time.sleep(0.3)
        run = self.attach(process.pid, "--duration", "0.5", directory="again")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertIn(b"left attached", run.stderr)
        self.assertGreater(run.samples(), 20)
        self.check_unharmed(process)

    def test_timers_where_perf_is_not_to_be_used(self):
        process = self.python()
        run = self.attach(process.pid, "--duration", "1", wrap=lambda command: ["env", "PROF_TRIGGER=timer", *command])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.samples(), 20)
        self.check_unharmed(process)

    def test_delay_and_pause(self):
        process = self.python()
        attached = self.background(process.pid, "--delay", "0.5", "-e", "REALTIME@200")
        time.sleep(1)
        for word in ("pause", "resume"):
            done = subprocess.run([str(driver.PROF), word, str(process.pid)], stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        attached.terminate()
        attached.communicate(timeout=60)
        run = driver.Run(subprocess.CompletedProcess([], 0, b"", b""), self.folder / "measured")
        self.assertGreater(run.summary()["sampling"]["paused_s"], 0.3)
        self.check_unharmed(process)

    def test_an_ordinary_user_measures_a_process_of_its_own(self):
        process, said = self.start(driver.as_nobody(["/usr/bin/perl", "-e", PERL]))
        self.assertEqual(said, "ready")
        run = self.attach(process.pid, "--duration", "1", wrap=driver.as_nobody)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.samples(), 50)
        self.check_unharmed(process)

    def test_root_measures_a_process_of_an_ordinary_user(self):
        process, said = self.start(driver.as_nobody(["/usr/bin/perl", "-e", PERL]))
        self.assertEqual(said, "ready")
        # That user must be able to read the runtime.
        run = self.attach(process.pid, "--duration", "1", wrap=lambda command: [
            driver.as_nobody([command[0]])[-1], *command[1:]])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.samples(), 50)
        self.check_unharmed(process)

    def test_a_busy_program_with_an_allocator_in_its_executable_is_met(self):
        """It is measured for the requested time, instead of when it happens to leave its own code."""
        process, said = self.start([driver.program("busy_allocator")])
        self.assertEqual(said, "ready")
        run = self.attach(process.pid, "--duration", "0.3")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual((process.communicate(timeout=30)[0], process.returncode), ("unharmed\n", 42), run.stderr)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.inclusive("(anonymous namespace)::busy", "CPUTIME"), 0, run.stderr)

    def test_prof_killed_at_any_call_of_ptrace_leaves_the_process_unharmed(self):
        """At each of its calls in turn, of which a normal test run tries every seventh."""
        for way in ["busy", "waits"]:
            for turn in range(1, 200, int(os.environ.get("PROF_KILL_STRIDE", "7"))):
                process, said = self.start([driver.program("checks_itself"), way])
                self.assertEqual(said, "ready")
                environment = {**os.environ, "LD_PRELOAD": driver.program("dies_at_ptrace.so"), "DIES_AT": str(turn)}
                prof = self.plain_run([str(driver.PROF), "attach", str(process.pid), "-e", "CPUTIME@20000", "--duration", "0.02", "--no-analyze", "-o",
                                       str(self.folder / f"{way}{turn}")], env=environment)
                time.sleep(0.02)  # the process continues for some turns
                process.send_signal(signal.SIGUSR1)
                self.assertEqual((process.communicate(timeout=30)[0], process.returncode), ("unharmed\n", 42),
                                 f"{way}: prof was killed after {turn} calls; {prof.stderr}")
                if prof.returncode != -signal.SIGKILL:
                    break  # it makes no further calls
            self.assertGreater(turn, 20, prof.stderr)

    def refused(self, pid, words, wrap=lambda command: command):
        run = self.attach(pid, directory="refused", wrap=wrap)
        said = run.stderr.decode()
        self.assertEqual(run.status, 125, said)
        self.assertIn(words, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse((self.folder / "refused").exists())

    def test_what_cannot_be_attached_to_is_said_in_one_line(self):
        self.refused(999999999, "no process")
        self.refused(os.getpid(), "another user", driver.as_nobody)
        zombie = subprocess.Popen(["true"])
        time.sleep(0.2)
        self.refused(zombie.pid, "has ended")
        zombie.wait()
        stopped = subprocess.Popen(["sleep", "60"])
        self.addCleanup(stopped.wait)
        self.addCleanup(stopped.kill)
        stopped.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        self.refused(stopped.pid, "is stopped")
        source = self.folder / "static.c"
        source.write_text("#include <unistd.h>\nint main(void) { return sleep(60); }\n")
        subprocess.run(["gcc", "-static", "-o", str(self.folder / "static"), str(source)], check=True)
        static = subprocess.Popen([str(self.folder / "static")])
        self.addCleanup(static.wait)
        self.addCleanup(static.kill)
        self.refused(static.pid, "statically linked")
        measured = subprocess.Popen([str(driver.PROF), "run", "-o", str(self.folder / "run"), "--no-analyze", "sleep", "5"],
                                    stderr=subprocess.DEVNULL)
        self.addCleanup(measured.wait)
        while not list(self.folder.glob("run/*.prof")):
            time.sleep(0.05)
        time.sleep(0.2)
        child = next((self.folder / "run").glob("*.prof")).stem.split("-")[-2]
        self.refused(child, "being measured already")
        os.kill(int(child), signal.SIGTERM)  # instead of waiting for its five seconds


if __name__ == "__main__":
    assert pathlib.Path(driver.PROF).exists()
    driver.main()
