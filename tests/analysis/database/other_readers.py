#!/usr/bin/python3
"""Databases that prof wrote, opened by readers that share no code with our writer: Hatchet (summary profile and,
through cct.db, single threads), PyYAML, and a parser of trace.db and of the transposed values, written here from the
format's description. Their results must equal those of our reader."""

import filecmp
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["PROF_SOURCE"])
TOOLS = pathlib.Path(os.environ["PROF_BUILD"]) / "tests"
REQUIREMENTS = SOURCE / "tests/analysis/database/requirements.txt"
VENV = SOURCE / "build/venv"
SAMPLE = SOURCE / "../shared/data/hpctoolkit-v4-sample"


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def enter_environment():
    """Continues in build/venv, which is created here if tools/setup has not done so."""
    if os.environ.get("PROF_IN_VENV"):
        return
    stamp = VENV / "requirements.txt"
    if not stamp.exists() or not filecmp.cmp(REQUIREMENTS, stamp, shallow=False):
        pip = [VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]
        made = subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", VENV])
        if made.returncode != 0 or subprocess.run(pip).returncode != 0:
            skip("Hatchet cannot be installed; tools/setup does it where the Python package index can be reached")
        shutil.copy(REQUIREMENTS, stamp)
    python = VENV / "bin/python"
    os.execve(python, [python, __file__], {**os.environ, "PROF_IN_VENV": "1"})


enter_environment()

import hatchet  # noqa: E402
import yaml  # noqa: E402


def close(a, b):
    return abs(a - b) <= 1e-12 * max(1.0, abs(a), abs(b))


def hatchet_name(context):
    """Returns Hatchet's name for a node: it truncates function names at the first of a few separators."""
    kind = context["kind"]
    if kind == "entry":
        return "entry"
    if kind == "instruction":
        return f"{context['module']}:{context['offset']}"
    if kind == "function":
        name = context["function"]
        for separator in [" [", ".", "@", "(", "<"]:
            if separator in name and not name.startswith(separator):
                name = name[: name.index(separator)]
        return "function: " + name
    path = context["file"]
    return f"{kind} {path[3:] if path.startswith('src') else path}:{context['line']}"


def expected_nodes(dump):
    """Returns {context: names from the root} for what Hatchet reads: the tree of the main thread."""
    paths = {}
    for index, context in enumerate(dump["contexts"]):
        if context["kind"] == "entry":
            if context["entry"] == "main thread":
                paths[index] = ("entry",)
        elif context["parent"] in paths:
            paths[index] = paths[context["parent"]] + (hatchet_name(context),)
    return paths


def rows(frame, column):
    """Returns the values of a column by the path of names to the node; NaN, which is not a value, as 0."""
    found = []
    for index, row in frame.dataframe.iterrows():
        node = index[0] if isinstance(index, tuple) else index
        path = tuple(step.frame["name"] for step in node.path())
        value = row[column] if column in row else 0.0
        found.append((path, 0.0 if value != value else value))
    return sorted(found)


def compare(what, found, expected):
    assert [path for path, _ in found] == [path for path, _ in expected], f"{what}: other names"
    for (path, a), (_, b) in zip(found, expected):
        assert close(a, b), f"{what} at {path}: {a}, we read {b}"


def check_summaries(directory, dump):
    frame = hatchet.GraphFrame.from_hpctoolkit_latest(str(directory), summary_metrics=["sum", "min", "max"])
    paths = expected_nodes(dump)
    values = {s["context"]: s for s in dump["summaries"] if s["metric"] == "CPUTIME"}
    for statistic, suffix in [("sum", ""), ("min", ":min"), ("max", ":max")]:
        for scope, ending in [("execution", " (inc)"), ("function", "")]:
            column = f"time{suffix}{ending}"
            if column not in frame.dataframe.columns:
                assert SAMPLE.exists() and suffix, f"Hatchet finds no {column}"
                continue
            expected = [(path, values[c][statistic][scope] if c in values else 0.0) for c, path in paths.items()]
            compare(column, rows(frame, column), sorted(expected))
    root = max(value for _, value in rows(frame, "time (inc)"))
    print(f"{directory.name}: Hatchet finds {len(paths)} contexts, {root:.6f} s at the root, as we do")
    return len(paths), root


def check_threads(directory, dump):
    """Checks single profiles, which Hatchet reads from cct.db. Our reader does not read that file at all."""
    frame = hatchet.GraphFrame.from_hpctoolkit_latest(str(directory), parallel_profiles_mode=True)
    paths = expected_nodes(dump)
    found = {}
    for (node, profile), row in frame.dataframe.iterrows():
        for column, scope in [("time (inc)", "execution"), ("time", "function")]:
            value = row[column]
            if value == value and value != 0:
                found[(tuple(s.frame["name"] for s in node.path()), profile - 1, scope)] = value
    expected = {}
    for index, profile in enumerate(dump["profiles"]):
        for value in profile["values"]:
            if value["metric"] == "CPUTIME" and value["context"] in paths:
                for scope in ["execution", "function"]:
                    if value[scope] != 0:
                        expected[(paths[value["context"]], index, scope)] = value[scope]
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    assert all(close(found[key], expected[key]) for key in found)
    print(f"{directory.name}: Hatchet finds {len(found)} values of single threads in cct.db, as we do")


def header(data, tag, footer):
    assert data[:10] == b"HPCTOOLKIT" and data[10:14] == tag and data[14:16] == b"\4\0", data[:16]
    assert data[-8:] == footer, data[-8:]


def check_trace(directory, dump):
    data = (directory / "trace.db").read_bytes()
    header(data, b"trce", b"trace.db")
    size, section = struct.unpack_from("<QQ", data, 0x10)
    traces, count, stride, first, last = struct.unpack_from("<QIB3xQQ", data, section)
    assert section % 8 == 0 and traces % 8 == 0 and stride >= 24
    assert section <= traces and traces + count * stride <= section + size, "headers outside of their section"
    found, times = {}, []
    for i in range(count):
        profile, start, end = struct.unpack_from("<I4xQQ", data, traces + i * stride)
        assert start % 8 == 0 and (end - start) % 12 == 0
        assert end <= section or start >= section + size, "a trace inside of the section"
        records = [struct.unpack_from("<QI", data, at) for at in range(start, end, 12)]
        assert records == sorted(records, key=lambda record: record[0]), "a trace is not sorted"
        idle = [context == 0 for _, context in records]
        assert not any(a and b for a, b in zip(idle, idle[1:])), "two idle records in a row"
        times += [time for time, _ in records]
        found[profile] = [[time, context - 1 if context else None] for time, context in records]
    assert (first, last) == (min(times), max(times)), "range of times"
    expected = {i + 1: p["trace"] for i, p in enumerate(dump["profiles"]) if p["trace"]}
    assert found == expected
    print(f"{directory.name}: trace.db holds {sum(map(len, found.values()))} records where the format wants them")


def profile_values(data):
    """Returns {(profile, context, metric): value} of profile.db, without the summary."""
    header(data, b"prof", b"_prof.db")
    section = struct.unpack_from("<Q", data, 0x18)[0]
    profiles, count, stride = struct.unpack_from("<QIB", data, section)
    result = {}
    for i in range(count):
        n, values, contexts, indices, _, flags = struct.unpack_from("<QQI4xQQI", data, profiles + i * stride)
        assert (flags & 1) == (i == 0), "the summary comes first"
        index = [struct.unpack_from("<IQ", data, indices + 12 * k) for k in range(contexts)]
        assert index == sorted(index)
        for (context, start), (_, end) in zip(index, index[1:] + [(0, n)]):
            metrics = [struct.unpack_from("<Hd", data, values + 10 * k) for k in range(start, end)]
            assert metrics and [m for m, _ in metrics] == sorted({m for m, _ in metrics})
            if i > 0:
                result.update({(i, context, metric): value for metric, value in metrics})
    return result


def context_values(data):
    """Returns the same for cct.db."""
    header(data, b"ctxt", b"__ctx.db")
    section = struct.unpack_from("<Q", data, 0x18)[0]
    contexts, count, stride = struct.unpack_from("<QIB", data, section)
    result = {}
    for context in range(count):
        n, values, metrics, indices = struct.unpack_from("<QQH6xQ", data, contexts + context * stride)
        index = [struct.unpack_from("<HQ", data, indices + 10 * k) for k in range(metrics)]
        assert index == sorted(index)
        for (metric, start), (_, end) in zip(index, index[1:] + [(0, n)]):
            for k in range(start, end):
                profile, value = struct.unpack_from("<Id", data, values + 12 * k)
                result[(profile, context, metric)] = value
    return result


def check_transposition(directory):
    by_profile = profile_values((directory / "profile.db").read_bytes())
    by_context = context_values((directory / "cct.db").read_bytes())
    assert by_profile == by_context, "cct.db and profile.db differ"
    print(f"{directory.name}: profile.db and cct.db hold the same {len(by_profile)} values")


def check_taxonomy(directory, metrics):
    taxonomy = yaml.safe_load((directory / "metrics/default.yaml").read_text())
    assert taxonomy["version"] == 0
    assert [root["name"] for root in taxonomy["roots"]] == metrics
    for root in taxonomy["roots"]:
        assert list(root["variants"]) == ["Sum", "Mean", "StdDev", "Min", "Max"]
        inclusive = root["variants"]["Sum"]["formula"]["inclusive"]["standard"]
        assert inclusive == {"metric": root["name"], "scope": "execution", "formula": "$$", "combine": "sum"}
    print(f"{directory.name}: metrics/default.yaml resolves for {', '.join(metrics)}")


def dump_of(directory):
    return json.loads(subprocess.run([TOOLS / "dump_database", directory], check=True, capture_output=True).stdout)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch) / "known"
        subprocess.run([TOOLS / "make_database", database], check=True)
        dump = dump_of(database)
        assert check_summaries(database, dump) == (10, 4.5)
        check_threads(database, dump)
        check_trace(database, dump)
        check_transposition(database)
        check_taxonomy(database, ["CPUTIME (sec)", "LOCK_WAIT (sec)"])
        idle = pathlib.Path(scratch) / "idle"
        subprocess.run([TOOLS / "make_database", idle, "idle"], check=True)
        frame = hatchet.GraphFrame.from_hpctoolkit_latest(str(idle)).dataframe
        assert len(frame) == 10 and frame["time (inc)"].max() == 0, frame
        print(f"{idle.name}: Hatchet opens a database whose main thread has no samples")
    if SAMPLE.exists():
        contexts, root = check_summaries(SAMPLE, dump_of(SAMPLE))
        assert contexts == 182 and abs(root - 0.281820) < 5e-7, (contexts, root)
        check_threads(SAMPLE, dump_of(SAMPLE))
    else:
        print(f"the part with HPCToolkit's own database is left out: {SAMPLE} is not there")


main()
