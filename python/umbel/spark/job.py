"""The umbel command on Spark, as `umbel … --on spark` runs it. It may be submitted too:

    spark-submit --master … job.py build hdfs:///ratings.tsv --key tconst -o hdfs:///ratings.umbel
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys

import pyspark
from pyspark.sql import SparkSession

from umbel._umbel import jobs
from umbel.spark.carrier import FAILURES, Carrier
from umbel.spark.errors import SparkError, short

# Seconds to wait for a master.
PATIENCE = 5
# What Spark takes for one.
MASTER = re.compile(r"local(\[([1-9][0-9]*|\*)(\s*,\s*[1-9][0-9]*)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|spark://.+|yarn|k8s://.+")
# What the driver's machine has to say is said by umbel.
QUIET = "ERROR"
INTERRUPTED = 128 + signal.SIGINT


def main(arguments):
    """Runs the command; its exit code."""
    if heeds_interrupts():
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    if not any(word == "--on" or word.startswith("--on=") for word in arguments):
        arguments = [*arguments, "--on", "spark"]
    code = jobs.main_on_spark(["umbel", *arguments], carrier)
    active = SparkSession.getActiveSession()
    if active is not None:
        # An executor that comes when all is done finds no scheduler any more, and Spark would say so in many lines.
        active.sparkContext.setLogLevel("OFF")
        active.stop()
    return code


def carrier(name, master, partitions):
    """Who carries the jobs of the command."""
    check_master(master or "")
    if (master or "").startswith("local"):
        # Tasks run here: what this Python has they have.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.log.level", QUIET)
    if master:
        builder = builder.master(master)
    heeds = heeds_interrupts()
    try:
        session = builder.getOrCreate()
    except (*FAILURES, RuntimeError, OSError) as error:
        raise short(error) from None
    made = Carrier(session, partitions=partitions, shows=True)
    # Spark's own way is an exception from wherever the program happens to be.
    signal.signal(signal.SIGINT, (lambda *_: end(made)) if heeds else signal.SIG_IGN)
    return made


def heeds_interrupts():
    """Not in the background of a shell, for example."""
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def end(carrier):
    """Ends at once, without a word, as the command does: no result is there before it is whole, and Spark ends with its driver."""
    carrier.abandon()
    os._exit(INTERRUPTED)


def check_master(master):
    """Says at once what is no master, and that none answers: Spark would wait for a minute, and say it in a hundred lines."""
    if master and not MASTER.fullmatch(master):
        raise SparkError(f"{master}: this is no master: there are local, local[N], local[*], spark://HOST:PORT, yarn and k8s://URL")
    if master == "yarn" and not has_yarn():
        raise SparkError("yarn: HADOOP_CONF_DIR or YARN_CONF_DIR has to name the folder with the configuration of its cluster")
    if not master.startswith("spark://"):
        return
    places = master.removeprefix("spark://").split(",")
    for place in places:
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), PATIENCE).close()
            return
        except (OSError, ValueError) as error:
            last = error
    raise SparkError(f"{master}: no master answers there ({last})")


def has_yarn():
    """Whether Spark is told where YARN is, as far as can be seen from here: its own script may say it too."""
    if os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR"):
        return True
    home = os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
    return os.path.exists(os.path.join(os.environ.get("SPARK_CONF_DIR") or os.path.join(home, "conf"), "spark-env.sh"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
