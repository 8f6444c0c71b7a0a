"""The state folder of a stream, from Python and from the command."""

import os

import pytest

from umbel import Bloom, CountMin, Near
from umbel._state import Newest, State, folder_at
from umbel._umbel import Positions


def test_positions_are_as_drawn():
    positions = Positions()
    assert positions.to_bytes().startswith(b"umbel-stream 1\nxxh3 ")
    positions = positions.with_batch("b", 7).with_batch("a", 0)
    assert positions.to_bytes().startswith(b"umbel-stream 2\nspark 0 a\nspark 7 b\nxxh3 ")
    again = Positions.from_bytes(positions.to_bytes())
    assert (again.batch("a"), again.batch("b"), again.batch("c"), again.queries()) == (0, 7, None, ["a", "b"])
    for damaged in (b"", positions.to_bytes()[:-1], positions.to_bytes().replace(b"7", b"8")):
        with pytest.raises(ValueError, match="damaged"):
            Positions.from_bytes(damaged)


def test_snapshots_follow_each_other(tmp_path):
    place = tmp_path / "deep/state"
    state = State(place)
    assert state.current is None and state.sketch is None
    for number in range(4):
        sketch = state.sketch or Bloom(100)
        sketch.add(f"key {number}")
        state.save(sketch, state.positions.with_batch("q", number))
    # The last two are kept.
    assert sorted(os.listdir(place)) == ["CURRENT", "LOCK", "v-3", "v-4"]
    assert (place / "CURRENT").read_bytes() == b"v-4\n"
    state.close()
    again = State(str(place))
    assert (again.current, again.next, again.positions.batch("q")) == (4, 5, 3)
    assert again.sketch.to_bytes() == state.sketch.to_bytes()
    assert "key 3" in Newest(f"file://{place}").get()


def test_one_writer_at_a_time(tmp_path, command):
    state = State(tmp_path)
    with pytest.raises(RuntimeError, match="another process works with this state"):
        State(tmp_path)
    (tmp_path / "keys.txt").write_text("a\n")
    words = ["stream", "--train", tmp_path / "keys.txt", "--filter", "-n", 10, "--state", tmp_path]
    assert b"another process works with this state" in command(*words, check=False).stderr
    state.close()
    command(*words)
    assert "a" in State(tmp_path).sketch


def test_each_keeps_what_the_other_noted(tmp_path, command):
    place, keys = tmp_path / "state", tmp_path / "keys.txt"
    keys.write_text("a\nb\n")
    train = ["stream", "--train", keys, "--count", "--state", place]
    command(*train)
    state = State(place)
    sketch = state.sketch
    sketch.add("a", 5)
    state.save(sketch, state.positions.with_batch("some id", 12))
    state.close()
    with open(keys, "a") as more:
        more.write("c\n")
    command(*train)
    state = State(place)
    assert [state.sketch.estimate(key) for key in "abc"] == [6, 1, 1]
    assert state.positions.batch("some id") == 12
    assert b"\nfile 6 " in state.positions.to_bytes()


def test_unfinished_snapshots_do_not_count(tmp_path):
    state = State(tmp_path)
    state.save(Bloom(10), Positions())
    state.close()
    (tmp_path / "v-2.part").mkdir()
    (tmp_path / "v-2.part/sketch.umbel").write_bytes(b"half")
    (tmp_path / "CURRENT.part").write_bytes(b"v-")
    # Whole, but nobody was told of it.
    (tmp_path / "v-5").mkdir()
    state = State(tmp_path)
    assert (state.current, state.next) == (1, 6)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    state.save(state.sketch, Positions())
    assert sorted(os.listdir(tmp_path)) == ["CURRENT", "LOCK", "v-1", "v-6"]


def test_a_writer_that_failed_reads_what_counts(tmp_path, monkeypatch):
    state = State(tmp_path)
    state.save(CountMin(), Positions())
    state.sketch.add("x")
    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
        state.save(state.sketch, state.positions.with_batch("q", 0))
    state.load()
    assert state.sketch.total == 0 and state.positions.batch("q") is None and state.current == 1


def test_what_is_no_state_is_refused(tmp_path, command):
    with pytest.raises(ValueError, match="no snapshot yet"):
        Newest(tmp_path / "none").get()
    with pytest.raises(ValueError, match="local path or on HDFS"):
        folder_at("s3a://bucket/state")
    state = State(tmp_path)
    state.save(Near.growing(10, 1.0, 0.1), Positions())
    with pytest.raises(ValueError, match="not <umbel.Near"):
        state.load()
    state.save(Bloom(10, integers=True), Positions())
    state.close()
    # Lines are text.
    (tmp_path / "keys.txt").write_text("a\n")
    refused = command("stream", "--train", tmp_path / "keys.txt", "--state", tmp_path, check=False)
    assert refused.returncode == 2 and b"integers" in refused.stderr
    (tmp_path / "CURRENT").write_text("v-seven\n")
    with pytest.raises(ValueError, match="not the name of a snapshot"):
        State(tmp_path)
    os.remove(tmp_path / "CURRENT")
    with pytest.raises(ValueError, match="there is no CURRENT"):
        State(tmp_path)
