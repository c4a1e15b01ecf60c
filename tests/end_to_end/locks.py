#!/usr/bin/env python3
"""Waiting for locks is told to the lock, to the line that waits and to the line that kept it; what nobody waits for is not."""

import os
import pathlib
import re

import driver

SOURCE = pathlib.Path(os.environ.get("PROF_SOURCE", "."))


class Locks(driver.EndToEnd):
    def measured(self, sample, *arguments, events=("locks",)):
        run = self.prof_run([driver.sample(sample), *arguments], events=list(events))
        self.assertEqual(run.status, 0, run.stderr)
        return run, run.report("locks")

    def prof(self, *words):
        return self.plain_run([str(driver.PROF), *map(str, words)])

    def line_of(self, text):
        """The line of the sample's source that has the text, by number; the last one where there are several."""
        source = (SOURCE / "samples/locks/long_holder.cpp").read_text().splitlines()
        return max(i for i, line in enumerate(source, 1) if text in line)

    def own_frame(self, side):
        return next(frame for frame in side["frames"] if frame["file"].endswith("long_holder.cpp"))

    def test_the_long_holder_is_named(self):
        run, report = self.measured("long_holder")
        lock = report["locks"][0]
        self.assertEqual((lock["name"], lock["kind"]), ("queue_lock", "mutex"))
        self.assertEqual(lock["declared"], f"long_holder.cpp:{self.line_of('std::mutex queue_lock')}")
        # The program's own clock is outside ours: it has a little more.
        stated = float(re.search(r"waited ([0-9.]+) s", run.stdout.decode()).group(1))
        self.assertGreater(stated, 0.2)
        self.assertLess(lock["waited_s"], stated)
        self.assertGreater(lock["waited_s"], 0.9 * stated)
        self.assertLess(lock["blamed_s"], 1.001 * lock["waited_s"])
        self.assertGreater(lock["blamed_s"], 0.95 * lock["waited_s"])
        # Nearly all for what the long holder released.
        holder = lock["holders"][0]
        frame = self.own_frame(holder)
        self.assertTrue(frame["function"].startswith("flush"), frame)
        self.assertEqual(frame["line"], self.unlock_line("flush"))
        self.assertGreater(holder["seconds"], 0.8 * lock["waited_s"])
        waiter = self.own_frame(lock["waiters"][0])
        self.assertTrue(waiter["function"].startswith("push"), waiter)
        finding, = [one for one in report["findings"] if one["kind"] == "lock"]
        self.assertIn("queue_lock", finding["sentence"])
        self.assertIn("flush (long_holder.cpp:", finding["sentence"])
        self.assertIn("Hold queue_lock shorter in flush", finding["advice"])
        self.assertIn(finding["sentence"], [one["sentence"] for one in run.summary()["findings"]])
        # The metrics of all views are the same waiting.
        totals = run.report("top-down")["totals"]
        waited = sum(one["waited_s"] for one in report["locks"])
        self.assertAlmostEqual(totals["LOCK_WAIT"], waited, delta=0.001 * waited)
        self.assertAlmostEqual(totals["LOCK_BLAME"], sum(one["blamed_s"] for one in report["locks"]), delta=0.001 * waited)
        self.assertGreater(totals["BLOCKED"], 0)
        self.assertIn("end of a thread", [one["kind"] for one in report["blocked"]])
        text = self.prof("report", run.directory, "--view=locks").stdout.decode()
        self.assertIn("queue_lock (mutex, long_holder.cpp:", text)
        rows = self.prof("report", run.directory, "--view=locks", "--format=csv").stdout.decode().splitlines()
        self.assertTrue(any(row.startswith("queue_lock,mutex,releases,") and "flush" in row for row in rows), rows)

    def unlock_line(self, function):
        source = (SOURCE / "samples/locks/long_holder.cpp").read_text().splitlines()
        begin = next(i for i, line in enumerate(source, 1) if f" {function}()" in line)
        return next(i for i, line in enumerate(source, 1) if i > begin and "queue_lock.unlock()" in line)

    def test_nothing_is_found_where_locks_are_free(self):
        for sample, arguments in (("long_holder_fixed", ()), ("counters_fixed", ("10",)), ("hot_loop", ())):
            with self.subTest(sample):
                _, report = self.measured(sample, *arguments)
                self.assertEqual([one for one in report["findings"] if one["severity"] != "low"], [])

    def test_it_goes_with_other_events(self):
        _, report = self.measured("long_holder", "20", events=("locks", "REALTIME", "CPUTIME"))
        self.assertEqual(report["locks"][0]["name"], "queue_lock")

    def test_calls_return_what_they_return(self):
        program = driver.BUILD / "tests/programs/lock_results"
        bare = self.plain_run([str(program)])
        self.assertEqual(bare.returncode, 0, bare.stderr)
        for events in (["locks"], ["locks", "REALTIME@1000"]):
            run = self.prof_run([program], events=events)
            self.assertEqual((run.status, run.stdout), (0, bare.stdout))

    def test_what_cannot_be_asked(self):
        plain = self.prof_run([driver.sample("counters"), "10"])
        refused = self.prof("report", plain.directory, "--view=locks")
        self.assertEqual(refused.returncode, 125)
        self.assertIn(b"prof run -e locks", refused.stderr)
        refused = self.prof("run", "-e", "locks@100", "true")
        self.assertEqual(refused.returncode, 125)
        self.assertIn(b"locks has no rate", refused.stderr)
        static = driver.BUILD / "tests/programs/static_work"
        refused = self.prof("run", "-e", "locks", static)
        self.assertEqual(refused.returncode, 125)
        self.assertIn(b"leave -e locks out", refused.stderr)


if __name__ == "__main__":
    driver.main()
