#!/usr/bin/env python3
"""Programs that fork while threads are converted: parent and child have the same memory, their later writes are
private, and both continue to be isolated. Their output and files are as without isolation.

Chance: whether threads are converted before the fork. Runs in which none was are made again, up to six in all; what they print must be
right in each. Accepted: 4e-6 a run, four programs of 1e-6 each, if fewer than one attempt in ten misses. Not less, because misses were not
counted; the log names each further attempt."""

import shutil
import unittest

import driver
import repair_runs

# Threads that hash, while another one forks under their lock; children have threads, too.
PYTHON = """
import hashlib, os, threading, time
data, lock, counts, over = bytes(range(256)) * 4096, threading.Lock(), [0, 0], threading.Event()
words = list(range(50000))
def work(number):
    while not over.is_set():
        one = hashlib.sha256(data).hexdigest()
        with lock:
            counts[number] += 1
            words[number] += 1
            assert words[number] - number == counts[number]
            assert one == expected
expected = hashlib.sha256(data).hexdigest()
threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads: thread.start()
for turn in range(3):
    time.sleep(0.7)
    r, w = os.pipe()
    with lock:
        child = os.fork()
        if child == 0:
            right = words[0] == counts[0] and words[1] - 1 == counts[1] and sum(words[2:]) == sum(range(2, 50000)) + turn
            own = []
            def hash_own():
                own.append([hashlib.sha256(data).hexdigest() for _ in range(40)] == [expected] * 40)
            words[2] = -1
            news = [threading.Thread(target=hash_own) for _ in range(2)]
            for thread in news: thread.start()
            for thread in news: thread.join()
            os.write(w, f"{right} {own} {words[2]}".encode())
            os._exit(turn)
        words[2] += 1
    status = os.waitpid(child, 0)[1]
    print(os.read(r, 100), status >> 8, words[2])
over.set()
for thread in threads: thread.join()
print(all(count > 10 for count in counts), words[0] == counts[0], words[1] - 1 == counts[1])
"""

PERL = """
use threads; use threads::shared; $| = 1;
my $over :shared = 0; my @sums :shared = (0, 0);
my @all = (1..20000);
my @threads = map { my $number = $_; threads->create(sub {
  my $passes = 0;
  while (!$over) { my $sum = 0; $sum += $_ for @all; lock(@sums); $sums[$number] += $sum; $passes++ }
  return $passes * 200010000 == $sums[$number];
}) } 0..1;
for my $turn (1..3) {
  select undef, undef, undef, 0.7;
  my $child = fork;
  if (!$child) { push @all, 1..100; my $s = 0; $s += $_ for @all; print "child $s\\n"; require POSIX; POSIX::_exit($turn) }
  waitpid $child, 0; push @all, $turn; print $? >> 8, " ", scalar @all, " ", `echo $turn`;
}
{ lock($over); $over = 1 }
print $_->join ? "right\\n" : "wrong\\n" for @threads;
"""

# It has no threads. Its child has, and forks as well.
BASH = """
life() { (exec $LIFE $1 1000) | tr a-z A-Z; }
f() { sort --parallel=2 -S 2M -n numbers | md5sum; }
for i in 1 2; do echo $(life fork) $( (exit $i) || echo $?); done
life fork & f > second & wait; cat second <(life spawn | tr A-F a-f); exit 3
"""

# The server computes while it forks to save. The copy has the data of that moment, which the next server gets.
REDIS = """
ask() { redis-cli -s socket "$@"; }
start() {
  $1 redis-server --port 0 --unixsocket $PWD/socket --save "" --dir . --logfile log --enable-debug-command yes >/dev/null 2>&1 &
  until ask ping >/dev/null 2>&1; do sleep 0.05; done
}
count() { ask eval "local s = 0 for i = 1, 25000000 do s = s + i % 7 end return s" 0; }
rm -f dump.rdb
start
ask eval "for i = 1, 20000 do redis.call('set', 'key' .. i, string.rep('x', i % 100)) end return redis.call('dbsize')" 0
for turn in 1 2; do
  count
  ask set turn $turn; ask debug digest > then; ask bgsave; ask set turn later; count
  while ask info persistence | grep -q rdb_bgsave_in_progress:1; do sleep 0.02; done
  ask info persistence | grep -o "rdb_last_bgsave_status:ok"
done
ask get turn; ask dbsize; ask shutdown nosave; wait; echo $?
start "env -u LD_PRELOAD -u PROF_ISOLATE"
ask debug digest | diff - then && echo as it was; ask get turn; ask shutdown nosave; wait; echo $?
"""


class IsolatedForks(repair_runs.RepairRuns):
    def forks(self, command, status=0, seconds=None, briefly=None):
        """Runs it without isolation, and with pages isolated until it forked. Returns its output. Without isolation, the
        script waits `briefly` instead of `seconds`, which are words of it, and prints the same."""
        shorter = [word.replace(seconds, briefly) for word in command] if seconds else command
        self.assertTrue(shorter != command or not seconds)
        bare = self.plain_run(shorter, timeout=60)
        self.assertEqual(bare.returncode, status, bare.stderr)
        for _ in driver.attempts():
            run = self.prof_run(command, options=["-q", "--repair=isolate:always"])
            self.assertEqual((run.status, run.stdout.decode()), (status, bare.stdout.decode()), run.stderr)
            repairs = run.summary()["repairs"]
            forked = any(page["why"] == "the program forked" for page in repairs["pages"] if page["kind"] == "shared")
            if repairs["conversions"] and repairs["commits"] and forked:
                print(f"{command[0]}: {repairs['conversions']} conversions, {repairs['commits']} commits, {repairs['merged_words']} merged words")
                return bare.stdout.decode()
        self.fail(f"no thread that forked was met at work: {repairs['conversions']} conversions, {repairs['commits']} commits, forked: {forked}")

    def test_programs_fork_with_all_descriptors_in_use(self):
        for option in ("--repair=isolate:always", "--repair=isolate"):
            for arguments in ([], ["thread"]):
                with self.subTest(option, arguments=arguments):
                    run = self.prof_run([driver.program("full_table"), *arguments], options=[option])
                    self.assertEqual((run.status, run.stdout), (0, b"child 8, parent 7\n"), run.stderr)
        for arguments in ([], ["thread"]):
            with self.subTest("contention:pages", arguments=arguments):
                run = self.prof_run([driver.program("full_table"), *arguments], events=["contention:pages"])
                self.assertEqual((run.status, run.stdout), (0, b"child 8, parent 7\n"), run.stderr)

    def test_python_forks_beside_threads(self):
        lines = self.forks(["/usr/bin/python3", "-c", PYTHON], seconds="sleep(0.7)", briefly="sleep(0.2)").splitlines()
        self.assertEqual(lines, [f"b'True [True, True] -1' {turn} {3 + turn}" for turn in range(3)] + ["True True True"])

    def test_perl_forks_beside_threads(self):
        lines = self.forks(["perl", "-e", PERL], seconds="undef, 0.7", briefly="undef, 0.1").splitlines()
        self.assertEqual(lines[-2:], ["right", "right"])
        self.assertEqual(lines[:2], [f"child {200010000 + 5050}", "1 20001 1"])

    def test_bash_forks_programs_with_threads(self):
        (self.folder / "numbers").write_text("".join(f"{i * 7919 % 100003} line {i}\n" for i in range(50_000)))
        lines = self.forks(["env", f"LIFE={driver.program('isolated_life')}", "bash", "-c", BASH], 3, seconds="$1 1000", briefly="$1 300").splitlines()
        self.assertEqual(lines[:3] + lines[-1:], ["FORK RIGHT 1", "FORK RIGHT 2", "FORK RIGHT", "SPaWN RIGHT"])

    def test_threads_make_the_next_and_end_while_memory_moves(self):
        chains = driver.program("isolated_chains")
        for additions in driver.listed(("20000", "1000000"), 2):
            run = self.prof_run([chains, "5", additions], options=["-q", "--no-analyze", "--repair=isolate:always"])
            self.assertEqual((run.status, run.stdout), (0, b"right\n"), run.stderr)

    @unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
    def test_redis_saves_in_the_background(self):
        lines = self.forks(["bash", "-c", REDIS]).splitlines()
        self.assertEqual(lines.count("rdb_last_bgsave_status:ok"), 2)
        self.assertEqual(lines[-6:], ["later", "20001", "0", "as it was", "2", "0"])


if __name__ == "__main__":
    driver.main()
