"""The state on HDFS."""

import os
import subprocess
import xml.etree.ElementTree as xml

import pytest
from conftest import FOLDER, ROOT, umbel
from test_crash import FILES, die, expected, finish, source, trainer  # noqa: F401: fixtures

from umbel import Bloom, CountMin
from umbel._state import State
from umbel._umbel import Positions
from umbel.spark import stream

HADOOP = ROOT / "engines/hadoop/cluster"


@pytest.fixture(scope="module")
def hdfs():
    """The address of a real HDFS."""
    folder = FOLDER / "hadoop"
    subprocess.run([HADOOP, "down", folder], check=True)
    subprocess.run([HADOOP, "hdfs", folder], check=True, stdout=subprocess.DEVNULL)
    settings = {p.findtext("name"): p.findtext("value") for p in xml.parse(folder / "conf/core-site.xml").iter("property")}
    yield settings["fs.defaultFS"]
    subprocess.run([HADOOP, "down", folder], check=True)


def test_a_crash_and_questions(hdfs, source, expected, spark):  # noqa: F811: they are fixtures
    state = f"{hdfs}/deep/state"
    die(trainer(source, state, "count", "after", 1, 0))
    assert finish(trainer(source, state, "count")).count("working on") == FILES - 2
    trained = stream.newest(state)
    assert trained.to_bytes() == expected["count"]
    keys = spark.read.text(str(source)).distinct().limit(100)
    for row in stream.answer(keys, "value", state).collect():
        assert row.estimate == trained.estimate(row.value) > 0


def test_of_two_writers_the_last_goes_on(hdfs):
    place = f"{hdfs}/two"
    first = State(place)
    first.save(Bloom(10), Positions())
    second = State(place)
    with pytest.raises(RuntimeError, match="another process has begun"):
        first.save(Bloom(10), Positions())
    second.sketch.add("x")
    second.save(second.sketch, second.positions.with_batch("q", 0))
    assert "x" in stream.newest(place)
    # Whoever comes too late finds the place taken, whatever LOCK says.
    third = State(place)
    third.next = second.current
    with pytest.raises(OSError):
        third.save(CountMin(), Positions())
    assert "x" in stream.newest(place)
    assert [name for name in third.folder.names() if name.endswith(".part")] != []
    assert State(place).positions.batch("q") == 0


def test_a_state_is_copied_and_goes_on_here(hdfs, folder):
    State(f"{hdfs}/three").save(Bloom(100), Positions().with_batch("q", 3))
    state = State(f"{hdfs}/three")
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
