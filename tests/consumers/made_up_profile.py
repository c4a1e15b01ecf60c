"""A synthetic profile in pprof's format with call paths of many ranks, for `prof import`."""


def varint(number):
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes(encoded + bytes([number]))


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def profile(costs):
    """Converts {rank: {call path, outermost function first: ns of CPU time}} to the bytes of a file."""
    texts = {"": 0}
    functions = {}

    def text(words):
        return texts.setdefault(words, len(texts))

    file = block(1, number(1, text("cpu")) + number(2, text("nanoseconds")))
    for rank, paths in costs.items():
        for path, ns in paths.items():
            places = [functions.setdefault(name, len(functions) + 1) for name in path]
            file += block(2, block(1, b"".join(varint(place) for place in reversed(places))) + block(2, varint(ns)) +
                          block(3, number(1, text("rank")) + number(3, rank)))
    for name, place in functions.items():
        file += block(4, number(1, place) + block(4, number(1, place)))
        file += block(5, number(1, place) + number(2, text(name)))
    return file + b"".join(block(6, words.encode()) for words in texts)
