"""Golden vectors from implementations that are not ours. Writes the .txt files beside it that name it.

pip install xxhash==4.1.0 mmh3==5.3.1 && python vectors.py
"""

import pathlib
from importlib.metadata import version

import mmh3
import xxhash

HERE = pathlib.Path(__file__).parent
LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 64, 128, 129, 239, 240, 241, 1000]
SEEDS_64 = [0, 1, 0x0123456789ABCDEF, 0x9E3779B97F4A7C15, 2**64 - 1]
SEEDS_32 = [0, 1, 6, 0x9747B28C, 2**32 - 1]
SIZES = [106, 24404, 2**31 - 1, 2**31]
# Java reads an encoded surrogate as one U+FFFD, Rust and Python as three: those keys stand here.
NOT_UTF8 = ["ff", "61ff62", "c3", "e282", "f09f98", "f09f9861", "c080", "eda080", "eda081edb080", "f4908080", "8080", "f8888080"]


def key(length):
    return bytes((131 * i + 7) & 255 for i in range(length))


def units(text):
    utf16 = text.encode("utf-16-le")
    return [int.from_bytes(utf16[i : i + 2], "little") for i in range(0, len(utf16), 2)]


def polynomial_mod(text, seed, m):
    h = 0
    for c in units(text):
        h = (seed * h + c) % m
    return h


def polynomial_wrap(text, seed, m):
    h = 0
    for c in units(text):
        h = (h * seed + c) % 2**32
    return min(h, 2**32 - h) % m


def write(name, source, columns, rows):
    lines = [f"# {source}", f"# {columns}", *(" ".join(map(str, row)) for row in rows)]
    (HERE / name).write_text("\n".join(lines) + "\n")


write("xxh3.txt", f"Python package xxhash {version('xxhash')}, xxh3_64_intdigest", "length seed hash",
      [(n, s, xxhash.xxh3_64_intdigest(key(n), s)) for n in LENGTHS for s in SEEDS_64])
write("murmur3.txt", f"Python package mmh3 {version('mmh3')}, hash(key, seed, signed=True) % m", "length seed m index",
      [(n, s, m, mmh3.hash(key(n), s, signed=True) % m) for n in LENGTHS for s in SEEDS_32 for m in SIZES])
write("not_utf8.txt", "CPython, bytes.decode('utf-8', 'replace')", "key seed m polynomial-mod polynomial-wrap",
      [(k, s, m, f(t, s, m), g(t, s, m)) for k in NOT_UTF8 for s in (31, 2**32 - 1) for m in (106, 2**31)
       for f, g, t in [(polynomial_mod, polynomial_wrap, bytes.fromhex(k).decode("utf-8", "replace"))]])
