#!/usr/bin/env python3
"""Programs behave the same with all their memory common: output and exit status do not differ."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ["PROF_BUILD"])
SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
LIBRARY = BUILD / "lib/libprof-isolate.so"
STORM = BUILD / "tests/memory_storm"
ALLOCATOR = "libjemalloc.so.2"
PROF = BUILD / "bin/prof"

sys.path.insert(0, str(SOURCE / "tests/repair/locks"))
from everything import JAVA, NODE, PYTHON  # noqa: E402

BASH = """
for i in 1 2 3 4 5; do (echo $i | tr 1-5 a-e; x=$(echo in $(echo $i)); echo "$x"); done
seq 1 2000 | sort -R --random-source=/bin/sh | sort -n | md5sum
f() { local a=(one two); echo ${a[@]} | { read b c; echo $c $b; }; }
for i in 1 2 3; do f & done; wait; cat <(echo one) <(echo two); exit 3
"""
FORKS = """
import os, sys, threading
lock = threading.Lock()
data = list(range(100000))
def work():
    for _ in range(20):
        with lock:
            data[0] += 1
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for turn in range(5):
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        data[turn] = -1
        data.extend(range(1000))
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        os.write(w, str((sum(data), data[0])).encode())
        os._exit(turn)
    data[turn] += 1
    data.append(turn)
    status = os.waitpid(child, 0)[1]
    print(os.read(r, 100), status >> 8, sum(data))
"""
PERL = """
$| = 1; my @all = (1..50000); my $sum = 0;
for my $turn (1..5) {
  my $child = fork;
  if (!$child) { push @all, 1..100; my $s = 0; $s += $_ for @all; print "child $s\\n"; exit $turn }
  waitpid $child, 0; push @all, $turn; print $? >> 8, " ", scalar @all, " ", `echo $turn`;
}
open my $pipe, "-|" or do { print "from a child\\n"; exit 0 }; print <$pipe>;
"""
SQL = """
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) insert into t select x, hex(x * x) from c;
create index i on t(b); select count(*), sum(a), min(b), max(b) from t; select a from t where b like '3%7' order by b limit 9;
"""
PHP = "$a = []; for ($i = 0; $i < 200000; $i++) $a[] = md5((string)$i); sort($a); echo $a[7], ' ', count($a), extension_loaded('json'), chr(10);"
REDIS = """
mkdir -p redis; cd redis; rm -f *
ask() { redis-cli -s socket "$@"; }
redis-server --port 0 --unixsocket socket --save "" --dir . --logfile log &
until ask ping >/dev/null 2>&1; do sleep 0.05; done
ask eval "for i = 1, 20000 do redis.call('set', 'key' .. i, string.rep('x', i % 100)) end return redis.call('dbsize')" 0
ask bgsave; ask set key7 later
while ask info persistence | grep -q rdb_bgsave_in_progress:1; do sleep 0.02; done
ask info persistence | grep -o "rdb_last_bgsave_status:ok"; ask set key8 latest; ask shutdown nosave; wait
redis-server --port 0 --unixsocket socket --save "" --dir . --logfile log &
until ask ping >/dev/null 2>&1; do sleep 0.05; done
ask dbsize; ask get key7; ask get key8; ask shutdown nosave; wait; echo $?
"""
CRASH = "import ctypes; ctypes.string_at(0)"


def programs(folder):
    data = folder / "data"
    data.write_bytes(b"".join(b"%d line %d\n" % (i * 7919 % 100003, i) for i in range(150000)) + STORM.read_bytes())
    (folder / "Work.java").write_text(JAVA)
    yield ["bash", "-c", BASH]
    yield ["perl", "-e", PERL]
    yield ["perl", "-e", 'use threads; print $_->join, "\\n" for map { threads->create(sub { my $s = 0; $s += $_ for 1..20000; $s }) } 1..4']
    yield ["/usr/bin/python3", "-c", FORKS]
    yield ["/usr/bin/python3", "-c", PYTHON]
    yield ["/usr/bin/python3", "-c", CRASH]
    yield ["xz", "-T2", "-0", "--block-size=500000", "-c", data]
    yield ["sort", "--parallel=2", "-S", "2M", "-n", data]
    yield ["gzip", "-c", "-1", data]
    yield ["zstd", "-T2", "-q", "-c", data]
    yield ["sqlite3", ":memory:", SQL]
    yield ["node", "-e", NODE]
    yield ["java", folder / "Work.java"]
    yield [STORM, "libz.so.1"]
    yield [BUILD / "tests/process_storm"]
    yield [BUILD / "tests/foreign_blocks", BUILD / "tests/deep_bound.so"]
    yield ["php", "-r", PHP]
    if shutil.which("redis-server"):
        yield ["bash", "-c", REDIS]


def run(command, folder, preload="", **more):
    environment = {**os.environ, **more}
    if preload:
        environment.update(LD_PRELOAD=preload, PROF_ISOLATE="1")
    return subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment, timeout=100)


def common(command, folder, **more):
    return run(command, folder, f"{LIBRARY} {ALLOCATOR}", **more)


def repaired(command, folder, repair="isolate", **more):
    """Runs the command with the runtime, as users do. Leaves out prof's own messages."""
    done = run([PROF, "run", f"--repair={repair}", "--no-analyze", "--force", "-o", folder / "measured", *command], folder, **more)
    done.stderr = b"".join(line for line in done.stderr.splitlines(True) if not line.startswith(b"prof: "))
    if done.returncode > 128:
        done.returncode = 128 - done.returncode
    return done


WAYS = {"common": common, "by --repair=isolate": repaired}


def same_results(folder, words):
    failures = []
    for command in programs(folder):
        name = pathlib.Path(command[0]).name
        if words and name not in words:
            continue
        if not shutil.which(str(command[0])):
            print(f"{name} is not here")
            continue
        bare = run(command, folder)
        for way, run_so in WAYS.items():
            start = time.monotonic()
            done = run_so(command, folder)
            if (done.returncode, done.stdout, done.stderr) != (bare.returncode, bare.stdout, bare.stderr):
                failures.append(f"{name}, {way}: status {done.returncode}, not {bare.returncode}, {len(done.stdout)} bytes, not {len(bare.stdout)}:\n"
                                f"{done.stdout[-600:]}\n{bare.stdout[-600:]}\n{done.stderr.decode(errors='replace')[-600:]}")
            else:
                print(f"{name}, {way}: the same, {time.monotonic() - start:.1f} s")
    return failures


def is_common_in_programs(folder):
    """Memory becomes common as the other tests rely on: from the start, or when a page is requested, which none is here."""
    failures = []

    def expect(way, done, told):
        if done.stderr != told:
            failures.append(f"the storm, {way}: {done.stderr.decode()}")

    storm = [STORM, "libz.so.1"]
    told = b"common: 400 of 400 stacks, data, heap, stack, thread-local\n"
    expect("common", common(storm, folder, MEMORY_STORM_TELLS="1"), told)
    expect("isolate:always", repaired(storm, folder, "isolate:always", MEMORY_STORM_TELLS="1"), told)
    expect("isolate", repaired(storm, folder, MEMORY_STORM_TELLS="1"), b"common: 0 of 400 stacks\n")
    return failures


def is_dumped(folder):
    """A core dump contains what was used, not the whole reservation."""
    if pathlib.Path("/proc/sys/kernel/core_pattern").read_text().split() != ["core"]:
        print("cores go elsewhere")
        return []
    failures = []
    done = run(["bash", "-c", f"ulimit -c unlimited; PROF_ISOLATE=1 LD_PRELOAD='{LIBRARY} {ALLOCATOR}' exec python3 -c '{CRASH}'"], folder)
    cores = list(folder.glob("core*"))
    if done.returncode != -signal.SIGSEGV or len(cores) != 1 or not 1 << 20 < cores[0].stat().st_size < 1 << 30:
        failures.append(f"core: {done}, {[core.stat() for core in cores]}")
    for core in cores:
        core.unlink()
    return failures


REFUSAL = """
import ctypes, os, resource, sys, threading
refusal = ctypes.CDLL(None).hpcrun_isolation_refusal
refusal.restype = ctypes.c_char_p
def tell(): print((refusal() or b"common").decode(), flush=True)
"""
THREAD = "thread = threading.Thread(target=tell); thread.start(); thread.join()\n"
FORK = "child = os.fork()\nif child: os.waitpid(child, 0)\n"


def is_declined(folder):
    """If memory cannot be common, the program still runs, and the reason is reported."""
    failures = []
    address_space, forked = "the address space is limited (ulimit -v)", "the process has forked"
    limited = "the process has limited its memory (setrlimit)"
    cases = [("", "tell()", ["common"]),
             ("export PROF_ISOLATE=0;", "tell()", ["it was not requested"]),
             ("ulimit -v 200000000;", "tell()", [address_space]),
             ("ulimit -d 8000000;", "tell()", ["memory is limited (ulimit -d)"]),
             ("ulimit -f 1000;", "tell()", ["the size of files is limited (ulimit -f)"]),
             ("", FORK + "tell()\n" + THREAD, [forked, "common"] * 2),
             ("", "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\ntell()\n" + THREAD + FORK + "tell()", [limited] * 4)]
    for before, code, wanted in cases:
        command = ["bash", "-c", f"{before} exec env PROF_ISOLATE=${{PROF_ISOLATE:-1}} LD_PRELOAD='{LIBRARY} {ALLOCATOR}' /usr/bin/python3 -c '{REFUSAL}{code}'"]
        done = run(command, folder)
        if (done.returncode, done.stdout.decode().splitlines(), done.stderr) != (0, wanted, b""):
            failures.append(f"{before} {code}: {done}")
    return failures


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        failures = same_results(folder, sys.argv[1:])
        if not sys.argv[1:]:
            failures += is_common_in_programs(folder) + is_dumped(folder) + is_declined(folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
