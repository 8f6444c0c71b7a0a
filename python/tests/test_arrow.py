"""Arrays that were taken are given back."""

import pyarrow as pa
import pytest

from umbel import Bloom


def test_arrow_arrays_are_released():
    array = pa.array([str(i) for i in range(1000)])
    chunks = pa.chunked_array([array, array])
    seen = Bloom(1000)
    seen.update(array)
    before = pa.total_allocated_bytes()
    for _ in range(1000):
        seen.update(array)
        seen.contains(chunks)
        with pytest.raises(TypeError):
            seen.update(pa.array([1.5]))
    assert pa.total_allocated_bytes() == before


def test_a_released_array_is_refused():
    class Once:
        """Gives the same capsules twice, which is wrong."""

        def __init__(self, array):
            self.capsules = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    once, seen = Once(pa.array(["a"])), Bloom(100)
    assert seen.update(once) == 1
    with pytest.raises(ValueError, match="used up"):
        seen.update(once)


def test_capsules_of_another_name_are_refused():
    class Wrong:
        def __arrow_c_array__(self, requested_schema=None):
            schema, array = pa.array(["a"]).__arrow_c_array__()
            return array, schema

    with pytest.raises(ValueError):
        Bloom(100).update(Wrong())
