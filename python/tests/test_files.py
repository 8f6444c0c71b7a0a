"""Files: written here and read by the command, the other way round, and damaged."""

import gc
import multiprocessing
import os
import pickle
import resource

import numpy as np
import pytest

import umbel
from umbel import Bloom, Conservative, CountGroups, CountMin, Counts, Groups, Heavy, Near, Ranges, Similar


def samples():
    bloom, integers = Bloom(1000), Bloom(1000, integers=True)
    bloom.update(map(str, range(1000)))
    integers.update(np.arange(1000))
    bloom.metadata = {"made by": "tests"}
    groups, hits, heavy = Groups(), CountMin(), Heavy(10)
    groups["8"] = bloom
    hits.update(["a", "b", "a"]), heavy.update(["a", "b", "a"])
    conservative, ranges = Conservative(), Ranges(0, 100)
    conservative.update(["a", "b", "a"]), ranges.update([1, 2, 3])
    counts, count_groups = Counts(hits, heavy), CountGroups()
    count_groups["8"] = counts
    growing = Near.growing(100, alpha=1.0, beta=0.1)
    growing.update([1.0, 2.0])
    fixed = Near.build(np.random.default_rng(1).random(1000), alpha=1e-6, beta=1e-9)
    similar = Similar.texts(100, 0.2, 0.95)
    similar.update(["an umbel is a flower head", "grass has none of them"])
    return [bloom, integers, groups, hits, heavy, conservative, ranges, counts, count_groups, growing, fixed, similar]


KINDS = [type(sample).__name__ for sample in samples()]


@pytest.mark.parametrize("sample", samples(), ids=KINDS)
def test_everything_survives(sample, tmp_path):
    path = tmp_path / "it.umbel"
    sample.save(path)
    data = sample.to_bytes()
    assert path.read_bytes() == data
    again = [
        umbel.open(path), umbel.open(path, verify=False), umbel.from_bytes(data), umbel.from_bytes(bytearray(data)),
        type(sample).open(path), type(sample).from_bytes(data), pickle.loads(pickle.dumps(sample)), sample.copy(),
    ]  # fmt: skip
    for other in again:
        assert type(other) is type(sample)
        assert other.to_bytes() == data
        assert other == sample and other.metadata == sample.metadata
    assert type(sample).__name__ in repr(sample)


@pytest.mark.parametrize("sample", samples(), ids=KINDS)
def test_damage_is_found(sample, tmp_path):
    data = bytearray(sample.to_bytes())
    data[len(data) // 2] ^= 1
    path = tmp_path / "damaged.umbel"
    path.write_bytes(data)
    for read in (lambda: umbel.open(path), lambda: type(sample).open(path), lambda: umbel.from_bytes(data)):
        with pytest.raises(ValueError):
            read()


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "not there"
    for read in (umbel.open, Bloom.open, Groups.open, Near.open):
        with pytest.raises(FileNotFoundError, match="not there") as caught:
            read(path)
        assert caught.value.errno == 2
    with pytest.raises(IsADirectoryError):
        umbel.open(tmp_path)
    path.write_bytes(b"not an umbel file at all")
    with pytest.raises(ValueError, match="not there"):
        umbel.open(path)
    Bloom(10).save(path)
    with pytest.raises(ValueError, match="holds a Bloom filter, not"):
        Groups.open(path)
    for place, error, number in [("no/folder", FileNotFoundError, 2), ("not there/x", NotADirectoryError, 20), ("", IsADirectoryError, 21)]:
        with pytest.raises(error) as caught:
            Bloom(10).save(tmp_path / place)
        assert caught.value.errno == number


def test_a_mapped_file_is_not_changed(tmp_path):
    path = tmp_path / "seen.umbel"
    Bloom(1000).save(path)
    before = path.read_bytes()
    seen = Bloom.open(path)
    seen.add("x")
    assert "x" in seen and path.read_bytes() == before


def test_the_command_reads_what_python_writes(command, tmp_path):
    keys = [f"key {i}" for i in range(1000)]
    (tmp_path / "keys.txt").write_text("".join(key + "\n" for key in keys))
    seen = Bloom(1000, 0.01)
    seen.update(keys)
    seen.save(tmp_path / "python.umbel")
    command("build", tmp_path / "keys.txt", "-n", 1000, "-p", 0.01, "-o", tmp_path / "command.umbel")
    assert (tmp_path / "python.umbel").read_bytes() == (tmp_path / "command.umbel").read_bytes()
    screened = command("screen", tmp_path / "python.umbel", tmp_path / "keys.txt")
    assert screened.stdout.decode().splitlines() == keys
    assert Bloom.open(tmp_path / "command.umbel") == seen


def test_the_same_for_integers_groups_and_counts(command, tmp_path):
    values = [*range(-500, 500), 2**64 - 1]
    table = tmp_path / "table.tsv"
    table.write_text("".join(f"{value}\t{value % 3}\n" for value in values))
    options = [table, "--key", 1, "-n", 1001]
    command("build", *options, "--type", "int", "-o", tmp_path / "int.umbel")
    seen = Bloom(1001, integers=True)
    seen.update(values)
    opened = umbel.open(tmp_path / "int.umbel")
    opened.metadata = {}
    assert opened.to_bytes() == seen.to_bytes()

    command("build", *options, "--by", 2, "-o", tmp_path / "groups.umbel")
    groups = umbel.open(tmp_path / "groups.umbel")
    for name in groups.names():
        filter = Bloom(groups[name].sizing.capacity)
        filter.update(str(value) for value in values if str(value % 3) == name)
        assert filter == groups[name]

    command("count", "build", table, "--key", 1, "--weight", 2, "-o", tmp_path / "count.umbel")
    hits = CountMin()
    hits.update([str(value) for value in values], [value % 3 for value in values])
    assert umbel.open(tmp_path / "count.umbel") == hits


def _half(part):
    seen = Bloom(10_000)
    seen.update(str(i) for i in range(part, 10_000, 2))
    return seen


def test_pickle_through_processes():
    whole = Bloom(10_000)
    whole.update(map(str, range(10_000)))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        a, b = pool.map(_half, [0, 1])
        assert (a | b).to_bytes() == whole.to_bytes()
        assert all(pool.starmap(whole.__class__.__contains__, [(whole, "1"), (whole, "9999")]))


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell memory")
def test_nothing_leaks(tmp_path):
    """UMBEL_LEAK_ROUNDS=1000000 is a million open and close."""
    path = tmp_path / "seen.umbel"
    seen = Bloom(1000)
    seen.save(path)
    data, keys = seen.to_bytes(), ["a", None, "é"]
    rounds = int(os.environ.get("UMBEL_LEAK_ROUNDS", 100_000))

    def work(rounds):
        for _ in range(rounds):
            Bloom.open(path)
        for _ in range(rounds // 10):
            other = Bloom.from_bytes(data)
            other |= seen
            other.update(keys)
            other.contains(keys)
            try:
                other.add(1)
            except TypeError:
                pass
        gc.collect()

    work(rounds // 10)
    before, files = resident(), len(os.listdir("/proc/self/fd"))
    work(rounds)
    # A leak of one object of a hundred bytes in each round would be ten times as much.
    assert resident() - before < 1 << 20
    assert len(os.listdir("/proc/self/fd")) == files
