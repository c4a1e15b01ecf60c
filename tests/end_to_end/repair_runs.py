"""Runs that repair what they find. On a busy machine threads may hardly ever run at the same time, and then there is nothing to
find: such runs are made again."""

import json

import driver

ATTEMPTS = 4


class RepairRuns(driver.EndToEnd):
    def run_until(self, is_found, command, output=None, events=(), options=(), attempts=ATTEMPTS):
        """The program's run that found what is expected of it; `output`: the program's, None where it does not matter."""
        for _ in range(attempts):
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
        """A run that found allocations to lay out anew."""
        return self.run_until(lambda run: self.file(run).get("sites"), command, output, options=options)

    def file(self, run):
        """repair.json; empty: there is none."""
        path = run.directory / "repair.json"
        return json.loads(path.read_text()) if path.exists() else {}
