#!/usr/bin/env python3
"""Every command in the documentation works: the ```sh blocks of README.md and docs/ are run.

A block runs as one bash script (set -e) in a temporary folder that holds `build` and the sources under their
usual names, with the built commands first in PATH. A block that cannot run in a test follows a line
`<!-- not run: <reason> -->`, which readers do not see; it is checked for syntax. The same block on two pages
runs once. ```console blocks show output and are not run.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)\s*$")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
BLOCK_TIMEOUT_S = 120


def shell_blocks(text):
    """Returns (line, text, reason why it is not run or None) of each ```sh block of a page."""
    blocks, language, lines, start = [], None, [], 0
    reason = before = None
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if match and language is None:
            language, lines, start = match.group(1) or "text", [], number
            mark = NOT_RUN.match(before or "")
            reason = mark.group(1) if mark else None
        elif match:
            if language == "sh":
                blocks.append((start, "\n".join(lines) + "\n", reason))
            language = None
        else:
            lines.append(line)
        before = line
    return blocks


def check_syntax(text):
    """Returns None, or the error."""
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    return done.stderr if done.returncode else None


def run_block(text, source, build):
    """Returns None, or the error."""
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for entry in source.iterdir():
            if entry.name not in ("build", ".git"):
                (folder / entry.name).symlink_to(entry)
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(build)
        environment = {**os.environ, "PATH": f"{build}/bin:{build}/samples:{os.environ['PATH']}"}
        try:
            done = subprocess.run(["bash", "-e"], input=text, text=True, cwd=folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=BLOCK_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"still running after {BLOCK_TIMEOUT_S} s"
        return f"exit status {done.returncode}\n{done.stdout[-2000:]}" if done.returncode else None


def main():
    source = pathlib.Path(os.environ["PROF_SOURCE"]).resolve()
    build = pathlib.Path(os.environ["PROF_BUILD"]).resolve()
    failures = run = skipped = 0
    blocks_run = {}  # text: where it stands first
    marked = shell_blocks("<!-- not run: it fails -->\n```sh\nfalse\n```\n\n```sh\nfalse\n```\n")
    if marked != [(2, "false\n", "it fails"), (6, "false\n", None)] or run_block("false\n", source, build) is None or check_syntax("if\n") is None:
        print("a block that fails was taken for one that works")
        return 1
    for page in [source / "README.md", *sorted((source / "docs").glob("**/*.md"))]:
        for line, text, reason in shell_blocks(page.read_text()):
            where = f"{page.relative_to(source)}:{line}"
            if reason:
                skipped += 1
                wrong = check_syntax(text)
                print(f"{where}: not run: {reason}")
            elif text in blocks_run:
                wrong = None
                print(f"{where}: the same block as {blocks_run[text]}")
            else:
                run += 1
                blocks_run[text] = where
                wrong = run_block(text, source, build)
            if wrong:
                failures += 1
                print(f"{where}: {wrong}")
    print(f"{run} blocks run, {skipped} not run, {failures} failures")
    return 1 if failures or not run else 0


if __name__ == "__main__":
    sys.exit(main())
