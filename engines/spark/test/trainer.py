"""A program that trains a state on the cluster with text files, batch by batch, and may be told to die.

usage: trainer.py SOURCE STATE filter|count [before|after|amid NUMBER SECONDS]

before: in the batch that is NUMBER of those it works on, when all is merged, before the snapshot is written; after: when it counts, before Spark hears of it;
amid: SECONDS after the work of executors on it has begun. It dies as if the machine were switched off, its Java too."""

import os
import signal
import sys
import threading

from pyspark.sql import SparkSession

from umbel import Bloom, CountMin
from umbel._state import State
from umbel.spark import stream

# It starts often and does little: what takes time to be fast later is left out.
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
QUICK = {
    # One executor: whatever worker it is on, it is the one that works.
    "spark.cores.max": "1",
    "spark.driver.extraJavaOptions": JVM,
    "spark.executor.extraJavaOptions": JVM,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def die():
    os.killpg(0, signal.SIGKILL)


def arm(how, number, seconds):
    save, partials, begun = State.save, stream.partials, []

    def dying_save(state, sketch, positions):
        is_due = len(begun) == number + 1
        if is_due and how == "before":
            die()
        save(state, sketch, positions)
        if is_due and how == "after":
            die()

    def telling_partials(batch, fold):
        print("working on", len(begun), flush=True)
        begun.append(batch)
        if how == "amid" and len(begun) == number + 1:
            threading.Timer(seconds, die).start()
        return partials(batch, fold)

    State.save, stream.partials = dying_save, telling_partials


source, state, kind, *rest = sys.argv[1:]
how, number, seconds = rest or ("never", 0, 0)
arm(how, int(number), float(seconds))
spark = SparkSession.builder.appName("trainer").config(map=QUICK).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
lines = spark.readStream.option("maxFilesPerTrigger", 1).text(source)
sketch = {"filter": Bloom(20_000, 0.01)} if kind == "filter" else {"count": CountMin(0.001, 0.01)}
stream.train(lines, "value", into=state, **sketch, trigger={"availableNow": True}).awaitTermination()
spark.stop()
