#!/usr/bin/env python3
"""Every test with the label "chance" says in its docstring, or the comment at its beginning, what varies, which probability of a false
failure it accepts, and why not less: a paragraph "Chance: ... Accepted: NUMBER ... Not less, because ...".

Labels are read from the files that CMake writes for ctest. `ctest --show-only` inside of a test would overwrite the log of the ctest
that runs it.
"""

import ast
import os
import pathlib
import re
import sys

SUBFOLDER = re.compile(r'^subdirs\("?([^")]+)"?\)', re.M)
NAME = r'(?:\[=*\[(?P<bracketed>.+?)\]=*\]|"?(?P<plain>[^\s"]+)"?)'
TEST = re.compile(rf'^add_test\({NAME} "(?P<command>[^"]+)"', re.M)
LABELS = re.compile(rf'^set_tests_properties\({NAME} PROPERTIES .*? ?LABELS "(?P<labels>[^"]*)"', re.M)
NEEDED = {"Accepted: NUMBER": re.compile(r"Accepted\b[^:]*: [\d.]+"), "Not less, because": re.compile("Not less, because")}


def tests_with_label(folder, label):
    """Yields (name, command) of the tests of a build folder, and of those below it."""
    file = folder / "CTestTestfile.cmake"
    text = file.read_text() if file.exists() else ""  # not every folder has tests
    commands = {match["bracketed"] or match["plain"]: match["command"] for match in TEST.finditer(text)}
    for match in LABELS.finditer(text):
        if label in match["labels"].split(";"):
            name = match["bracketed"] or match["plain"]
            yield name, commands[name]
    for below in SUBFOLDER.findall(text):
        yield from tests_with_label(folder / below, label)


def description(text):
    """Returns the docstring of a Python script, or the comment at the beginning of another one."""
    if "python" in text.partition("\n")[0]:
        return ast.get_docstring(ast.parse(text)) or ""
    lines = []
    for line in text.splitlines()[1:]:
        if not line.startswith("#"):
            break
        lines.append(line[1:].removeprefix(" "))
    return "\n".join(lines)


def lacks(text):
    """Returns what the script does not state; empty if nothing is missing."""
    stated = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", description(text))]
    stated = [paragraph for paragraph in stated if paragraph.startswith("Chance: ")]
    if len(stated) != 1:
        return f"{len(stated)} paragraphs begin with \"Chance:\""
    return ", ".join(f"no \"{name}\"" for name, pattern in NEEDED.items() if not pattern.search(stated[0]))


def check_self():
    whole = "Chance: threads. Accepted: 1e-6 a run. Not less, because."
    for text, is_right in ((f'#!/usr/bin/python3\n"""About.\n\n{whole}"""\n', True), (f"#!/bin/bash\n# About.\n#\n# {whole}\nexec x\n", True),
                           (f'#!/usr/bin/python3\n"""About."""\n# {whole}\n', False), (f"#!/bin/bash\nexec x\n# {whole}\n", False),
                           (f'#!/usr/bin/python3\n"""About.\n\n{whole.replace("1e-6", "little")}"""\n', False)):
        assert (lacks(text) == "") == is_right, text


def main():
    check_self()
    tests = sorted(tests_with_label(pathlib.Path(os.environ["PROF_BUILD"]), "chance"))
    failures = 0
    for name, command in tests:
        try:
            wrong = lacks(pathlib.Path(command).read_text())
        except UnicodeDecodeError:
            wrong = "not a script: give it one that states its probability"
        if wrong:
            failures += 1
            print(f"{name} ({command}): {wrong}")
    print(f"{len(tests)} tests of chance, {failures} failures")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
