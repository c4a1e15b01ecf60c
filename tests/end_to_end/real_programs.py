#!/usr/bin/env python3
"""Unmodified programs of the distribution: same output, same status, and a report that names their hot code."""

import hashlib
import re

import driver

LARGE_CPP = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N> struct Chain { static std::map<int, std::vector<std::string>> build() {
  auto m = Chain<N - 1>::build(); m[N].push_back(std::to_string(N));
  std::sort(m[N].begin(), m[N].end()); return m; } };
template <> struct Chain<0> { static std::map<int, std::vector<std::string>> build() { return {}; } };
int main() {
  std::regex word("[a-z]+(_[a-z]+)*");
  std::cout << Chain<60>::build().size() << std::regex_match("some_name", word) << "\\n";
}
"""

PYTHON = """
import json
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
words = {str(i): [i, i * i] for i in range(200_000)}
print(fib(28), len(json.dumps(words)))
raise SystemExit(3)
"""

SQL = """
create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000)
  insert into t select i * 7919 % 1000003, 'row ' || i from n;
create index t_a on t(a);
select count(*), sum(a), max(b) from t where a % 3 = 1;
select b from t order by a limit 5;
"""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class RealPrograms(driver.EndToEnd):
    def check_report(self, run, hot_module, share, processes=None):
        """The hot module has the stated share of the time and stacks are nearly all complete."""
        rows = run.report("flat")["rows"]
        total = run.total("CPUTIME")
        self.assertGreater(total, 0.2)
        inside = sum(row["values"].get("CPUTIME", {}).get("exclusive", 0) for row in rows
                     if re.search(hot_module, row["module"] or ""))
        summary = run.summary()
        stacks = summary["stacks"]
        walked = stacks["complete"] + stacks["partial"] + stacks["broken"]
        hottest = max(rows, key=lambda row: row["values"].get("CPUTIME", {}).get("exclusive", 0))
        print(f"{summary['sampling']['samples']} samples, {total:.2f} s, {100 * inside / total:.0f} % in "
              f"{hot_module}, hottest {hottest['function']}, {100 * stacks['complete'] / walked:.2f} % complete")
        self.assertGreater(inside / total, share)
        self.assertGreater(stacks["complete"] / walked, 0.95, stacks)
        if processes:
            self.assertGreaterEqual(summary["run"]["processes"], processes)

    def test_gcc_compiles_a_large_file_with_its_child_processes(self):
        (self.folder / "large.cpp").write_text(LARGE_CPP)
        command = ["g++", "-O1", "-c", "large.cpp", "-o"]
        plain = self.plain_run([*command, "plain.o"])
        run = self.prof_run([*command, "measured.o"])
        self.assertEqual((run.status, run.stdout), (plain.returncode, plain.stdout), run.stderr)
        self.assertEqual(run.status, 0)
        self.assertEqual(digest(self.folder / "plain.o"), digest(self.folder / "measured.o"))
        # The driver forks the compiler proper and the assembler.
        self.check_report(run, "cc1plus", 0.7, processes=3)

    def test_python_runs_a_script(self):
        command = ["/usr/bin/python3", "-c", PYTHON]
        plain = self.plain_run(command)
        run = self.prof_run(command)
        self.assertEqual((run.status, run.stdout), (3, plain.stdout), run.stderr)
        self.check_report(run, "python3", 0.7)

    def test_xz_compresses_with_two_threads(self):
        text = self.folder / "text"
        with open(text, "w") as out:
            out.writelines(f"{i} {i * 2654435761 % 4294967296:x}\n" for i in range(600_000))
        command = ["sh", "-c", "exec xz -T2 --block-size=4MiB -4 -c text"]
        plain = self.plain_run(command)
        run = self.prof_run(command)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(hashlib.sha256(run.stdout).digest(), hashlib.sha256(plain.stdout).digest())
        self.check_report(run, "liblzma", 0.8)
        self.assertGreaterEqual(run.summary()["run"]["threads"], 3)

    def test_sqlite_runs_a_million_row_script(self):
        (self.folder / "script.sql").write_text(SQL)
        command = ["sqlite3", ":memory:", ".read script.sql"]
        plain = self.plain_run(command)
        run = self.prof_run(command)
        self.assertEqual((run.status, run.stdout), (0, plain.stdout), run.stderr)
        self.check_report(run, "libsqlite3", 0.7)

    def test_openssl_measures_its_speed(self):
        command = ["openssl", "speed", "-seconds", "1", "-bytes", "8192", "sha256"]
        plain = self.plain_run(command)
        run = self.prof_run(command)
        self.assertEqual(run.status, plain.returncode, run.stderr)

        def without_numbers(text):
            return re.sub(rb"\s*[0-9.]+k?", b" N", text)

        self.assertEqual(without_numbers(run.stdout), without_numbers(plain.stdout))
        self.check_report(run, "libcrypto", 0.9)


driver.main()
