#!/usr/bin/env python3
"""docs/troubleshooting.md has every message that prof and the runtime can print.

Messages are the texts in the sources that are handed to fail(), say(), remark(), warn(), an exception or a list of
warnings. The page quotes each as it stands there up to the first value, "{}" or "%s": what a user sees of it can be
searched for. Without arguments the page is checked; with --list the messages are printed.
"""

import os
import pathlib
import re
import sys

FOLDERS = ("prof", "analysis", "hpcrun", "repair", "viewer")
# What takes a message: a function, an exception, or a list of warnings.
SPEAKERS = re.compile(
    r"\b(fail|say|say_line|remark|remark_line|warn|refuse|refuse_file|corrupt|damaged|invalid|unreadable|fail_at|"
    r"throw\s+\w*Error|\w*Error|warnings?_?(?:->|\.)(?:push_back|emplace_back)|add_warning|warning)\s*[({]")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
VALUE = re.compile(r"\{[^}]*\}|%[-#0-9.*]*l{0,2}[sdiuxzc]")
# Sources of which every sentence is a message: they hand their texts on, or keep them in tables.
WHOLE = {"analysis/attribution/attribution.cpp", "analysis/attribution/perf_map.cpp",
         "analysis/disassembly/disassembly.cpp", "analysis/disassembly/machine_code.cpp", "analysis/views/run_summary.cpp",
         "hpcrun/measurement/read_extents.cpp", "hpcrun/measurement/read_threads.cpp",
         "hpcrun/measurement/reader.cpp", "hpcrun/sample/sources.cpp", "prof/command_line/misuse.cpp",
         "prof/report/choice.h"}
LEAST_WORDS = 3  # fewer are parts of a sentence, names or units


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: " " * len(match.group()), text, flags=re.S)


def end_of_call(text, start):
    """The position behind the parenthesis that closes the one at `start`."""
    depth, at = 0, start
    while at < len(text):
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        depth += text[at] in "({"
        depth -= text[at] in ")}"
        at += 1
        if depth == 0:
            return at
    return at


def literals(call):
    """The texts of a call, with those that only a line break parts put together."""
    texts, last = [], None
    for match in LITERAL.finditer(call):
        if last is not None and not call[last:match.start()].strip():
            texts[-1] += match.group(1)
        else:
            texts.append(match.group(1))
        last = match.end()
    return texts


def messages(source):
    """{message: file} of all texts that are sentences."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h") or not path.is_file():
                continue
            text = without_comments(path.read_text())
            name = path.relative_to(source).as_posix()
            calls = [text[speaker.end() - 1:end_of_call(text, speaker.end() - 1)]
                     for speaker in SPEAKERS.finditer(text)]
            for call in [text] if name in WHOLE else calls:
                for literal in literals(call):
                    literal = literal.replace('\\"', '"').replace("\\n", " ").strip()
                    if len(VALUE.sub(" ", literal).split()) >= LEAST_WORDS:
                        found.setdefault(literal, name)
    return found


def pieces(message):
    """What of a message is the same whenever it is printed."""
    return [piece.strip(" ;:,") for piece in VALUE.split(message) if len(piece.split()) >= 2]


def normal(text):
    return " ".join(text.replace("`", "").replace("*", "").replace("\\|", "|").split())


def missing(source, page):
    text = normal(page)
    return {message: path for message, path in messages(source).items()
            if not all(normal(piece) in text for piece in pieces(message))}


def main():
    source = pathlib.Path(os.environ.get("PROF_SOURCE", ".")).resolve()
    if "--list" in sys.argv:
        for message, path in messages(source).items():
            print(f"{path}: {message}")
        return 0
    page = (source / "docs/troubleshooting.md").read_text()
    if not missing(source, page.replace("raised privileges", "")):
        print("a message that was taken from the page was not missed")
        return 1
    absent = missing(source, page)
    for message, path in absent.items():
        print(f"{path}: not in docs/troubleshooting.md: {message}")
    print(f"{len(messages(source))} messages, {len(absent)} of them not on the page")
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
