"""A store of objects, which only Spark's own connectors know: s3a:// against a server of its protocol."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from conftest import FOLDER, UMBEL, umbel

# The connector alone has 690 MB.
pytestmark = pytest.mark.skipif("UMBEL_SPARK_ROUNDS" not in os.environ, reason="part of make test-spark-full")
OPTIONS = ["--key", "tconst", "--by", "averageRating", "--round", "-p", "0.01"]
JARS = FOLDER / "s3-jars"


@pytest.fixture(scope="module")
def server():
    """Its address. Objects are put there by plain requests: it asks nobody who they are."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = subprocess.Popen([Path(sys.executable).parent / "moto_server", "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                put(f"{address}/bucket", b"")
                break
            except urllib.error.URLError:
                assert program.poll() is None, "the server has ended"
                time.sleep(0.1)
        yield address
    finally:
        program.terminate()
        program.wait(30)


def put(address, content):
    # Without a type the server would take it for a form.
    request = urllib.request.Request(address, content, {"Content-Type": "application/octet-stream"}, method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


@pytest.fixture(scope="module")
def settings(server, tmp_path_factory):
    """The environment of a command whose Spark knows the server."""
    pom = Path(__file__).parent / "s3.xml"
    shutil.rmtree(JARS, ignore_errors=True)
    subprocess.run(["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={JARS}"], check=True)
    known = {
        "spark.jars": ",".join(map(str, JARS.glob("*.jar"))),
        "spark.hadoop.fs.s3a.endpoint": server,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": "anybody",
        "spark.hadoop.fs.s3a.secret.key": "anything",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.ui.enabled": "false",
    }
    folder = tmp_path_factory.mktemp("s3")
    (folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in known.items()))
    yield {**os.environ, "SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
    shutil.rmtree(JARS)


def on_spark(settings, *words):
    words = [UMBEL, *map(str, words), "--on", "spark", "--master", "local[2]"]
    return subprocess.run(words, capture_output=True, text=True, env=settings)


def test_objects_are_read_as_files_here_are(server, settings, folder):
    head, *rows = umbel("gen", "ratings", "--seed", "3").splitlines(keepends=True)[:20_001]
    parts = {"a.tsv": [head, *rows[:7000]], "b.tsv": [head, *rows[7000:]]}
    for name, lines in parts.items():
        (folder / name).write_bytes(b"".join(lines))
        put(f"{server}/bucket/in/{name}", b"".join(lines))
    here, there = folder / "here.umbel", folder / "there.umbel"
    umbel("build", *(folder / name for name in parts), *OPTIONS, "-o", here)
    done = on_spark(settings, "build", "s3a://bucket/in", *OPTIONS, "-o", there)
    assert done.returncode == 0, done.stderr
    assert there.read_bytes() == here.read_bytes()
    audited = on_spark(settings, "audit", there, "s3a://bucket/in")
    assert audited.returncode == 0, audited.stderr
    assert audited.stdout.encode() == umbel("audit", here, *(folder / name for name in parts))


def test_what_is_not_there_is_said(settings, folder):
    for path, message in [("s3a://bucket/nothing.tsv", "there are no files"), ("s3a://nobody/x.tsv", "s3a://nobody/x.tsv: Spark has failed: ")]:
        done = on_spark(settings, "build", path, "-o", folder / "x.umbel")
        assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (folder / "x.umbel").exists()
