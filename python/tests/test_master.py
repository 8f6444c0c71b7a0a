"""What is asked of a master before Spark is."""

import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

from umbel.spark.errors import SparkError
from umbel.spark.job import check_master


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """No configuration but what a test sets."""
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


@pytest.mark.parametrize("master", ["", "local", "local[2]", "local[*]", "local[*, 3]", "local[4,1]", "local-cluster[2,1,1024]", "k8s://https://host:6443"])
def test_masters(master):
    check_master(master)


@pytest.mark.parametrize("master", ["bogus", "local[x]", "local[]", "local[0]", "local[2", "Local", "yarn-client", "spark://", "mesos://host:5050", "k8s", "host:7077"])
def test_what_is_no_master(master):
    with pytest.raises(SparkError) as raised:
        check_master(master)
    assert str(raised.value).startswith(f"{master}: this is no master: there are local, ") and "\n" not in str(raised.value)


def test_yarn_has_to_be_configured(monkeypatch, tmp_path):
    with pytest.raises(SparkError, match="yarn: HADOOP_CONF_DIR or YARN_CONF_DIR has to name"):
        check_master("yarn")
    (tmp_path / "spark-env.sh").touch()
    check_master("yarn")
    (tmp_path / "spark-env.sh").unlink()
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    check_master("yarn")


def test_the_command_says_it_in_a_line(tmp_path):
    (tmp_path / "keys").write_text("a\n")
    words = [sys.executable, "-m", "umbel", "size", tmp_path / "keys", "--on", "spark", "--master", "local[x]"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("umbel: local[x]: this is no master: ")
