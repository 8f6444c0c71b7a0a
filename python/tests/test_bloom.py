"""The filter beside a set."""

import copy
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import umbel
from umbel import Bloom

TEXTS = st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=20)), max_size=200)
INTEGERS = st.lists(st.integers(-(2**63), 2**64 - 1), max_size=200)


def as_bytes(key):
    return key.encode() if isinstance(key, str) else key


def as_word(key):
    return key % 2**64


@given(TEXTS, TEXTS)
def test_no_key_is_ever_missed(added, others):
    seen, model = Bloom(1000, 0.0001), set()
    for key in added:
        new = seen.add(key)
        # Certainly new is certain; the other way round is only likely.
        assert not (new and as_bytes(key) in model)
        model.add(as_bytes(key))
    assert all(key in seen for key in added)
    # 400 strangers at a rate of 1 in 10 000: two of them at most, but for one run in a million.
    assert sum(key in seen for key in others if as_bytes(key) not in model) <= 2
    assert seen.inserted == len(added)


@given(INTEGERS, INTEGERS)
def test_no_integer_is_ever_missed(added, others):
    seen, model = Bloom(1000, 0.0001, integers=True), set()
    for key in added:
        assert not (seen.add(key) and as_word(key) in model)
        model.add(as_word(key))
    assert all(key in seen for key in added)
    assert sum(key in seen for key in others if as_word(key) not in model) <= 2


@given(TEXTS)
def test_many_at_once_are_the_same_as_one_by_one(keys):
    single, batch = Bloom(1000), Bloom(1000)
    for key in keys:
        single.add(key)
    assert batch.update(keys) == len(keys)
    assert batch.to_bytes() == single.to_bytes()
    assert batch.contains(keys).tolist() == [True] * len(keys)


@given(TEXTS, TEXTS)
def test_union_is_the_filter_of_all_keys(a, b):
    left, right, both = Bloom(1000), Bloom(1000), Bloom(1000)
    left.update(a), right.update(b), both.update(a + b)
    assert left | right == both == right | left
    assert (left | right).to_bytes() == both.to_bytes()
    assert both.may_contain_all(left) and both.may_contain_all(right)
    common = left & right
    assert all(key in common for key in set(map(as_bytes, a)) & set(map(as_bytes, b)))
    assert common.inserted is None
    grown = left
    grown |= right
    assert grown is left and left == both


def test_a_filter_can_be_merged_with_itself():
    seen = Bloom(100)
    seen.update(["a", "b"])
    before = seen.copy()
    seen |= seen
    seen &= seen
    assert seen == before == seen | seen == seen & seen


def test_str_and_bytes_are_the_same_key():
    seen = Bloom(100)
    seen.add("tt0073537 é")
    assert "tt0073537 é".encode() in seen
    assert np.str_("tt0073537 é") in seen


def test_minus_one_and_the_greatest_integer_are_the_same_key():
    seen = Bloom(100, integers=True)
    seen.add(-1)
    assert 2**64 - 1 in seen and np.int64(-1) in seen and np.uint64(2**64 - 1) in seen
    assert 2**63 not in seen


def test_the_rate_holds():
    seen = Bloom(100_000, 0.01, integers=True)
    seen.update(np.arange(100_000))
    asked = 1_000_000
    found = int(seen.contains(np.arange(10**9, 10**9 + asked)).sum())
    # Five standard deviations of a binomial, and as much for how filters of this size scatter.
    assert found < 0.01 * asked + 10 * math.sqrt(0.01 * asked)
    assert abs(seen.expected_rate_now() - found / asked) < 0.001
    assert abs(seen.estimated_len() - 100_000) < 1000


@pytest.mark.parametrize("key", [1, 1.5, None, ["a"], bytearray(b"a"), memoryview(b"a"), object()])
def test_a_filter_of_bytes_refuses_other_types(key):
    seen = Bloom(100)
    for call in (seen.add, seen.__contains__, lambda key: seen.update([key, "a"])):
        if key is None and call not in (seen.add, seen.__contains__):
            continue
        with pytest.raises(TypeError, match="str or bytes"):
            call(key)
    assert seen == Bloom(100)


@pytest.mark.parametrize("key", ["1", b"1", 1.0, None, [1], object()])
def test_a_filter_of_integers_refuses_other_types(key):
    seen = Bloom(100, integers=True)
    for call in (seen.add, seen.__contains__):
        with pytest.raises(TypeError, match="64-bit integers"):
            call(key)


@pytest.mark.parametrize("key", [2**64, -(2**63) - 1, 10**30])
def test_integers_beyond_64_bits_are_refused(key):
    seen = Bloom(100, integers=True)
    for call in (seen.add, seen.__contains__, lambda key: seen.update([key])):
        with pytest.raises(OverflowError, match="2\\^64"):
            call(key)


@pytest.mark.parametrize("keys", ["abc", b"abc", 5, None])
def test_one_key_is_no_column(keys):
    seen = Bloom(100)
    for call in (seen.update, seen.contains):
        with pytest.raises(TypeError):
            call(keys)
    assert seen == Bloom(100)


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(UnicodeEncodeError):
        Bloom(100).add("\ud800")
    with pytest.raises(UnicodeEncodeError):
        Bloom(100).update(["a", "\ud800"])


def test_what_cannot_be_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="between 0 and 1"):
        Bloom(100, 1.5)
    with pytest.raises(ValueError, match="0 keys"):
        Bloom(0)
    with pytest.raises(ValueError, match="layout"):
        Bloom(100, layout="square")
    with pytest.raises(ValueError, match="hash"):
        Bloom(100, hash="md5")
    with pytest.raises(ValueError, match="number of bits \\(m\\) differs, .* here and .* there"):
        Bloom(100).merge(Bloom(100_000))
    with pytest.raises(ValueError, match="key type differs"):
        Bloom(100) | Bloom(100, integers=True)
    with pytest.raises(TypeError):
        Bloom(100) | {"a"}
    with pytest.raises(OverflowError):
        Bloom(-1)


def test_a_filter_is_compared_like_a_set():
    a, b = Bloom(100), Bloom(100)
    assert a == b and not a != b
    b.add("x")
    assert a != b and a != "x" and a != {"x"}
    with pytest.raises(TypeError):
        hash(a)


def test_copies_are_apart():
    seen = Bloom(100)
    for other in (seen.copy(), copy.copy(seen), copy.deepcopy(seen)):
        other.add("x")
        assert "x" in other and "x" not in seen


def test_overfull_filters_say_so():
    a, b = Bloom(100), Bloom(100)
    a.update(map(str, range(200))), b.update(map(str, range(200, 400)))
    with pytest.warns(UserWarning, match="sized for 100"):
        a |= b
    assert "sized for 100" in a.overfull()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Bloom(100).merge(Bloom(100))
    assert Bloom(100).overfull() is None


def test_facts():
    seen = Bloom(1000, 0.01, layout="classic", k=7)
    size = seen.sizing
    assert (size.layout, size.probes, size.capacity) == ("classic", 7, 1000)
    assert size == umbel.size(1000, 0.01, k=7) and size.expected_rate == pytest.approx(0.01, rel=0.01)
    assert seen.fill() == 0 and seen.estimated_len() == 0 and seen.inserted == 0
    assert not seen.integers and "1000 keys" in repr(seen)
    seen.metadata = {"source": "films"}
    assert seen.metadata == {"source": "films"}
    assert Bloom.from_bytes(seen.to_bytes()).metadata == {"source": "films"}


def test_other_hashes_take_lists_and_arrays_too():
    seen = Bloom(1000, hash="murmur2", k=3)
    seen.update(["tt0073537", None, "tt0073604"])
    assert seen.contains(["tt0073537", "tt0073604", "tt0075035", None]).tolist() == [True, True, False, False]
