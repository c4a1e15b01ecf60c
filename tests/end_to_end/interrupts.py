#!/usr/bin/env python3
"""An interrupt reaches the program once, however it was sent, and the measurements are kept."""

import fcntl
import os
import pty
import signal
import subprocess
import time

import driver


class Interrupts(driver.EndToEnd):
    def command(self, directory):
        return [str(driver.PROF), "run", "-e", "CPUTIME@1000", "-o", str(directory), "--",
                driver.program("interrupts")]

    def check(self, directory, output, status):
        self.assertIn(b"interrupts 1", output)
        self.assertEqual(status, 21, output)
        run = driver.Run(subprocess.CompletedProcess([], status, output, b""), directory)
        self.assertGreater(run.inclusive("spin", "CPUTIME"), 0.4)

    def test_sent_to_prof_alone(self):
        directory = self.folder / "alone"
        launched = subprocess.Popen(self.command(directory), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    start_new_session=True)
        self.assertEqual(launched.stdout.readline(), b"ready\n")
        os.kill(launched.pid, signal.SIGINT)
        output, _ = launched.communicate(timeout=60)
        self.check(directory, output, launched.returncode)

    def test_what_comes_after_the_program_ends_by_it(self):
        directory = self.folder / "after"
        # A full pipe without a reader: prof waits there for room for its report when the program has ended.
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writing, b" " * fcntl.fcntl(writing, fcntl.F_GETPIPE_SZ))
        launched = subprocess.Popen([str(driver.PROF), "run", "-o", str(directory), "--", "sh", "-c", "echo $$"],
                                    stdout=subprocess.PIPE, stderr=writing, start_new_session=True)
        os.close(writing)
        self.addCleanup(launched.kill)
        self.addCleanup(launched.stdout.close)
        program = int(launched.stdout.readline())
        deadline = time.monotonic() + 20
        while launched.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
            if not os.path.exists(f"/proc/{program}"):
                launched.send_signal(signal.SIGINT)
        self.assertEqual(launched.poll(), -signal.SIGINT)

    def test_typed_at_the_terminal(self):
        directory = self.folder / "typed"
        child, terminal = pty.fork()
        if child == 0:
            os.execv(str(driver.PROF), self.command(directory))
        output = b""
        while b"ready" not in output:
            output += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
        try:
            while block := os.read(terminal, 1024):
                output += block
        except OSError:  # the terminal's last user has closed it
            pass
        _, status = os.waitpid(child, 0)
        self.check(directory, output, os.waitstatus_to_exitcode(status))


driver.main()
