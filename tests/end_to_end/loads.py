#!/usr/bin/env python3
"""Libraries are loaded and threads are started in places where a preloaded library could interfere."""

import json

import driver


class Loads(driver.EndToEnd):
    def check(self, said, name, *arguments):
        run = self.prof_run([driver.program(name), *arguments], events=["CPUTIME@1000"], timeout=60)
        self.assertEqual((run.status, run.stdout.decode()), (0, said), run.stderr)
        return run

    def test_a_thread_started_by_a_constructor_before_ours_is_measured(self):
        run = self.check("", "early_threads")
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.18, 0.22, "CPUTIME of the early thread")

    def test_a_constructor_inside_dlopen_may_wait_for_its_thread(self):
        run = self.check("loaded\n", "loads", "load", driver.program("early.so"))
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.18, 0.22, "CPUTIME of the early thread")

    def test_a_library_is_found_by_the_search_path_of_its_loaders(self):
        self.check("found\n", "loads", "chain", driver.program("chain/chain_top.so"))

    def test_the_programs_dlerror_stays(self):
        self.check("kept\n", "loads", "error")

    def test_c11_threads_are_measured(self):
        run = self.check("result 7\n", "loads", "c11")
        self.assert_within(run.inclusive("spin", "CPUTIME"), 0.18, 0.22, "CPUTIME of the thread")

    def test_the_smallest_stack_suffices(self):
        run = self.check("touched 0\n", "loads", "small_stack")
        self.assertGreater(run.inclusive("plugin_work", "CPUTIME"), 0.1)

    def test_a_thread_without_memory_runs_and_is_counted(self):
        run = self.check("error 0\n", "loads", "no_memory")
        notes = json.dumps(run.summary()["degradations"])
        self.assertRegex(notes, r"\b1 threads? could not be sampled")

    @driver.unittest.skipUnless("CMAKE_BUILD_TYPE:STRING=RelWithDebInfo" in (driver.BUILD / "CMakeCache.txt").read_text(),
                                "the limit is for optimized code")
    def test_the_handler_gets_by_with_a_small_alternate_stack(self):
        run = self.check("", "loads", "alternate_stack")
        self.assert_within(run.stated("handler_bytes"), 1, 1536, "stack of the handler")


driver.main()
