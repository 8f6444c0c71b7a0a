"""The bits that the keys of keys.txt set by MurmurHash3, from an implementation that is not ours: writes murmur3.txt.

pip install mmh3==5.3.1 && python bits.py
"""

import pathlib
from importlib.metadata import version

import mmh3

HERE = pathlib.Path(__file__).parent
FILTERS = [(1009, [0, 1, 2, 3, 4]), (2048, [7, 42, 2**32 - 1]), (3, [9])]

keys = (HERE / "keys.txt").read_bytes().splitlines()
lines = [f"# Python package mmh3 {version('mmh3')}, hash(key, seed, signed=True) % m", "# m; seeds; bits"]
for m, seeds in FILTERS:
    bits = sorted({mmh3.hash(key, seed, signed=True) % m for key in keys for seed in seeds})
    lines.append(f"{m}; {','.join(map(str, seeds))}; {' '.join(map(str, bits))}")
(HERE / "murmur3.txt").write_text("\n".join(lines) + "\n")
