"""Decodes the trace of a measurement file according to docs/formats.md. Exports are compared with this result, which is
independent of the code that made them."""

import struct

MAGIC = b"profmeas"
EXTENT_MAGIC = b"PEXT"
PAGE = 4096
PROCESS_RECORDS, TRACE = 1, 4  # kinds of extents
THREAD_START = 4  # type of a process record
STATE_BYTES = 16  # before the first record of a trace extent


def extents(data):
    """Returns (kind, thread, payload) of each extent, in file order."""
    at, = struct.unpack_from("<I", data, 20)
    header_bytes, = struct.unpack_from("<H", data, 24)
    while at + header_bytes <= len(data):
        magic, _, kind, thread, _, pages = struct.unpack_from("<4sHHIII", data, at)
        if magic != EXTENT_MAGIC:
            at += PAGE
            continue
        length, = struct.unpack_from("<I", data, at + 32)
        yield kind, thread, data[at + header_bytes:min(at + header_bytes + length, at + pages * PAGE)]
        at += pages * PAGE


def thread_starts(payload):
    """Returns (thread, monotonic nanoseconds) of the threads in a stream of process records."""
    at = 0
    while at + 8 <= len(payload):
        commit, size, record = struct.unpack_from("<IHB", payload, at)
        if commit and record == THREAD_START:
            thread, _, time_ns = struct.unpack_from("<IiQ", payload, at + 8)
            yield thread, time_ns
        at += size or 8


def numbers(payload):
    """Decodes LEB128 numbers until the payload ends."""
    value = shift = 0
    for byte in payload:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def records(payload):
    """Returns (time in quanta, whether a sample or a gap) for each record of a trace extent."""
    time, = struct.unpack_from("<Q", payload)
    decoded = numbers(payload[STATE_BYTES:])
    for first in decoded:
        if first == 0:
            return
        second = next(decoded)
        is_sample = first != 1
        time += first - 2 if is_sample else second
        yield time, is_sample


def stretches(path):
    """Returns {thread: [(begin in nanoseconds since the epoch, whether something ran)]}. A record of the trace
    describes the time since the previous one, the first record the time since the thread started. Consecutive gaps are
    merged."""
    data = path.read_bytes()
    assert data[:8] == MAGIC, path
    quantum_ns, = struct.unpack_from("<I", data, 32)
    realtime_ns, monotonic_ns = struct.unpack_from("<QQ", data, 72)
    last, result = {}, {}
    for kind, thread, payload in extents(data):
        if kind == PROCESS_RECORDS:
            last |= dict(thread_starts(payload))
    for kind, thread, payload in extents(data):
        if kind != TRACE:
            continue
        own = result.setdefault(thread, [])
        for time, is_sample in records(payload):
            if is_sample or not own or own[-1][1]:
                own.append((last[thread] + realtime_ns - monotonic_ns, is_sample))
            last[thread] = max(last[thread], time * quantum_ns)
    return result
