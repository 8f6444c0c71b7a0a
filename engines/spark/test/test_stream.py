"""Two streams over one sketch: training, answers, what is refused, and the state shared with the command."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import UMBEL, umbel

from umbel import Bloom, CountMin
from umbel import open as open_umbel
from umbel.spark import stream

ONCE = {"availableNow": True}


class Lines:
    """A server that sends lines to whoever connects, as `nc -l` would, and keeps the connection."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.connection = None

    def send(self, data):
        if self.connection is None:
            self.server.settimeout(60)
            self.connection, _ = self.server.accept()
        threading.Thread(target=self.connection.sendall, args=(data,), daemon=True).start()

    def stream(self, spark):
        return spark.readStream.format("socket").option("host", "127.0.0.1").option("port", self.port).load()

    def close(self):
        for end in [self.connection, self.server]:
            end and end.close()


def wait(until, seconds=90):
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.1)


def test_two_sockets(spark, folder):
    """Addresses come in on one, questions on the other; the answers are those of a sketch that the command builds of the same lines."""
    lines = umbel("gen", "addresses", "-n", 50_000, "--distinct", 5000, "--zipf", "1.1", "--seed", 7)
    counts = Counter(lines.decode().split())
    (folder / "lines.txt").write_bytes(lines)
    umbel("count", "build", folder / "lines.txt", "--eps", 0.001, "--delta", 0.01, "-o", folder / "count.umbel")
    umbel("build", folder / "lines.txt", "-n", 5000, "-p", 0.001, "-o", folder / "seen.umbel")
    training, questions, sketches = Lines(), Lines(), {"count": CountMin(0.001, 0.01), "filter": Bloom(5000, 0.001)}
    queries = [stream.train(training.stream(spark), "value", into=folder / "count", count=sketches["count"])]
    training.send(lines)
    wait(lambda: stream.newest(folder / "count").total == 50_000)
    state = folder / "count" / (folder / "count/CURRENT").read_text().strip()
    assert (state / "sketch.umbel").read_bytes() == (folder / "count.umbel").read_bytes()
    assert b"count-min" in umbel("info", state / "sketch.umbel")

    # The same lines from files for the filter: any source will do.
    (folder / "files").mkdir()
    shutil.copy(folder / "lines.txt", folder / "files")
    files = stream.train(spark.readStream.text(str(folder / "files")), "value", into=folder / "seen", filter=sketches["filter"], trigger=ONCE)
    files.awaitTermination()
    assert stream.newest(folder / "seen").to_bytes() == (folder / "seen.umbel").read_bytes()

    asked = stream.answer(questions.stream(spark), "value", folder / "count")
    asked = stream.answer(asked, "value", folder / "seen")
    queries.append(asked.writeStream.format("memory").queryName("answers").outputMode("append").start())
    keys = [*list(counts)[:300], *[f"0.0.{i}.1" for i in range(200)]]
    questions.send("".join(key + "\n" for key in keys).encode())
    wait(lambda: spark.table("answers").count() == len(keys))
    offline, seen = open_umbel(folder / "count.umbel"), open_umbel(folder / "seen.umbel")
    answers = {row.value: row for row in spark.table("answers").collect()}
    assert all(answers[key].estimate == offline.estimate(key) >= counts[key] for key in keys)
    assert all(answers[key].seen == (key in seen) for key in keys)
    assert sum(row.seen for row in answers.values()) <= 300 + 5
    for query in queries:
        query.stop()
    training.close(), questions.close()


def text(folder, name, keys):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_text("".join(f"{key}\n" for key in keys))


def train_files(spark, source, state, **options):
    """Trains with all files that are there."""
    query = stream.train(spark.readStream.text(str(source)), "value", into=state, trigger=ONCE, **options)
    query.awaitTermination()
    return stream.newest(state)


def test_inner_products_weights_and_integers(spark, folder):
    schema = "key bigint, weight int"
    for name, rows in [("a", [(1, 2), (2, 3), (None, 9)]), ("b", [(2, 5), (3, 1)])]:
        (folder / name).mkdir()
        (folder / name / "rows.csv").write_text("".join(f"{'' if key is None else key},{weight}\n" for key, weight in rows))
        rows = spark.readStream.schema(schema).csv(str(folder / name))
        state = folder / f"state {name}"
        stream.train(rows, "key", into=state, count=CountMin(integers=True), weight="weight", trigger=ONCE).awaitTermination()
    assert stream.newest(folder / "state a").total == 5
    ticks = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    products = stream.inner_products(ticks, folder / "state a", folder / "state b")
    query = products.writeStream.format("memory").queryName("products").start()
    wait(lambda: spark.table("products").count() > 0)
    query.stop()
    found = spark.table("products").first()
    assert found.inner_product == 15 and 0 <= found.bound < 1
    # A table of questions is answered too.
    table = spark.createDataFrame([(1,), (2,), (4,), (None,)], "key bigint")
    assert [row.times for row in stream.answer(table, "key", folder / "state a", column="times").collect()] == [2, 3, 0, 0]


def test_other_columns_may_have_any_names(spark, folder):
    """Dots, quotes, and names that several have: only the key's has to be told from others."""
    text(folder / "source", "a", ["x", "y"])
    train_files(spark, folder / "source", folder / "seen", filter=Bloom(10, 0.001))
    train_files(spark, folder / "source", folder / "count", count=CountMin())
    rows = spark.createDataFrame([("x", 1, 2, 3, 4), ("z", 5, 6, 7, 8)], ["id", "a.b", "c`d", "twice", "Twice"])
    rows = rows.toDF("id", "a.b", "c`d", "twice", "twice")
    seen = stream.answer(rows, "id", folder / "seen")
    assert seen.columns == [*rows.columns, "seen"] and [tuple(row) for row in seen.collect()] == [("x", 1, 2, 3, 4, True), ("z", 5, 6, 7, 8, False)]
    products = stream.inner_products(rows, folder / "count", folder / "count")
    assert products.columns[:5] == rows.columns and [row[5] for row in products.collect()] == [2, 2]
    # The key too, where its name is no path.
    quoted = spark.createDataFrame([("y",)], ["c`d.e"])
    assert stream.answer(quoted, "c`d.e", folder / "seen").first().seen
    with pytest.raises(ValueError, match="a column 'seen' already"):
        stream.answer(rows.toDF("id", "SEEN", "c", "d", "e"), "id", folder / "seen")


def test_a_key_of_any_name_trains(spark, folder):
    """And what is refused leaves no folder."""
    (folder / "source").mkdir()
    (folder / "source/rows.csv").write_text("7,2\n8,3\n")
    rows = spark.readStream.schema("`a``b` string, `c.d` int").csv(str(folder / "source"))
    stream.train(rows, "a`b", into=folder / "state", count=CountMin(), weight="c.d", trigger=ONCE).awaitTermination()
    assert stream.newest(folder / "state").total == 5
    for key, options in [("nothing", {"count": CountMin()}), ("c.d", {"count": CountMin()}), ("a`b", {}), ("a`b", {"filter": Bloom(9), "weight": "c.d"})]:
        with pytest.raises((ValueError, TypeError)):
            stream.train(rows, key, into=folder / "none", **options)
        assert not (folder / "none").exists()


def test_a_row_without_a_text_has_no_weight_to_look_at(spark, folder):
    """Where keys are integers, each row must have one."""
    for kind, integers in [("string", False), ("bigint", True)]:
        source = folder / kind
        source.mkdir()
        (source / "rows.csv").write_text("7,2\n,\n")
        rows = spark.readStream.schema(f"key {kind}, weight int").csv(str(source))
        state = folder / f"state {kind}"
        query = stream.train(rows, "key", into=state, count=CountMin(integers=integers), weight="weight", trigger=ONCE)
        if integers:
            with pytest.raises(Exception, match="a weight is null"):
                query.awaitTermination()
        else:
            query.awaitTermination()
            assert stream.newest(state).total == 2


def test_a_state_goes_to_the_command_and_back(spark, folder):
    """The state is the same folder: Spark trains it, then the command, then Spark again where it was."""
    source, state = folder / "source", folder / "state"
    keys = [f"key {i}" for i in range(900)]
    text(source, "a", keys[:300])
    train_files(spark, source, state, filter=Bloom(1000, 0.01))
    text(folder / "more", "b", keys[300:600])
    # The query has ended, but its program still has the state.
    refused = subprocess.run([UMBEL, "stream", "--train", folder / "more/b.txt", "--state", state], capture_output=True)
    assert refused.returncode == 2 and b"another process works with this state" in refused.stderr
    stream.release(state)
    umbel("stream", "--train", folder / "more/b.txt", "--state", state)
    text(source, "c", ["", *keys[600:]])
    trained = train_files(spark, source, state)
    (folder / "all.txt").write_text("".join(f"{key}\n" for key in keys))
    umbel("build", folder / "all.txt", "-n", 1000, "-p", 0.01, "-o", folder / "all.umbel")
    assert trained.to_bytes() == (folder / "all.umbel").read_bytes()
    # And the command knows what it has read.
    stream.release(state)
    umbel("stream", "--train", folder / "more/b.txt", "--state", state)
    assert stream.newest(state).to_bytes() == trained.to_bytes()

    # A state that the command has begun.
    umbel("stream", "--train", folder / "all.txt", "--count", "--state", folder / "counts")
    assert train_files(spark, source, folder / "counts").total == 900 + 600


def test_what_is_refused(spark, folder):
    source, state = folder / "source", folder / "state"
    text(source, "a", range(100))
    rows = spark.readStream.text(str(source))
    for options, error, message in [
        ({}, ValueError, "say which sketch"),
        ({"filter": Bloom(10), "count": CountMin()}, ValueError, "one sketch"),
        ({"filter": CountMin()}, TypeError, "umbel.Bloom"),
        ({"filter": Bloom(10, integers=True)}, TypeError, "keys of integers"),
        ({"filter": Bloom(10), "weight": "value"}, ValueError, "does not count"),
    ]:
        with pytest.raises(error, match=message):
            stream.train(rows, "value", into=folder / "none", **options)
        shutil.rmtree(folder / "none", ignore_errors=True)
    with pytest.raises(ValueError, match="no column 'key'; there are: value"):
        stream.train(rows, "key", into=folder / "none", filter=Bloom(10))
    with pytest.raises(ValueError, match="takes a streaming DataFrame"):
        stream.train(spark.read.text(str(source)), "value", into=folder / "none", filter=Bloom(10))
    assert not (folder / "none/CURRENT").exists()
    with pytest.raises(ValueError, match="local path or on HDFS"):
        stream.train(rows, "value", into="s3a://bucket/state", filter=Bloom(10))

    running = stream.train(rows, "value", into=state, filter=Bloom(100))
    running.processAllAvailable()
    with pytest.raises(RuntimeError, match="trains this state"):
        stream.train(rows, "value", into=state)
    second = subprocess.run([UMBEL, "stream", "--train", source / "a.txt", "--state", state], capture_output=True)
    assert second.returncode == 2
    running.stop()
    with pytest.raises(ValueError, match="is asked for; leave it out"):
        stream.train(rows, "value", into=state, filter=Bloom(200))
    with pytest.raises(ValueError, match="CountMin is asked for"):
        stream.train(rows, "value", into=state, count=CountMin())
    with pytest.raises(ValueError, match="states? that count"):
        stream.inner_products(rows, state, state)
    with pytest.raises(ValueError, match="no snapshot yet"):
        stream.answer(rows, "value", folder / "nowhere")

    # A checkpoint of another query, and none where there was one.
    with pytest.raises(ValueError, match="a new checkpoint"):
        stream.train(rows, "value", into=state, checkpoint=folder / "elsewhere")
    train_files(spark, source, folder / "other", filter=Bloom(100))
    with pytest.raises(ValueError, match="a checkpoint of the query"):
        stream.train(rows, "value", into=state, checkpoint=folder / "other/checkpoint")
    shutil.move(state / "checkpoint", folder / "kept")
    with pytest.raises(ValueError, match="a new checkpoint"):
        stream.train(rows, "value", into=state)
    # Said that they are other rows, they are taken.
    assert train_files(spark, source, state, checkpoint=folder / "elsewhere", another=True).inserted == 200
    shutil.move(folder / "kept", state / "checkpoint")

    # A state that is older than its checkpoint would lack rows.
    before = (state / "CURRENT").read_text()
    text(source, "b", range(100, 200))
    train_files(spark, source, state)
    text(source, "c", range(200, 300))
    assert train_files(spark, source, state).inserted == 400
    stream.release(state)
    newest = (state / "CURRENT").read_text()
    older = f"v-{int(newest.strip()[2:]) - 1}\n"
    assert older > before
    (state / "CURRENT").write_text(older)
    text(source, "d", range(300, 400))
    query = stream.train(rows, "value", into=state, trigger=ONCE)
    with pytest.raises(Exception, match="older than the checkpoint"):
        query.awaitTermination()
    assert (state / "CURRENT").read_text() == older


BARE = """
import sys
from pyspark.sql import SparkSession
from umbel import Bloom
from umbel.spark import stream

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = spark.readStream.text(sys.argv[1])
for ask in [lambda: stream.train(rows, "value", into=sys.argv[2], filter=Bloom(10, 0.01)), lambda: stream.answer(rows, "value", sys.argv[3])]:
    try:
        ask()
    except RuntimeError as error:
        print(error)
"""


def test_executors_without_the_package_are_told_of_at_once(spark, folder):
    """Before a query begins, and a state."""
    text(folder / "source", "a", ["a"])
    train_files(spark, folder / "source", folder / "there", filter=Bloom(10, 0.01))
    stream.release(folder / "there")
    bare = {**os.environ, "PYSPARK_PYTHON": str(Path(sys.base_prefix) / f"bin/python3.{sys.version_info.minor}")}
    bare.pop("PYTHONPATH", None)
    words = [sys.executable, "-c", BARE, folder / "source", folder / "state", folder / "there"]
    done = subprocess.run(words, env=bare, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.stdout.count("the executors have no package umbel: install it") == 2, done.stderr
    assert not (folder / "state").exists()


def test_what_is_plainly_wrong_costs_no_job(spark, folder, monkeypatch):
    text(folder / "source", "a", ["a"])
    train_files(spark, folder / "source", folder / "state", filter=Bloom(10, 0.01))
    rows = spark.readStream.text(str(folder / "source"))

    def job(session):
        raise AssertionError("a job is run")

    monkeypatch.setattr(stream, "check_executors", job)
    with pytest.raises(ValueError, match="one sketch"):
        stream.train(rows, "value", into=folder / "none", filter=Bloom(10), count=CountMin())
    with pytest.raises(ValueError, match="a column 'value' already"):
        stream.answer(rows, "value", folder / "state", column="value")
    with pytest.raises(AssertionError, match="a job is run"):
        stream.train(rows, "value", into=folder / "none", filter=Bloom(10))
    assert not (folder / "none").exists()


def test_what_failed_in_memory_is_read_again(spark, folder, monkeypatch):
    """A snapshot cannot be written: what was merged is forgotten, and the batch counts once when it is run again."""
    source, state = folder / "source", folder / "state"
    text(source, "a", range(100))
    train_files(spark, source, state, count=CountMin())
    text(source, "b", range(100, 200))
    save, failed = stream.State.save, []

    def failing(self, sketch, positions):
        if not failed:
            failed.append(sketch.total)
            raise OSError("no space left")
        save(self, sketch, positions)

    monkeypatch.setattr(stream.State, "save", failing)
    rows = spark.readStream.text(str(source))
    trainer = stream.Trainer(rows, "value", state, None, None, False)
    checkpoint = str(state / "checkpoint")
    for attempt in range(2):
        query = trainer.rows.writeStream.foreachBatch(trainer.take).option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        if attempt == 0:
            with pytest.raises(Exception, match="no space left"):
                query.awaitTermination()
    query.awaitTermination()
    trainer.close()
    with pytest.raises(RuntimeError, match="no longer has"):
        trainer.take(None, 7)
    assert failed == [200] and stream.newest(state).total == 200
