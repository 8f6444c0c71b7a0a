"""Whatever dies, each row counts exactly once: the sketch is, byte for byte, the one that the command builds of all files.

UMBEL_SPARK_ROUNDS=100 repeats each with other moments to die at."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import CLUSTER, FOLDER, processes, umbel

TRAINER = Path(__file__).parent / "trainer.py"
FILES, ROWS = 4, 20_000
ROUNDS = int(os.environ.get("UMBEL_SPARK_ROUNDS", 1))


@pytest.fixture(scope="module")
def source(cluster):
    """Files of addresses."""
    folder = FOLDER / "data/addresses"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        umbel("gen", "addresses", "-n", ROWS, "--distinct", 5000, "--zipf", "1.1", "--seed", number, "-o", folder / f"{number}.txt")
    return folder


@pytest.fixture(scope="module")
def expected(source):
    """What the command makes of all files, by kind of sketch."""
    files, whole = sorted(source.iterdir()), FOLDER / "data/expected.umbel"
    umbel("build", *files, "-n", 20_000, "-p", 0.01, "-o", whole)
    made = {"filter": whole.read_bytes()}
    umbel("count", "build", *files, "--eps", 0.001, "--delta", 0.01, "-o", whole)
    return {**made, "count": whole.read_bytes()}


def trained(state):
    return (state / (state / "CURRENT").read_text().strip() / "sketch.umbel").read_bytes()


def trainer(*arguments):
    """The program, in a group of its own; it dies with all of it."""
    words = [sys.executable, TRAINER, *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def end(program):
    """What it says on stdout and stderr; it is not waited for for ever."""
    try:
        return program.communicate(timeout=150)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        raise


def finish(program):
    out, error = end(program)
    assert program.returncode == 0, error
    return out


def die(program):
    """It has been told to."""
    _, error = end(program)
    assert program.returncode == -signal.SIGKILL, error


@pytest.mark.parametrize("round", range(ROUNDS))
@pytest.mark.parametrize("kind, how", [("filter", "before"), ("count", "after"), ("count", "amid")])
def test_the_driver_dies(source, expected, folder, kind, how, round):
    state, draw = folder / "state", random.Random(f"{kind} {how} {round}")
    number = draw.randrange(FILES - 2)
    die(trainer(source, state, kind, how, number, draw.uniform(0, 0.5)))
    assert trained(state) != expected[kind]
    again = finish(trainer(source, state, kind))
    assert trained(state) == expected[kind]
    # What was in the snapshot was not worked on again.
    if how == "after":
        assert again.count("working on") == FILES - 1 - number
    if how == "before":
        assert again.count("working on") == FILES - number


@pytest.mark.parametrize("round", range(ROUNDS))
def test_a_worker_dies(source, expected, folder, round):
    state, draw = folder / "state", random.Random(round)
    program = trainer(source, state, "count")
    number = draw.randrange(FILES - 1)
    for line in program.stdout:
        if line == f"working on {number}\n":
            break
    time.sleep(draw.uniform(0, 0.3))
    kill_worker(draw.choice("12"))
    try:
        finish(program)
        assert trained(state) == expected["count"]
    finally:
        subprocess.run([CLUSTER, "up", FOLDER / "cluster"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "VENV": sys.prefix})


def kill_worker(node):
    """The daemon, its executors, and their Python."""
    folder = FOLDER / "cluster"
    daemon = int((folder / f"pids/worker{node}").read_text().split()[0])
    for pid in [daemon, *processes(folder / "work" / node)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
