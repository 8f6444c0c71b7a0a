"""Daemons of Java on this machine, all of them below one folder: started, waited for, stopped by their own process ids."""

import itertools
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

# Seconds: to become ready, and to stop when asked.
READY = 300
STOP = 5
# What all processes of a cluster have in their environment, daemons and whatever they start: the name of the variable.
MARK = "UMBEL_CLUSTER"
# How often a start is tried, and how many of the last lines of a daemon that ended are shown.
TRIES = 3
LINES = 20


def say(text):
    print(text, file=sys.stderr, flush=True)


def java_home(who):
    """The folder of Java: JAVA_HOME, or where the `java` of the PATH is."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return Path(home)
    java = shutil.which("java")
    if not java:
        sys.exit(f"{who}: there is no Java: install a JDK (17 works), or set JAVA_HOME")
    return Path(java).resolve().parent.parent


def free_ports(number):
    """Ports that nobody uses now, nor is given by the system before their daemon takes them."""
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    candidates = range(first_given // 2, first_given)
    free = filter(is_free, random.sample(candidates, len(candidates)))
    return list(itertools.islice(free, number))


def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class Cluster:
    """What all clusters have in common. A cluster says its `name`, its `order` of stopping (beginnings of daemons' names), how many daemons it has (`total`),
    and how to `prepare` its folder, `start_all`, and `print_environment`."""

    verbs = ("up", "down")

    def __init__(self, folder):
        self.folder = folder
        self.pids = folder / "pids"

        # Its content is removed: it must be a cluster's.
        if folder.exists() and not self.pids.exists() and any(folder.iterdir()):
            sys.exit(f"{self.name}: {folder} holds other things than a cluster: name another folder")

    # Start

    def up(self):
        if self.pids.exists() and self.daemons():
            if len(self.daemons()) == self.total or self.revive():
                return self.print_environment()
            sys.exit(f"{self.name}: some of its daemons run and some do not: `{Path(sys.argv[0]).resolve()} down {self.folder}` first")
        self.get()
        began = time.monotonic()
        for left in reversed(range(TRIES)):
            if self.has_started():
                break
            if not left:
                sys.exit(f"{self.name}: what the daemons say is in {self.folder}/logs")
        say(f"{self.name}: started in {time.monotonic() - began:.0f} s; {self.page()} shows it")
        self.print_environment()

    def has_started(self):
        """Starts all of it in an empty folder; when one of the daemons does not come up, stops the others."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in [self.pids, self.folder / "logs", self.folder / "tmp"]:
            folder.mkdir(parents=True)
        (self.folder / "mark").write_text(secrets.token_hex(16))
        self.prepare()
        try:
            self.start_all()
        except (RuntimeError, subprocess.CalledProcessError) as error:
            say(f"{self.name}: {error}")
            self.stop_all()
            return False
        except BaseException:
            self.stop_all()
            raise
        return True

    def get(self):
        """Gets what is missing on this machine."""

    def revive(self):
        """Starts daemons again that have ended; whether that can be done."""
        return False

    def start(self, name, command):
        with open(self.folder / "logs" / name, "w") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                     env={**self.environment(), MARK: self.mark()}, start_new_session=True)
        (self.pids / name).write_text(f"{child.pid} {started(child.pid)}")

    def mark(self):
        """What tells the processes of this cluster from all others."""
        return (self.folder / "mark").read_text()

    def wait(self, what, url, is_ready):
        deadline = time.monotonic() + READY
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(url, timeout=5) as answer:
                    if is_ready(json.load(answer)):
                        return
            except (OSError, KeyError, IndexError, ValueError):
                pass
            dead = {path.name for path in self.pids.iterdir()} - self.daemons().keys()
            if dead:
                raise RuntimeError(f"{', '.join(sorted(dead))} ended while {what} was starting:\n{self.last_words(min(dead))}")
            time.sleep(0.3)
        raise RuntimeError(f"{what} was not ready after {READY} s")

    def last_words(self, name):
        return "".join((self.folder / "logs" / name).read_text(errors="replace").splitlines(keepends=True)[-LINES:])

    # Stop

    def daemons(self):
        """The daemons that run, by name: a number that another process has by now is not theirs."""
        running = {}
        for path in self.pids.iterdir():
            pid, since = map(int, path.read_text().split())
            if started(pid) == since:
                running[path.name] = pid
        return running

    def down(self):
        if not self.folder.exists():
            return say(f"{self.name}: is not running")
        if self.pids.exists():
            self.stop_all()
        shutil.rmtree(self.folder)
        say(f"{self.name}: stopped")

    def stop_all(self):
        """The daemons in their order; then what daemons that were killed have left running: it has their mark."""
        for daemon in self.order:
            stop([pid for name, pid in self.daemons().items() if name.startswith(daemon)])
        # A start that was interrupted has none yet, and has started nothing.
        if (self.folder / "mark").exists():
            stop(marked(self.mark()))


def marked(mark):
    """The processes that have a cluster's mark. One that only works in its folder, as a user's shell may, has not."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if entry in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
        except OSError:
            continue
    return found


def started(pid):
    """When a process was started, in the system's own count; none if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else int(fields[18])


def stop(pids):
    """Asks processes to end, and ends those that do not."""
    began = {pid: started(pid) for pid in pids}
    alive = lambda: [pid for pid, since in began.items() if since is not None and started(pid) == since]
    for how in [signal.SIGTERM, signal.SIGKILL]:
        for pid in alive():
            try:
                os.kill(pid, how)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + STOP
        while alive() and time.monotonic() < deadline:
            time.sleep(0.1)


def main(cluster, default, usage):
    """The command line of a cluster: what to do, and a folder."""
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in cluster.verbs:
        sys.exit(usage)
    cluster = cluster(Path(sys.argv[2] if len(sys.argv) == 3 else default).resolve())
    try:
        getattr(cluster, sys.argv[1])()
    except KeyboardInterrupt:
        sys.exit(130)
