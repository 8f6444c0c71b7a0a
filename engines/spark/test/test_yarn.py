"""Commands on Spark over HDFS: on YARN, and through Spark's own connectors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FOLDER, ROOT, UMBEL
from conftest import umbel as command
from test_stream_hdfs import hadoop as running

# Two clusters at once take their time.
pytestmark = pytest.mark.skipif("UMBEL_SPARK_ROUNDS" not in os.environ, reason="part of make test-spark-full")
OPTIONS = ["--key", "tconst", "--by", "averageRating", "--round", "-p", "0.01"]
CONF = FOLDER / "hadoop/conf"


@pytest.fixture(scope="module")
def hdfs():
    """With YARN beside it."""
    yield from running("up")


@pytest.fixture(scope="module")
def table(hdfs, tmp_path_factory):
    """A table on HDFS, and the filters that the command makes of it here."""
    folder = tmp_path_factory.mktemp("yarn")
    lines = command("gen", "ratings", "--seed", "3").split(b"\n")[:20_001]
    (folder / "r.tsv").write_bytes(b"\n".join(lines) + b"\n")
    hadoop("fs", "-put", folder / "r.tsv", "/r.tsv")
    command("build", folder / "r.tsv", *OPTIONS, "-o", folder / "here.umbel")
    return f"{hdfs}/r.tsv", (folder / "here.umbel").read_bytes()


def hadoop(*words):
    env = {**os.environ, "HADOOP_CONF_DIR": str(CONF)}
    words = [ROOT / "engines/hadoop/bin/hadoop", *map(str, words)]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env).stdout


def settings(folder, **more):
    """Spark's configuration for small containers that start fast."""
    import pyspark

    home = Path(pyspark.__file__).parent
    known = {
        "spark.yarn.jars": f"local:{home}/jars/*",
        "spark.yarn.am.memory": "384m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": 1,
        "spark.executor.instances": 2,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.yarn.scheduler.heartbeat.interval-ms": 300,
        "spark.yarn.report.interval": "200ms",
        **more,
    }
    (folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in known.items()))
    own = {"SPARK_CONF_DIR": str(folder), "SPARK_HOME": str(home), "HADOOP_CONF_DIR": str(CONF), "YARN_CONF_DIR": str(CONF)}
    return {**os.environ, **own, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def test_on_yarn_with_files_on_hdfs(table, folder):
    path, here = table
    to = path.replace("r.tsv", "there.umbel")
    words = [UMBEL, "build", path, *OPTIONS, "-o", to, "--partitions", "3", "--on", "spark", "--master", "yarn"]
    done = subprocess.run(words, capture_output=True, text=True, env=settings(folder))
    assert done.returncode == 0, done.stderr
    assert hadoop("fs", "-cat", to) == here


def test_what_only_spark_can_read_is_brought_by_its_connectors(table, folder):
    path, here = table
    mounted = {"spark.hadoop.fs.viewfs.mounttable.default.link./data": path.removesuffix("r.tsv")}
    output = folder / "there.umbel"
    words = [UMBEL, "build", "viewfs:///data/r.tsv", *OPTIONS, "-o", output, "--on", "spark", "--master", "local[2]"]
    done = subprocess.run(words, capture_output=True, text=True, env=settings(folder, **mounted))
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == here
