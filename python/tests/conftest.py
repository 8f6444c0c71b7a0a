"""What the tests share."""

import subprocess
import sys

import pytest
from hypothesis import settings

# The machine that tests may be busy: slow is not wrong.
settings.register_profile("umbel", deadline=None, max_examples=60)
settings.load_profile("umbel")

# The command that the package brings.
COMMAND = [sys.executable, "-m", "umbel"]


@pytest.fixture
def command():
    """Runs the umbel command; returns what came of it."""

    def run(*args, check=True, **options):
        words = [*COMMAND, *map(str, args)]
        return subprocess.run(words, capture_output=True, check=check, **options)

    return run
