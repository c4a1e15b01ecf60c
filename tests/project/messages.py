#!/usr/bin/env python3
"""docs/troubleshooting.md quotes messages that prof prints.

Each message in a table of the page whose first column is headed "message" occurs in the sources: its words between the
values, which the page writes as "…", stand in the texts of one source file. A text in the sources that names the page
has an entry there. A page and heading that a text names exist.
"""

import os
import pathlib
import re
import sys

FOLDERS = ("prof", "analysis", "hpcrun", "repair", "viewer")
PAGE = "docs/troubleshooting.md"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
VALUE = re.compile(r"\{[^{}]*\}|%[-#0-9.*]*l{0,2}[sdiuxzc]")
DOCUMENT = re.compile(r"docs/([\w-]+)\.md(?:#([\w-]+))?")
MIN_PIECE_WORDS = 2  # a single word between two values is found everywhere


def without_comments(text):
    return COMMENT_OR_LITERAL.sub(lambda match: match.group() if match.group()[0] == '"' else " ", text)


def literals(text):
    """Returns the string literals of a source; those separated only by white space are joined."""
    texts, last = [], None
    for match in LITERAL.finditer(text):
        if last is not None and not text[last:match.start()].strip():
            texts[-1] += match.group(1)
        else:
            texts.append(match.group(1))
        last = match.end()
    return texts


def normal(text):
    """Returns the text without markup, its values as "…"."""
    text = text.replace('\\"', '"').replace("\\n", " ").replace("\\|", "|").replace("`", "").replace("*", "")
    return " ".join(VALUE.sub("…", text).split())


def source_texts(source):
    """Returns {file: its string literals}."""
    texts = {}
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".c") and path.is_file():
                texts[path.relative_to(source).as_posix()] = [
                    normal(literal) for literal in literals(without_comments(path.read_text()))]
    return texts


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def quoted_messages(page):
    """Returns (line, message) of each row of the page's tables of messages."""
    found, in_table = [], False
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|"):
            in_table = False
        elif cells(line)[0] == "message":
            in_table = True
        elif in_table and not set(line) <= set("|-: "):
            found.append((number, cells(line)[0]))
    return found


def pieces(message):
    """Returns the words of a message that are the same whenever it is printed."""
    all_pieces = [piece.strip(" ;:,.") for piece in normal(message).split("…")]
    long = [piece for piece in all_pieces if len(piece.split()) >= MIN_PIECE_WORDS]
    return long or [piece for piece in all_pieces if piece]


def is_printed(message, joined):
    """True if one file has all words of the message."""
    return any(all(piece in text for piece in pieces(message)) for text in joined)


def anchors(page):
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
            for heading in re.findall(r"^#+ (.+)$", page, re.M)}


def wrong_documents(text, source):
    """Returns the pages and headings named in a text that do not exist."""
    wrong = []
    for match in DOCUMENT.finditer(text):
        path = source / f"docs/{match.group(1)}.md"
        if not path.is_file() or (match.group(2) and match.group(2) not in anchors(path.read_text())):
            wrong.append(match.group())
    return wrong


def has_entry(text, messages):
    return any(all(piece in text for piece in pieces(message)) for message in messages)


def problems(page, texts, source):
    joined = ["\n".join(literals) for literals in texts.values()]
    messages = quoted_messages(page)
    for line, message in messages:
        if not is_printed(message, joined):
            yield f"{PAGE}:{line}: not printed by prof: {message}"
    for path, literals in texts.items():
        for literal in literals:
            for name in wrong_documents(literal, source):
                yield f"{path}: {name} does not exist: {literal}"
            if PAGE in literal and not has_entry(literal, [message for _, message in messages]):
                yield f"{path}: names {PAGE}, which has no entry for it: {literal}"


def check_the_check(source):
    """True if messages that no source prints and links that lead nowhere are found."""
    page = "| message | cause |\n| --- | --- |\n| cannot open … at noon | none |\n"
    texts = {"a.cpp": ["cannot open …", f"see {PAGE}", "docs/no-such-page.md", "docs/hacking.md#no-such-heading"]}
    printed = {"a.cpp": ["cannot open … at noon; see " + PAGE]}
    return len(list(problems(page, texts, source))) == 4 and not list(problems(page, printed, source))


def main():
    source = pathlib.Path(os.environ.get("PROF_SOURCE", ".")).resolve()
    if not check_the_check(source):
        print("a message that is not printed, or a link that leads nowhere, was not found")
        return 1
    page = (source / PAGE).read_text()
    found = list(problems(page, source_texts(source), source))
    print("\n".join(found + [f"{len(quoted_messages(page))} messages, {len(found)} problems"]))
    return 1 if found or not quoted_messages(page) else 0


if __name__ == "__main__":
    sys.exit(main())
