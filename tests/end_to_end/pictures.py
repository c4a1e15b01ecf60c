"""Reads pictures that `prof view` writes: pixels of PNG files, and the texts of SVG drawings with their positions.
Pages have the same layout in both, so that a text in the drawing gives its position in the picture."""

import collections
import re
import struct
import zlib

PNG = b"\x89PNG\r\n\x1a\n"


class Picture:
    """The pixels of a PNG file, 8 bits per channel, as 0xrrggbb: pixel(x, y)."""

    def __init__(self, path):
        data = path.read_bytes()
        assert data.startswith(PNG), data[:8]
        packed = b""
        at = len(PNG)
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
                assert depth == 8 and colours in (2, 6) and not interlaced
                self.channels = 3 if colours == 2 else 4
            elif kind == b"IDAT":
                packed += body
            at += 12 + length
        self.rows = self.unfiltered(zlib.decompress(packed))

    def unfiltered(self, data):
        step, stride = self.channels, self.width * self.channels
        rows, above = [], bytearray(stride)
        for y in range(self.height):
            begin = y * (stride + 1)
            kind, row = data[begin], bytearray(data[begin + 1:begin + 1 + stride])
            if kind == 1:
                for i in range(step, stride):
                    row[i] = (row[i] + row[i - step]) & 255
            elif kind == 2:
                row = bytearray((a + b) & 255 for a, b in zip(row, above))
            elif kind == 3:
                for i in range(stride):
                    row[i] = (row[i] + ((row[i - step] if i >= step else 0) + above[i]) // 2) & 255
            elif kind == 4:
                for i in range(stride):
                    left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
                    up = above[i]
                    whole = left + up - corner
                    best = min((abs(whole - left), 0, left), (abs(whole - up), 1, up), (abs(whole - corner), 2, corner))
                    row[i] = (row[i] + best[2]) & 255
            rows.append(row)
            above = row
        return rows

    def pixel(self, x, y):
        at = int(x) * self.channels
        return int.from_bytes(self.rows[int(y)][at:at + 3], "big")

    def line(self, y, begin=0, end=None):
        """Returns the pixels from `begin` up to, but not including, `end`."""
        return [self.pixel(x, y) for x in range(int(begin), self.width if end is None else int(end))]

    def colours(self, left, top, right, bottom):
        """Returns the number of pixels of each colour."""
        counts = collections.Counter()
        for y in range(max(int(top), 0), min(int(bottom), self.height)):
            counts.update(self.line(y, max(left, 0), min(right, self.width)))
        return counts

    def run(self, x, y):
        """Returns the number of adjacent pixels in the row that have the colour of this one."""
        line, colour = self.line(y), self.pixel(x, y)
        begin = end = int(x)
        while begin > 0 and line[begin - 1] == colour:
            begin -= 1
        while end < self.width and line[end] == colour:
            end += 1
        return end - begin


Text = collections.namedtuple("Text", "words x y")  # position of its first letter on the base line


class Drawing:
    """The texts of an SVG file."""

    def __init__(self, path):
        self.texts = []
        moved = (1, 1, 0, 0)
        pattern = r'<g [^>]*?transform="matrix\(([^)]*)\)"|<text [^>]*? x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)</text>'
        for matrix, x, y, words in re.findall(pattern, path.read_text(), re.DOTALL):
            if matrix:
                a, _, _, d, e, f = map(float, matrix.split(","))
                moved = (a, d, e, f)
            else:
                for name, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
                    words = words.replace(name, letter)
                self.texts.append(Text(words, moved[2] + moved[0] * float(x), moved[3] + moved[1] * float(y)))

    def all(self, words):
        """Returns the texts that start like this, from top to bottom."""
        return sorted((text for text in self.texts if text.words.startswith(words)), key=lambda text: (text.y, text.x))

    def one(self, words):
        found = self.all(words)
        assert found, f"{words!r} is none of {[text.words for text in self.texts]}"
        return found[0]

    def said(self):
        return " ".join(text.words for text in self.texts)
