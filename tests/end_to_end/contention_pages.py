#!/usr/bin/env python3
"""-e contention:pages, which counts page by page, finds what -e contention finds by samples and breakpoints: the same
data and verdicts, in the same order, and nothing if threads do not write to the same lines.

Chance: whether threads write at the same time while their page is watched. Runs are made again, up to six in all, until they find
something; order, verdicts and bytes must be right in each of them. Accepted: 1.1e-5 a run, 11 cases of 1e-6 each, if fewer than one
attempt in ten misses. Not less, because misses by pages were not counted; the log names each further attempt. The order of two variables,
70 % of the time against 30 %, is 9 standard deviations of 500 samples."""

import os
import pathlib
import subprocess
import sys

import driver
import repair_runs

SOURCE = pathlib.Path(os.environ.get("PROF_SOURCE", "."))
WRITTEN = driver.program("written_lines")
# Samples whose threads share by plain stores: where the data is allocated, or the variable's name; the arguments for
# both ways.
SAMPLES = {"statistics": ("Store::Store", ["900"]), "neighbours": ("make_counter", ["7000"]),
           "references_locked": ("counters", ["300"])}
COUNTED = "exact, by pages"


class ContentionPages(repair_runs.RepairRuns):
    def named(self, data):
        """Returns the variable, or the innermost function of the program that allocates it."""
        if data["kind"] != "allocation":
            return data["name"]
        return next(frame["function"].split("(")[0] for frame in data["allocations"][0]["frames"] if frame.get("file", "").endswith(".cpp"))

    def found(self, run):
        """Returns the findings, the most expensive first: name and verdict."""
        return [(self.named(data), data["sharing"]) for data in run.report("contention")["data"]]

    def both_ways(self, command, expected):
        """Runs both ways until each has found everything; on a busy machine threads may rarely run at the same time."""
        output = self.output_of(command)
        is_found = lambda run: {name for name, _ in self.found(run)} >= expected
        return [self.run_until(is_found, command, output, events=[event]) for event in ("contention", "contention:pages")]

    def lines(self, data):
        """Returns for each line, by its offset in the object, the bytes that each thread writes."""
        lines = {}
        for side in data["sides"]:
            # The allocator places two objects of 8 bytes where one is known: the other one has an address.
            if side["access"] == "reads" or side["offset"] >= data["bytes"]:
                continue
            bytes_of_thread = lines.setdefault((side["object"], side["offset"] - side["line_offset"]), {}).setdefault(side["thread"], set())
            bytes_of_thread |= set(range(side["offset"], side["offset"] + side["bytes"]))
        return lines

    def written(self, data):
        """Returns for each thread the bytes of the objects that it writes."""
        written = {}
        for threads in self.lines(data).values():
            for thread, of_line in threads.items():
                written.setdefault(thread, set()).update(of_line)
        return written

    def test_samples_are_found_as_by_sampling(self):
        for sample, (name, arguments) in driver.listed(SAMPLES.items(), 3):
            with self.subTest(sample):
                command = [driver.sample(sample), *arguments]
                output = self.output_of(command)
                counted = self.run_until(self.found, command, output, events=["contention:pages"])
                self.assertEqual(self.found(counted), [(name, "false")])
                [data] = counted.report("contention")["data"]
                self.assertEqual((data["source"], data["weight_s"], data["saving_s"]), (COUNTED, 0, 0))
                self.assertGreater(data["interleaved"], 100)
                self.assertGreater(data["interleaved_per_s"], 0)
                self.assertEqual({side["access"] for side in data["sides"]}, {"writes"})
                # The bytes that each thread changes are some of those that it was seen to write. Samples may find a
                # thread only reading.
                changed = self.written(data)

                def is_the_same(run):
                    [first, *_] = run.report("contention")["data"] or [None]
                    written = self.written(first) if first else {}
                    return all(of_thread <= written.get(thread, set()) for thread, of_thread in changed.items())

                sampled = self.run_until(is_the_same, command, output, events=["contention"])
                self.assertEqual(self.found(sampled)[0], (name, "false"))
                [finding] = counted.report("contention")["findings"]
                self.assertEqual((finding["kind"], finding["cost"]["unit"]), ("false-sharing", "writes"))
                self.assertIn(f"({COUNTED})", finding["sentence"])
                self.assertNotIn("unknown code", finding["sentence"])
                self.assertNotIn("CPU time", finding["sentence"])

    def test_lines_come_in_the_order_of_their_cost(self):
        expected = [("often", "false"), ("seldom", "false")]
        sampled, counted = self.both_ways([WRITTEN, "order", "3"], {name for name, _ in expected})
        self.assertEqual(self.found(sampled), expected)
        self.assertEqual(self.found(counted), expected)
        for data, _ in zip(counted.report("contention")["data"], expected):
            self.assertEqual({(side["thread"], side["place"]) for side in data["sides"]}, {(0, "[0].value"), (1, "[1].value")})

    def test_what_threads_share_under_a_lock_is_no_false_sharing(self):
        for how, verdict in (("locked", "true"), ("mixed", "mixed")):
            with self.subTest(how):
                run = self.run_until(self.found, [WRITTEN, how, "2"], f"{how} right\n".encode(), events=["contention:pages"])
                self.assertEqual(self.found(run), [("totals", verdict)])

    def test_nothing_is_found_where_nothing_is(self):
        for command in ([WRITTEN, "apart", "1.5"], [driver.sample("statistics_fixed"), "300"], [driver.sample("references_locked_fixed"), "100"],
                        [driver.sample("phases"), "200"], [driver.sample("reuse"), "2"]):
            with self.subTest(command):
                run = self.prof_run(command, events=["contention:pages"])
                self.assertEqual(run.status, 0, run.stderr)
                if command[0] != driver.sample("reuse"):  # which prints the address of its memory
                    self.assertEqual(run.stdout, self.output_of(command))
                self.assertEqual(self.found(run), [])

    def test_programs_with_atomic_operations_of_their_own_do_the_same_and_are_told(self):
        programs = (("counters", ["60"]), ("workers", ["40"]), ("references", ["200"]), ("sessions", ["80"]), ("regression", ["40"]),
                    ("fields", []), ("total", []))
        for sample, arguments in driver.listed(programs, 2):
            with self.subTest(sample):
                command = [driver.sample(sample), *arguments]
                is_told = lambda run: any("an atomic operation of its own" in note for note in run.report("contention")["notes"])
                self.run_until(is_told, command, self.output_of(command), events=["contention:pages"])

    def test_the_report_says_how_it_was_counted(self):
        run = self.run_until(self.found, [driver.sample("statistics"), "1200"], events=["contention:pages"])
        report = run.report("contention")
        self.assertEqual(report["sources"], ["counting what threads write, page by page"])
        text = " ".join(self.plain_run([str(driver.PROF), "report", str(run.directory), "--view=contention"]).stdout.decode().split())
        self.assertIn(COUNTED, text)
        self.assertIn("contention sources: counting what threads write, page by page", text)
        self.assertNotIn("repaired", run.stderr.decode())

    def refusal(self, *options, command=(sys.executable, "-c", "")):
        done = self.plain_run([str(driver.PROF), "run", "-o", str(self.folder / "refused"), *options, "--", *command])
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (125, 1), done.stderr)
        self.assertLess(len(done.stderr), 160 + len(str(driver.BUILD)))
        return done.stderr.decode()

    def test_what_cannot_be_asked(self):
        pages = ("-e", "contention:pages")
        for repair in ("--repair", "--repair=isolate", "--repair=isolate:always"):
            self.assertIn("leave one of them out", self.refusal(*pages, repair))
        self.assertIn("contention is selected more than once", self.refusal(*pages, "-e", "contention"))
        self.assertIn("contention is selected more than once", self.refusal(*pages, *pages))
        self.assertIn("CPUTIME@RATE alone", self.refusal("-e", "CPUTIME@100", "-e", "contention:pages@200"))
        self.assertIn("leave -e contention:pages out", self.refusal(*pages, command=[driver.program("static")]))
        with subprocess.Popen(["sleep", "60"]) as running:
            attached = self.plain_run([str(driver.PROF), "attach", str(running.pid), *pages])
            running.kill()
        self.assertEqual(attached.returncode, 125)
        self.assertIn(b"-e contention cannot attach to a running process", attached.stderr)

    def test_a_program_that_cannot_be_isolated_runs_and_says_why(self):
        command = ["sh", "-c", 'ulimit -v 20000000; exec "$@"', "sh", driver.sample("statistics"), "20"]
        run = self.prof_run(command, events=["contention:pages"])
        self.assertEqual((run.status, run.stdout), (0, self.output_of(command)))
        self.assertEqual(self.found(run), [])
        self.assertTrue(any("could not be searched for by pages: the address space is limited" in note
                            for note in run.report("contention")["notes"]), run.report("contention")["notes"])


if __name__ == "__main__":
    driver.main()
