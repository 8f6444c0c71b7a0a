"""What executors do: rows to records, records to their union. A record is a key and a value, bytes both.

Files need nothing on the nodes but this package. Rows of a DataFrame come as Arrow batches, for which pyarrow has to be there.
"""

from __future__ import annotations

import zlib

from pyspark import TaskContext

from umbel._umbel import jobs
from umbel.spark import given, places

SCHEMA = "key binary, value binary"
# Bytes of records that go to Spark at once.
SOME = 32 << 20
# The key of the record that tells how many bytes a reducer has got.
BYTES = b""


class Task:
    """What all tasks know: the order, and the name of the file that goes with it."""

    def __init__(self, order, tool):
        self.order = order
        self.tool = tool

    def path(self):
        """The file that goes with the job: all tasks of a node map the same copy."""
        return self.tool and given.path(self.tool)


class MapStretches(Task):
    """Reads stretches of files: a task is a place in the list."""

    def __init__(self, order, tool, tasks, lines):
        super().__init__(order, tool)
        self.tasks = tasks
        self.lines = lines

    def __call__(self, numbers):
        for place in numbers:
            yield from jobs.map_stretches(self.order, self.tasks[place], tool=self.path(), lines=self.lines)


class MapContents(Task):
    """Reads whole files that Spark has brought."""

    def __init__(self, order, tool, stretches, lines):
        super().__init__(order, tool)
        self.stretches = stretches
        self.lines = lines

    def __call__(self, files):
        for path, content in files:
            yield from jobs.map_content(self.order, self.stretches[places.whole(path)], bytes(content), tool=self.path(), lines=self.lines)


class Reduce(Task):
    """Unites records, which come sorted by key; and tells how many bytes have come."""

    def __call__(self, records):
        self.size = 0
        yield from jobs.reduce(self.order, self.counted(records), tool=self.path())
        yield BYTES, str(self.size).encode()

    def counted(self, records):
        for key, value in records:
            self.size += len(key) + len(value)
            yield key, value


def reducer_of(key):
    """A number that tells which reducer gets a record: the same in every process."""
    return zlib.crc32(key)


class MapRows(Task):
    """Takes rows: a column of keys, then one of groups and one of weights, where there are such."""

    def __init__(self, order, tool, place, key, by, weight):
        super().__init__(order, tool)
        self.place = place
        self.names = {"key": key, "by": by}
        self.by = 1 if by else None
        self.weight = (2 if by else 1) if weight else None

    def __call__(self, rows):
        part = TaskContext.get().partitionId()
        records = jobs.map_batches(self.order, (self.place, part), map(self.columns, rows), tool=self.path(), **self.names)
        yield from batches(records)

    def columns(self, rows):
        column = lambda place: None if place is None else rows.column(place)
        return rows.column(0), column(self.by), column(self.weight)


class ReduceRows(Reduce):
    """The same for records in Arrow batches."""

    def __call__(self, rows):
        yield from batches(super().__call__(pairs(rows)))


def pairs(rows):
    for some in rows:
        for key, value in zip(some.column(0), some.column(1)):
            yield key.as_py(), value.as_py()


def batches(records):
    """Records as Arrow batches, some at a time."""
    keys, values, size = [], [], 0
    for key, value in records:
        keys.append(key)
        values.append(value)
        size += len(value)
        if size > SOME:
            yield batch(keys, values)
            keys, values, size = [], [], 0
    if keys:
        yield batch(keys, values)


def batch(keys, values):
    import pyarrow as pa

    arrays = [pa.array(keys, pa.binary()), pa.array(values, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["key", "value"])
