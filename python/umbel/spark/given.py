"""Files that were given to the nodes. Spark copies them for each executor; here the executors of a node come to share one copy, and with it the
memory in which it is mapped."""

import contextlib
import os
import stat
import tempfile

from pyspark import SparkFiles


def path(name):
    """Where a file is that was given under this name, which belongs to its content."""
    own = SparkFiles.get(name)
    # In other file systems, or where others may write, each executor keeps its own copy.
    with contextlib.suppress(OSError):
        share(own, folder())
    return own


def folder():
    """Where the executors of a node meet. Nobody else may put files there."""
    place = os.path.join(tempfile.gettempdir(), f"umbel-spark-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(place, 0o700)
    found = os.lstat(place)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(place)
    return place


def share(own, place):
    """Makes it known where the first copy of a file is; a later copy becomes a link to it. What is known holds no file that its executor has left."""
    sweep(place)
    common = os.path.join(place, os.path.basename(own))
    try:
        os.symlink(own, common)
    except FileExistsError:
        first = os.readlink(common)
        if not os.path.samefile(first, own):
            link = f"{own}.{os.getpid()}"
            os.link(first, link)
            os.replace(link, own)


def sweep(place):
    """Forgets copies that are gone with their executor."""
    for entry in os.scandir(place):
        with contextlib.suppress(FileNotFoundError):
            if not os.path.exists(entry):
                os.unlink(entry)
