#!/usr/bin/env python3
"""Code that a runtime generates has the names that the runtime records, also after it has ended."""

import glob
import pathlib
import re
import shutil
import subprocess
import unittest

import driver

SCRIPT_JS = """
function leaf(n) { let s = 0; for (let i = 0; i < n; ++i) s = (s * 31 + i) % 1000003; return s; }
function middle(n) { let s = 0; for (let i = 0; i < n; ++i) s += leaf(20000); return s; }
console.log(middle(3000));
"""

SCRIPT_PY = """
def leaf(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s


def middle(n):
    s = 0
    for _ in range(n):
        s += leaf(2000)
    return s


print(middle(2000))
"""

PROGRAM_JAVA = """
public class Names {
  static int leaf(int n) { int s = 0; for (int i = 0; i < n; ++i) s = (s * 31 + i) % 1000003; return s; }
  static int middle(int n) { int s = 0; for (int i = 0; i < n; ++i) s += leaf(20000); return s; }
  public static void main(String[] arguments) { System.out.println(middle(5000)); }
}
"""

SCRIPT_LUA = """
local s = 0
for i = 1, 200000000 do s = (s * 31 + i) % 1000003 end
print(s)
"""


def pythons_with_trampolines():
    """Returns interpreters that provide function names to profilers: 3.12 and later."""
    candidates = [shutil.which(f"python3.{minor}") for minor in range(12, 20)]
    candidates += sorted(glob.glob(str(pathlib.Path.home() / ".pyenv/versions/3.1[2-9].*/bin/python3")))
    return [path for path in candidates if path and subprocess.run(
        [path, "-X", "perf", "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())"],
        stderr=subprocess.DEVNULL).returncode == 0]


class Interpreters(driver.EndToEnd):
    def measured(self, command):
        """Returns the run of a program that prints the same as without prof."""
        plain = self.plain_run(command)
        run = self.prof_run(command)
        self.assertEqual((run.status, run.stdout), (plain.returncode, plain.stdout), run.stderr)
        return run

    def paths(self, run):
        """Returns every call path, outermost function first, with its CPU time."""
        rows = {row["id"]: row for row in run.report("top-down")["rows"]}
        for row in rows.values():
            path, at = [], row
            while at:
                path.insert(0, at["function"])
                at = rows.get(at["parent"])
            yield path, row["values"].get("CPUTIME", {}).get("exclusive", 0)

    def share_under(self, run, *functions):
        """Returns the share of CPU time whose call path has functions with these names, in this order."""
        inside = total = 0
        for path, cost in self.paths(run):
            names = iter(path)
            total += cost
            inside += cost * all(any(re.search(wanted, name) for name in names) for wanted in functions)
        return inside / total

    def complete(self, run):
        stacks = run.summary()["stacks"]
        return stacks["complete"] / (stacks["complete"] + stacks["partial"] + stacks["broken"])

    def forget_tmp(self, run):
        """Acts like another machine, or one whose /tmp was cleaned: the runtime's file is gone, the copy is not."""
        kept = list(run.directory.glob("*.map"))
        self.assertEqual(len(kept), 1)
        pid = kept[0].stem.split("-")[-1]
        pathlib.Path(f"/tmp/perf-{pid}.map").unlink()
        subprocess.run([str(driver.PROF), "analyze", str(run.directory)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_functions_of_node_are_named_and_stay_named(self):
        (self.folder / "script.js").write_text(SCRIPT_JS)
        run = self.measured(["node", "--perf-basic-prof", "script.js"])
        self.forget_tmp(run)
        # Its compiler inlines one function into the other.
        self.assertGreater(self.share_under(run, r"\b(middle|leaf)\b.*script\.js"), 0.5)
        self.assertGreater(self.complete(run), 0.9)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_code_that_nobody_named_is_called_jit(self):
        (self.folder / "script.js").write_text(SCRIPT_JS)
        run = self.measured(["node", "script.js"])
        self.assertGreater(self.share_under(run, r"^\[jit\]$"), 0.5)

    @unittest.skipUnless(shutil.which("javac"), "no Java development kit is installed")
    def test_methods_of_java_are_named_with_their_callers(self):
        (self.folder / "Names.java").write_text(PROGRAM_JAVA)
        subprocess.run(["javac", "Names.java"], cwd=self.folder, check=True)
        run = self.measured(["java", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
                             "-XX:+PreserveFramePointer", "Names"])
        self.forget_tmp(run)
        self.assertGreater(self.share_under(run, r"Names\.(middle|leaf)|Interpreter"), 0.4)
        self.assertGreater(self.complete(run), 0.9)

    def test_functions_of_python_are_named_with_their_callers(self):
        pythons = pythons_with_trampolines()
        if not pythons:
            self.skipTest("no Python of 3.12 or younger with perf trampolines is installed")
        (self.folder / "script.py").write_text(SCRIPT_PY)
        for python in pythons:
            run = self.measured([python, "-X", "perf", "script.py"])
            self.forget_tmp(run)
            self.assertGreater(self.share_under(run, "py::middle:", "py::leaf:"), 0.7, python)
            self.assertGreater(self.complete(run), 0.99, python)

    @unittest.skipUnless(shutil.which("luajit"), "luajit is not installed")
    def test_a_compiler_without_frame_pointers_leaves_partial_stacks_that_say_so(self):
        (self.folder / "script.lua").write_text(SCRIPT_LUA)
        run = self.measured(["luajit", "script.lua"])
        stacks = run.summary()["stacks"]
        self.assertGreater(stacks["reasons"].get("generated_code", 0), stacks["partial"] / 2)
        self.assertEqual(stacks["broken"], 0, stacks)
        self.assertGreater(self.share_under(run, r"^\[jit\]$"), 0.5)


driver.main()
