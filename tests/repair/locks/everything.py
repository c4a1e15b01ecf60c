#!/usr/bin/env python3
"""Existing programs behave the same with every mutex moved that they take."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["PROF_BUILD"])
PRELOAD = f"{BUILD}/lib/libprof-locks.so {BUILD}/tests/libmove_everything.so"

PYTHON = """
import concurrent.futures, hashlib, subprocess, threading
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda i: len(hashlib.sha256(b"x" * i).hexdigest()), range(2000))))
print(subprocess.run(["echo", "child"], stdout=subprocess.PIPE).stdout)
condition = threading.Condition()
with condition:
    print(condition.wait(0.05))
"""
NODE = """
const crypto = require("crypto");
let ends = 0;
for (let i = 0; i < 50; i++)
  crypto.pbkdf2("a", "b", 1000, 64, "sha512", (error, key) => {
    if (++ends == 50) require("zlib").gzip(key, (error, packed) => console.log(packed.toString("hex")));
  });
"""
JAVA = """
import java.util.concurrent.*;
public class Work {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    Future<Long>[] parts = new Future[200];
    for (int i = 0; i < parts.length; i++) {
      final int part = i;
      parts[i] = pool.submit(() -> { long sum = 0; for (int k = 0; k < 1000; k++) synchronized (pool) { sum += k * part; } return sum; });
    }
    long sum = 0;
    for (Future<Long> part : parts) sum += part.get();
    pool.shutdown();
    byte[][] garbage = new byte[100][];
    for (int i = 0; i < 3000; i++) garbage[i % 100] = new byte[100000];
    System.gc();
    System.out.println(sum);
  }
}
"""


def commands(folder):
    data = folder / "data"
    data.write_bytes(os.urandom(4_000_000) + (BUILD / "lib/libprof-runtime.so").read_bytes())
    (folder / "Work.java").write_text(JAVA)
    yield ["xz", "-T2", "-1", "-c", data]
    yield ["zstd", "-T2", "-q", "-c", data]
    yield ["sort", "--parallel=2", "-S", "4M", data]
    yield ["/usr/bin/python3", "-c", PYTHON]
    yield ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x+1 from c where x<100000) select sum(x) from c;"]
    yield ["perl", "-e", 'use threads; print $_->join, "\\n" for map { threads->create(sub { my $s = 0; $s += $_ for 1..100000; $s }) } 1..4']
    yield ["ruby", "-e", "q = Queue.new; t = 3.times.map { Thread.new { s = 0; while (x = q.pop) != :end; s += x; end; s } }; "
           "20000.times { |i| q << i }; 3.times { q << :end }; puts t.sum(&:value), `echo child`"]
    yield ["node", "-e", NODE]
    yield ["java", folder / "Work.java"]


def main():
    moved = failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for command in commands(folder):
            command = [str(word) for word in command]
            if not shutil.which(command[0]):
                print(f"{command[0]} is not here")
                continue
            def run(**more):
                return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=100, env={**os.environ, **more})
            bare = run()
            with_all = run(LD_PRELOAD=PRELOAD, MOVE_EVERYTHING_TELLS="1")
            told = re.findall(rb"^moved (\d+)\n", with_all.stderr, re.M)
            moved += sum(map(int, told))
            same = (bare.returncode, bare.stdout) == (with_all.returncode, with_all.stdout)
            failures += not same
            print(f"{command[0]}: {'same' if same else 'DIFFERENT'}, moved {sum(map(int, told))}")
            if not same:
                print(with_all.returncode, with_all.stderr.decode(errors="replace")[-2000:])
    if moved == 0:
        print("no mutex was moved")
    return failures > 0 or moved == 0


if __name__ == "__main__":
    sys.exit(main())
