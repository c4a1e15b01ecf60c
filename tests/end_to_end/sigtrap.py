#!/usr/bin/env python3
"""A program that handles, blocks, ignores or waits for SIGTRAP gets the same results as without a profiler."""

import driver

PERL = r'''
my $count = 0;
$SIG{TRAP} = sub { $count++ };
my $sum = 0;
for my $turn (1 .. 3) {
  $sum += $_ % 7 for 1 .. 1_000_000;
  kill 'TRAP', $$;
  select undef, undef, undef, 0.01;
}
print "count $count sum $sum\n";
'''


class SigTrap(driver.EndToEnd):
    def check(self, command, ends_with=0):
        plain = self.plain_run(command)
        run = self.prof_run(command, events=["CPUTIME@1000"])
        self.assertEqual(run.stdout.decode(), plain.stdout.decode(), run.stderr)
        self.assertEqual(run.status, ends_with, run.stderr)
        # However many samples a busy machine merges, they account for the time that the program used.
        self.assertGreater(run.samples(), 10)
        seconds = run.summary()["run"]
        self.assert_within(run.total("CPUTIME"), 0.8 * seconds["cpu_s"] - 0.05, 1.05 * seconds["wall_s"] + 0.02,
                           "CPUTIME of one thread")

    def check_case(self, name, ends_with=0):
        self.check([driver.program("sigtrap"), name], ends_with)

    def test_a_program_that_does_nothing_with_it(self):
        self.check_case("untouched")

    def test_a_program_that_handles_it(self):
        self.check_case("handles")

    def test_a_program_that_blocks_it(self):
        self.check_case("blocks")

    def test_a_program_that_ignores_it(self):
        self.check_case("ignores")

    def test_a_program_that_waits_for_it(self):
        self.check_case("waits")

    def test_a_program_that_reads_it_from_a_descriptor(self):
        self.check_case("reads_descriptor")

    def test_a_program_that_dies_of_it(self):
        self.check_case("dies", ends_with=128 + 5)

    def test_perls_own_handler(self):
        self.check(["perl", "-e", PERL])


driver.main()
