"""What is similar: every sort of item, from whatever holds it."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import umbel
from umbel import Similar

WORDS = st.text("abcdefgh ", min_size=1, max_size=30).filter(str.strip)
TOKENS = st.sets(st.text("abcdefgh", max_size=3), min_size=1, max_size=8)
VECTORS = st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3)
BITS = st.binary(min_size=16, max_size=16)
# Each sort: how to make a filter, and what it takes.
SORTS = {
    "texts": (lambda: Similar.texts(50, 0.2, 0.95, shingle=2), WORDS),
    "sets": (lambda: Similar.sets(50, 0.2, 0.95), TOKENS),
    "cosine": (lambda: Similar.cosine(50, 3, 0.02, 1.2, force=True), VECTORS.filter(any)),
    "euclid": (lambda: Similar.euclid(50, 3, 1.0, 20.0, force=True), VECTORS),
    "hamming": (lambda: Similar.hamming(50, 128, 0.05, 0.5, force=True), BITS),
}


@pytest.mark.parametrize("sort", SORTS)
def test_items_are_found_and_parts_merge_to_the_whole(sort):
    new, items = SORTS[sort]

    @settings(max_examples=25, deadline=None)
    @given(st.lists(items, max_size=20), st.lists(items, max_size=20))
    def check(some, others):
        first, second, whole, single = new(), new(), new(), new()
        assert first.update(some) == len(some)
        second.update(others)
        whole.update(some + others)
        for item in some + others:
            single.add(item)
        assert (first | second).to_bytes() == whole.to_bytes() == single.to_bytes()
        assert whole.inserted == len(some + others)
        # Equal items are never missed.
        assert whole.contains(some + others).all() and all(item in whole for item in some)
        assert umbel.from_bytes(whole.to_bytes()) == whole

    check()


def test_it_tells_close_from_far():
    random = np.random.default_rng(1)
    stored = random.normal(size=(1000, 64))
    near = stored + 0.05 * random.normal(size=(1000, 64))
    seen = Similar.cosine(1000, 64, 0.02, 0.8)
    seen.update(stored)
    # One in a hundred either way; 30 are more than six standard deviations above that.
    assert (~seen.contains(near)).sum() < 30
    assert seen.contains(random.normal(size=(1000, 64))).sum() < 30
    assert seen.false_positives <= 0.01 and seen.false_negatives <= 0.01
    assert seen.bits < 64 * 32 * 1000


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_vectors_from_whatever_holds_them(dtype):
    polars = pytest.importorskip("polars")
    rows = (np.random.default_rng(2).normal(size=(600, 5)) * 100).astype(dtype)
    lists = rows.tolist()
    columns = [
        rows, np.asfortranarray(rows), lists, [tuple(row) for row in lists], list(rows), iter(lists), pa.array(lists),
        pa.array(lists, pa.list_(pa.float64(), 5)), pa.chunked_array([lists[:100], lists[100:]]), polars.Series(lists),
    ]  # fmt: skip
    files = set()
    for column in columns:
        seen = Similar.euclid(600, 5, 1.0, 100.0, force=True)
        assert seen.update(column) == 600
        files.add(seen.to_bytes())
    assert len(files) == 1
    assert seen.contains(rows[::-1]).all()


def test_texts_from_whatever_holds_them():
    texts = [f"the quick brown fox number {i} jumps over the lazy dog" for i in range(100)]
    files = set()
    for column in [texts, [text.encode() for text in texts], pa.array(texts), np.array(texts), iter(texts)]:
        seen = Similar.texts(100, 0.2, 0.95)
        seen.update(column)
        files.add(seen.to_bytes())
    assert len(files) == 1


def test_bits_are_those_of_packbits():
    bits = np.random.default_rng(3).integers(0, 2, (50, 256))
    seen = Similar.hamming(50, 256, 0.05, 0.5, force=True)
    seen.update([row.tobytes() for row in np.packbits(bits, axis=1)])
    bits[:, 7] ^= 1
    assert np.packbits(bits[0]).tobytes() in seen
    assert np.packbits(1 - bits[0]).tobytes() not in seen


def test_nulls_are_no_items():
    for sort, (new, items) in SORTS.items():
        item = {"texts": "a b c", "sets": ["a"], "hamming": bytes(16)}.get(sort, [1.0, 2.0, 3.0])
        seen = new()
        assert seen.update([None, item, None]) == 1 == seen.inserted
        assert seen.contains([item, None]).tolist() == [True, False]
    assert Similar.texts(5, 0.2, 0.9).contains([]).tolist() == []


def test_what_does_not_fit_is_refused():
    texts, sets, vectors, bits = [SORTS[sort][0]() for sort in ("texts", "sets", "euclid", "hamming")]
    for seen, item in [(texts, 1), (texts, ["a"]), (sets, "a b"), (sets, [1]), (vectors, "1 2 3"), (vectors, 5), (bits, "x" * 16), (bits, 3)]:
        with pytest.raises(TypeError):
            item in seen
    with pytest.raises(TypeError, match="vectors of 3 numbers"):
        vectors.add(None)
    for seen, item in [(vectors, [1.0]), (vectors, [1, 2, float("nan")]), (bits, b"short"), (texts, "..."), (sets, [])]:
        with pytest.raises(ValueError):
            seen.add(item)
        assert seen.inserted == 0
    with pytest.raises(ValueError, match="vector of 4 numbers"):
        vectors.update(np.zeros((2, 4)))
    for column in ("one text", b"one"):
        with pytest.raises(TypeError):
            sets.update(column)
    with pytest.raises(ValueError, match="store them"):
        Similar.cosine(1000, 16, 0.1, 0.5)
    with pytest.raises(ValueError, match="metric"):
        vectors.merge(texts)
    with pytest.warns(UserWarning):
        few, more = Similar.texts(5, 0.2, 0.9, shingle=1), Similar.texts(5, 0.2, 0.9, shingle=1)
        few.update(f"a{i} b{i} c{i}" for i in range(200))
        few |= more


def test_files_of_the_command(command, tmp_path):
    docs, ours, theirs = tmp_path / "docs.jsonl", tmp_path / "ours.umbel", tmp_path / "theirs.umbel"
    command("gen", "texts", "-n", 300, "--duplicates", 30, "-o", docs)
    bodies = [json.loads(line)["body"] for line in docs.read_text().splitlines()]
    options = ["-n", 300, "--metric", "jaccard", "--text", "body", "--close", 0.2, "--far", 0.95]
    command("similar", "build", docs, *options, "-o", theirs)
    seen = Similar.texts(300, 0.2, 0.95)
    seen.update(bodies)
    opened = Similar.open(theirs)
    assert opened == seen and opened.contains(bodies).all()
    seen.metadata = opened.metadata
    seen.save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    assert command("similar", "query", ours, docs, "-c").stdout == b"300\n"

    vectors = np.random.default_rng(4).normal(size=(40, 8)).round(3)
    (tmp_path / "v.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in vectors.tolist()))
    command("similar", "build", tmp_path / "v.csv", "--metric", "euclid", "--close", 0.5, "--far", 50, "--force", "-o", theirs)
    points = Similar.euclid(40, 8, 0.5, 50.0, force=True)
    points.update(vectors)
    assert Similar.open(theirs) == points
