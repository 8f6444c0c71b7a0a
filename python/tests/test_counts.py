"""Counts beside a Counter."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umbel import Conservative, CountGroups, CountMin, Counts, Heavy, Ranges

WORDS = st.lists(st.text("abcdef", max_size=2), max_size=300)


@given(WORDS)
def test_an_estimate_is_never_too_low(words):
    model = Counter(words)
    for kind in (CountMin, Conservative):
        one, batch = kind(width=64, depth=3), kind(width=64, depth=3)
        for word in words:
            one.add(word)
        batch.update(words)
        assert one == batch and batch.total == batch.inserted == len(words)
        estimates = batch.estimate_batch(list(model)).tolist() if model else []
        assert all(estimate >= count for estimate, count in zip(estimates, model.values()))
        assert estimates == [one.estimate(word) for word in model]


@given(WORDS, WORDS)
def test_merging_is_counting_together(a, b):
    left, right, both = CountMin(), CountMin(), CountMin()
    left.update(a), right.update(b), both.update(a + b)
    assert left | right == both
    assert (left | right).to_bytes() == both.to_bytes()
    product, bound = left.inner_product(right)
    true = sum(count * Counter(b)[word] for word, count in Counter(a).items())
    assert true <= product <= true + bound + 1
    left |= left
    assert left.total == 2 * len(a)


def test_conservative_sketches_do_not_merge():
    assert not hasattr(Conservative(), "merge")
    with pytest.raises(TypeError):
        Conservative() | Conservative()


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=200))
def test_ranges(values):
    ranges = Ranges(-1000, 1000, 0.01, 0.01)
    ranges.update(np.array(values))
    for low, high in [(-1000, 1000), (-10, 10), (0, 0), (500, 700)]:
        estimate, bound = ranges.sum(low, high)
        true = sum(low <= value <= high for value in values)
        assert true <= estimate <= true + bound
    median, _ = ranges.quantile(0.5)
    assert sum(value < median for value in values) < 0.5 * len(values)


def test_ranges_refuse_what_is_outside():
    ranges = Ranges(0, 10)
    assert ranges.quantile(0.5) is None
    with pytest.raises(ValueError, match="outside 0 to 10"):
        ranges.add(11)
    with pytest.raises(OverflowError):
        ranges.update(np.array([2**63], "u8"))
    with pytest.raises(TypeError):
        ranges.add("5")
    assert ranges.update([1, None, 3]) == 2 and ranges.sum(0, 10)[0] == 2


@given(WORDS)
def test_heavy(words):
    model, heavy = Counter(words), Heavy(10)
    heavy.update(words)
    kept = {found.key.decode(): found for found in heavy.top(10)}
    for word, count in model.items():
        least, most = heavy.bounds(word)
        assert least <= count <= most
        assert count <= heavy.bound or word in kept
    found, complete = heavy.above(0.1)
    assert complete and all(found.count > 0.1 * heavy.total for found in found)


def test_heavy_integers_come_back_as_integers():
    heavy = Heavy.for_share(0.1, integers=True)
    heavy.update(np.array([7, 7, 2**64 - 1], "u8"))
    assert [(found.key, found.count) for found in heavy.top(2)] == [(7, 2), (2**64 - 1, 1)]


def test_counts_and_groups():
    both = Counts(CountMin(), Heavy(10))
    both.update(["/", "/", "/about"], [1, 2, 3])
    assert both.estimate("/") == 3 and both.heavy.top(1)[0].count == 3 and both.total == 6
    assert isinstance(both.sketch, CountMin) and Counts(Conservative()).heavy is None
    with pytest.raises(TypeError):
        Counts("x")
    groups = CountGroups()
    groups["10"], groups["9"] = both, both
    assert groups.names() == ["9", "10"] and len(groups) == 2
    other = groups.copy()
    assert other == groups and groups["9"] == both and groups["9"].heavy == both.heavy
    other["9"] = Counts(CountMin(), Heavy(10))
    assert other != groups and other["9"] != both and other["9"].heavy != both.heavy and Heavy(10) != Heavy(11)
    for counts in (both, both.heavy, groups):
        with pytest.raises(TypeError, match="unhashable"):
            hash(counts)
    groups.merge(groups.copy())
    assert groups["9"].estimate("/") == 6
    with pytest.raises(KeyError, match="no group"):
        groups["11"]
    with pytest.raises(ValueError, match="cannot be merged"):
        Counts(Conservative()).merge(Counts(Conservative()))


def test_a_size_is_given_in_one_way():
    for options in [{"eps": 0.1, "width": 3}, {"delta": 0.1, "depth": 3}]:
        for sketch in (CountMin, Conservative):
            with pytest.raises(ValueError, match="give one of them"):
                sketch(**options)
    for sketch in (CountMin, Conservative):
        assert (sketch(eps=0.01, depth=3).width, sketch(width=7, delta=0.01).width) == (272, 7)


def test_counters_stop_at_the_end():
    hits = CountMin()
    hits.add("a", 2**64 - 1)
    hits.add("a", 5)
    assert hits.estimate("a") == hits.total == 2**64 - 1
    with pytest.raises(OverflowError):
        hits.add("a", -1)


def test_sizes_of_sketches():
    hits = CountMin(0.001, 0.01)
    assert (hits.width, hits.depth) == (2719, 5)
    assert hits.eps <= 0.001 and hits.delta <= 0.01
    with pytest.raises(ValueError, match="eps"):
        CountMin(2.0)
    with pytest.raises(ValueError, match="columns"):
        CountMin().merge(CountMin(0.01))
