#!/usr/bin/env python3
"""An interrupt reaches the program once, however it was sent, and what was measured is kept."""

import os
import pty
import signal
import subprocess

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
        except OSError:  # the terminal's last user is gone
            pass
        _, status = os.waitpid(child, 0)
        self.check(directory, output, os.waitstatus_to_exitcode(status))


driver.main()
