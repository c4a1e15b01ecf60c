#!/usr/bin/env python3
"""Help texts, manual pages, completion scripts and the pages of docs/ name every subcommand and option, and shells
complete them correctly."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
import driver

SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
SHARE = driver.BUILD / "share"
BASH = """
source {script}
complete_line() {{
  COMP_LINE=$1 COMP_POINT=${{#1}} COMP_WORDS=($1) COMPREPLY=()
  _prof
  printf '%s\\n' "${{COMPREPLY[@]}}"
}}
complete_line '{line}'
"""
# Types the line into an interactive shell on a separate terminal, followed by a tab.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=READY; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source {script}; zstyle ':completion:*' list-rows-first true; LISTMAX=1000"
sleep 0.2
zpty -w -n shell $'{line}\\t'
typeset -i turns=0
output=
while (( turns++ < 300 )) && [[ $output != *{word}* ]]; do
  if zpty -r -t shell chunk; then output+=$chunk; else sleep 0.1; fi
done
print -r -- $output
zpty -d shell
"""


def prof(*arguments):
    return subprocess.run([str(driver.PROF), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def commands():
    described = json.loads(prof("help", "--format=json"))
    assert described["schema"] == "prof-help/1"
    return described["commands"]


def environment():
    return {**os.environ, "PATH": f"{driver.BUILD}/bin:{os.environ['PATH']}"}


class Help(driver.EndToEnd):
    def test_help_texts(self):
        for command in commands():
            words = command["command"].split()[1:]
            text = prof(*words, "--help")
            self.assertEqual(text, prof("help", *words) , words)
            self.assertIn("Examples:", text)
            for option in command["options"]:
                for name in option["names"]:
                    self.assertIn(name, text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 120, line)

    def test_manual_pages(self):
        for command in commands():
            page = SHARE / "man/man1" / (command["command"].replace(" ", "-") + ".1")
            text = page.read_text().replace("\\-", "-")
            for option in command["options"]:
                self.assertIn(option["names"][-1], text)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-ww", "-z", str(page)], stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_pages_of_the_documentation_name_every_option(self):
        for command in commands():
            text = (SOURCE / command["page"]).read_text()
            if command["page"] == "README.md":
                continue
            for option in command["options"]:
                name = option["names"][-1]
                if name not in ("--help", "--help-all"):
                    self.assertIn(name, text, f"{command['page']} does not say what {name} of {command['command']} does")

    def test_examples_are_accepted(self):
        """Every example of the help texts runs, in a folder with the files that it uses."""
        (self.folder / "app").symlink_to(driver.sample("hot_loop"))
        for name in ("prof-app", "prof-app-2"):
            self.prof_run(["./app"], directory=self.folder / name, options=["--no-analyze"])
        for name in ("base-1", "base-2", "head-1", "head-2"):
            self.prof_run(["./app", "20000"], directory=self.folder / name, options=["--no-analyze"])
        prof("export", str(self.folder / "prof-app"), "--format=collapsed", "-o", str(self.folder / "stacks.txt"))
        prof("export", str(self.folder / "prof-app"), "--format=pprof", "-o", str(self.folder / "cpu.pb.gz"))
        for source in ("app.c", "app.cpp"):
            (self.folder / source).write_text("int main(void) { return 0; }\n")
        needs_more = ("perf.data", "attach", "pause", "resume", "4711", "otf2", "--view=stalls", "mpirun")
        if not (shutil.which("clang-14") and (driver.BUILD / "lib/prof-regions.so").exists()):
            needs_more += ("prof cc", "prof c++")
        count = 0
        for command in commands():
            for example in command["examples"]:
                line = example["command"]
                if any(word in line for word in needs_more):
                    continue
                count += 1
                if "run -o prof-app " in line:
                    shutil.rmtree(self.folder / "prof-app")
                with self.subTest(line):
                    done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=environment(),
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        self.assertGreater(count, 15)


class Completion(driver.EndToEnd):
    def bash(self, line):
        script = SHARE / "bash-completion/completions/prof"
        done = subprocess.run(["bash", "--norc", "-c", BASH.format(script=script, line=line)], cwd=self.folder,
                              env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        return set(done.stdout.split())

    def test_bash(self):
        self.assertIn("report", self.bash("prof re"))
        self.assertNotIn("run", self.bash("prof re"))
        self.assertEqual(self.bash("prof list "), {"events", "metrics", "formats", "repairs"})
        self.assertEqual(self.bash("prof report --vi"), {"--view="})
        # A value that may be left out is not a separate word.
        self.assertEqual(self.bash("prof run --repa"), {"--repair"})
        self.assertEqual(self.bash("prof run --repair=la"), {"layout", "layout,locks"})
        self.assertEqual(self.bash("prof report --view="),
                         {"summary", "top-down", "bottom-up", "flat", "lines", "stalls", "devices", "idleness",
                          "contention", "memory-waste", "locks", "ranks"})
        self.assertEqual(self.bash("prof report --view=b"), {"bottom-up"})
        self.assertEqual(self.bash("prof report --view t"), {"top-down"})
        self.assertIn("pprof", self.bash("prof export x --format="))
        self.assertEqual(self.bash("prof run -e CPU"), {"CPUTIME"})
        self.assertEqual(self.bash("prof diff a b --by="), {"function", "path", "line"})
        self.assertEqual(self.bash("prof completion f"), {"fish"})
        (self.folder / "prof-app").mkdir()
        (self.folder / "prof-file").touch()
        self.assertEqual(self.bash("prof report prof-"), {"prof-app"})
        self.assertEqual(self.bash("prof report -q prof-"), {"prof-app"})
        self.assertEqual(self.bash("prof diff --before prof-"), {"prof-app"})
        self.assertEqual(self.bash("prof diff prof-"), {"prof-app"})
        self.assertIn("prof-file", self.bash("prof run ./x prof-"))
        self.assertIn("prof-file", self.bash("prof run --repair prof-"))

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        script = SHARE / "fish/vendor_completions.d/prof.fish"

        def fish(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                                  cwd=self.folder, env=environment(), stdout=subprocess.PIPE, text=True, timeout=60)
            return {entry.split("\t")[0] for entry in done.stdout.splitlines()}

        self.assertIn("report", fish("prof re"))
        self.assertEqual(fish("prof list "), {"events", "metrics", "formats", "repairs"})
        self.assertIn("--view", fish("prof report --v"))
        self.assertIn("--view=bottom-up", fish("prof report --view=b"))
        self.assertIn("CPUTIME", fish("prof run -e C"))

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        script = SHARE / "zsh/site-functions/_prof"

        def zsh(line, word):
            done = subprocess.run(["zsh", "-f", "-c", ZSH.format(script=script, line=line, word=word)],
                                  cwd=self.folder, env={**environment(), "TERM": "xterm"}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=100)
            self.assertIn(word, done.stdout.decode(errors="replace"))

        zsh("prof list ", "repairs")
        zsh("prof report --view=b", "bottom-up")
        zsh("prof run -e CPU", "CPUTIME")


driver.main()
