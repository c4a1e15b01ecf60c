"""Runs that repair what they find. On a busy machine threads may rarely run at the same time, and then there is nothing
to find: such runs are repeated."""

import json

import driver

class RepairRuns(driver.EndToEnd):
    def run_until(self, is_found, command, output=None, events=(), options=(), attempts=driver.ATTEMPTS):
        """Returns a run of the program that found what is expected. `output`: the program's, None if it does not
        matter."""
        for _ in driver.attempts(attempts):
            run = self.prof_run(command, events=list(events), options=list(options))
            self.assertEqual(run.status, 0, run.stderr)
            if output is not None:
                self.assertEqual(run.stdout, output, run.stderr)
            if "Contention cannot be confirmed here" in " ".join(run.summary()["degradations"]):
                self.skipTest("the kernel refuses breakpoints here")
            if is_found(run):
                return run
        self.fail(f"contention was not found in {attempts} runs of {command}")

    def found(self, command, output=None, options=("--repair",)):
        """Returns a run that found allocations to re-lay out."""
        return self.run_until(lambda run: self.file(run).get("sites"), command, output, options=options)

    def file(self, run):
        """Returns repair.json; empty if there is none."""
        path = run.directory / "repair.json"
        return json.loads(path.read_text()) if path.exists() else {}
