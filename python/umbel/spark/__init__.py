"""umbel on Spark: the same filters and counts, byte for byte, from the executors of a cluster.

    import umbel.spark as us

    us.parameters(df, key="tconst", by="averageRating", round=True, p=0.01)      # what filters would cost: a table
    filters = us.build(df, key="tconst", by="averageRating", round=True, p=0.01) # a Bloom, or Groups
    us.audit(df, filters)                                                        # exact counts, and a verdict on each
    us.screen(df, bloom, key="id")                                               # the rows that may be members
    df.where(us.contains("id", bloom))                                           # the same as a column
    counts = us.count(df, key="ip", eps=1e-4, delta=0.01)                        # a CountMin
    us.estimate(df, counts, key="ip")                                            # the rows, with a column more

What is read is a DataFrame, or paths: a path, or a list of them. Files of the nodes and of HDFS are cut into stretches that the native
part reads in the executors, several times faster than Spark can hand over rows; others are brought by Spark's own connectors.
"""

from __future__ import annotations

import operator
import os
import tempfile
import warnings
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import types as T

import umbel
from umbel._umbel import jobs
from umbel.spark import columns, stream
from umbel.spark.carrier import Carrier, Rows
from umbel.spark.columns import is_integer
from umbel.spark.errors import SparkError
from umbel.spark.places import located
from umbel.spark.report import Audited, Job, Parameters, Report, Table, report

__all__ = [
    "Audited",
    "Job",
    "Parameters",
    "Report",
    "SparkError",
    "Table",
    "audit",
    "build",
    "contains",
    "count",
    "estimate",
    "parameters",
    "screen",
    "stream",
]

# Files are cut into several stretches for each core, of no fewer and no more bytes than these.
STRETCHES = 4
LEAST = 4 << 20
MOST = 128 << 20
CONFIDENCE = 0.999
# Groups of which a warning tells by name.
SHOWN = 10
# As many bits as the core has for each of these.
BITS = {"n": 64, "k": 32, "m": 64, "seed": 64}
# Types of whole numbers.
WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)

Paths = "str | os.PathLike | list[str | os.PathLike]"


@dataclass
class Wishes:
    """What is wished of a filter."""

    n: int | None = None
    p: float | None = None
    k: int | None = None
    m: int | None = None
    layout: str | None = None
    hash: str = "xxh3"
    seeds: list[int] | None = None
    seed: int = 0
    integers: bool = False

    def __post_init__(self):
        for name, bits in BITS.items():
            value = getattr(self, name)
            if value is not None:
                check_whole(name, value, bits)
        if self.seeds is not None and not hasattr(self.seeds, "__iter__"):
            raise TypeError(f"seeds are a list of whole numbers, not {self.seeds!r}")
        for seed in () if self.seeds is None else self.seeds:
            check_whole("each of seeds", seed, 32)


@dataclass
class Setup:
    """What jobs read, and how; who carries them."""

    carrier: Carrier
    name: str
    inputs: list[str]
    key: str | None
    by: str | None = None
    round: bool = False
    weight: str | None = None
    delimiter: str | None = None
    header: bool = False
    integers: bool = False
    strict: bool = False
    parts: int = 1
    least: int = LEAST
    most: int = MOST
    members: str | None = field(default=None)


def parameters(data: DataFrame | Paths, key=None, by=None, round=False, p=None, *, n=None, k=None, m=None, layout=None, hash="xxh3",
               seeds=None, seed=0, integers=False, **reading) -> Table:
    """What filters would cost: a line for each group, or for each layout to choose from where there are no groups.

    `table.report` has what was counted. For the other arguments, see `build`.
    """
    setup = read(data, "size", key, by, round=round, integers=integers, **reading)
    lines, told = jobs.parameters(setup, Wishes(n, p, k, m, layout, hash, seeds, seed, integers))
    table = Table(
        Parameters(group, rows, size.capacity, size.bits, size.probes, size.layout, size.bytes, size.bits_per_key, size.expected_rate)
        for group, rows, size in lines
    )
    table.report = told_of(told, reading)
    return table


def build(data: DataFrame | Paths, key=None, by=None, round=False, p=None, *, n=None, k=None, m=None, layout=None, hash="xxh3",
          seeds=None, seed=0, integers=False, how=None, metadata=None, **reading) -> umbel.Bloom | umbel.Groups:
    """Builds a filter, or with `by` one for each group: the file that `umbel build` makes of the same keys, byte for byte.

    key, by          the columns of the key and of the group; of a text, by name or by number from 1
    round            groups are decimal numbers, rounded half up
    n, p, k, m, layout, hash, seeds, seed, integers    as for the command; n is counted where it is not given
    how              what mappers send: "indexes" of every key's bits, "filters" as they are, or None for the shorter of coded gaps and bits
    metadata         text pairs to keep in the file
    partitions       the number of tasks
    delimiter, header    of texts, as for the command
    strict           the first row that cannot be used is an error; else they are counted, and a warning tells of them
    report           is called with a Report: rows, malformed ones, jobs, bytes between mappers and reducers
    spark            the session, where paths are given; else the active one
    """
    setup = read(data, "build", key, by, round=round, integers=integers, **reading)
    wishes = Wishes(n, p, k, m, layout, hash, seeds, seed, integers)
    filters, told, overfull = jobs.build(setup, wishes, how, metadata or {})
    told_of(told, reading)
    warn_overfull(overfull)
    return filters


def audit(data: DataFrame | Paths, filters, key=None, by=None, round=False, *, members=None, confidence=CONFIDENCE, **reading) -> Table:
    """Asks filters for every different key: exact counts, an interval and a verdict for each.

    Filters by group are audited over the table they were built from; key, by and round are those they remember. One filter is asked for the
    keys of `members` (a DataFrame or paths, as `data` is) and for those of `data`. `table.holds` has the verdict on all, `table.missing` the
    groups of the table that have no filter, `table.report` what was counted.
    """
    check_kind(filters, (umbel.Bloom, umbel.Groups), "a filter: Bloom or Groups")
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence lies between 0 and 1, for example 0.999; not {confidence}")
    if isinstance(filters, umbel.Bloom) == (members is None):
        raise ValueError("the audit of a Bloom needs members, the keys that were inserted; Groups have theirs in the table")
    remembered = jobs.remembered_columns(filters.metadata)
    key = key or remembered[0]
    if isinstance(filters, umbel.Groups) and by is None:
        by, round = remembered[1:]
    if isinstance(filters, umbel.Groups) and by is None:
        raise ValueError("the filters do not remember the group's column: give by")
    setup = read(data, "audit", key, by, round=round, members=members, integers=is_integer(filters), **reading)
    with tempfile.TemporaryDirectory(prefix="umbel-spark-") as folder:
        file = os.path.join(folder, "filters.umbel")
        filters.save(file)
        found, missing, told = jobs.audit(setup, file, setup.members, confidence)
    table = Table(Audited(**line) for line in found)
    table.missing = missing
    table.holds = not missing and all(line.holds for line in table)
    table.report = told_of(told, reading)
    return table


def count(data: DataFrame | Paths, key=None, by=None, round=False, *, weight=None, eps=None, delta=None, width=None, depth=None, seed=0,
          integers=False, like=None, metadata=None, **reading):
    """Counts keys into a CountMin, or with `by` into CountGroups: the file that `umbel count build` makes of the same rows.

    `weight` is a column of whole numbers; `like` an empty CountMin or Ranges to take the parameters from. For the rest, see `build`.
    """
    empty = umbel.CountMin(eps, delta, width=width, depth=depth, seed=seed, integers=integers) if like is None else like
    check_kind(empty, (umbel.CountMin, umbel.Ranges), "a sketch that can be counted in parts: CountMin or Ranges")
    if empty.total:
        # Each task begins with it.
        raise ValueError(f"like is an empty sketch to take the parameters from, and this one holds counts ({empty.total} in all): make one, and merge")
    integers = integers or isinstance(empty, umbel.Ranges) or is_integer(empty)
    setup = read(data, "count", key, by, round=round, weight=weight, integers=integers, **reading)
    with tempfile.TemporaryDirectory(prefix="umbel-spark-") as folder:
        file = os.path.join(folder, "empty.umbel")
        empty.save(file)
        counts, told = jobs.count(setup, file, metadata or {})
    told_of(told, reading)
    return counts


def screen(data: DataFrame | Paths, filters, key=None, *, group=None, invert=False, output=None, **reading):
    """The rows of a DataFrame that may be members (with `invert`: those that certainly are none, rows with a null among them).

    Of paths, the lines: they are kept in the new folder `output`, in their order, and a Report is returned, whose `admitted` has the number
    of keys that may be members, whichever lines are kept; without `output` they are only counted.
    """
    check_kind(filters, (umbel.Bloom, umbel.Groups), "a filter: Bloom or Groups")
    if group is not None:
        filters = filters[group]
    if isinstance(data, DataFrame):
        check_none_given(output=output, **reading)
        key = asked_column(data, key, filters)
        admitted = columns.contains(data.sparkSession, data[columns.quoted(key)], filters)
        return data.where(~admitted if invert else admitted)
    setup = read(data, "screen", key, None, integers=is_integer(filters), **reading)
    with tempfile.TemporaryDirectory(prefix="umbel-spark-") as folder:
        file = os.path.join(folder, "filters.umbel")
        filters.save(file)
        folder = None if output is None else located(output)
        admitted, told = jobs.screen(setup, file, None, folder, invert)
    made = told_of(told, reading)
    made.admitted = admitted
    return made


def contains(column: Column | str, filters) -> Column:
    """Whether a column's keys may be members: a column of booleans. Nulls are no members."""
    check_kind(filters, (umbel.Bloom, umbel.Groups), "a filter: Bloom or Groups")
    return columns.contains(session(None), column, filters)


def estimate(data: DataFrame, counts, key=None, *, into="estimate") -> DataFrame:
    """The rows, with a column more, named `into`: how often each key has come. Nulls have come 0 times."""
    check_kind(counts, (umbel.CountMin, umbel.Conservative, umbel.Counts), "counts that know every key: CountMin, Conservative or Counts")
    key = asked_column(data, key, counts)
    if columns.taken(data, [into]):
        raise ValueError(f"there is a column {into!r} already: give another name with into")
    return data.withColumn(into, columns.estimate(data.sparkSession, data[columns.quoted(key)], counts))


def read(data, name, key, by, *, round=False, weight=None, integers=False, members=None, partitions=None, delimiter=None, header=False,
         strict=False, report=None, spark=None) -> Setup:
    """What jobs over this data need."""
    if partitions is not None and partitions < 1:
        raise ValueError(f"the number of partitions is 1 or more, not {partitions}")
    text = lambda column: None if column is None else str(column)
    key, by, weight = map(text, (key, by, weight))
    more = {"round": round, "weight": weight, "delimiter": delimiter, "header": header, "integers": integers, "strict": strict}
    if isinstance(data, DataFrame):
        rows = [rows_of(data, key, by, weight, round)]
        if members is not None:
            if not isinstance(members, DataFrame):
                raise TypeError("members are a DataFrame, as the other rows are")
            rows.append(rows_of(members, key, None, None, False))
        carrier = Carrier(data.sparkSession, rows, partitions)
        # Names for what is in no file.
        handed = ["dataframe://0", "dataframe://1"]
        return Setup(carrier, f"umbel {name}", handed[:1], rows[0].key, by, members=handed[1] if members is not None else None, **more)
    paths = [located(path) for path in ([data] if isinstance(data, (str, os.PathLike)) else list(data))]
    if not paths:
        raise ValueError("there are no paths")
    carrier = Carrier(session(spark), [], partitions)
    cut = {"parts": partitions, "least": 1, "most": 2**63} if partitions else {"parts": STRETCHES * carrier.slots()}
    members = None if members is None else located(members)
    return Setup(carrier, f"umbel {name}", paths, key, by, members=members, **more, **cut)


def session(spark) -> SparkSession:
    found = spark or SparkSession.getActiveSession()
    if found is None:
        raise SparkError("there is no session of Spark: make one with SparkSession.builder, or give spark")
    return found


def rows_of(data, key, by, weight, round) -> Rows:
    key = check_column(data, key or only_column(data), "key")
    for column, use in [(by, "group rounded" if round else "group"), (weight, "weight")]:
        if column is not None:
            check_column(data, column, use)
    return Rows(data, key, by, weight)


def only_column(data):
    if len(data.columns) == 1:
        return data.columns[0]
    raise ValueError(f"the DataFrame has several columns, name the key's with key; they are {', '.join(data.columns)}")


def asked_column(data, key, structure):
    """The column whose keys are looked up. It is looked up late, by Spark: what does not fit is refused before."""
    key = check_column(data, key or only_column(data), "key")
    found = data.schema[key].dataType
    if is_integer(structure) and not isinstance(found, WHOLE):
        raise TypeError(f"column {key} is {found.simpleString()}, and what is asked holds integers: cast it to bigint")
    return key


def check_column(data, column, use):
    """Refuses a column that is not there, or is of another type than its use asks for."""
    if column not in data.columns:
        raise ValueError(f"there is no column {column!r}; the DataFrame has: {', '.join(data.columns)}")
    found = data.schema[column].dataType
    floats = (T.FloatType, T.DoubleType) if use == "group rounded" else ()
    if isinstance(found, (T.StringType, T.VarcharType, T.CharType, *WHOLE, *floats)) or (isinstance(found, T.BinaryType) and use != "weight"):
        return column
    if isinstance(found, (T.FloatType, T.DoubleType)):
        known = {
            "key": "cannot be the key: their text differs from program to program",
            "group": "can be groups only with round=True",
            "weight": "are no weights: a weight is a whole number",
        }[use]
        raise TypeError(f"column {column} has floating-point numbers, which {known}")
    raise TypeError(f"column {column} is {found.simpleString()}; a key or group is text, bytes or an integer: cast it")


def check_kind(found, kinds, what):
    if not isinstance(found, kinds):
        raise TypeError(f"give {what}, not {type(found).__name__}")


def check_none_given(output=None, partitions=None, delimiter=None, header=False, strict=False, report=None, spark=None):
    """Refuses what has no meaning where rows of a DataFrame are returned, unless it is the default."""
    given = [name for name, value in locals().items() if value is not None and value is not False]
    if given:
        raise TypeError(f"{', '.join(given)}: for paths alone; of a DataFrame, its rows are returned")


def check_whole(name, value, bits):
    """Refuses what is no whole number of so many bits."""
    try:
        fits = 0 <= operator.index(value) < 2**bits
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if not fits:
        raise ValueError(f"{name} is a whole number from 0 to 2^{bits} - 1, not {value}")


def warn_overfull(lines):
    """Tells which filters hold more keys than they were sized for, the first of many."""
    for line in lines[:SHOWN]:
        warnings.warn(line, stacklevel=3)
    if len(lines) > SHOWN:
        warnings.warn(f"and so it is with more groups: {len(lines) - SHOWN}", stacklevel=3)


def told_of(told, reading) -> Report:
    """What jobs have told, said where it was asked for; rows that could not be used are never passed over in silence."""
    made = report(told)
    if made.malformed:
        rows = "row" if made.malformed == 1 else "rows"
        warnings.warn(f"{made.malformed} {rows} could not be used; the first: {made.first_malformed}", stacklevel=3)
    if reading.get("report") is not None:
        reading["report"](made)
    return made
