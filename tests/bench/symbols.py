"""Names of functions for other profilers' recordings that contain addresses: from the symbol tables alone."""

import bisect
import functools
import re
import subprocess


@functools.cache
def symbol_table(path):
    """Returns the sorted addresses in the file, and their names."""
    listed = subprocess.run(["nm", "-C", "--defined-only", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = sorted((int(line.split()[0], 16), line.split(None, 2)[2])
                   for line in listed.stdout.decode(errors="replace").splitlines()
                   if len(line.split(None, 2)) == 3 and line.split()[1] in "tTwWi")
    return [address for address, _ in found], [name for _, name in found]


@functools.cache
def segments(path):
    """Returns (offset in the file, address, bytes) of the loaded segments."""
    headers = subprocess.run(["readelf", "-lW", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    return [tuple(int(word, 16) for word in (offset, address, size)) for offset, address, size in
            re.findall(r"^\s*LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)", headers, re.M)]


class Symbols:
    def __init__(self, maps=""):
        """Reads the modules of the process whose /proc/PID/maps this is."""
        self.maps = sorted((int(start, 16), int(end, 16), int(offset, 16), path) for start, end, offset, path in
                           re.findall(r"^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+\s+(/\S.*)$", maps, re.M))

    def name(self, path, address):
        """Returns the name for an address in the file; the file's own name if it has no symbols."""
        addresses, names = symbol_table(path)
        at = bisect.bisect_right(addresses, address) - 1
        return names[at] if at >= 0 else f"[{path.rpartition('/')[2]}]"

    def mapped_name(self, address):
        at = bisect.bisect_right(self.maps, (address, float("inf"))) - 1
        if at < 0 or address >= self.maps[at][1]:
            return "[unknown]"
        start, _, offset, path = self.maps[at]
        in_file = address - start + offset
        for segment_offset, segment_address, size in segments(path):
            if segment_offset <= in_file < segment_offset + size:
                return self.name(path, in_file - segment_offset + segment_address)
        return "[unknown]"
