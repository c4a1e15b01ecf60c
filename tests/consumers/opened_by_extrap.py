#!/usr/bin/python3
"""Extra-P computes from our exports of many runs the models from which their synthetic numbers were made."""

import math
import os
import subprocess
import sys

import consumer
import made_up_profile

EXTRAP = consumer.CONSUMERS / "extrap"
RANKS = (2, 4, 8, 16, 32, 64)
# Average seconds per rank, by the number of ranks.
GROWTH = {
    ("main", "solve"): lambda ranks: 2,
    ("main", "exchange"): lambda ranks: 0.001 * ranks**2,
    ("main", "operator->", "reduce"): lambda ranks: 0.5 + 0.25 * math.log2(ranks),
}


class OpenedByExtraP(consumer.Exports):
    @classmethod
    def setUpClass(cls):
        pass  # nothing is measured

    def lines_of_runs(self):
        """Concatenates the exports of all runs, as docs/export.md does."""
        path = self.folder / "runs.jsonl"
        with open(path, "wb") as lines:
            for ranks in RANKS:
                # Ranks differ: some have more, and others as much less.
                costs = {rank: {call: round(1e9 * growth(ranks) * (1 + 0.01 * (rank - (ranks - 1) / 2) / ranks))
                                for call, growth in GROWTH.items()} for rank in range(ranks)}
                (self.folder / "made.pb").write_bytes(made_up_profile.profile(costs))
                database = self.folder / f"on-{ranks}.db"
                consumer.run([consumer.driver.PROF, "import", "-q", self.folder / "made.pb", "-o", database])
                lines.write(consumer.run([consumer.driver.PROF, "export", database, "--format=extrap"]))
        return path

    def test_models_are_those_by_which_the_runs_were_made(self):
        from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
        from extrap.modelers.model_generator import ModelGenerator
        experiment = read_jsonlines_file(str(self.lines_of_runs()))
        self.assertEqual([parameter.name for parameter in experiment.parameters], ["ranks"])
        self.assertEqual([coordinate[0] for coordinate in experiment.coordinates], list(RANKS))
        generator = ModelGenerator(experiment)
        generator.model_all()
        functions, metrics = {}, set()
        for (path, metric), model in generator.models.items():
            metrics.add(metric.name)
            functions[path.name, metric.name.endswith(" (inc)")] = model.hypothesis.function
        self.assertEqual(2, len(metrics), metrics)

        def function(path):
            return functions["->".join(("main thread", *(name.replace("->", "→") for name in path))), False]

        def exponents(path):
            """Returns the exponents of the number of ranks, and of its logarithm."""
            terms = [term for compound in function(path).compound_terms for term in compound.simple_terms]
            return [(term.term_type, float(term.exponent)) for term in terms]

        self.assertEqual([], exponents(("main", "solve")))
        self.assertEqual([("polynomial", 2)], exponents(("main", "exchange")))
        self.assertEqual([("logarithm", 1)], exponents(("main", "operator->", "reduce")))
        for path, growth in GROWTH.items():
            for ranks in (2, 64, 1024):  # and beyond the measured range
                modelled = function(path).evaluate(ranks)
                self.assertAlmostEqual(modelled, growth(ranks), delta=1e-3 * growth(ranks), msg=f"{path} of {ranks}")
        whole = sum(growth(32) for growth in GROWTH.values())
        [measured] = [values for (path, metric), values in experiment.measurements.items()
                      if path.name == "main thread->main" and metric.name.endswith(" (inc)")]
        self.assertAlmostEqual(measured[RANKS.index(32)].mean, whole, delta=1e-6)

    def test_the_command_of_the_documentation_reads_them(self):
        command = "extrap --json runs.jsonl"
        self.assertIn(f"\n{command}\n", (consumer.SOURCE / "docs/export.md").read_text())
        self.lines_of_runs()
        done = subprocess.run([sys.executable, "-m", *command.split()], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(EXTRAP)}, timeout=120)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"Model: [-0-9.e+]+ \+ 0\.00[0-9]+ \* ranks\^\(2\)")


consumer.need(EXTRAP, "extrap")
sys.path.insert(0, str(EXTRAP))
consumer.main()
