#!/usr/bin/env python3
"""The job of 64 ranks that tests/bench/make_ranks makes from a real run of MPI has the findings that were put in: a
rank that is slow in each step, and others that are late in turn. This holds with measurement files as well as with a
container for each node."""

import json
import subprocess
import sys

from driver import BUILD, PROF, EndToEnd, lack_of_mpi, main, program
from ranks import ENVIRONMENT

MAKE_RANKS = BUILD / "tests/make_ranks"
RANKS = 64
SLOW = 137 % RANKS  # one in 500; with fewer ranks, this one


class MadeRanks(EndToEnd):
    def test_findings_are_those_that_were_put_in(self):
        real = self.folder / "real"
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", PROF, "run", "-q",
                               "--no-analyze", "-e", "CPUTIME@200", "-o", real, "--", program("mpi_ranks"), "slow", "1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        [file] = real.glob("*-0-*.prof")  # the rank that waits
        databases = []
        # The made program has the first contexts of the real one. On a busy machine MPI_Init() alone may have 200.
        for options in ([], ["--containers"]):
            job = self.folder / f"job{len(options)}"
            subprocess.run([MAKE_RANKS, file, "-o", job, "--ranks", str(RANKS), "--nodes", "16", "--contexts", "800",
                            "--records", "2000", "--waits", *options], check=True)
            left = sorted(path.name for path in job.iterdir())
            measurements = [name for name in left if not name.endswith(".json")]
            self.assertEqual(4 if options else RANKS, len(measurements), left)
            records = [] if options else [f"run-{rank}.json" for rank in range(RANKS)] + [f"clock-node{n:04}.json" for n in (1, 2, 3)]
            self.assertEqual(sorted(["run.json", *records]), [name for name in left if name.endswith(".json")])
            subprocess.run([PROF, "analyze", "-q", job], check=True, timeout=100)
            databases.append(job / "database")
        for name in ("meta.db", "profile.db", "cct.db", "trace.db"):
            self.assertTrue((databases[0] / name).read_bytes() == (databases[1] / name).read_bytes(), name)

        report = json.loads(subprocess.run([PROF, "report", databases[0], "--view=ranks", "--format=json"], check=True,
                                           stdout=subprocess.PIPE, timeout=100).stdout)
        self.assertEqual(RANKS, len(report["ranks"]))
        slow = [finding for finding in report["findings"] if finding["kind"] == "slow-rank"]
        self.assertEqual([SLOW], [finding["values"]["first_rank"] for finding in slow], report["findings"])
        self.assertIn("MPI_Allreduce", slow[0]["sentence"])
        self.assertEqual({"slow-rank", "late-by-turns"}, {finding["kind"] for finding in report["findings"]})
        # Ranks wait whenever they do not work, except for the random variation: speeds by 3 %, each context by 5 %.
        whole = [rank["compute_s"] + rank["communication_s"] for rank in report["ranks"]]
        self.assertLess(max(whole) / min(whole), 1.1)
        self.assertEqual(SLOW, min(report["ranks"], key=lambda rank: rank["communication_s"])["rank"])


if lack_of_mpi():
    print(f"skipped: {lack_of_mpi()}")
    sys.exit(77)
main()
