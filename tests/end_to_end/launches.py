#!/usr/bin/env python3
"""Which ranks belong to which launch: with MPICH's own mpiexec, with several launches in one batch job, and with
launches that request the same directory at once.

Chance: for the case of MpichFindings, whether the slow rank is the first finding. It computes for 0.6 s of CPU time, the others for 0.2 s:
14 standard deviations of 600 and 200 samples. Accepted: 5 % a run, the 95 % bound of 0 misses in 60 runs of three kinds (docs/performance.md,
tests/bench/rank_findings). Not less, because no more runs were counted; by the samples alone it is below 1e-9."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from driver import PROF, EndToEnd, main, program, sample

HOST = os.uname().nodename
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs/mpi_ranks.cpp")
MPICH = [name for name in ("mpiexec.hydra", "mpicxx.mpich") if shutil.which(name)]
# Hydra starts a proxy for each of these hosts, all on this machine.
TWO_NODES = ["-launcher", "fork", "-hosts", "localhost,127.0.0.1"]


def without_launchers():
    """Returns the environment without variables of a launcher or batch system in which these tests run."""
    names = re.compile(r"OMPI_|PMIX?_|MPI_LOCAL|MV2_|SLURM_|PBS_|LSB_|FLUX_|PALS_|HYD")
    return {name: value for name, value in os.environ.items() if not names.match(name)}


class Launches(EndToEnd):
    def ranks_in(self, directory):
        return sorted(int(file.name.split("-")[-3]) for file in directory.glob("*.prof"))

    def start(self, rank, *words, size=2, directory="job", before=(), command=("true",), environment=()):
        """Starts a rank of PMI, as a launcher that names no launch does."""
        names = {"PMI_RANK": str(rank), "PMI_SIZE": str(size), "MPI_LOCALRANKID": str(rank), **dict(environment)}
        return subprocess.Popen([*before, str(PROF), "run", "-q", "--no-analyze", *(["-o", directory] if directory else []),
                                 *words, "--", *command], cwd=self.folder, env={**without_launchers(), **names},
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def end(self, *ranks):
        said = [rank.communicate(timeout=60)[1].decode() for rank in ranks]
        return [rank.returncode for rank in ranks], said

    def leave_launch(self, pid, launch="other", host=HOST, written_ns=0):
        """Writes launch.json of a launch that has measured nothing yet."""
        (self.folder / "job").mkdir(exist_ok=True)
        (self.folder / "job/launch.json").write_text(json.dumps(
            {"launch": launch, "size": 2, "ranks": "all", "token": 1, "host": host, "pid": pid, "written_ns": written_ns}))

    def test_a_directory_that_another_launch_takes_is_refused_and_stays_its_own(self):
        self.leave_launch(os.getpid())
        before = (self.folder / "job/launch.json").read_text()
        status, said = self.end(self.start(0, environment={"PMIX_NAMESPACE": "own"}))
        self.assertEqual([125], status, said)
        self.assertIn(f"{self.folder}/job is in use by another launch (other, 2 ranks), which still runs or was killed;", said[0])
        self.assertEqual(before, (self.folder / "job/launch.json").read_text())
        alone = subprocess.run([PROF, "run", "-o", "job", "true"], cwd=self.folder, stderr=subprocess.PIPE,
                               env=without_launchers())
        self.assertEqual(125, alone.returncode)
        self.assertIn(b"is in use by another launch", alone.stderr)
        status, said = self.end(*[self.start(rank, "--force", environment={"PMIX_NAMESPACE": "own"}) for rank in (0, 1)])
        self.assertEqual(([0, 0], ["", ""]), (status, said))
        self.assertEqual([0, 1], self.ranks_in(self.folder / "job"))

    def unnumbered(self, *words, rank=3, ranks=7, error=0, **environment):
        """Runs unnumbered_rank in an environment that contains nothing about its rank."""
        names = {"UNNUMBERED_RANK": str(rank), "UNNUMBERED_RANKS": str(ranks), "UNNUMBERED_ERROR": str(error), **environment}
        directory = self.folder / f"unnumbered-{rank}"
        done = subprocess.run([PROF, "run", "-q", "--no-analyze", "--force", "-o", directory, "--", program("unnumbered_rank"),
                               program("unnumbered_module.so"), *words], env={**without_launchers(), **names}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((0, b"", f"{error}\n"), (done.returncode, done.stderr, done.stdout.decode()))
        return directory

    def ranks_reported(self, *directories):
        done = subprocess.run([PROF, "analyze", *directories, "-o", self.folder / "database"], stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)
        report = subprocess.run([PROF, "report", self.folder / "database", "--view=ranks", "--format=json"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, timeout=60)
        shutil.rmtree(self.folder / "database")
        # A run without ranks has no such view.
        ranks = json.loads(report.stdout)["ranks"] if report.returncode == 0 else []
        return [rank["rank"] for rank in ranks], done.stderr.decode()

    def test_mpi_is_asked_for_the_rank_where_the_launcher_does_not_tell_it(self):
        """With a module that has MPI for itself, and with one whose MPI is visible to all; forked children have the
        same rank."""
        first = self.unnumbered(rank=1, ranks=3, PMIX_NAMESPACE="unnumbered")
        second = self.unnumbered("global", rank=2, ranks=3, PMIX_NAMESPACE="unnumbered")
        self.assertEqual([2, 2], [len(list(directory.glob("*.prof"))) for directory in (first, second)])
        ranks, said = self.ranks_reported(first, second)
        self.assertEqual([1, 2], ranks)
        self.assertIn("rank 0 of 3 left no measurements", said)

    def test_mpi_is_not_asked_where_it_has_failed_or_there_is_no_launcher(self):
        for directory in (self.unnumbered(error=15, PMIX_NAMESPACE="unnumbered"), self.unnumbered()):
            self.assertEqual([], self.ranks_reported(directory)[0])

    def test_a_rank_that_waits_in_a_directory_of_another_launch_says_so(self):
        self.leave_launch(0, host="elsewhere")
        status, said = self.end(self.start(1, environment={"PMIX_NAMESPACE": "own", "MPI_LOCALRANKID": "0"}))
        self.assertEqual([125], status)
        self.assertIn(f"rank 1: {self.folder}/job is in use by another launch (other, 2 ranks)", said[0])

    def test_what_a_killed_launch_left_on_this_node_is_in_nobodys_way(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        self.leave_launch(ended.pid)
        status, said = self.end(*[self.start(rank, environment={"PMIX_NAMESPACE": "own"}) for rank in (0, 1)])
        self.assertEqual(([0, 0], ["", ""]), (status, said))
        self.assertEqual([0, 1], self.ranks_in(self.folder / "job"))

    def test_of_launches_that_begin_together_one_measures(self):
        """Whichever comes first: its ranks measure as if the others did not exist."""
        launches = [[self.start(rank, environment={"PMIX_NAMESPACE": f"launch-{launch}"}) for rank in (0, 1)]
                    for launch in range(3)]
        ended = [self.end(*ranks) for ranks in launches]
        measured = [status for status, _ in ended if status == [0, 0]]
        self.assertEqual(1, len(measured), ended)
        for status, said in ended:
            if status != [0, 0]:
                self.assertEqual([125, 125], status)
                self.assertRegex(said[0], "is in use by another launch|holds the measurements of another run")
        self.assertEqual([0, 1], self.ranks_in(self.folder / "job"))

    def test_a_batch_jobs_last_launch_is_not_taken_for_this_one(self):
        """A launcher that names no launch, in a job of PBS: the file is from the previous launch, which was killed."""
        self.leave_launch(0, launch="7.pbs", host="elsewhere", written_ns=1)
        job = {"PBS_JOBID": "7.pbs"}
        second = self.start(1, "--force", environment=job)
        first = self.start(0, "--force", environment=job)
        self.assertEqual(([0, 0], ["", ""]), self.end(first, second))
        self.assertEqual([0, 1], self.ranks_in(self.folder / "job"))

    def test_ranks_on_several_nodes_that_have_nothing_in_common_are_told_at_once(self):
        nodes = {"PMI_SIZE": "4", "MPI_LOCALNRANKS": "2"}
        status, said = self.end(*[self.start(rank, environment={**nodes, "MPI_LOCALRANKID": str(rank % 2)}) for rank in range(4)])
        self.assertEqual([125] * 4, status)
        self.assertEqual([1, 0, 1, 0], [text.count("the launcher gives ranks on several nodes no common name")
                                        for text in said])
        self.assertFalse((self.folder / "job").exists())
        status, said = self.end(*[self.start(rank, directory="job-%h", environment=nodes) for rank in (0, 1)])
        self.assertEqual(([0, 0], ["", ""]), (status, said))
        self.assertEqual([0, 1], self.ranks_in(self.folder / f"job-{HOST}"))


class RanksOfMpich(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.programs = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="prof-mpich-"))
        cls.program = f"{cls.programs}/mpich_ranks"
        subprocess.run(["mpicxx.mpich", "-O2", "-g", "-o", cls.program, SOURCE], check=True)

    def mpiexec(self, *words, ranks=4, launcher=(), command=("works", "1"), environment=(), before=()):
        done = subprocess.run(["mpiexec.hydra", "-n", str(ranks), *launcher, *before, str(PROF), "run", *words, "--",
                               self.program, *command], cwd=self.folder, env={**without_launchers(), **dict(environment)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([f"rank {rank} of {ranks}: 8 steps" for rank in range(ranks)],
                         sorted(done.stdout.decode().splitlines()))
        return done.stderr.decode()

    def ranks_in(self, directory):
        return sorted(int(file.name.split("-")[-3]) for file in directory.glob("*.prof"))

    def report(self, directory):
        done = subprocess.run([PROF, "report", directory, "--view=ranks", "--format=json"], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)


@unittest.skipUnless(len(MPICH) == 2, "MPICH is not here (Debian: mpich, libmpich-dev)")
class Mpich(RanksOfMpich):
    def test_two_launches_in_one_batch_job_have_directories_of_their_own(self):
        for _ in range(2):
            self.mpiexec("-q", "--no-analyze", ranks=2, environment={"PBS_JOBID": "7.pbs"})
        made = sorted(self.folder.glob("prof-mpich_ranks-*"))
        self.assertEqual(2, len(made), made)
        for directory in made:
            self.assertRegex(directory.name, r"^prof-mpich_ranks-7\.pbs\.\S+-\d+$")
            self.assertEqual([0, 1], self.ranks_in(directory))

    def test_ranks_of_several_proxies_and_below_scripts_are_one_launch(self):
        self.mpiexec("-q", "--no-analyze", launcher=TWO_NODES, before=("sh", "-c", '"$@"; exit $?', "sh"))
        made, = self.folder.glob("prof-mpich_ranks-*")
        self.assertEqual([0, 1, 2, 3], self.ranks_in(made))

    def test_a_step_that_started_the_launcher_is_nothing_that_ranks_take_for_theirs(self):
        """mpiexec in a shell of srun's: SLURM_PROCID is the number that one of the ranks happens to have."""
        shell = {"SLURM_JOB_ID": "99", "SLURM_STEP_ID": "3", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1",
                 "SLURM_LOCALID": "0"}
        self.mpiexec("-q", "--no-analyze", ranks=2, launcher=["-launcher", "fork", "-rmk", "user", "-hosts", "localhost"],
                     environment=shell)
        made, = self.folder.glob("prof-mpich_ranks-99.*")
        self.assertEqual([0, 1], self.ranks_in(made))

    def test_every_other_rank_is_measured(self):
        self.mpiexec("-q", "--ranks", "50%", "--no-analyze", "-o", "job")
        self.assertEqual([0, 2], self.ranks_in(self.folder / "job"))
        report = self.report(self.folder / "job")
        self.assertEqual([0, 2], [rank["rank"] for rank in report["ranks"]])
        self.assertEqual([], [note for note in report["notes"] if "left no measurements" in note])

    def test_ranks_whose_number_is_not_told_are_runs_of_their_own_that_are_analyzed_together(self):
        self.mpiexec("-q", "--no-analyze", "-o", "job-%r", ranks=2, launcher=["-pmi-port"])
        made = [self.folder / f"job-{rank}" for rank in range(2)]
        self.assertEqual([[0], [1]], [self.ranks_in(directory) for directory in made])
        done = subprocess.run([PROF, "analyze", *made, "-o", self.folder / "database"], stderr=subprocess.PIPE)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([0, 1], [rank["rank"] for rank in self.report(self.folder / "database")["ranks"]])
        # MPI has reported the number of ranks.
        alone = subprocess.run([PROF, "analyze", made[1], "-o", self.folder / "alone"], stderr=subprocess.PIPE)
        self.assertIn(b"rank 0 of 2 left no measurements", alone.stderr)

    def test_prof_follows_mpiexec_to_its_ranks(self):
        for number, words in enumerate(([], ["-pmi-port"])):
            done = subprocess.run([PROF, "run", "-q", "--no-analyze", "-o", f"job-{number}", "--", "mpiexec.hydra", *words, "-n", "2",
                                   self.program, "works", "1"], cwd=self.folder, env=without_launchers(), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=100)
            self.assertEqual(0, done.returncode, done.stderr)
            report = self.report(self.folder / f"job-{number}")
            self.assertEqual([0, 1], [rank["rank"] for rank in report["ranks"]])

    def test_ranks_of_a_node_leave_one_file(self):
        self.mpiexec("-q", "--aggregate=node", "-o", "job")
        self.assertEqual([f"{HOST}.ranks"], [file.name for file in (self.folder / "job").glob("*.ranks")])
        self.assertEqual([], list((self.folder / "job").glob("*.prof")))
        self.assertEqual([0, 1, 2, 3], [rank["rank"] for rank in self.report(self.folder / "job")["ranks"]])


@unittest.skipUnless(len(MPICH) == 2, "MPICH is not here (Debian: mpich, libmpich-dev)")
class MpichFindings(RanksOfMpich):
    """The report judges what four ranks do at the same time, so this test needs the whole machine."""

    def test_a_slow_rank_is_found(self):
        said = self.mpiexec("-o", "job", command=("slow", "2"))
        self.assertEqual(1, said.count(f"{self.folder}/job/database"), said)
        self.assertEqual([0, 1, 2, 3], self.ranks_in(self.folder / "job"))
        self.assertFalse((self.folder / "job/launch.json").exists())
        report = self.report(self.folder / "job")
        self.assertEqual([0, 1, 2, 3], [rank["rank"] for rank in report["ranks"]])
        self.assertEqual(("slow-rank", 2), (report["findings"][0]["kind"], report["findings"][0]["values"]["first_rank"]))
        for rank in report["ranks"]:
            self.assertGreater(rank["communication_s"], 0)



if __name__ == "__main__":
    if len(MPICH) < 2:
        print("MPICH is not here (Debian: mpich, libmpich-dev): its tests are skipped")
    main()
