"""Writes text that compresses about as well as prose: text.py LINES."""

import sys

for i in range(int(sys.argv[1])):
    print(i, f"{i * 2654435761 % 4294967296:x}", "the same words in every line", i * i % 1009)
