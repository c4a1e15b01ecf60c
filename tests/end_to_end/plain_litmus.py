#!/usr/bin/env python3
"""Code that is not annotated, whose threads communicate in all possible ways next to falsely shared data. The page is
isolated or not. Either way, the observed results are those that C++ allows, except where the documentation excludes a
guarantee (docs/isolate.md).

Chance: whether the page is isolated, and whether a thread reads at the wrong moment. What is seen must be allowed in each run, which fails
falsely with probability 0. If nothing is found in six attempts, the test is skipped. Without commits one of the rounds must lose an
update; the test prints how many did. Accepted: 1e-6 a run for none. Not less, because it was not counted."""

import os
import re
import shutil

import driver
import repair_runs

LITMUS, RARE_LOCKS = driver.program("plain_litmus"), driver.program("rare_locks")
MILLISECONDS = 1200
# Communicated by a plain store only, or by two to one place: the observed results are printed.
NOT_GUARANTEED = {"message_release_acquire", "message_consume", "message_fences", "spin_flag", "figure_3"}
# By atomic instructions that do not make the page of the data common.
APART = ["message_seq_cst", "message_full_fences", "message_exchange", "figure_11", "spin_lock", "ticket_lock"]
# Atomic instructions end isolation; locks of the C library do not.
DECLINED, REPAIRED = "message_exchange", "mutex"
UNCOMMITTING = driver.BUILD / "tests/uncommitting/libprof-isolate.so"


class PlainLitmus(repair_runs.RepairRuns):
    def cases(self):
        return self.plain_run([LITMUS]).stdout.decode().split() + [f"{name} apart" for name in APART]

    def run_case(self, case, options, prof=driver.PROF):
        """Returns the forbidden results that were observed, and the fate of the page."""
        name, *where = case.split()
        run = self.prof_run([LITMUS, name, str(MILLISECONDS), *where], options=options, prof=prof)
        self.assertEqual(run.status, 0, run.stderr)
        rounds, wrong = (int(number) for number in re.findall(r"\d+", run.stdout.decode()))
        self.assertGreater(rounds, 0, case)
        repairs = run.summary()["repairs"]
        isolated = any(page["kind"] == "isolated" for page in repairs["pages"]) and repairs["conversions"] > 0
        why = " ".join(sorted({page["why"] for page in repairs["pages"] if page["kind"] == "shared"}))
        fate = " then ".join(["repaired"] * isolated + [f"declined: {why}"] * bool(why)) or "not found"
        return wrong, fate

    def test_what_is_seen_is_allowed(self):
        fates = {}
        for case in dict.fromkeys([REPAIRED, DECLINED, *driver.listed(self.cases(), 3)]):
            with self.subTest(case):
                wrong, fate = self.run_case(case, ["--repair=isolate"])
                fates[case] = fate
                print(f"{case}: {fate}{f', {wrong} rounds that are not guaranteed' if wrong else ''}")
                if case not in NOT_GUARANTEED:
                    self.assertEqual(wrong, 0, f"{case}, {fate}")
        # On a busy machine threads may not have communicated.
        for case, wanted in ((REPAIRED, "repaired"), (DECLINED, "declined")):
            for _ in driver.attempts():
                if wanted in fates[case]:
                    break
                wrong, fates[case] = self.run_case(case, ["--repair=isolate"])
                self.assertEqual(wrong, 0, case)
            else:
                self.skipTest(f"{case} is {fates[case]}: the machine is too busy to find anything")

    def test_a_lock_of_the_programs_own_ends_isolation_and_loses_nothing(self):
        """The data that it guards is on the page that is isolated until the lock is taken, or that is never isolated if
        the lock is taken often."""
        for between in (700, 5):
            with self.subTest(between=between):
                for _ in driver.attempts():
                    run = self.prof_run([RARE_LOCKS, "1800", str(between)], options=["--repair=isolate"])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assertRegex(run.stdout.decode(), "^had [0-9]+ times, 0 lost, 0 torn\n$")
                    repairs = run.summary()["repairs"]
                    kinds = [page["kind"] for page in repairs["pages"]]
                    print(f"every {between} ms: {kinds}, {repairs['conversions']} conversions, {repairs['commits']} commits")
                    if kinds[-1:] == ["shared"]:
                        break
                else:
                    self.skipTest(f"{kinds}: the machine is too busy to find anything")
                self.assertIn("atomic operations", repairs["pages"][-1]["why"])

    def test_without_commits_it_goes_wrong(self):
        """The same with a prof whose library omits commits: data guarded by a mutex is lost."""
        prof = self.folder / "broken/bin/prof"
        libraries = prof.parent.parent / "lib"
        for folder in (prof.parent, libraries):
            folder.mkdir(parents=True)
        try:
            os.link(driver.PROF, prof)
        except OSError:  # on another file system
            shutil.copy(driver.PROF, prof)
        for library in (driver.BUILD / "lib").iterdir():
            (libraries / library.name).symlink_to(UNCOMMITTING if library.name == UNCOMMITTING.name else library)
        for _ in driver.attempts(8):
            wrong, fate = self.run_case(REPAIRED, ["--repair=isolate"], prof)
            print(f"{REPAIRED} without commits: {fate}, {wrong} rounds wrong")
            if "repaired" in fate:
                break
        else:
            self.skipTest(f"{REPAIRED} is {fate}: the machine is too busy to find anything")
        self.assertGreater(wrong, 0)


if __name__ == "__main__":
    driver.main()
