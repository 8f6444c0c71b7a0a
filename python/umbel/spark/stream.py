"""Two streams over one sketch on Spark: one trains it, one asks it, and the state survives.

    from umbel import Bloom
    from umbel.spark import stream

    query = stream.train(addresses, "value", into="hdfs:///seen", filter=Bloom(10_000_000, 0.01))
    answers = stream.answer(questions, "value", state="hdfs:///seen")       # a column more: seen
    answers.writeStream.format("console").start()

Both are queries of their own, in one program or in two, with any source and any sink that Spark has. The state is a folder, the same as that of `umbel stream`
(FORMAT.md draws it), on a local path that driver and executors share, or on HDFS.

Each batch is folded into partial sketches in the executors, merged on the driver, and written as a snapshot together with the batch's number, replaced as one. A
batch that is run again, because Spark did not hear of its end, is found there and passed over: each row counts exactly once."""

from __future__ import annotations

import json
import os
import threading
import warnings
import zlib
from functools import partial
from typing import TYPE_CHECKING

import umbel
from umbel._state import Newest, State, folder_at, read_current
from umbel._umbel import Positions
from umbel.spark.columns import check_executors, quoted, taken
from umbel.spark.places import named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

__all__ = ["answer", "inner_products", "newest", "release", "train"]

# Rows that executors hand over at a time; Spark's own default is a tenth, and slower.
ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
ROWS_DEFAULT, ROWS_WANTED = "10000", "100000"
QUERY_ID = "sql.streaming.queryId"
MOST = 2**63 - 1
# Those who train in this process, by folder.
trainers = {}


def train(
    stream: DataFrame,
    key: str,
    into: str | os.PathLike[str],
    *,
    filter: umbel.Bloom | None = None,
    count: umbel.CountMin | None = None,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    trigger: dict | None = None,
    name: str | None = None,
    another: bool = False,
) -> StreamingQuery:
    """Starts a query that trains the sketch in a state with a column of a stream, and returns it (a StreamingQuery).

    filter is a Bloom, count a CountMin, to begin a new state with; for a state that is there it may be left out. With count, weight may name a column of
    whole numbers from 0 on; a null or a negative one fails the query, so leave such rows out (where). Keys are strings or binary, or integers for a sketch made with integers=True. A null or an empty key is none, as for the command:
    of a text, its weight is not looked at; where keys are integers, every row's weight is.

    checkpoint is Spark's folder for the query (default: in the state's own); trigger is a dict of what DataStreamWriter.trigger takes; name is the query's.

    A state that has taken in another query is refused, because the same rows might be counted again: with another=True they are others, and it takes in both."""
    if not stream.isStreaming:
        raise ValueError("train takes a streaming DataFrame, such as spark.readStream makes; of a table, umbel.spark.build or count make a sketch")
    wanted = prototype(filter, count)
    # Not before, for it runs a job; and not later, for a state would begin.
    check_executors(stream.sparkSession)
    trainer = Trainer(stream, key, into, wanted, weight, another)
    try:
        checkpoint = os.fspath(checkpoint) if checkpoint else f"{trainer.state.folder}/checkpoint"
        trainer.check_checkpoint(checkpoint)
        writer = trainer.rows.writeStream.foreachBatch(trainer.take).option("checkpointLocation", checkpoint)
        writer = writer.queryName(name) if name else writer
        writer = writer.trigger(**trigger) if trigger else writer
        trainer.query = writer.start()
    except BaseException:
        trainer.close()
        raise
    trainers[str(trainer.state.folder)] = trainer
    return trainer.query


def answer(queries: DataFrame, key: str, state: str | os.PathLike[str], *, column: str | None = None) -> DataFrame:
    """A stream (or a table) with a column more: for a state that holds a filter, `seen`: whether the key may have been seen, False being certain; for one that holds
    counts, `estimate`: how often at most. Every batch of rows is answered from the newest complete snapshot. The answer for a null is False, or 0."""
    place = named(state, queries.sparkSession)
    sketch = newest(place)
    check_key(queries, key, sketch)
    kind = "boolean" if isinstance(sketch, umbel.Bloom) else "long"
    column = column or ("seen" if kind == "boolean" else "estimate")
    work = partial(answers, place, queries.columns.index(key))
    return with_columns(queries, [(column, kind)], work)


def inner_products(queries: DataFrame, first: str | os.PathLike[str], second: str | os.PathLike[str]) -> DataFrame:
    """A stream (or a table) with two columns more: `inner_product`, the sum over all keys of the product of their counts in two states, never too low, and `bound`,
    by how much it is too high at most. For every batch of rows it is that of the newest complete snapshots."""
    places = [named(state, queries.sparkSession) for state in (first, second)]
    product(*map(newest, places))
    return with_columns(queries, [("inner_product", "long"), ("bound", "double")], partial(products, places))


def newest(state: str | os.PathLike[str]) -> umbel.Bloom | umbel.CountMin:
    """The sketch of the newest complete snapshot of a state: a Bloom or a CountMin."""
    return Newest(state).get()


class Trainer:
    """Takes in the batches of one query."""

    def __init__(self, stream, key, into, wanted, weight, another):
        place = named(into, stream.sparkSession)
        self.another, self.query = another, None
        release(place)
        rows = partial(selected, stream, key, weight)
        if read_current(folder_at(place), []) is None:
            # What is refused leaves no folder.
            rows(first(place, wanted))
        self.state = State(place)
        try:
            sketch = self.begin(wanted)
            self.rows = rows(sketch)
            if self.state.sketch is None:
                self.state.save(sketch.copy(), Positions())
        except BaseException:
            self.state.close()
            raise
        # What was merged in memory but not written must not be gone on from.
        self.is_stale = self.is_closed = False
        self.busy = threading.Lock()
        self.fold = partial(fold_batches, zlib.compress(self.state.sketch.empty().to_bytes(), 1))

    def begin(self, wanted):
        """What the state holds, if it is what is asked for, or what is asked for."""
        state = self.state
        if state.sketch is None:
            return first(state.folder, wanted)
        if wanted is not None:
            try:
                check_alike(state.sketch, wanted)
            except ValueError as error:
                raise ValueError(f"{state.folder}: {error}; leave it out to go on with the state, or begin a new one in another folder") from None
        return state.sketch

    def check_checkpoint(self, checkpoint):
        """Refuses a checkpoint that does not belong to the state, as far as it can be read from here; each batch is checked again."""
        try:
            query = json.loads(folder_at(checkpoint).read("metadata"))["id"]
        except FileNotFoundError:
            query = None
        except ValueError:
            return
        self.check_query(query)

    def check_query(self, query):
        positions = self.state.positions
        if self.another or not positions.queries() or (query and positions.batch(query) is not None):
            return
        whose = f"a checkpoint of the query {query}" if query else "a new checkpoint"
        raise ValueError(
            f"{self.state.folder}: it has taken in the query {', '.join(positions.queries())}, and this is {whose}: rows could be counted again. Give the "
            "checkpoint that belongs to it, begin a new state in another folder, or say another=True if these are other rows"
        )

    def close(self):
        """Lets go of the state. A query that was stopped may still be at a batch: it is waited for."""
        with self.busy:
            self.is_closed = True
            self.state.close()

    def take(self, batch, number):
        """What foreachBatch calls."""
        with self.busy:
            if self.is_closed:
                raise RuntimeError(f"{self.state.folder}: the query no longer has this state")
            self.take_in(batch, number)

    def take_in(self, batch, number):
        if self.is_stale:
            self.state.load()
        self.is_stale = True
        query = batch.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
        if self.is_due(query, number):
            sketch = self.state.sketch
            for part in partials(batch, self.fold):
                merge(sketch, umbel.from_bytes(zlib.decompress(part)))
            self.state.save(sketch, self.state.positions.with_batch(query, number))
        self.is_stale = False

    def is_due(self, query, number):
        """Whether the state does not have this batch yet. Refuses one that is not the next."""
        self.check_query(query)
        done = self.state.positions.batch(query)
        if done is not None and number <= done:
            return False
        due = 0 if done is None else done + 1
        if number != due:
            raise ValueError(
                f"{self.state.folder}: batch {due} of the query {query} is due, and this is batch {number}: the state is older than the checkpoint, and rows "
                "would be missing. Go on from a state that has them, or begin both anew"
            )
        return True


def release(state: str | os.PathLike[str]) -> None:
    """Lets go of a state whose query has ended, so that other programs can train it; the end of this one does the same."""
    from pyspark.sql import SparkSession

    folder = str(folder_at(named(state, SparkSession.getActiveSession())))
    trainer = trainers.get(folder)
    if trainer is None:
        return
    if trainer.query.isActive:
        raise RuntimeError(f"{folder}: the query {trainer.query.id} of this program trains this state; stop it, or choose another folder")
    del trainers[folder]
    trainer.close()


def prototype(filter, count):
    """The sketch that is asked for, or None."""
    if filter is not None and count is not None:
        raise ValueError("a state holds one sketch: give filter=… or count=…, not both")
    for given, due, what in [(filter, umbel.Bloom, "filter"), (count, umbel.CountMin, "count")]:
        if given is not None and not isinstance(given, due):
            raise TypeError(f"{what} is a umbel.{due.__name__}, not {type(given).__name__}")
    return count if filter is None else filter


def first(place, wanted):
    """What a new state is to hold."""
    if wanted is None:
        raise ValueError(f"{place}: there is no state yet: say which sketch to begin with, filter=… or count=…")
    return wanted


def check_alike(has, asked):
    if type(has) is not type(asked):
        raise ValueError(f"the state holds a {type(has).__name__}, and a {type(asked).__name__} is asked for")
    if isinstance(has, umbel.Bloom) and has.sizing != asked.sizing:
        raise ValueError(f"the state holds {has!r}, and {asked!r} is asked for")
    has.empty().merge(asked.empty())


def check_key(rows, key, sketch):
    """Whether the keys are integers; refuses a column that is not there or does not fit the sketch."""
    integers = is_integer(rows, key, ["string", "binary", "byte", "short", "integer", "long"])
    if integers != sketch.integers:
        holds = "integers" if sketch.integers else "bytes"
        raise TypeError(f"the column {key!r} is {rows.schema[key].dataType.simpleString()}, and the sketch holds keys of {holds}")
    return integers


def is_integer(rows, column, allowed):
    if column not in rows.columns:
        raise ValueError(f"there is no column {column!r}; there are: {', '.join(rows.columns)}")
    kind = rows.schema[column].dataType.typeName()
    kind = "string" if kind in ("char", "varchar") else kind
    if kind not in allowed:
        raise TypeError(f"the column {column!r} is {rows.schema[column].dataType.simpleString()}; what can be taken is {', '.join(allowed)}")
    return kind not in ("string", "binary")


def selected(stream, key, weight, sketch):
    """The keys of a stream, and their weights."""
    from pyspark.sql import functions

    integers = check_key(stream, key, sketch)
    columns = [stream[quoted(key)].alias("key")]
    if weight is not None:
        if isinstance(sketch, umbel.Bloom):
            raise ValueError("a filter does not count: weight goes with count=…")
        is_integer(stream, weight, ["byte", "short", "integer", "long"])
        columns.append(stream[quoted(weight)].alias("weight"))
    rows = stream.select(*columns)
    return rows if integers else rows.where(functions.length("key") > 0)


def partials(batch, fold):
    """The partial sketches of a batch, a task each."""
    conf = batch.sparkSession.conf
    if conf.get(ROWS) == ROWS_DEFAULT:
        # The session of a query's batches is the query's own.
        conf.set(ROWS, ROWS_WANTED)
    return [row.part for row in batch.mapInArrow(fold, "part binary").collect()]


def merge(sketch, part):
    with warnings.catch_warnings():
        # A full filter would say so with every batch; overfull() tells.
        warnings.simplefilter("ignore", UserWarning)
        sketch.merge(part)


# What executors do.

askers = {}


def fold_batches(template, batches):
    """All rows of a task in one sketch: nothing if there is none."""
    import pyarrow

    sketch = None
    for batch in batches:
        if batch.num_rows:
            sketch = sketch or umbel.from_bytes(zlib.decompress(template))
            sketch.update(*batch.columns)
    if sketch is not None:
        yield pyarrow.RecordBatch.from_pydict({"part": [zlib.compress(sketch.to_bytes(), 1)]})


def asker(place):
    """What this process knows of a state: it is kept from task to task."""
    return askers.setdefault(place, Newest(place))


def answers(place, column, batch):
    """The answer for each key."""
    sketch, keys = asker(place).get(), batch.column(column)
    if isinstance(sketch, umbel.Bloom):
        return [sketch.contains(keys)]
    return [capped(sketch.estimate_batch(keys))]


def products(places, batch):
    """The same for each row."""
    import pyarrow

    estimate, bound = product(*[asker(place).get() for place in places])
    rows = batch.num_rows
    return [pyarrow.repeat(pyarrow.scalar(min(estimate, MOST)), rows), pyarrow.repeat(pyarrow.scalar(float(bound)), rows)]


def product(first, second):
    if not (isinstance(first, umbel.CountMin) and isinstance(second, umbel.CountMin)):
        raise ValueError("an inner product is that of two states that count")
    return first.inner_product(second)


def capped(counts):
    """Counts as Spark's bigint holds them."""
    import pyarrow
    import pyarrow.compute

    counts = pyarrow.array(counts, pyarrow.uint64())
    return pyarrow.compute.min_element_wise(counts, pyarrow.scalar(MOST, pyarrow.uint64())).cast(pyarrow.int64())


def with_columns(rows, columns, work):
    """Rows with columns more, which executors find out."""
    there = taken(rows, [name for name, _ in columns])
    if there is not None:
        raise ValueError(f"there is a column {there!r} already: rename it, or choose another name")
    check_executors(rows.sparkSession)
    from pyspark.sql.types import StructType

    # Spark looks columns up by their names, where a dot is a path and two may be alike: places are names without any of that.
    placed = rows.toDF(*map(str, range(len(rows.columns))))
    schema = StructType(list(placed.schema.fields))
    for place, (_, kind) in enumerate(columns, len(rows.columns)):
        schema.add(str(place), kind)
    return placed.mapInArrow(partial(widened, schema.names, work), schema).toDF(*rows.columns, *[name for name, _ in columns])


def widened(names, work, batches):
    import pyarrow

    for batch in batches:
        more = [column if isinstance(column, pyarrow.Array) else pyarrow.array(column) for column in work(batch)]
        yield pyarrow.RecordBatch.from_arrays([*batch.columns, *more], names=names)
