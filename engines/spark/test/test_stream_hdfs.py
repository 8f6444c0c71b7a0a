"""The state on HDFS, and lines that are kept there."""

import contextlib
import os
import subprocess
import time
import xml.etree.ElementTree as xml

import pytest
from conftest import FOLDER, ROOT, umbel
from test_crash import FILES, die, expected, finish, source, trainer  # noqa: F401: fixtures

from umbel import Bloom, CountMin
from umbel._state import SILENCE, State
from umbel._umbel import Hdfs, Positions
from umbel.spark import screen, stream

HADOOP = ROOT / "engines/hadoop/cluster"


def hadoop(verb):
    """The address of the HDFS of a real Hadoop, which is stopped in the end."""
    folder = FOLDER / "hadoop"
    subprocess.run([HADOOP, "down", folder], check=True)
    subprocess.run([HADOOP, verb, folder], check=True, stdout=subprocess.DEVNULL)
    settings = {p.findtext("name"): p.findtext("value") for p in xml.parse(folder / "conf/core-site.xml").iter("property")}
    yield settings["fs.defaultFS"]
    subprocess.run([HADOOP, "down", folder], check=True)


@pytest.fixture(scope="module")
def hdfs():
    yield from hadoop("hdfs")


def test_a_crash_and_questions(hdfs, source, expected, spark):  # noqa: F811: they are fixtures
    state = f"{hdfs}/deep/state"
    die(trainer(source, state, "count", "after", 1, 0))
    assert finish(trainer(source, state, "count")).count("working on") == FILES - 2
    trained = stream.newest(state)
    assert trained.to_bytes() == expected["count"]
    keys = spark.read.text(str(source)).distinct().limit(100)
    for row in stream.answer(keys, "value", state).collect():
        assert row.estimate == trained.estimate(row.value) > 0


def test_a_second_writer_is_refused_until_the_first_has_ended(hdfs):
    place = f"{hdfs}/one"
    with contextlib.closing(State(place)) as first:
        first.save(Bloom(10), Positions())
        with pytest.raises(RuntimeError, match="another process works with this state"):
            State(place)
        first.save(first.sketch, first.positions)
    began = time.monotonic()
    State(place).close()
    assert time.monotonic() - began < SILENCE


def test_a_writer_that_was_taken_for_dead_ends(hdfs, monkeypatch):
    monkeypatch.setattr("umbel._state.SILENCE", 1)
    place = f"{hdfs}/two"
    first = State(place)
    first.save(Bloom(10), Positions())
    first.lock.ended.set()
    first.lock.life.join()
    second = State(place)
    with pytest.raises(RuntimeError, match="another process has begun"):
        first.save(Bloom(10), Positions())
    first.close()
    second.sketch.add("x")
    second.save(second.sketch, second.positions.with_batch("q", 0))
    assert "x" in stream.newest(place)
    # Whoever comes too late finds the place taken, whatever LOCK says.
    second.next = second.current
    with pytest.raises(OSError):
        second.save(CountMin(), Positions())
    assert "x" in stream.newest(place)
    assert [name for name in second.folder.names() if name.endswith(".part")] != []
    second.close()
    with contextlib.closing(State(place)) as third:
        assert third.positions.batch("q") == 0


def test_a_state_is_copied_and_goes_on_here(hdfs, folder):
    state = State(f"{hdfs}/three")
    state.save(Bloom(100), Positions().with_batch("q", 3))
    state.close()
    for name in ["CURRENT", "v-1/sketch.umbel", "v-1/positions"]:
        path = folder / "state" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(state.folder.read(name))
    (folder / "keys.txt").write_text("a\nb\n")
    umbel("stream", "--train", folder / "keys.txt", "--state", folder / "state")
    here = State(folder / "state")
    assert "a" in here.sketch and here.positions.batch("q") == 3
    assert os.path.exists(folder / "state/LOCK")
    here.close()


def test_a_screening_that_fails_leaves_no_folders(hdfs, folder, spark):
    (folder / "keys.tsv").write_text("a\t1\nb\n")
    with pytest.raises(ValueError, match="keys.tsv, line 2: "):
        screen(str(folder / "keys.tsv"), Bloom(10), key="2", delimiter="\t", strict=True, output=f"{hdfs}/lines/of/keys", spark=spark)
    assert "lines" not in Hdfs(f"{hdfs}/").names()
