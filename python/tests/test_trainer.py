"""What a Spark query does with its batches, without a Spark."""

import zlib
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")

from umbel import Bloom, CountMin
from umbel.spark import stream


@pytest.fixture
def make(monkeypatch):
    """Makes a trainer; a batch is a list of keys."""
    monkeypatch.setattr(stream, "selected", lambda rows, key, weight, sketch: rows)
    monkeypatch.setattr(stream, "partials", lambda batch, fold: [part(batch.keys, fold)])

    def part(keys, fold):
        sketch = stream.umbel.from_bytes(zlib.decompress(fold.args[0]))
        sketch.update(keys)
        return zlib.compress(sketch.to_bytes())

    def make(place, wanted=None, another=False):
        rows = SimpleNamespace(sparkSession=None)
        return stream.Trainer(rows, "key", place, wanted, None, another)

    return make


def batch(query, *keys):
    context = SimpleNamespace(getLocalProperty=lambda name: query)
    return SimpleNamespace(sparkSession=SimpleNamespace(sparkContext=context), keys=list(keys))


def test_each_batch_counts_once(make, tmp_path):
    trainer = make(tmp_path, CountMin())
    for number in [0, 0, 1, 0, 1, 2]:
        trainer.take(batch("q", f"key {number}"), number)
    trainer.close()
    assert stream.newest(tmp_path).total == 3
    # Another process, which Spark sends the last batch again.
    trainer = make(tmp_path)
    for number in [2, 3]:
        trainer.take(batch("q", f"key {number}"), number)
    trainer.close()
    assert [stream.newest(tmp_path).estimate(f"key {i}") for i in range(5)] == [1, 1, 1, 1, 0]


def test_what_could_count_twice_or_not_at_all_is_refused(make, tmp_path):
    trainer = make(tmp_path, Bloom(100))
    with pytest.raises(ValueError, match="batch 0 of the query q is due, and this is batch 1"):
        trainer.take(batch("q"), 1)
    trainer.take(batch("q", "a"), 0)
    with pytest.raises(ValueError, match="batch 1 of the query q is due, and this is batch 3"):
        trainer.take(batch("q", "b"), 3)
    with pytest.raises(ValueError, match="has taken in the query q"):
        trainer.take(batch("r", "c"), 0)
    trainer.close()
    other = make(tmp_path, another=True)
    other.take(batch("r", "c"), 0)
    assert stream.newest(tmp_path).contains(["a", "b", "c"]).tolist() == [True, False, True]
    assert [other.state.positions.batch(query) for query in "qr"] == [0, 0]


def test_what_was_merged_and_not_written_is_forgotten(make, tmp_path, monkeypatch):
    trainer = make(tmp_path, CountMin())
    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(stream.State, "save", lambda *_: (_ for _ in ()).throw(OSError("full")))
        trainer.take(batch("q", "a"), 0)
    assert trainer.state.sketch.total == 1
    trainer.take(batch("q", "a"), 0)
    assert stream.newest(tmp_path).total == 1


def test_a_query_that_has_ended_cannot_write(make, tmp_path):
    trainer = make(tmp_path, CountMin())
    with pytest.raises(RuntimeError, match="another process works"):
        make(tmp_path)
    trainer.query = SimpleNamespace(isActive=True, id="q")
    stream.trainers[str(trainer.state.folder)] = trainer
    with pytest.raises(RuntimeError, match="trains this state"):
        make(tmp_path)
    trainer.query.isActive = False
    again = make(tmp_path)
    with pytest.raises(RuntimeError, match="no longer has"):
        trainer.take(batch("q", "a"), 0)
    again.take(batch("q", "a"), 0)
    assert stream.newest(tmp_path).total == 1
    again.close()


def test_a_state_is_what_is_asked_for(make, tmp_path):
    with pytest.raises(ValueError, match="say which sketch"):
        make(tmp_path)
    make(tmp_path, Bloom(100)).close()
    for wanted in (Bloom(200), Bloom(100, seed=1), CountMin()):
        with pytest.raises(ValueError, match="leave it out"):
            make(tmp_path, wanted)
    make(tmp_path, Bloom(100)).close()
