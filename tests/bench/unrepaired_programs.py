"""Programs of the distribution and of the tests with nothing to repair, for benchmarks of the cost of repairs."""

from measuring import BUILD, DEEP_CALLS

UNSHARED = BUILD / "tests/unshared_work"
FORKS = "for i in $(seq 300); do x=$(echo $i); /bin/true; done"
OBJECTS = "d = {}\nfor i in range(3000000): d[str(i)] = [i]\nprint(len(d))"
THREADS = """
import threading
def work():
    for _ in range(400): sorted(str(i) for i in range(40000))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
SQL = """create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 5000000) insert into t select x, hex(x * x) from c;
create index i on t(b); select count(*), max(b) from t where b like '3%7';"""
NODE = "let s = 0; for (let n = 0; n < 4; n++) { const m = new Map(); for (let i = 0; i < 1500000; i++) m.set('k' + i, {i}); for (const v of m.values()) s += v.i; } console.log(s)"
PERL = "my %h; $h{$_ % 300000} .= $_ for 1..12000000; print scalar keys %h"
CPP = "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\nint main() { std::regex r(\"a*b\"); std::map<int, std::string> m; return std::regex_match(m[0], r); }\n"

HAVE_ONE = {"allocating strings 1", "gzip", "python objects", "perl", "sqlite", "g++", "bash forks"}


def has_threads(name):
    return name not in HAVE_ONE


def commands(folder):
    data = folder / "data"
    data.write_bytes(b"".join(b"%d line %d\n" % (i * 7919 % 1000003, i) for i in range(2_000_000)))
    (folder / "work.cpp").write_text(CPP)
    yield "deep_calls", [DEEP_CALLS, "60", "200000", "2"]
    for kind, millions in (("neighbouring_lines", "4500"), ("matrices", "700"), ("sorting", "1000"), ("trees", "1000")):
        yield kind, [UNSHARED, kind, millions]
    for threads in (1, 2, 4):
        yield f"allocating strings {threads}", [BUILD / "tests/allocating_strings", str(threads), "60"]
    yield "xz", ["xz", "-T2", "-2", "-c", data]
    yield "zstd", ["zstd", "-T2", "-14", "-q", "-c", data]
    yield "sort", ["sort", "--parallel=2", "-S", "64M", "-n", *[data] * 5]
    yield "gzip", ["gzip", "-c", data]
    yield "python objects", ["/usr/bin/python3", "-c", OBJECTS]
    yield "python threads", ["/usr/bin/python3", "-c", THREADS]
    yield "perl", ["perl", "-e", PERL]
    yield "sqlite", ["sqlite3", ":memory:", SQL]
    yield "node", ["node", "-e", NODE]
    yield "g++", ["g++", "-O1", "-c", "-o", "/dev/null", folder / "work.cpp"]
    yield "bash forks", ["bash", "-c", FORKS]
