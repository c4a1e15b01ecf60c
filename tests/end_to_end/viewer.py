#!/usr/bin/env python3
"""`prof view` writes pictures of every page without a display, analyzes what was only measured, and refuses what it cannot open
with one line."""

import pathlib
import re
import struct
import unittest

import driver

VIEWER = driver.PROF.parent.parent / "lib/prof-viewer"


def size_of_png(path):
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG"), head
    return struct.unpack(">II", head[16:24])


@unittest.skipUnless(VIEWER.exists(), "built without Qt")
class Viewer(driver.EndToEnd):
    def view(self, *words):
        return self.plain_run([str(driver.PROF), "view", *map(str, words)])

    def pages(self):
        """All that there are, as the refusal of another one names them."""
        said = self.view("--view", "nothing").stderr.decode()
        pages = re.search(r"\{(.*)\}", said).group(1).split(",")
        self.assertIn("summary", pages)
        return pages

    def refused(self, *words):
        """The one line that a refusal prints."""
        run = self.view(*words)
        self.assertEqual(run.returncode, 125, run.stderr)
        line, = run.stderr.decode().splitlines()
        self.assertLess(len(line), 160)
        return line

    def test_every_page_of_a_run_is_a_picture(self):
        run = self.prof_run([driver.sample("counters")], events=["contention"])
        folder = self.folder
        for page in self.pages():
            picture = folder / f"{page}.png"
            done = self.view(run.directory, "--view", page, "--screenshot", picture, "--size", "900x500")
            self.assertEqual((done.returncode, done.stderr), (0, b""), page)
            self.assertEqual(size_of_png(picture), (900, 500))
        drawing = folder / "contention.svg"
        done = self.view(run.directory, "--view", "contention", "--screenshot", drawing, "--theme", "dark")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<svg", drawing.read_text()[:400])

    def test_measurements_are_analyzed_first(self):
        run = self.prof_run([driver.sample("hot_loop")], options=["--no-analyze"])
        picture = self.folder / "summary.png"
        done = self.view(run.directory, "-q", "--screenshot", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(size_of_png(picture), (1280, 800))

    def test_what_cannot_be_opened_or_written_is_one_line(self):
        run = self.prof_run([driver.sample("hot_loop")])
        folder = self.folder
        database = next(pathlib.Path(run.directory).glob("**/meta.db")).parent
        self.assertIn("nowhere", self.refused(database, "--screenshot", "/nowhere/x.png"))
        self.assertIn("NOTHING", self.refused(database, "--metric", "NOTHING", "--screenshot", folder / "x.png"))
        (database / "profile.db").write_bytes(b"HPCPROF-profdb__")
        self.assertIn("profile.db", self.refused(database, "--screenshot", folder / "x.png"))
        self.assertIn("no-such-place", self.refused(folder / "no-such-place", "--screenshot", folder / "x.png"))
        self.assertFalse((folder / "x.png").exists())


if __name__ == "__main__":
    driver.main()
