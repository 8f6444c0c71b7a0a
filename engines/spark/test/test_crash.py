"""Whatever dies, each row counts exactly once: the sketch is, byte for byte, the one that the command builds of all files.

UMBEL_SPARK_ROUNDS=100 does it a hundred times, with other moments to die at."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import CLUSTER, FOLDER, processes, umbel

from umbel._umbel import Positions

TRAINER = Path(__file__).parent / "trainer.py"
# Enough that each of the programs of a round has batches left to die in.
FILES, ROWS = 8, 20_000
KINDS = ["filter", "count"]
# Seconds for a program, on a machine that has much else to do.
LONGEST = 600
ROUNDS = int(os.environ.get("UMBEL_SPARK_ROUNDS", len(KINDS)))


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


def newest(state, file):
    return (state / (state / "CURRENT").read_text().strip() / file).read_bytes()


def taken(state):
    """How many batches are in the newest snapshot."""
    positions = Positions.from_bytes(newest(state, "positions"))
    return sum(positions.batch(query) + 1 for query in positions.queries())


def trainer(*arguments):
    """The program, in a group of its own; it dies with all of it."""
    words = [sys.executable, TRAINER, *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def end(program):
    """What it says on stdout and stderr; it is not waited for for ever."""
    try:
        return program.communicate(timeout=LONGEST)
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
def test_drivers_die_and_a_worker(source, expected, folder, round):
    state, kind, draw = folder / "state", KINDS[round % len(KINDS)], random.Random(round)
    for how in draw.sample(["before", "after", "amid"], 3):
        a_driver_dies(source, state, kind, how, draw)
        assert newest(state, "sketch.umbel") != expected[kind]
    a_worker_dies(source, state, kind, draw)
    assert newest(state, "sketch.umbel") == expected[kind]


def a_driver_dies(source, state, kind, how, draw):
    before = taken(state) if state.exists() else 0
    number = draw.randrange(2)
    die(trainer(source, state, kind, how, number, draw.uniform(0, 0.5)))
    # What was in the snapshot was not worked on again.
    due = before + number + (how == "after")
    assert taken(state) == due or (how == "amid" and taken(state) > due)


def a_worker_dies(source, state, kind, draw):
    program = trainer(source, state, kind)
    number = draw.randrange(2)
    for line in program.stdout:
        if line == f"working on {number}\n":
            break
    time.sleep(draw.uniform(0, 0.3))
    kill_worker()
    words = [CLUSTER, "up", FOLDER / "cluster"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, "VENV": sys.prefix}) as revival:
        finish(program)
    assert revival.returncode == 0


def kill_worker():
    """The worker that works: the daemon, its executor, and their Python."""
    work = FOLDER / "cluster/work"
    for pid in max((processes(work / node) for node in "12"), key=len):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
