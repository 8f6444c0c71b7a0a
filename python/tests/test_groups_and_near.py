"""Filters by group, and what is near."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umbel import Bloom, Groups, Near


def two_groups():
    films = Groups()
    films["10"], films["8"] = Bloom(1000, 0.0001), Bloom(100, 0.0001)
    return films


def test_groups_know_their_keys():
    films = two_groups()
    assert films.names() == ["8", "10"] and len(films) == 2
    assert films.update("8", ["a", "b", None]) == 2 and films.add("10", "b")
    assert films.which("a") == ["8"] and films.which("b") == ["8", "10"] and films.which("c") == []
    assert "a" in films and b"c" not in films
    assert films.contains(pa.array(["a", None, "c"])).tolist() == [True, False, False]
    assert films.contains(["a", "b"], group="10").tolist() == [False, True]


def test_a_group_is_taken_and_put_as_a_copy():
    films = two_groups()
    films["8"].add("a")
    assert "a" not in films
    filter = films["8"]
    filter.add("a")
    films["8"] = filter
    assert "a" in films and "a" in films["8"]


def test_groups_merge():
    a, b = two_groups(), two_groups()
    a.add("8", "x"), b.add("8", "y"), b.__setitem__("new", Bloom(10))
    both = a | b
    assert both.names() == ["8", "10", "new"] and both.which("y") == ["8"]
    a |= b
    assert a == both


def test_groups_refuse():
    films = two_groups()
    for call in (lambda: films["9"], lambda: films.add("9", "a"), lambda: films.update("9", ["a"])):
        with pytest.raises(KeyError, match="no group"):
            call()
    with pytest.raises(ValueError, match="key type differs"):
        films["9"] = Bloom(100, integers=True)
    with pytest.raises(TypeError):
        films.add("8", 1)


def test_groups_of_integers():
    films = Groups()
    films["a"] = Bloom(100, 0.0001, integers=True)
    films.update("a", np.arange(10))
    assert films.which(3) == ["a"] and 11 not in films
    assert films.contains(np.array([3, 11])).tolist() == [True, False]
    with pytest.raises(TypeError):
        films.which("3")


NUMBERS = st.lists(st.integers(-(10**6), 10**6), max_size=50)


@given(NUMBERS, NUMBERS)
def test_what_is_near_is_always_found(stored, asked):
    fixed = Near.build(stored, alpha=5, beta=1, p=0.001, integers=True)
    growing = Near.growing(1000, alpha=5, beta=1, p=0.001, integers=True)
    assert growing.update(np.array(stored, "i8")) == len(stored)
    true = [any(abs(x - y) <= 5 for y in stored) for x in asked]
    for near in (fixed, growing):
        for column in (asked, np.array(asked, "i8"), pa.array(asked, pa.int64())):
            answers = near.contains(column).tolist()
            assert all(answer or not found for answer, found in zip(answers, true))
            assert answers == [x in near for x in asked]
            assert sum(answers) <= sum(true) + 3


def test_floats_and_nulls():
    near = Near.build(pa.array([12.0, None, 42.0]), alpha=5.0, beta=1.0)
    assert near.inserted == 2 and near.structure == "exact list" and "list" in near.why()
    assert near.contains(pa.array([14.0, None, 30.0])).tolist() == [True, False, False]
    assert near.contains(np.array([14.0, 16.0]), alpha=1.0).tolist() == [False, False]
    assert 12 in near and np.float64(38.0) in near
    assert near.nearest(13.0) == (12.0, 1.0)
    assert not near.contains_within(14.0, 1.0)
    assert Near.build([], alpha=1.0, beta=1.0).nearest(1.0) is None


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_of_any_width(kind):
    near = Near.growing(10, alpha=0.5, beta=0.1)
    assert near.update([kind(1.5), kind(7)]) == 2 and near.add(kind(12.25))
    assert kind(1.5) in near and kind(12.75) in near and kind(20) not in near
    assert near.contains([kind(7.5), None, kind(30)]).tolist() == [True, False, False]


def test_near_refuses():
    near = Near.build([1.0], alpha=5.0, beta=1.0)
    for x in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            x in near
    with pytest.raises(ValueError, match="takes no more values"):
        near.add(2.0)
    for x in ("x", None, np.longdouble(1.5), np.array([1.5])):
        with pytest.raises(TypeError, match=f"it holds numbers, which are not given as {type(x).__name__}"):
            x in near
    for column in (["x"], np.array(["x"]), pa.array(["x"])):
        with pytest.raises(TypeError, match="it holds numbers, which are not given as "):
            Near.growing(10, alpha=1, beta=1).update(column)
    with pytest.raises(ValueError):
        near.contains([1.0], alpha=6.0)
    with pytest.raises(ValueError, match="whole numbers"):
        Near.growing(10, alpha=0.5, beta=1, integers=True)
    with pytest.raises(OverflowError):
        Near.build(np.array([2**63], "u8"), alpha=1, beta=1, integers=True)


def test_growing_filters_merge():
    a, b = (Near.growing(100, alpha=1.0, beta=0.1) for _ in range(2))
    a.add(1.0), b.add(9.0)
    both = a | b
    assert 1.5 in both and 8.5 in both and both.inserted == 2 and 8.5 not in a
