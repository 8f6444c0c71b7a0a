"""A real cluster for the tests: started, used, stopped; it leaves nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CLUSTER = ROOT / "engines/spark/cluster"
FOLDER = ROOT / "target/test-spark"
# The command that the package brings.
UMBEL = Path(sys.executable).parent / "umbel"


@pytest.fixture(scope="session")
def cluster():
    """The address of its master; the environment is set as a user's shell would."""
    folder = FOLDER / "cluster"
    subprocess.run([CLUSTER, "down", folder], check=True)
    lines = subprocess.run([CLUSTER, "up", folder], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "VENV": sys.prefix}).stdout
    before = dict(os.environ)
    after = subprocess.run(["bash", "-c", f"{lines}\nenv -0"], check=True, stdout=subprocess.PIPE, text=True).stdout
    os.environ.update(line.split("=", 1) for line in after.split("\0") if line)
    yield os.environ["SPARK_MASTER"]
    subprocess.run([CLUSTER, "down", folder], check=True)
    os.environ.clear()
    os.environ.update(before)
    assert not folder.exists(), "the cluster has left its folder"
    left = processes(folder)
    assert not left, f"the cluster has left processes: {left}"


@pytest.fixture(scope="session")
def spark(cluster):
    """A session on the cluster."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session = SparkSession.builder.appName("test").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    # The driver's machine would live as long as this process.
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)


@pytest.fixture
def folder(request):
    """A folder of its own for a test, which workers can read too."""
    path = FOLDER / "data" / request.node.name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    yield path
    shutil.rmtree(path)


def processes(folder):
    """Those that work below a folder, or have it among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            inside = (path / "cwd").readlink().is_relative_to(folder)
            if int(path.name) != os.getpid() and (inside or str(folder).encode() in (path / "cmdline").read_bytes()):
                found.append(int(path.name))
        except OSError:
            pass
    return found


def umbel(*arguments, stdin=None):
    """Runs the command; its standard output."""
    return subprocess.run([UMBEL, *map(str, arguments)], check=True, stdout=subprocess.PIPE, input=stdin).stdout
