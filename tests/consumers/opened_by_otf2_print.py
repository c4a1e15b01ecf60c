#!/usr/bin/env python3
"""otf2-print reads the report's numbers, threads and times from an otf2 export."""

import collections
import re
import shutil
import subprocess

import consumer

PRINT = shutil.which("otf2-print") or consumer.skip("otf2-print is not there; install it with: tools/setup test")
CONTEXT = re.compile(r'^CALLING_CONTEXT +(\d+) +Region: "(.*)" <\d+>, Source code location: .*, Parent: (?:UNDEFINED|".*" <(\d+)>)$')
LOCATION = re.compile(r'^LOCATION +(\d+) +Name: "(.*)" <\d+>, Type: CPU_THREAD')
SAMPLE = re.compile(r"^CALLING_CONTEXT_SAMPLE +(\d+) +(\d+) +Calling Context: (?:UNDEFINED|.*? <(\d+)>), Unwind")
METRIC = re.compile(r'\("(\w+)" <\d+>; INT64; (-?\d+)\)')


class OpenedByOtf2Print(consumer.Exports):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        archive = cls.folder_of_class / "archive"
        done = subprocess.run([consumer.driver.PROF, "export", cls.measured.directory, "--format=otf2", "-o", archive],
                              capture_output=True, text=True)
        if "without OTF2" in done.stderr:
            consumer.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        definitions = consumer.run([PRINT, "-G", archive / "traces.otf2"]).decode().splitlines()
        cls.contexts = {match[1]: (match[2], match[3]) for match in map(CONTEXT.match, definitions) if match}
        cls.locations = {match[1]: match[2] for match in map(LOCATION.match, definitions) if match}
        cls.inlined = {line.split('"')[1].split("@")[0] for line in definitions
                       if line.startswith("CALLING_CONTEXT_PROPERTY") and '"inlined"' in line}
        cls.events = consumer.run([PRINT, archive / "traces.otf2"]).decode().splitlines()

    def functions(self, context):
        path = []
        while context is not None:
            function, context = self.contexts[context]
            path.append(function)
        return path

    def test_costs_of_both_clocks_and_each_thread(self):
        seen = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        context = {}
        for line in self.events:
            sample = SAMPLE.match(line)
            if sample:
                context[sample[1]] = sample[3]
            elif line.startswith("METRIC"):
                location = line.split()[1]
                path = self.functions(context[location])
                for metric, value in METRIC.findall(line):
                    costs = seen[metric, self.locations[location]]
                    costs[path[0]][1] += int(value) / 1e9
                    for function in set(path):
                        costs[function][0] += int(value) / 1e9
        self.assertEqual(len(seen), 4)
        for (metric, thread), costs in seen.items():
            expected = self.flat(metric, f"--thread={thread.split()[0]}")
            for scope in (0, 1):
                self.assert_same_numbers({name: row[scope] for name, row in costs.items()},
                                         {name: row[scope] for name, row in expected.items()}, 1e-6,
                                         f"{metric} of {thread}")

    def test_there_are_as_many_samples_as_were_recorded(self):
        samples = [match for match in map(SAMPLE.match, self.events) if match and match[3] is not None]
        self.assertEqual(sorted(int(match[2]) for match in samples), self.measured_sample_times())

    def test_threads_and_inlined_calls(self):
        self.assertEqual(set(self.locations.values()), set(self.threads()))
        self.assertIn("mix", self.inlined)
        self.assertNotIn("mix_for", self.inlined)


consumer.main()
