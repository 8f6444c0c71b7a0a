"""Every sort of column gives the same bits, and the same answers."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umbel import Bloom, CountMin

TEXTS = ["a", "", "tt0073537", "longer than twelve bytes", "é ü 漢字", "x" * 1000] * 700 + ["last"]
INTEGERS = [0, 1, -1, 2**63 - 1, -(2**63), 42] * 700 + [7]


def filter_of(keys, integers=False):
    """The filter of keys added one by one; None is no key."""
    seen = Bloom(1000, 0.0001, integers=integers)
    for key in keys:
        if key is not None:
            seen.add(key)
    return seen


def check(column, keys, integers=False):
    """A column and its keys are the same to a filter, to add and to look up."""
    seen = Bloom(1000, 0.0001, integers=integers)
    assert seen.update(column) == sum(key is not None for key in keys)
    assert seen.to_bytes() == filter_of(keys, integers).to_bytes()
    some = filter_of(keys[: len(keys) // 3], integers)
    answers = some.contains(column)
    assert isinstance(answers, np.ndarray) and answers.dtype == bool and answers.flags.writeable
    assert answers.tolist() == [key is not None and key in some for key in keys]


def text_columns(keys):
    large, view = pa.array(keys, pa.large_string()), pa.array(keys, pa.string_view())
    binary = [None if key is None else key.encode() for key in keys]
    yield "list", keys
    yield "tuple", tuple(keys)
    yield "generator", (key for key in keys)
    yield "arrow", pa.array(keys, pa.string())
    yield "arrow large", large
    yield "arrow view", view
    yield "arrow binary", pa.array(binary, pa.binary())
    yield "arrow large binary", pa.array(binary, pa.large_binary())
    yield "arrow binary view", pa.array(binary, pa.binary_view())
    yield "arrow dictionary", pa.array(keys, pa.string()).dictionary_encode()
    yield "arrow chunks", pa.chunked_array([keys[:10], [], keys[10:]], pa.string())
    yield "arrow slice", pa.array(["no", None, *keys, "no"], pa.string()).slice(2, len(keys))
    yield "arrow view slice", pa.array(["no", None, *keys, "no"], pa.string_view()).slice(2, len(keys))
    yield "numpy objects", np.array(keys, object)
    yield "pandas", pd.Series(keys, dtype=object)
    yield "pandas string", pd.Series(keys, dtype="string")
    yield "pandas arrow", pd.Series(keys, dtype=pd.ArrowDtype(pa.string()))
    categories = pd.Index(sorted({key for key in keys if key is not None}), dtype=object)
    yield "pandas category", pd.Series(pd.Categorical(keys, categories=categories))
    yield "polars", pl.Series(keys, dtype=pl.String)
    yield "polars binary", pl.Series(binary, dtype=pl.Binary)
    yield "polars category", pl.Series(keys, dtype=pl.Categorical)


def integer_columns(keys):
    yield "list", keys
    yield "generator", (key for key in keys)
    yield "arrow", pa.array(keys, pa.int64())
    yield "arrow chunks", pa.chunked_array([keys[:10], [], keys[10:]], pa.int64())
    yield "arrow slice", pa.array([5, None, *keys, 5], pa.int64()).slice(2, len(keys))
    yield "arrow dictionary", pa.array(keys, pa.int64()).dictionary_encode()
    yield "pandas", pd.Series(keys, dtype="Int64")
    yield "pandas arrow", pd.Series(keys, dtype=pd.ArrowDtype(pa.int64()))
    yield "pandas objects", pd.Series(keys, dtype=object)
    yield "polars", pl.Series(keys, dtype=pl.Int64)


NO_TEXTS, NO_INTEGERS = [None], [None]
SOME_TEXTS = [None if i % 3 == 1 else key for i, key in enumerate(TEXTS)]
SOME_INTEGERS = [None if i % 3 == 1 else key for i, key in enumerate(INTEGERS)]


@pytest.mark.parametrize("keys", [TEXTS, SOME_TEXTS, NO_TEXTS, []], ids=["all", "nulls", "null", "none"])
def test_text(keys):
    for name, column in text_columns(keys):
        if name == "generator":
            seen = Bloom(1000, 0.0001)
            seen.update(column)
            assert seen == filter_of(keys)
        else:
            check(column, keys)


@pytest.mark.parametrize(
    "keys", [INTEGERS, SOME_INTEGERS, NO_INTEGERS, []], ids=["all", "nulls", "null", "none"]
)
def test_integers(keys):
    for name, column in integer_columns(keys):
        if name == "generator":
            seen = Bloom(1000, 0.0001, integers=True)
            seen.update(column)
            assert seen == filter_of(keys, True)
        else:
            check(column, keys, integers=True)


@given(st.lists(st.one_of(st.none(), st.text(max_size=30)), max_size=50), st.integers(0, 10))
def test_any_arrow_array(keys, offset):
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        array = pa.array([None] * offset + keys, kind).slice(offset)
        check(array, keys)
        check(pl.Series(keys, dtype=pl.String), keys)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", ">i4", ">u8"])
def test_numpy_integers(dtype):
    info = np.iinfo(np.dtype(dtype))
    keys = [int(info.min), int(info.max), 0, 1, 100] * 300
    array = np.array(keys, dtype)
    check(array, keys, integers=True)
    check(np.repeat(array, 2)[::2], keys, integers=True)
    check(array[::-1], keys[::-1], integers=True)
    arrow = pa.array(array.astype(array.dtype.newbyteorder("=")))
    check(arrow, keys, integers=True)


def test_numpy_integers_that_are_not_aligned():
    keys = list(range(1000))
    raw = np.zeros(8001, "u1")
    raw[1:] = np.array(keys, "u8").view("u1")
    check(raw[1:].view("u8"), keys, integers=True)
    shifted = pa.py_buffer(raw.tobytes()).slice(1)
    check(pa.Array.from_buffers(pa.uint64(), 1000, [None, shifted]), keys, integers=True)


def test_numpy_text():
    keys = ["a", "", "longer than twelve bytes", "zero\0inside"] * 600
    check(np.array([key.encode() for key in keys]), keys)
    check(np.array(keys), keys)
    check(np.array(keys, dtype=np.dtypes.StringDType()), keys)
    check(np.array([b"", b""], "S1"), ["", ""])


def test_fixed_width_bytes():
    keys = [b"abcd", b"\0\0\0\0", b"ab\0\0"] * 500
    check(pa.array(keys, pa.binary(4)), keys)


def test_a_dictionary_with_a_null_in_it():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", None, "b"]))
    check(array, ["a", None, "b", None])


def test_polars_objects():
    keys = ["a", None, "b", "a"]
    check(pl.Series(keys, dtype=pl.Object), keys)
    check(pl.Series([7, 8], dtype=pl.Object), [7, 8], integers=True)
    with pytest.raises(TypeError, match="not object"):
        Bloom(100).update(pl.Series([object()], dtype=pl.Object))


def test_arrays_of_pandas():
    """Those in its columns, given as they are."""
    for array in (pd.array(["a", None, "b"]), pd.Categorical(["a", None, "b"]), pd.arrays.SparseArray(["a", None, "b"])):
        check(array, ["a", None, "b"])
        check(pd.Series(array), ["a", None, "b"])
    check(pd.array([1, None, 3]), [1, None, 3], integers=True)
    check(pd.arrays.SparseArray([0, 0, 5]), [0, 0, 5], integers=True)


@pytest.mark.parametrize("integers", [False, True])
def test_times_are_no_keys(integers):
    periods, times = pd.period_range("2020", "2022", freq="Y"), pd.date_range("2020", "2022")
    for column in (periods, periods.array, pd.Series(periods), times, times.array, pd.Series(times)):
        with pytest.raises(TypeError, match="holds no keys: text, bytes and integers do"):
            Bloom(100, integers=integers).update(column)


def test_empty_columns():
    for column in ([], (), np.array([], "u8"), pa.array([], pa.int64()), pa.nulls(0), pl.Series([], dtype=pl.Int64)):
        seen = Bloom(100, integers=True)
        assert seen.update(column) == 0
        assert seen.contains(column).tolist() == []
    assert Bloom(100).update(pa.nulls(3)) == 0
    assert Bloom(100).contains(pa.nulls(3)).tolist() == [False] * 3


@pytest.mark.parametrize(
    "column",
    [
        [1], np.array([1]), np.array([1.5]), np.array([True]), np.array(["2026-11-16"], "M8[D]"), pa.array([1]),
        pa.array([1.5]), pa.array([True]), pl.Series([1]), pd.Series([1]), pd.Series([1.5]), np.array([[b"a"]]),
        np.ma.masked_array([b"a"], [True]), pa.table({"a": ["x"]}), pl.DataFrame({"a": ["x"]}), pa.array([["a"]]),
    ],
    ids=str,
)  # fmt: skip
def test_a_filter_of_bytes_refuses_other_columns(column):
    seen = Bloom(100)
    for call in (seen.update, seen.contains):
        with pytest.raises((TypeError, ValueError)):
            call(column)
    assert seen == Bloom(100)


@pytest.mark.parametrize(
    "column",
    [["1"], np.array(["1"]), np.array([b"1"]), pa.array(["1"]), pl.Series(["1"]), pd.Series(["1"]), np.array([1.0])],
    ids=str,
)
def test_a_filter_of_integers_refuses_other_columns(column):
    seen = Bloom(100, integers=True)
    for call in (seen.update, seen.contains):
        with pytest.raises(TypeError, match="64-bit integers"):
            call(column)


def test_a_stream_that_fails_is_an_error():
    def batches():
        yield pa.record_batch([pa.array(["a"])], ["key"])

    reader = pa.RecordBatchReader.from_batches(pa.schema([("key", pa.string())]), batches())
    with pytest.raises(TypeError, match="one of its columns"):
        Bloom(100).update(reader)


def test_an_iterable_that_fails_is_an_error():
    def keys():
        yield "a"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        Bloom(100).update(keys())


def test_weights():
    keys = ["a", None, "b", "a"] * 1000
    plain = CountMin()
    for column in (keys, pa.array(keys), pl.Series(keys)):
        for weights in ([1, 2, 3, 4] * 1000, np.array([1, 2, 3, 4] * 1000, "i4"), pa.array([1, 2, 3, 4] * 1000)):
            hits = CountMin()
            assert hits.update(column, weights) == 3000
            assert (hits.estimate("a"), hits.estimate("b"), hits.total) == (5000, 3000, 8000)
            assert hits.estimate_batch(pa.array(["b", None, "a"])).tolist() == [3000, 0, 5000]
    with pytest.raises(ValueError, match="2 keys needs as many weights, not 3"):
        plain.update(["a", "b"], [1, 2, 3])
    with pytest.raises(ValueError, match="weights"):
        plain.update((key for key in "ab"), [1, 2, 3])
    with pytest.raises(ValueError, match="from 0"):
        plain.update(["a"], [-1])
    with pytest.raises(ValueError, match="from 0"):
        plain.update(["a"], np.array([-1]))
    with pytest.raises(ValueError, match="null"):
        plain.update(["a"], [None])
    with pytest.raises(TypeError, match="weights"):
        plain.update(["a"], ["1"])


def test_without_numpy_answers_come_in_a_list():
    code = """
import sys
sys.modules["numpy"] = None
from umbel import Bloom, CountMin
seen = Bloom(100)
seen.update(["a"])
assert seen.contains(["a", "b"]) == [True, False]
assert CountMin().estimate_batch(["a"]) == [0]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
