"""The command on a real cluster, and submitted to it: the same bytes as here."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import FOLDER, UMBEL, processes
from conftest import umbel as command

OPTIONS = ["--key", "tconst", "--by", "averageRating", "--round", "-p", "0.01"]
PACKAGE = Path(__import__("umbel").__file__).parent


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    command("gen", "ratings", "--seed", "2", "-o", folder / "all.tsv")
    lines = (folder / "all.tsv").read_bytes().split(b"\n")[:20_001]
    (folder / "ratings.tsv").write_bytes(b"\n".join(lines) + b"\n")
    command("build", folder / "ratings.tsv", *OPTIONS, "-o", folder / "here.umbel")
    return folder


def run(*words, **more):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, **more)


def on_spark(cluster, *words, **more):
    """Runs the command on the cluster; it must have nothing to say but what it did."""
    done = run(UMBEL, *words, "--on", "spark", "--master", cluster, **more)
    assert done.returncode == 0, done.stderr
    return done


def test_every_command_does_the_same_there(cluster, data):
    done = on_spark(cluster, "build", data / "ratings.tsv", *OPTIONS, "-o", data / "there.umbel", "--partitions", 3, "--json")
    assert (data / "there.umbel").read_bytes() == (data / "here.umbel").read_bytes()
    jobs = json.loads(done.stdout)["jobs"]
    assert [job["does"] for job in jobs] == ["count", "build"] and jobs[1]["mappers"] == 3 and jobs[1]["map_output_bytes"] > 0
    assert "build, " in done.stderr and "Exception" not in done.stderr
    alike = [*OPTIONS[:-2], "--like", data / "here.umbel"]
    done = on_spark(cluster, "build", data / "ratings.tsv", *alike, "-o", data / "there.umbel", "--json")
    assert (data / "there.umbel").read_bytes() == (data / "here.umbel").read_bytes()
    assert [job["does"] for job in json.loads(done.stdout)["jobs"]] == ["build"]
    audit = ["audit", data / "here.umbel", data / "ratings.tsv", "--json"]
    there, here = json.loads(on_spark(cluster, *audit).stdout), json.loads(command(*audit))
    assert there["filters"] == here["filters"] and there["holds"]


def test_sizes_counts_and_lines(cluster, data):
    size = ["size", data / "ratings.tsv", "--key", "tconst", "--json"]
    there = json.loads(on_spark(cluster, *size).stdout)
    lines = there["sizes"]
    assert lines == json.loads(command(*size))
    counts = ["count", "build", data / "ratings.tsv", "--key", "tconst", "-o"]
    on_spark(cluster, *counts, data / "there.counts")
    command(*counts, data / "here.counts")
    assert (data / "there.counts").read_bytes() == (data / "here.counts").read_bytes()
    screen = ["screen", data / "here.umbel", data / "ratings.tsv", "--key", "tconst", "--group", "9"]
    on_spark(cluster, *screen, "-o", data / "kept")
    assert b"".join(path.read_bytes() for path in sorted((data / "kept").iterdir())) == command(*screen)


@pytest.mark.parametrize(
    "words, message",
    [
        (["build", "ratings.tsv", "--key", "nothing", "-o", "x.umbel"], 'there is no column "nothing"'),
        (["build", "absent.tsv", "-o", "x.umbel"], "absent.tsv: "),
        (["build", "-o", "x.umbel"], "--on spark reads files"),
        (["build", "ratings.tsv", "--key", "2", "--by", "1", "--round", "-o", "x.umbel"], "most rows cannot be used"),
        (["screen", "here.umbel", "ratings.tsv"], "on spark, give --report"),
        (["count", "build", "ratings.tsv", "--heavy", "10", "-o", "x.umbel"], "depend on the order"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_left(cluster, data, words, message):
    before = sorted(data.iterdir())
    done = run(UMBEL, *words, "--on", "spark", "--master", cluster, cwd=data)
    assert done.returncode == 2 and message in done.stderr and "\tat " not in done.stderr, done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("umbel: ")]) <= 2 and sorted(data.iterdir()) == before


def test_a_master_that_does_not_answer_is_said_at_once(cluster, data):
    done = run(UMBEL, "size", data / "ratings.tsv", "--on", "spark", "--master", "spark://127.0.0.1:9", timeout=60)
    assert done.returncode == 2 and "no master answers there" in done.stderr


def test_an_interrupt_amid_a_job_leaves_nothing(cluster, data, folder):
    temporary, work = folder / "tmp", FOLDER / "cluster/work"
    temporary.mkdir()
    (folder / "long.tsv").write_bytes((data / "ratings.tsv").read_bytes() * 300)
    before = set(processes(work))
    words = ["screen", data / "here.umbel", folder / "long.tsv", "--key", "tconst", "--group", "9", "-o", folder / "kept", "--on", "spark", "--master", cluster]
    # In the background of a shell interrupts are ignored, and children inherit that.
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), "start_new_session": True}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    program = subprocess.Popen([UMBEL, *map(str, words)], **heed, **pipes, env={**os.environ, "TMPDIR": str(temporary)})
    wait_for(lambda: any(folder.glob(".kept.*.part/*")))
    os.killpg(program.pid, signal.SIGINT)
    out, error = program.communicate(timeout=60)
    assert program.returncode == 130 and out == "" and "umbel:" not in error and "Traceback" not in error, error
    assert sorted(folder.iterdir()) == [folder / "long.tsv", temporary] and not any(temporary.iterdir())
    # Spark's machine ends behind its driver, and so do the executors.
    wait_for(lambda: is_gone(program.pid) and set(processes(work)) <= before)
    assert not list(folder.glob(".kept*"))


def is_gone(group):
    try:
        os.killpg(group, 0)
        return False
    except ProcessLookupError:
        return True


def wait_for(what):
    """What it comes to, once that is true."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise TimeoutError


def test_without_the_package_that_is_said(data):
    bare = {**os.environ, "PYSPARK_DRIVER_PYTHON": bare_python()}
    bare.pop("PYTHONPATH", None)
    done = run(UMBEL, "size", data / "ratings.tsv", "--on", "spark", env=bare)
    assert done.returncode == 2 and "needs the Python packages umbel and pyspark" in done.stderr
    nothing = {**bare, "PYSPARK_DRIVER_PYTHON": "/no/python"}
    assert "needs a Python with the packages" in run(UMBEL, "size", data / "ratings.tsv", "--on", "spark", env=nothing).stderr


def test_the_job_file_is_submitted_to_executors_that_have_nothing(cluster, data):
    """The package goes there as an archive; the driver has its own."""
    ship = data / "ship"
    shutil.copytree(PACKAGE, ship / "umbel", ignore=shutil.ignore_patterns("__pycache__"))
    archive = shutil.make_archive(str(data / "package"), "zip", ship)
    submit = Path(os.environ["SPARK_HOME"]) / "bin/spark-submit"
    bare = {**os.environ, "PYSPARK_PYTHON": bare_python(), "PYSPARK_DRIVER_PYTHON": sys.executable}
    bare.pop("PYTHONPATH", None)
    job = [PACKAGE / "spark/job.py", "build", data / "ratings.tsv", *OPTIONS, "-o", data / "submitted.umbel"]
    done = run(submit, "--master", cluster, *job, env=bare)
    # Spark gives both outputs of a driver as one.
    assert done.returncode == 2 and "the executors have no package umbel" in done.stdout, done.stdout
    assert not (data / "submitted.umbel").exists()
    shipped = ["--archives", f"{archive}#package", "--conf", "spark.executorEnv.PYTHONPATH=./package"]
    done = run(submit, "--master", cluster, *shipped, *job, env=bare)
    assert done.returncode == 0, done.stderr
    assert (data / "submitted.umbel").read_bytes() == (data / "here.umbel").read_bytes()


def bare_python():
    """The Python that the environment was made from: it has nothing of what is in it."""
    return str(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
