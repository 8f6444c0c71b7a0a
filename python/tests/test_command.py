"""The command that the package brings."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import COMMAND


def test_it_is_installed_beside_python():
    script = shutil.which("umbel", path=os.path.dirname(sys.executable))
    if script is None:
        pytest.skip("the package is not installed here")
    assert subprocess.run([script, "--version"], capture_output=True, check=True).stdout.startswith(b"umbel ")


def test_exit_codes(command, tmp_path):
    assert command("--help").returncode == 0
    assert command("size", "-n", 0, check=False).returncode == 2
    refused = command("no-such-command", check=False)
    assert refused.returncode == 2 and refused.stderr.startswith(b"umbel: ")
    missing = command("info", tmp_path / "none", check=False)
    assert missing.returncode == 2 and missing.stderr.startswith(b"umbel: ") and not missing.stdout
    command("build", "-o", tmp_path / "a.umbel", input=b"a\n")
    assert command("screen", tmp_path / "a.umbel", input=b"a\n").stdout == b"a\n"
    assert command("screen", tmp_path / "a.umbel", input=b"b\n", check=False).returncode == 1


def test_a_closed_pipe_is_no_error(tmp_path):
    words = [*COMMAND, "gen", "strings", "-n", "1000000"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(30) == 0 and process.stderr.read() == b""


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_leaves_no_partial_file(tmp_path, number, code):
    words = [*COMMAND, "build", "-n", "1000", "-o", str(tmp_path / "out.umbel")]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not os.listdir(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)  # until it has begun its file
    process.send_signal(number)
    assert process.wait(30) == code
    assert process.stderr.read() == b"" and os.listdir(tmp_path) == []
