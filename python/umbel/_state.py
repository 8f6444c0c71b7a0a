"""The state folder of a stream, as FORMAT.md draws it: the same for `umbel stream` and for Spark; on a local path or on HDFS."""

import atexit
import contextlib
import fcntl
import os
import re
import shutil
import threading
import time
import uuid
from pathlib import Path
from urllib.parse import unquote, urlsplit

import umbel
from umbel._umbel import Hdfs, Positions

CURRENT, LOCK, SKETCH, POSITIONS, PART = "CURRENT", "LOCK", "sketch.umbel", "positions", ".part"
# How often a reader looks again when the snapshot that it wants is taken away meanwhile.
LOOKS = 20
# Seconds between two signs of life of a writer on HDFS, and without one until it counts as dead.
BEAT, SILENCE = 2, 10


def folder_at(place):
    """The folder at a path, local or on HDFS."""
    place = os.fspath(place)
    scheme = urlsplit(place).scheme
    if scheme == "hdfs":
        return HdfsFolder(place)
    if scheme == "file":
        return LocalFolder(unquote(urlsplit(place).path))
    if "://" in place:
        raise ValueError(f"{place}: a state is a folder on a local path or on HDFS (hdfs://…)")
    return LocalFolder(place)


class LocalFolder:
    """Its lock is the system's, and ends with the process."""

    def __init__(self, path):
        self.path = Path(path).absolute()

    def __str__(self):
        return str(self.path)

    def make(self):
        self.path.mkdir(parents=True, exist_ok=True)

    def take(self):
        """Keeps others out for as long as what is returned is open."""
        lock = open(self.path / LOCK, "ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise RuntimeError(f"{self}: another process works with this state; stop it, or choose another folder") from None
        return lock

    def check(self, lock):
        """Whether the lock still holds: it does until it is closed."""

    def names(self):
        return os.listdir(self.path) if self.path.exists() else []

    def read(self, name):
        return (self.path / name).read_bytes()

    def open(self, name):
        """A sketch, mapped."""
        return umbel.open(self.path / name)

    def write_snapshot(self, name, sketch, positions):
        part = self.path / (name + PART)
        part.mkdir()
        sketch.save(part / SKETCH)
        write_synced(part / POSITIONS, positions)
        sync(part)
        return lambda: (part.rename(self.path / name), sync(self.path))

    def replace(self, name, data):
        part = self.path / (name + PART)
        write_synced(part, data)
        part.replace(self.path / name)
        sync(self.path)

    def remove(self, name):
        """What cannot be removed stays."""
        path = self.path / name
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


class HdfsFolder:
    """HDFS has no locks that end with a process: a writer leaves a line in LOCK, and as long as it lives the file's time moves on. One who comes meanwhile is refused;
    one who comes after waits, and leaves its own line. Who no longer finds its line there stops, for it may have been thought dead. A snapshot takes a place where nothing
    is, so that of two who write the same one, one fails."""

    def __init__(self, path):
        self.path = Hdfs(path)

    def __str__(self):
        return str(self.path)

    def make(self):
        self.path.make_folder()

    def take(self):
        self.wait_for_silence()
        line = f"{uuid.uuid4()}\n".encode()
        self.replace(LOCK, line)
        return Line(self, line)

    def wait_for_silence(self):
        try:
            if not self.read(LOCK):
                return
        except FileNotFoundError:
            return
        lock, end = self.join(LOCK), time.monotonic() + SILENCE
        before = lock.time()
        while time.monotonic() < end:
            time.sleep(0.5)
            if lock.time() != before:
                raise RuntimeError(f"{self}: another process works with this state; stop it, or choose another folder")

    def check(self, lock):
        if self.read(LOCK) != lock.line:
            raise RuntimeError(f"{self}: another process has begun to work with this state; this one ends")

    def names(self):
        try:
            return self.path.names()
        except FileNotFoundError:
            return []

    def read(self, name):
        return self.join(name).read()

    def open(self, name):
        return umbel.from_bytes(self.read(name))

    def write_snapshot(self, name, sketch, positions):
        part, whole = self.join(name + PART), self.join(name)
        part.remove()
        part.make_folder()
        part.join(SKETCH).write(sketch.to_bytes())
        part.join(POSITIONS).write(positions)
        return lambda: part.rename(whole)

    def replace(self, name, data):
        part = self.join(f"{name}-{uuid.uuid4()}{PART}")
        part.write(data)
        part.rename_over(self.join(name))

    def remove(self, name):
        with contextlib.suppress(OSError):
            self.join(name).remove()

    def join(self, name):
        path = self.path
        for part in name.split("/"):
            path = path.join(part)
        return path


class Line:
    """What a writer has left in LOCK; it gives signs of life until it is closed."""

    def __init__(self, folder, line):
        self.folder, self.line = folder, line
        self.ended = threading.Event()
        self.life = threading.Thread(target=self.live, daemon=True)
        self.life.start()
        atexit.register(self.close)

    def live(self):
        with contextlib.suppress(RuntimeError):
            while not self.ended.wait(BEAT):
                # What cannot be done now is done the next time.
                with contextlib.suppress(OSError):
                    self.folder.check(self)
                    self.folder.join(LOCK).set_time(time.time_ns() // 1_000_000)

    def close(self):
        """Leaves an empty LOCK, so that nobody has to wait; unless another has come."""
        atexit.unregister(self.close)
        self.ended.set()
        self.life.join()
        with contextlib.suppress(OSError, RuntimeError):
            self.folder.check(self)
            self.folder.replace(LOCK, b"")


def write_synced(path, data):
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class State:
    """A state that belongs to this process: the newest snapshot, and the way to the next."""

    def __init__(self, place):
        self.folder = folder_at(place)
        self.folder.make()
        self.lock = self.folder.take()
        try:
            self.load()
        except BaseException:
            self.close()
            raise

    def load(self):
        """Reads the snapshot that counts, in place of what is in memory."""
        names = self.folder.names()
        found = versions(names)
        for name in names:
            if name.endswith(PART):
                self.folder.remove(name)
        self.current = read_current(self.folder, found)
        self.next = max([0, self.current or 0, *found]) + 1
        self.sketch, self.positions = None, Positions()
        if self.current is not None:
            self.sketch, self.positions = read_snapshot(self.folder, self.current)

    def save(self, sketch, positions):
        """Writes a snapshot: from the moment that CURRENT names it, it counts. The one before is kept."""
        version, self.next = self.next, self.next + 1
        take_place = self.folder.write_snapshot(f"v-{version}", sketch, positions.to_bytes())
        self.folder.check(self.lock)
        take_place()
        self.folder.check(self.lock)
        self.folder.replace(CURRENT, f"v-{version}\n".encode())
        before, self.current = self.current, version
        self.sketch, self.positions = sketch, positions
        for other in versions(self.folder.names()):
            if other not in (version, before):
                self.folder.remove(f"v-{other}")

    def close(self):
        self.lock.close()


def versions(names):
    """The numbers of the snapshots among these names, ascending."""
    found = [re.fullmatch(r"v-([0-9]+)", name) for name in names]
    return sorted(int(match[1]) for match in found if match)


def read_current(folder, found):
    """The number of the snapshot that CURRENT names; None in a new folder."""
    try:
        text = folder.read(CURRENT)
    except FileNotFoundError:
        # The first snapshot may stand there without: nobody was told of it.
        if all(version <= 1 for version in found):
            return None
        there = ", ".join(f"v-{version}" for version in found)
        raise ValueError(f"{folder}: there is no CURRENT, which names the snapshot to go on from, and there are: {there}") from None
    match = re.fullmatch(rb"v-([0-9]+)\n?", text)
    if not match:
        raise ValueError(f"{folder}/{CURRENT}: {text!r} is not the name of a snapshot")
    return int(match[1])


def read_snapshot(folder, version):
    """The sketch and the positions of a snapshot."""
    sketch = folder.open(f"v-{version}/{SKETCH}")
    if not isinstance(sketch, (umbel.Bloom, umbel.CountMin)):
        raise ValueError(f"{folder}: a state holds a Bloom filter or a count-min sketch, not {sketch!r}")
    try:
        return sketch, Positions.from_bytes(folder.read(f"v-{version}/{POSITIONS}"))
    except ValueError as error:
        raise ValueError(f"{folder}/v-{version}/{POSITIONS}: {error}") from None


class Newest:
    """The newest complete snapshot of a state that others train, for those who ask. It is read again only when there is a newer one."""

    def __init__(self, place):
        self.folder = folder_at(place)
        self.version = self.sketch = None

    def get(self):
        for look in range(LOOKS):
            try:
                version = read_current(self.folder, [])
                if version is None:
                    raise ValueError(f"{self.folder}: there is no snapshot yet: train it first")
                if version != self.version:
                    self.sketch = self.folder.open(f"v-{version}/{SKETCH}")
                    self.version = version
                return self.sketch
            except FileNotFoundError:
                # Newer ones have come meanwhile, and this one was taken away.
                if look + 1 == LOOKS:
                    raise
                time.sleep(0.05)
