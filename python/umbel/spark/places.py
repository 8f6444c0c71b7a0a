"""Paths as all nodes understand them."""

import os
import re


def whole(path):
    """Hadoop writes scheme:/path where a place has no host; everybody else has scheme:///path."""
    return re.sub("^([A-Za-z0-9]+):/(?!/)", r"\1:///", path)


def located(path):
    """A path as tasks can use it, which work in folders of their own."""
    path = whole(os.fspath(path))
    return path if "://" in path else os.path.abspath(path.removeprefix("file:"))


def named(path, spark):
    """The same, with the name of the NameNode where that is the session's usual one."""
    path = located(path)
    scheme, _, rest = path.partition("://")
    if spark is None or scheme.lower() != "hdfs" or not rest.startswith("/"):
        return path
    usual = spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS")
    return usual.rstrip("/") + rest if usual.startswith("hdfs://") else path
