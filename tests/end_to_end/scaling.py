#!/usr/bin/env python3
"""`prof diff --scaling=strong` of a real MPI program on one rank and on two: its communication does not scale.

Chance: how the second rank runs beside the first. It polls in MPI, and so takes as much CPU time. The limits, an efficiency of 0.25 to 0.8
around 0.5 and half of the loss in MPI, are 5 standard deviations of a hundred samples away; there are more. Accepted: 1e-4 a run, by choice,
for a machine that gives one of the two ranks less than half a processor. Not less, because that was not counted."""

import json
import subprocess
import sys

from driver import PROF, EndToEnd, lack_of_mpi, main, program
from ranks import ENVIRONMENT

DIVISIONS = 40  # millions per step, of all ranks together
WAITING = ("MPI_Allreduce", "PMPI_Allreduce")


class Scaling(EndToEnd):
    def on(self, ranks):
        """Returns the directory of a run with that many ranks. The first one does all the work: the others wait for it."""
        directory = self.folder / f"on-{ranks}"
        each = [["-n", "1", PROF, "run", "-q", "-o", directory, "--", program("mpi_ranks"), "works",
                 str(DIVISIONS if rank == 0 else 1)] for rank in range(ranks)]
        words = [word for number, one in enumerate(each) for word in ([":"] if number else []) + one]
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", *map(str, words)],
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        return directory

    def diff(self, *sides):
        done = subprocess.run([PROF, "diff", *sides, "--scaling=strong", "--by=path", "--metric=CPUTIME", "--format=json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def test_the_loss_is_in_communication(self):
        told = self.diff(self.on(1), self.on(2))
        self.assertEqual((told["scaling"]["workers_before"], told["scaling"]["workers_after"]), (1, 2))
        # The second rank takes as much time as the first, and does nothing.
        self.assertGreater(told["scaling"]["efficiency"], 0.25, told["scaling"])
        self.assertLess(told["scaling"]["efficiency"], 0.8, told["scaling"])
        path = told["scaling"]["path_of_loss"]
        self.assertTrue(set(path) & set(WAITING), path)
        self.assertIn("main", path)

        def lost(functions):
            return sum(row["exclusive"]["difference"] for row in told["rows"]
                       if {frame["function"] for frame in row["frames"]} & set(functions))

        waited = lost(WAITING)
        self.assertGreater(waited, 0.5 * told["total"]["exclusive"]["difference"], told["rows"][:5])
        self.assertGreater(waited, 3 * abs(lost(("compute", "compute(long)"))), told["rows"][:5])


if lack_of_mpi():
    print(f"skipped: {lack_of_mpi()}")
    sys.exit(77)
main()
