"""A program that trains a state on the cluster with text files, batch by batch, and may be told to die.

usage: trainer.py SOURCE STATE filter|count [before|after|amid NUMBER SECONDS]

before: in batch NUMBER, when all is merged, before the snapshot is written; after: when it counts, before Spark hears of it; amid: SECONDS after the work of
executors on it has begun. It dies as if the machine were switched off, its Java too."""

import os
import signal
import sys
import threading

from pyspark.sql import SparkSession

from umbel import Bloom, CountMin
from umbel._state import State
from umbel.spark import stream


def die():
    os.killpg(0, signal.SIGKILL)


def arm(how, number, seconds):
    save, partials, batches = State.save, stream.partials, iter(range(1000))

    def dying_save(state, sketch, positions):
        is_due = positions.queries() and positions.batch(positions.queries()[0]) == number
        if is_due and how == "before":
            die()
        save(state, sketch, positions)
        if is_due and how == "after":
            die()

    def telling_partials(batch, fold):
        count = next(batches)
        print("working on", count, flush=True)
        if how == "amid" and count == number:
            threading.Timer(seconds, die).start()
        return partials(batch, fold)

    State.save, stream.partials = dying_save, telling_partials


source, state, kind, *rest = sys.argv[1:]
how, number, seconds = rest or ("never", 0, 0)
arm(how, int(number), float(seconds))
spark = SparkSession.builder.appName("trainer").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
lines = spark.readStream.option("maxFilesPerTrigger", 1).text(source)
sketch = {"filter": Bloom(20_000, 0.01)} if kind == "filter" else {"count": CountMin(0.001, 0.01)}
stream.train(lines, "value", into=state, **sketch, trigger={"availableNow": True}).awaitTermination()
spark.stop()
