#!/usr/bin/env python3
"""A real Slurm with one node in a separate folder: `srun prof run`, and the batch script of docs/cluster.md."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from driver import PROF, EndToEnd, lack_of_mpi, main, program, sample

SOURCE = pathlib.Path(os.environ.get("PROF_SOURCE", "."))
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={port}
SlurmdPort={next_port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports():
    """Returns two unused ports."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


class Slurm:
    """Slurm's three daemons, which end with the test."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        for name in ("state", "spool"):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o755)  # munge's clients must reach its socket
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        port, next_port = free_ports()
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], folder=folder, port=port, next_port=next_port))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        self.start("munged", "--force", "--foreground", f"--key-file={key}", f"--socket={folder}/munge.socket",
                   f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                   f"--seed-file={folder}/munge.seed")
        while not (folder / "munge.socket").exists():
            self.require_running()
            time.sleep(0.05)
        self.start("slurmctld", "-D", "-f", str(self.configuration))
        self.start("slurmd", "-D", "-f", str(self.configuration))

    def start(self, *command):
        self.processes.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def require_running(self):
        for process in self.processes:
            if process.poll() is not None:
                raise unittest.SkipTest(f"{process.args[0]} does not run here: status {process.returncode}")

    def run(self, *command, cwd):
        return subprocess.run(command, env=self.environment, cwd=cwd, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)

    def wait_until_idle(self):
        for _ in range(200):
            self.require_running()
            if b"idle" in self.run("sinfo", "-h", "-o", "%T", cwd=self.folder).stdout:
                return
            time.sleep(0.1)
        raise unittest.SkipTest("Slurm's node does not become idle here")

    def end(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class UnderSlurm(EndToEnd):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="prof-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.slurm = Slurm(folder)
        cls.addClassCleanup(cls.slurm.end)
        cls.slurm.wait_until_idle()

    def ranks_in(self, directory):
        return sorted({int(file.name.split("-")[-3]) for file in directory.glob("*.prof")})

    def test_tasks_are_ranks_of_a_step(self):
        done = self.slurm.run("srun", "-n", "3", str(PROF), "run", "-o", "step", "--", sample("hot_loop"),
                              cwd=self.folder)
        said = done.stderr.decode()
        self.assertEqual(0, done.returncode, said)
        self.assertEqual([0, 1, 2], self.ranks_in(self.folder / "step"))
        self.assertEqual(1, said.count(f"{self.folder}/step/database"), said)

    def test_mpich_in_an_allocation_makes_launches_of_its_own(self):
        """Its proxies are tasks of a step, or children of a shell that is one. Their ranks are not tasks."""
        if not all(shutil.which(name) for name in ("mpiexec.hydra", "mpicxx.mpich")):
            self.skipTest("MPICH is not here (Debian: mpich, libmpich-dev)")
        subprocess.run(["mpicxx.mpich", "-O2", "-o", self.folder / "app", SOURCE / "tests/end_to_end/programs/mpi_ranks.cpp"],
                       check=True)
        launch = ["mpiexec.hydra", "-n", "2", str(PROF), "run", "-q", "--no-analyze", "--", "./app"]
        for before in (["salloc", "-n", "2"], ["srun", "-n", "1", "--overlap"]):
            done = self.slurm.run(*before, *launch, cwd=self.folder)
            self.assertEqual(0, done.returncode, done.stderr.decode())
        made = list(self.folder.glob("prof-app-*"))
        self.assertEqual(2, len(made), made)
        for directory in made:
            self.assertRegex(directory.name, r"^prof-app-\d+\.\S+-\d+$")
            self.assertEqual([0, 1], self.ranks_in(directory))

    def test_tasks_analyze_together(self):
        done = self.slurm.run("srun", "-n", "3", str(PROF), "run", "-q", "--no-analyze", "-o", "step", "--",
                              sample("hot_loop"), cwd=self.folder)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        together = self.slurm.run("srun", "-n", "2", str(PROF), "analyze", "step", "-o", "together.db", cwd=self.folder)
        said = together.stderr.decode()
        self.assertEqual(0, together.returncode, said)
        self.assertEqual(1, said.count("together.db"), said)  # only the first task prints
        alone = self.slurm.run(str(PROF), "analyze", "step", "-o", "alone.db", cwd=self.folder)
        self.assertEqual(0, alone.returncode, alone.stderr.decode())
        for name in ("meta.db", "profile.db", "cct.db", "run.json"):
            self.assertTrue((self.folder / "together.db" / name).read_bytes() ==
                            (self.folder / "alone.db" / name).read_bytes(), name)
        self.assertEqual([], list(self.folder.glob(".together.db.*")))

    def test_the_batch_script_of_the_documentation_runs(self):
        if lack_of_mpi():
            self.skipTest(lack_of_mpi())
        text = (SOURCE / "docs/cluster.md").read_text()
        script = re.search(r"```bash\n(#!/bin/bash\n#SBATCH.*?)```", text, re.DOTALL).group(1)
        shutil.copy(program("mpi_ranks"), self.folder / "app")
        (self.folder / "job.sh").write_text(script)
        self.slurm.environment["PATH"] = f"{PROF.parent}:{os.environ['PATH']}"
        done = self.slurm.run("sbatch", "--wait", "-o", "output", "job.sh", cwd=self.folder)
        output = (self.folder / "output").read_text() if (self.folder / "output").exists() else ""
        self.assertEqual(0, done.returncode, output + done.stderr.decode())
        made = list(self.folder.glob("prof-app-*"))
        self.assertEqual(1, len(made), output)
        self.assertRegex(made[0].name, r"prof-app-\d+\.0")
        self.assertEqual([0, 1, 2, 3], self.ranks_in(made[0]))
        self.assertEqual(4, output.count("8 steps"), output)
        self.assertIn("4 ranks on 1 node", output)


if __name__ == "__main__":
    for needed in NEEDED:
        if not shutil.which(needed, path=os.environ["PATH"] + ":/usr/sbin"):
            print(f"skipped: there is no {needed} (Debian: slurm-wlm, munge)")
            sys.exit(77)
    if os.geteuid() != 0:
        print("skipped: Slurm's daemons need root here")
        sys.exit(77)
    main()
