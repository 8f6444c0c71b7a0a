"""What jobs come to, beside filters: tables, verdicts, what was counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Parameters(NamedTuple):
    """What the filter of a group would cost; group is None where there are no groups."""

    group: str | None
    rows: int
    n: int
    m: int
    k: int
    layout: str
    bytes: int
    bits_per_key: float
    expected_rate: float


class Audited(NamedTuple):
    """What was found of the filter of a group: exact counts over all different keys, and whether it keeps its promise."""

    group: str | None
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int
    rate: float | None
    interval: tuple[float, float]
    rate_from_bits: float
    promised_rate: float | None
    chance: float | None
    holds: bool


class Job(NamedTuple):
    """A job that has ended: what it did, where, how long, with how many mappers, and the bytes between them and the reducers."""

    does: str
    id: str
    seconds: float
    maps: int
    bytes: int


@dataclass
class Report:
    """What jobs have told: rows that had a key, rows that could not be used and the first of them, and the jobs."""

    rows: int
    malformed: int
    first_malformed: str | None
    jobs: list[Job]

    @property
    def bytes_shuffled(self) -> int:
        """The bytes between mappers and reducers, of all jobs."""
        return sum(job.bytes for job in self.jobs)


def report(told) -> Report:
    return Report(told["rows"], told["malformed"], told["first"], [Job(**job) for job in told["jobs"]])


class Table(list):
    """Lines that print as a table."""

    def __str__(self):
        if not self:
            return "(nothing)"
        rows = [[name.replace("_", " ") for name in self[0]._fields], *[[cell(value) for value in line] for line in self]]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths)) for row in rows)


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "holds" if value else "BROKEN"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return "–".join(map(cell, value))
    return str(value)
