#!/usr/bin/env python3
"""Programs compiled by `prof c++` get C++'s guarantees for atomic operations while each thread has private pages
(litmus.cpp). The same programs must fail when compiled by passes that leave something out, which shows that the cases
can detect errors. Larger programs behave as without isolation."""

import os

from compiling import BUILD, PLUGIN, PROF, SOURCE, Compiling, listed, main, run

TESTS = BUILD / "tests"
LITMUS = SOURCE / "tests/repair/isolate/pass/litmus.cpp"

# Cases that must fail if the pass leaves out commits, or does not redirect accesses either. In the other cases
# chance decides, or the calls of a library keep the result correct.
NEED_COMMITS = {"message_release_acquire", "message_consume", "message_seq_cst", "message_fences", "message_exchange",
                "message_compare_exchange", "message_volatile", "message_builtins", "spin_lock", "flag_lock",
                "ticket_lock"}
NEED_ACCESSES = NEED_COMMITS | {"message_assembly", "message_relaxed", "stores_seq_cst", "stores_fences",
                                "stores_assembly", "counters", "figure_3", "figure_3_in_assembly", "figure_11",
                                "figure_12", "assembly_lock", "mixed_accesses"}


CONVERTED_THREADS = ("a_thread_is_given_back_wherever_it_is", "mutexes_of_all_kinds", "read_write_locks_semaphores_and_atomic_waits",
         "conditions", "barriers", "sleepers_from_before_a_session_and_within_are_woken", "signals_reach_the_thread",
         "several_converted_threads_print")


class Litmus(Compiling):
    def build(self, *options, sources=(LITMUS,), library="isolated_pages", output="litmus"):
        self.compile("-std=c++20", "-Wno-unused-variable", f"-I{SOURCE}", *options, *sources, "-o", output, "-pthread", f"-L{TESTS}",
                     f"-l{library}", f"-Wl,-rpath,{TESTS}", "-latomic", language="c++")

    def litmus(self, case, patience=60_000):
        return run([self.folder / "litmus", case], env={**os.environ, "LITMUS_PATIENCE": str(patience)})

    def cases(self):
        return run([self.folder / "litmus"]).stdout.split()

    def test_hold_where_code_is_annotated(self):
        for options, part in ((["-O2", "-mcx16"], 1), (["-O0"], 2)):
            self.build(*options)
            cases = self.cases()
            self.assertGreaterEqual(set(cases), NEED_ACCESSES)
            for case in listed(cases, part):
                with self.subTest(f"{options} {case}"):
                    done = self.litmus(case)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def broken(self, left_out, cases):
        self.build("-O2", "-mcx16", "-Xclang", "-load", "-Xclang", PLUGIN, "-mllvm", f"-prof-regions-leave-out={left_out}")
        for case in sorted(cases):
            with self.subTest(case):
                self.assertNotEqual(self.litmus(case, patience=200).returncode, 0)

    def test_without_commits_they_do_not(self):
        self.broken("commits", NEED_COMMITS)

    def test_without_common_memory_they_do_not(self):
        self.broken("accesses", NEED_ACCESSES)

    def test_threads_that_are_converted_threads_do_what_they_do_otherwise(self):
        """Runs cases of converted_threads.py with annotated programs."""
        (self.folder / "tests").mkdir()
        folder = SOURCE / "tests/repair/isolate"
        for program, sources in (("converted_thread_cases", sorted(folder.glob("converted_*cases.cpp"))),
                                 ("converted_thread_stress", [folder / "converted_thread_stress.cpp"])):
            self.build("-O1", sources=sources, library="isolated", output=f"tests/{program}")
        done = run(["python3", SOURCE / "tests/repair/isolate/converted_threads.py", *(f"ConvertedThreads.test_{case}" for case in CONVERTED_THREADS),
                    "Stress"],
                   env={**os.environ, "PROF_BUILD": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def test_programs_compute_the_same_where_prof_isolates_their_pages(self):
        self.compile("-std=c++20", "-O2", SOURCE / "tests/repair/isolate/pass/counting.cpp", "-o", "counting", "-pthread",
                     language="c++")
        turns = 60_000_000
        done = run([PROF, "run", "--no-analyze", "--repair=isolate:always", "-o", self.folder / "run",
                    self.folder / "counting", turns])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [str(n) for n in (turns, turns, turns // 500, turns // 50_000)])

    def test_samples_do_what_they_do_otherwise(self):
        for sample in ("references", "stop_flag"):
            self.compile("-std=c++20", "-O2", SOURCE / f"samples/contention/{sample}.cpp", "-o", sample, "-pthread",
                         language="c++")
            annotated, plain = (run([program]) for program in (self.folder / sample, BUILD / "samples" / sample))
            self.assertEqual((annotated.returncode, annotated.stdout), (plain.returncode, plain.stdout), sample)


main()
