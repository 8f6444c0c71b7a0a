"""Paths as the nodes of a Spark understand them, without a Spark."""

import os
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")

from umbel.spark import places, stream


def session(usual):
    configuration = SimpleNamespace(get={"fs.defaultFS": usual}.get)
    return SimpleNamespace(sparkContext=SimpleNamespace(_jsc=SimpleNamespace(hadoopConfiguration=lambda: configuration)))


@pytest.mark.parametrize("path", ["hdfs:/a/b", "hdfs:///a/b"])
def test_a_path_on_hdfs_needs_no_namenode(path):
    assert places.located(path) == "hdfs:///a/b"
    assert places.named(path, session("hdfs://host:9000/")) == "hdfs://host:9000/a/b"
    assert places.named(path, session("file:///")) == places.named(path, None) == "hdfs:///a/b"


def test_other_paths_stay_what_they_are():
    usual = session("hdfs://host:9000")
    for path in ["hdfs://other:9000/a", "s3a://bucket/a", "/a/b"]:
        assert places.named(path, usual) == path
    assert places.named("file:/a/b", usual) == "file:///a/b"
    assert places.located("a/b") == places.located("file:a/b") == os.path.abspath("a/b")


@pytest.mark.parametrize("path", ["hdfs:/a", "hdfs:///a", "hdfs://host:9000/a"])
def test_a_state_is_let_go_of_by_any_of_its_names(monkeypatch, path):
    let_go = []
    trainer = SimpleNamespace(query=SimpleNamespace(isActive=False), close=lambda: let_go.append(path))
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: session("hdfs://host:9000"))
    monkeypatch.setattr(stream, "trainers", {"hdfs://host:9000/a": trainer})
    stream.release(path)
    assert let_go == [path] and not stream.trainers
