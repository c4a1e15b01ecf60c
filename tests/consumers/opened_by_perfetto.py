#!/usr/bin/env python3
"""Perfetto's trace processor, in its own page, reads the report's numbers, threads and times from a perfetto export."""

import collections
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import consumer

consumer.need(consumer.NODE, "npm")
consumer.need(consumer.CONSUMERS / "perfetto", "perfetto")
SCRIPT = pathlib.Path(__file__).with_name("perfetto.mjs")
QUERIES = {
    "errors": "select name, value from stats where value > 0 and severity = 'error'",
    "samples": "select t.name, s.ts, s.callsite_id from perf_sample s join thread t using (utid) order by s.id",
    "callsites": "select c.id, c.parent_id, f.name from stack_profile_callsite c join stack_profile_frame f on c.frame_id = f.id",
    "counters": "select t.name, k.name, c.ts, c.value from counter c join thread_counter_track k on c.track_id = k.id "
                "join thread t using (utid) order by c.id",
    "modules": "select distinct f.name, m.name from stack_profile_frame f join stack_profile_mapping m on f.mapping = m.id",
}
DEVICE_QUERIES = {
    "errors": QUERIES["errors"],
    # Tracks of overlapping tasks are below that of their queue.
    "tasks": "select s.id, s.name, s.ts, s.dur, coalesce(t.name, p.name), k.name from slice s join track k on s.track_id = k.id "
             "left join thread_track h on h.id = k.id left join thread t using (utid) "
             "left join thread_track g on g.id = k.parent_id left join thread p on p.utid = g.utid "
             "where s.category = 'task' order by s.id",
    "arrows": "select o.name, o.ts, o.dur, t.name, i.id from flow f join slice o on f.slice_out = o.id "
              "join slice i on f.slice_in = i.id join thread_track h on o.track_id = h.id join thread t using (utid)",
    "waits": "select s.name, s.ts, s.dur, t.name from slice s join thread_track h on h.id = s.track_id join thread t using (utid) "
             "where s.category = 'wait' order by s.id",
    "submissions": "select count(*) from slice where category = 'submit'",
}


def ask(case, file, queries):
    """Returns the answers of Perfetto's trace processor about an export."""
    done = subprocess.run([consumer.NODE, SCRIPT, file], input=json.dumps(queries).encode(), capture_output=True, timeout=120,
                          env={**os.environ, "CONSUMERS": str(consumer.CONSUMERS), "CHROMIUM": consumer.browser(case)})
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace"))
    return json.loads(done.stdout)


class OpenedByPerfetto(consumer.Exports):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seen = ask(cls, cls("a_run").export("perfetto"), QUERIES)
        cls.callsites = {site: (parent, name) for site, parent, name in cls.seen["callsites"]}

    def functions(self, callsite):
        path = []
        while callsite is not None:
            callsite, function = self.callsites[callsite]
            path.append(function)
        return path

    def test_it_reads_without_errors(self):
        self.assertEqual(self.seen["errors"], [])

    def test_each_thread_has_its_totals(self):
        spent = collections.defaultdict(float)
        for thread, metric, _, value in self.seen["counters"]:
            spent[metric, thread] = max(spent[metric, thread], value)
        for thread, seconds in self.threads().items():
            self.assertAlmostEqual(spent["CPUTIME", thread], seconds, delta=1e-6)
            total = self.measured.report("top-down", f"--thread={thread.split()[0]}")["totals"]["REALTIME"]
            self.assertAlmostEqual(spent["REALTIME", thread], total, delta=1e-6)

    def test_functions_have_their_costs(self):
        """The increase of a counter at the time of a sample belongs to that sample."""
        at_time = collections.defaultdict(list)
        for thread, time, callsite in self.seen["samples"]:
            at_time[thread, time].append(callsite)
        for metric in ("CPUTIME", "REALTIME"):
            costs = collections.defaultdict(lambda: [0, 0])
            ambiguous = 0
            last = collections.defaultdict(float)
            for thread, name, time, value in self.seen["counters"]:
                if name != metric:
                    continue
                cost, last[thread] = value - last[thread], value
                samples = at_time[thread, time]
                self.assertTrue(samples, "a cost without a sample")
                if len(samples) > 1:
                    ambiguous += cost
                path = self.functions(samples[0])
                costs[path[0]][1] += cost
                for function in set(path):
                    costs[function][0] += cost
            for scope in (0, 1):
                self.assert_same_numbers({name: row[scope] for name, row in costs.items()},
                                         {name: row[scope] for name, row in self.flat(metric).items()}, 1e-6 + ambiguous,
                                         metric)

    def test_there_are_as_many_samples_as_were_recorded(self):
        self.assertEqual(len(self.seen["samples"]), len(self.measured_sample_times()))
        self.assertEqual({thread for thread, _, _ in self.seen["samples"]}, set(self.threads()))

    def test_samples_have_the_times_of_the_trace(self):
        self.assertEqual(sorted(int(time) for _, time, _ in self.seen["samples"]), self.measured_sample_times())

    def test_frames_have_modules(self):
        modules = dict(self.seen["modules"])
        self.assertTrue(modules["mix"].endswith("/exported"), modules)
        self.assertIn("libc.so", modules["start_thread"])


class DevicesInPerfetto(unittest.TestCase):
    """Two threads that submit to two queues, one of which executes two tasks at a time."""

    THREADS, QUEUES, TASKS = 2, 2, 300

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="prof-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        consumer.run([consumer.driver.BUILD / "tests/make_measurement", "--threads", cls.THREADS, "--samples", 3000,
                      "--contexts", 20, "--queues", cls.QUEUES, "--tasks", cls.TASKS, "-o", cls.folder / "host-0-1-0.prof"])
        cls.seen = cls.export()
        cls.profiles = json.loads((cls.folder / "database/run.json").read_text())["profiles"]
        with sqlite3.connect(cls.folder / "database/launches.sqlite") as database:
            cls.launches = database.execute("select name, queue, thread, submit_ns, start_ns, end_ns from launch "
                                            "join task on task.id = launch.task").fetchall()
            cls.waits = database.execute("select name, begin_ns, end_ns - begin_ns, thread from wait "
                                         "join call on call.id = wait.call").fetchall()

    @classmethod
    def export(cls, *options):
        file = cls.folder / "export.perfetto"
        consumer.run([consumer.driver.PROF, "export", cls.folder, "--format=perfetto", "-o", file, *options])
        return ask(cls, file, DEVICE_QUERIES)

    def label(self, profile):
        """Returns the label of a thread or queue in the export."""
        one = self.profiles[profile]
        place = f"device{one['device']}.queue{one['queue']}" if "queue" in one else one["thread"]
        return f"{one['rank']}.{place} {one['name']}"

    def test_it_reads_without_errors(self):
        self.assertEqual(self.seen["errors"], [])

    def test_queues_have_each_task_by_its_name_and_times(self):
        self.assertEqual(len(self.launches), self.QUEUES * self.TASKS)
        expected = sorted((name, start, end - start, self.label(queue)) for name, queue, _, _, start, end in self.launches)
        self.assertEqual(sorted((name, int(ts), int(dur), queue) for _, name, ts, dur, queue, _ in self.seen["tasks"]), expected)

    def test_tasks_that_overlap_are_on_tracks_of_their_own(self):
        tracks = collections.defaultdict(set)
        for _, _, _, _, queue, track in self.seen["tasks"]:
            tracks[queue].add(track)
        self.assertEqual(sorted(len(names) for names in tracks.values()), [1, 2])

    def test_an_arrow_leads_from_each_submission_to_its_task(self):
        tasks = {task: (name, int(ts), int(dur)) for task, name, ts, dur, _, _ in self.seen["tasks"]}
        seen = sorted((*tasks[task], name, int(ts), int(dur), thread) for name, ts, dur, thread, task in self.seen["arrows"])
        expected = sorted((name, start, end - start, f"submit {name}", submit, 0, self.label(thread))
                          for name, _, thread, submit, start, end in self.launches)
        self.assertEqual(seen, expected)
        self.assertEqual({arrow[6] for arrow in seen}, {self.label(0), self.label(1)})

    def test_threads_have_their_waits_by_the_call_that_waited(self):
        self.assertEqual(len(self.waits), self.THREADS * self.TASKS)
        expected = sorted((name, begin, length, self.label(thread)) for name, begin, length, thread in self.waits)
        self.assertEqual(sorted((name, int(ts), int(dur), thread) for name, ts, dur, thread in self.seen["waits"]), expected)

    def test_arrows_lead_only_between_the_threads_and_queues_that_were_chosen(self):
        without_thread = self.export("--thread=queue *")
        self.assertEqual((len(without_thread["tasks"]), without_thread["arrows"]), (len(self.launches), []))
        without_queue = self.export("--thread=main")
        self.assertEqual((without_queue["tasks"], without_queue["submissions"], without_queue["errors"]), ([], [["0"]], []))
        one_of_each = self.export("--thread=main", "--thread=queue 0")
        self.assertEqual((len(one_of_each["tasks"]), len(one_of_each["arrows"])), (self.TASKS, self.TASKS // self.THREADS))


consumer.main()
