#!/usr/bin/env python3
"""If the kernel records memory accesses of threads, -e contention uses them. Page faults replace hardware that samples
accesses: the kernel records them in the same rings, with thread, time and address.

Chance: how the page faults of two threads alternate. The kernel records 5,000 of them a second, and more than 1,000 transfers are expected.
Each of four places has a quarter of the records: one of them is missing from a hundred with 2e-12. Accepted: 1e-4 a run, by choice, for
three measurements in which threads hardly ever run at the same time. Not less, because it was not counted. These are not made again: a
finding that comes and goes would be a fault of the reader. Whether `counters` is found is not required."""

import os
import subprocess
import unittest

import driver

PAGE_FAULTS = "1#2#0#0#0#1"  # type, config, config1, config2, precise_ip, user code only
LOADS, STORES = 3, 6  # of modified lines; all
NO_EVENT = f"{LOADS}@250#ffff#0#0#0#2#1"
ROUNDS = "150000"


def event(kind, rate=5000):
    return f"{kind}@{rate}#{PAGE_FAULTS}"


class MemorySamples(driver.EndToEnd):
    def measured(self, command, memory_events, **environment):
        """Runs as `prof run -e contention` does on a machine that has these events."""
        directory = self.folder / f"run{self.runs}"
        self.runs += 1
        directory.mkdir()
        library = driver.BUILD / "lib"
        environment = {**os.environ, "LD_PRELOAD": f"{library}/libprof-runtime.so:{library}/libprof-heap.so",
                       "PROF_DIRECTORY": str(directory), "PROF_EVENTS": "CPUTIME@250", "PROF_CONTENTION": "1",
                       "PROF_MEMORY_EVENTS": memory_events, **environment}
        done = self.plain_run(command, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done, driver.Run(done, directory)

    def test_records_of_the_kernel_become_a_finding(self):
        for hardware, source in (("pebs", "Intel PEBS"), ("ibs", "AMD IBS")):
            with self.subTest(hardware):
                done, run = self.measured([driver.program("page_faults"), ROUNDS],
                                          f"{hardware},{event(LOADS)},{event(STORES)}")
                self.assertEqual(done.stdout, b"done\n")
                report = run.report("contention")
                self.assertEqual((report["notes"], report["sources"]), ([], [source]))
                self.assertEqual(len(report["data"]), 1, report["data"])
                data, finding = report["data"][0], report["findings"][0]
                self.assertEqual((data["name"], data["sharing"], data["source"]), ("books", "false", source))
                self.assertGreater(data["transfers_per_s"], 1000)
                self.assertEqual(data["hitm"], data["transfers"])
                found = {(side["place"], side["access"], side["frames"][0]["function"].split("(")[0])
                         for side in data["sides"]}
                self.assertEqual(found, {(".ledger.paid", "reads", "pay"), (".ledger.paid", "writes", "pay"),
                                         (".ledger.owed", "reads", "owe"), (".ledger.owed", "writes", "owe")})
                # The whole context of an access, by the stack of its thread.
                callers = {frame["function"].split("(")[0] for side in data["sides"] for frame in side["frames"]}
                self.assertTrue({"start_thread"} & callers, callers)
                self.assertIn(f"found the line modified in another processor's cache (HITM) ({source})", finding["sentence"])
                self.assertIn("page_faults.cpp:", finding["sentence"])

    def test_a_refused_source_is_replaced_and_told(self):
        _, run = self.measured([driver.sample("counters"), "90"], f"pebs,{NO_EVENT}")
        report = run.report("contention")
        self.assertIn("the kernel refuses memory samples", " ".join(report["notes"]))
        self.assertEqual(report["sources"], ["decoded instructions and breakpoints"])
        # Found or not, depending on whether threads ran at the same time.
        self.assertTrue({(data["name"], data["source"]) for data in report["data"]} <= {("counters", "")}, report["data"])

    def test_stores_alone_find_nothing_and_are_no_source(self):
        _, run = self.measured([driver.program("page_faults"), "1000"], f"pebs,{event(STORES)}")
        self.assertIn("the kernel refuses memory samples", " ".join(run.report("contention")["notes"]))

    def test_threads_that_cannot_have_records_are_told_and_run_on(self):
        """If there are few descriptors, they are left to the program."""
        done, run = self.measured(["prlimit", "--nofile=256", driver.program("many_threads"), "100", "0.01"],
                                  f"pebs,{event(LOADS)}")
        self.assertEqual(done.stdout, b"100 threads done\n")
        self.assertIn("Contention is missed in some threads", " ".join(run.report("contention")["notes"]))

    def test_children_have_records_of_their_own(self):
        _, run = self.measured(["sh", "-c", f"{driver.program('page_faults')} {ROUNDS}; {driver.program('page_faults')} {ROUNDS}"],
                               f"pebs,{event(LOADS)},{event(STORES)}")
        data = run.report("contention")["data"]
        self.assertEqual([(one["name"], one["source"], one["processes"]) for one in data], [("books", "Intel PEBS", 2)])

    def test_this_machine(self):
        """The source that `prof run -e contention` uses on this machine."""
        run = self.prof_run([driver.sample("counters"), "90"], events=["contention"])
        report = run.report("contention")
        sources = {data["source"] for data in report["data"]}
        if not sources & {"Intel PEBS", "AMD IBS"}:
            self.assertNotIn("refuses memory samples", " ".join(report["notes"]))
            rows = subprocess.run([str(driver.PROF), "doctor"], stdout=subprocess.PIPE).stdout.decode()
            self.skipTest("no memory samples of hardware here: " +
                          next(line.strip() for line in rows.splitlines() if "memory samples" in line))
        self.assertEqual([data["name"] for data in report["data"]], ["counters"])


if __name__ == "__main__":
    driver.main()
