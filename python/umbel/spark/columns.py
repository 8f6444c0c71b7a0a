"""Filters and counts as functions of a column."""

import functools
import os
import tempfile

from pyspark.sql import functions as F

import umbel
from umbel.spark import given
from umbel.spark.carrier import FAILURES, quoted, shared
from umbel.spark.errors import short

__all__ = ["contains", "estimate", "is_integer", "quoted", "taken"]

# Applications whose executors were seen to have the package.
CHECKED = set()


def contains(spark, column, filters):
    """Whether keys may be members."""
    return asked(spark, column, filters, "boolean", lambda held, keys: held.contains(keys))


def estimate(spark, column, counts):
    """How often keys have come."""
    return asked(spark, column, counts, "long", lambda held, keys: held.estimate_batch(keys))


def asked(spark, column, structure, answer, ask):
    """A column of what a structure answers. It goes to the nodes as a file, and is mapped there: one copy for all tasks of a node."""
    import pyarrow as pa

    check_executors(spark)
    with tempfile.TemporaryDirectory(prefix="umbel-spark-") as folder:
        file = os.path.join(folder, "structure.umbel")
        structure.save(file)
        name = shared(spark.sparkContext, file)

    # Spark looks at the types, so they are no texts here.
    def answers(keys: pa.Array) -> pa.Array:
        structure, integers = held(name)
        # Integers are decimal text where keys are text, as the command has it.
        if pa.types.is_integer(keys.type) and not integers:
            keys = keys.cast(pa.string())
        return column_of(ask(structure, keys))

    return F.arrow_udf(answers, answer)(column)


def column_of(answers):
    """Answers as Spark has them: its integers end at 2^63 - 1, which stands for more too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    answers = pa.array(answers)
    if pa.types.is_boolean(answers.type):
        return answers
    return pc.min_element_wise(answers.cast(pa.uint64()), pa.scalar(2**63 - 1, pa.uint64())).cast(pa.int64())


@functools.lru_cache(maxsize=8)
def held(name):
    """The structure in a file that was given to the nodes, and whether its keys are integers."""
    structure = umbel.open(given.path(name))
    return structure, is_integer(structure)


def is_integer(structure):
    """Whether its keys are integers."""
    if isinstance(structure, umbel.Groups):
        return any(structure[name].integers for name in structure.names()[:1])
    return structure.integers


def taken(rows, names):
    """The first of these names that a column has already; None where there is none. Spark tells no upper from lower case, unless it is told to."""
    same = str if rows.sparkSession.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    there = set(map(same, rows.columns))
    return next((name for name in names if same(name) in there), None)


def check_executors(spark):
    """Says at once when executors have not got the package: what is asked of a column is asked much later."""
    context = spark.sparkContext
    if context.applicationId in CHECKED:
        return

    def missing(_):
        try:
            import umbel.spark.columns  # noqa: F401: are they there?
            import pyarrow  # noqa: F401
        except ImportError as error:
            return str(error)

    try:
        found = context.parallelize(range(2), 2).map(missing).collect()
    except FAILURES as error:
        raise short(error) from None
    for error in filter(None, found):
        raise short(error)
    CHECKED.add(context.applicationId)
