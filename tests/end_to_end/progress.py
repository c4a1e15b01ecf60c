#!/usr/bin/env python3
"""The bar of `prof analyze` on a terminal shows all phases of an analysis, completes each of them, and leaves nothing."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import unittest

from analyze_together import MAKE_RANKS, can_trace
from driver import PROF, EndToEnd, main, sample

PHASES = ["reading files", "finding source lines", "merging call paths", "writing values", "writing contexts",
          "writing traces"]
DRAWN = re.compile(r"\r\x1b\[K(\S[^\[\r]*?) +\[#* *\] +(\d+) %")
ERASED = "\r\x1b[K"


@unittest.skipUnless(can_trace(), "strace cannot follow a process here")
class ProgressOnATerminal(EndToEnd):
    def setUp(self):
        super().setUp()
        real = self.folder / "real"
        subprocess.run([PROF, "run", "-q", "--no-analyze", "-o", real, "--", sample("deep_calls"), "40", "20000", "1"],
                       check=True, stdout=subprocess.DEVNULL)
        self.job = self.folder / "job"
        file = max(real.glob("*.prof"), key=lambda path: path.stat().st_size)
        subprocess.run([MAKE_RANKS, file, "-o", self.job, "--ranks", "8", "--contexts", "200", "--records", "300"],
                       check=True, stdout=subprocess.DEVNULL)

    def slowed(self, *words):
        """Returns the command with measurement files that take a fifth of a second each to open. The bar is shown for
        work that takes longer than half a second."""
        opens = "/^open"
        paths = [word for path in self.job.glob("*.prof") for word in ("-P", path)]
        return ["strace", "-f", "-qqq", "-o", "/dev/null", *paths, "-e", f"trace={opens}", "-e",
                f"inject={opens}:delay_enter=200000", *words]

    def on_terminal(self, command, **environment):
        """Returns what a command writes to standard error, a terminal with 80 columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = subprocess.Popen([str(word) for word in command], stderr=theirs, stdout=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **environment})
        os.close(theirs)
        written = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            written += block
        os.close(ours)
        self.assertEqual(0, process.wait(timeout=100), written)
        return written.decode()

    def assert_all_phases_end(self, written):
        drawn = [(stage, int(share)) for stage, share in DRAWN.findall(written)]
        self.assertEqual(PHASES, list(dict.fromkeys(stage for stage, _ in drawn)), drawn)
        for phase in PHASES:
            shares = [share for stage, share in drawn if stage == phase]
            self.assertEqual(sorted(shares), shares, phase)
            self.assertEqual(100, shares[-1], phase)
        # The bar is erased before the path of the database is printed.
        self.assertRegex(written, r"100 %" + re.escape(ERASED) + r"\S+\r\n$")

    def test_every_phase_ends_at_100_per_cent(self):
        self.assert_all_phases_end(self.on_terminal(self.slowed(PROF, "analyze", self.job)))

    def test_the_first_of_several_processes_shows_its_share(self):
        words = [PROF, "analyze", self.job]
        other = subprocess.Popen([str(word) for word in self.slowed(*words)], stderr=subprocess.PIPE,
                                 env={**os.environ, "PMI_RANK": "1", "PMI_SIZE": "2"})
        written = self.on_terminal(self.slowed(*words), PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual((b"", 0), (other.communicate(timeout=100)[1], other.returncode))
        self.assert_all_phases_end(written)

    def test_quiet_and_dumb_terminals_have_no_bar(self):
        self.assertEqual("", self.on_terminal(self.slowed(PROF, "analyze", "-q", self.job)))
        shutil.rmtree(self.job / "database")
        self.assertNotIn("%", self.on_terminal(self.slowed(PROF, "analyze", self.job), TERM="dumb"))


main()
