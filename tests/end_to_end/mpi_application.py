#!/usr/bin/env python3
"""A real MPI program, Debian's NWChem on 4 ranks, computes the same as without prof, and the report shows in which of
MPI's functions its ranks spend their time. Skipped if it is not installed (tools/setup test).

Chance: whether each of four ranks has a sample in MPI and one outside of it. At 200 Hz half a second has a hundred samples; if a tenth of
them is of one kind, all miss it with 3e-5. Accepted: 2e-4 a run, eight such comparisons. Not less, because the rate is low on purpose: four
ranks share two processors. The energy differs by the order in which ranks sum, for which 1e-7 is ample."""

import os
import re
import shutil
import subprocess
import sys

from driver import PROF, EndToEnd, Run, lack_of_mpi, main
from ranks import ENVIRONMENT, MPIRUN

NWCHEM = shutil.which("nwchem.openmpi")
LIBRARY = "/usr/share/nwchem/libraries/"
WATER = """start water
geometry
  O 0 0 0
  H 0 0.757 0.587
  H 0 -0.757 0.587
end
basis
  * library cc-pvdz
end
task scf
"""
ENERGY = re.compile(rb"Total SCF energy = +(-[0-9.]+)")
LAST_DIGITS = 1e-7  # ranks sum up in varying order


class MpiApplication(EndToEnd):
    def run_nwchem(self, name, *words):
        """Runs mpirun -n 4 WORDS nwchem water.nw in a separate folder."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "water.nw").write_text(WATER)
        done = subprocess.run([*MPIRUN, *words, NWCHEM, "water.nw"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**ENVIRONMENT, "NWCHEM_BASIS_LIBRARY": LIBRARY}, timeout=200)
        self.assertEqual(0, done.returncode, done.stderr)
        [energy] = ENERGY.findall(done.stdout)
        return done, float(energy)

    def test_nwchem_computes_the_same_and_its_ranks_are_compared(self):
        _, bare = self.run_nwchem("bare")
        done, measured = self.run_nwchem("measured", str(PROF), "run", "-e", "CPUTIME@200", "-o", "job", "--")
        self.assertAlmostEqual(bare, measured, delta=LAST_DIGITS)
        run = Run(done, self.folder / "measured" / "job")
        self.assertEqual(4, run.summary()["run"]["ranks"])
        report = run.report("ranks")
        self.assertEqual([0, 1, 2, 3], [rank["rank"] for rank in report["ranks"]])
        # Four ranks on fewer processors: they wait in MPI more than they compute, and each does both.
        for rank in report["ranks"]:
            self.assertGreater(rank["compute_s"], 0, rank)
            self.assertGreater(rank["communication_s"], 0, rank)
        self.assertEqual([0, 1, 2, 3], sorted(rank for group in report["groups"] for rank in group["ranks"]))
        for group in report["groups"]:
            self.assertIn("PMPI_", " ".join(place["place"] for place in group["places"]))


if __name__ == "__main__":
    if lack_of_mpi():
        print(f"skipped: {lack_of_mpi()}")
        sys.exit(77)
    if not NWCHEM or not os.path.isdir(LIBRARY):
        print("skipped: NWChem is not installed (tools/setup test, or apt-get install nwchem-openmpi)")
        sys.exit(77)
    main()
