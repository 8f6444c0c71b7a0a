"""Spark as a carrier of jobs: what the native part orders is done by Spark's tasks."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass, field

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from umbel._umbel import jobs
from umbel.spark import places, tasks
from umbel.spark.errors import SparkError, short

# Rows that go from Spark to Python at once.
ROWS = 100_000
# Bytes of a result beyond which it is brought part by part, and of filters beyond which each core fills one only; else it may have a few tasks.
LARGE = 256 << 20
WIDE = 4 << 20
TASKS = 4
# Bytes of all parts, and number of filters, up to which the driver unites them: tasks that do it would cost a stage more.
NEAR = 64 << 20
FEW = 1000
# Bytes of all hashes of keys that may come to the driver, in place of a second look at the rows of a DataFrame; and of one.
HASHES = 128 << 20
HASH = 8
MOST_REDUCERS = 8
# The first byte of the key under which a mapper tells what it has counted.
TALLY = 1
# What goes wrong in Spark or on the way to it.
FAILURES = (PySparkException, Py4JError)


@dataclass
class Rows:
    """Rows of a DataFrame: which column is what."""

    frame: object
    key: str
    by: str | None = None
    weight: str | None = None

    def selected(self):
        columns = [column for column in (self.key, self.by, self.weight) if column is not None]
        # One column may be asked for twice.
        return self.frame.select([F.col(quoted(column)).alias(str(place)) for place, column in enumerate(columns)])


@dataclass
class Brought:
    """What has come back from a job."""

    id: str
    maps: int
    bytes: int
    records: list


@dataclass
class Carrier:
    """Runs jobs in a session, over files or over rows: one of `rows` for each input."""

    spark: object
    rows: list = field(default_factory=list)
    partitions: int | None = None
    shows: bool = False
    # Of the last job, where it is known before.
    maps: int | None = None

    def abandon(self):
        """Takes away what jobs have gathered and been given, before the program ends and they with it. Spark is not asked: it may be amid an answer."""
        jobs.abandon()
        for folder in GIVEN.values():
            folder.cleanup()

    def carry(self, *, name, order, inputs, stretches, reducers, tool, lines, size):
        """Has an order done."""
        context = self.spark.sparkContext
        tool = tool and shared(context, tool)
        try:
            with self.named(name), self.settings(), self.progress(name):
                if self.is_near(order, inputs, size):
                    reducers = 0
                if reducers:
                    reducers = max(reducers, min(self.slots(), MOST_REDUCERS))
                if self.rows:
                    records = self.carry_rows(order, tool, reducers, size)
                else:
                    records = self.carry_files(order, tool, inputs, stretches, reducers, lines, size)
        except FAILURES as error:
            raise short(error) from None
        told = [int(value) for key, value in records if key == tasks.BYTES]
        records = [record for record in records if record[0] != tasks.BYTES]
        maps = self.maps if self.maps is not None else sum(key[0] == TALLY for key, _ in records)
        size = sum(told) if reducers else sum(len(key) + len(value) for key, value in records)
        return Brought(context.applicationId, maps, size, records)

    def files(self, path):
        """The files at a place that only Spark can read; of rows, what messages call them."""
        if self.rows:
            return ["the DataFrame" if path.endswith("0") else "the members"]
        try:
            place = self.spark._jvm.org.apache.hadoop.fs.Path(path)
            system = place.getFileSystem(self.spark._jsc.hadoopConfiguration())
            found = system.globStatus(place) or []
            if len(found) == 1 and found[0].isDirectory():
                found = system.listStatus(found[0].getPath())
            files = [status.getPath() for status in found if not status.isDirectory()]
        except FAILURES as error:
            raise SparkError(f"{path}: {short(error)}") from None
        files = sorted(places.whole(file.toString()) for file in files if file.getName()[0] not in "._")
        if not files:
            raise FileNotFoundError(f"{path}: there are no files")
        return files

    def slots(self):
        return max(1, self.spark.sparkContext.defaultParallelism)

    def tasks(self, size):
        """How many tasks there are, at most."""
        return self.partitions or self.slots() * (1 if size > WIDE else TASKS)

    def room(self):
        """How many hashes of keys each mapper may send. Files are read again as fast."""
        return HASHES // HASH // self.tasks(0) if self.rows else 0

    def is_near(self, order, inputs, size):
        """Whether all parts may come here as they are: they are few, and not long."""
        order = json.loads(order)
        work, grouped = order["work"], order["columns"]["by"] is not None
        if any(map(is_foreign, inputs)):
            return False
        if "Build" not in work:
            return ("Gather" in work or work == "Census") and not grouped
        build = work["Build"]
        return build["how"] != "Indexes" and len(build["filters"]) <= FEW and self.tasks(size) * size <= NEAR

    def carry_rows(self, order, tool, reducers, size):
        """The work on rows of DataFrames."""
        mapped = None
        for place, rows in enumerate(self.rows):
            frame = rows.selected()
            if self.partitions:
                frame = frame.repartition(self.partitions)
            else:
                frame = frame.coalesce(self.tasks(size))
            task = tasks.MapRows(order, tool, place, rows.key, rows.by, rows.weight)
            part = frame.mapInArrow(task, tasks.SCHEMA)
            mapped = part if mapped is None else mapped.unionAll(part)
        if reducers:
            mapped = mapped.repartition(reducers, "key").sortWithinPartitions("key")
            mapped = mapped.mapInArrow(tasks.ReduceRows(order, tool), tasks.SCHEMA)
        if size > LARGE:
            return [(bytes(row.key), bytes(row.value)) for row in mapped.toLocalIterator()]
        return list(tasks.pairs(mapped.toArrow().to_batches()))

    def carry_files(self, order, tool, inputs, stretches, reducers, lines, size):
        """The work on stretches of files. What only Spark can read it brings whole."""
        context = self.spark.sparkContext
        foreign = {inputs[place]: line for place, line in stretches if is_foreign(inputs[place])}
        own = [line for place, line in stretches if inputs[place] not in foreign]
        most = self.tasks(size)
        parts = []
        if own:
            shares = dealt(own, most)
            numbers = context.parallelize(range(len(shares)), len(shares))
            parts.append(numbers.mapPartitions(tasks.MapStretches(order, tool, shares, lines)))
        if foreign:
            files = context.binaryFiles(",".join(foreign), most)
            parts.append(files.mapPartitions(tasks.MapContents(order, tool, foreign, lines)))
        mapped = context.union(parts)
        self.maps = mapped.getNumPartitions()
        if reducers:
            mapped = mapped.repartitionAndSortWithinPartitions(reducers, tasks.reducer_of)
            mapped = mapped.mapPartitions(tasks.Reduce(order, tool))
        return list(mapped.toLocalIterator()) if size > LARGE else mapped.collect()

    @contextlib.contextmanager
    def settings(self):
        """Larger batches than usual, as long as a job runs."""
        name = "spark.sql.execution.arrow.maxRecordsPerBatch"
        before = self.spark.conf.get(name)
        self.spark.conf.set(name, str(ROWS))
        try:
            yield
        finally:
            with contextlib.suppress(*FAILURES):
                self.spark.conf.set(name, before)

    @contextlib.contextmanager
    def named(self, name):
        """Jobs that have a name where Spark lists them."""
        context = self.spark.sparkContext
        context.setJobDescription(name)
        try:
            yield
        finally:
            with contextlib.suppress(*FAILURES):
                context.setJobDescription(None)

    @contextlib.contextmanager
    def progress(self, name):
        """On a terminal: how many tasks are done."""
        if not (self.shows and sys.stderr.isatty()):
            yield
            return
        ended = threading.Event()
        watcher = threading.Thread(target=watch, args=(self.spark.sparkContext.statusTracker(), name, ended), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def watch(tracker, name, ended):
    while not ended.wait(0.3):
        with contextlib.suppress(Exception):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = sum(stage.numCompletedTasks for stage in stages if stage)
            total = sum(stage.numTasks for stage in stages if stage)
            print(f"\r\x1b[K{name}: {done} of {total} tasks", end="", file=sys.stderr, flush=True)
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def is_foreign(path):
    """Whether only Spark can read it."""
    return "://" in path and not path.startswith("hdfs://")


def dealt(stretches, most):
    """Stretches dealt out to tasks, neighbours to the same."""
    count = max(1, min(most, len(stretches)))
    ends = [len(stretches) * place // count for place in range(count + 1)]
    return [stretches[start:end] for start, end in zip(ends, ends[1:])]


def quoted(column):
    """A column's name as Spark takes it for a name, whatever is in it."""
    return "`" + column.replace("`", "``") + "`"


# Where the files are that nodes are given, by the application that was given them.
GIVEN = {}


def shared(context, path):
    """Gives a file to all nodes, once: under a name that belongs to its content, which is mapped there. Returns the name."""
    digest = hashlib.blake2b(digest_size=12)
    with open(path, "rb") as file:
        while some := file.read(1 << 20):
            digest.update(some)
    name = f"umbel-{digest.hexdigest()}.umbel"
    if context.applicationId not in GIVEN:
        GIVEN[context.applicationId] = tempfile.TemporaryDirectory(prefix="umbel-spark-")
    copy = os.path.join(GIVEN[context.applicationId].name, name)
    if not os.path.exists(copy):
        shutil.copyfile(path, copy)
        context.addFile(copy)
    return name
