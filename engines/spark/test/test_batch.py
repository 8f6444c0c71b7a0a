"""Filters and counts from a real cluster: the same bytes as the command makes here, however the rows are shared out."""

import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import umbel
import umbel.spark as us
from conftest import umbel as command

ROWS = 30_000
GROUPS = {"key": "tconst", "by": "averageRating", "round": True, "p": 0.01}
OPTIONS = ["--key", "tconst", "--by", "averageRating", "--round", "-p", "0.01"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A table as text with malformed rows, as Parquet and as plain keys; and what the command makes of it here."""
    folder = tmp_path_factory.mktemp("batch")
    # Executors are other users' processes on a real cluster.
    folder.chmod(0o755)
    command("gen", "ratings", "--seed", "1", "-o", folder / "all.tsv")
    lines = (folder / "all.tsv").read_bytes().split(b"\n")[: ROWS + 1]
    rows = [line.split(b"\t") for line in lines[1:]]
    rows = [row for row in rows if len(row) == 3]
    (folder / "clean.tsv").write_bytes(b"\n".join([lines[0], *[b"\t".join(row) for row in rows]]) + b"\n")
    rows[ROWS // 2 : ROWS // 2] = [[b"no columns"], [b"tt1", b"not a number", b"5"]]
    (folder / "ratings.tsv").write_bytes(b"\n".join([lines[0], *[b"\t".join(row) for row in rows]]) + b"\n")
    rows = [row for row in rows if len(row) == 3 and row[1] != b"not a number"]
    table = pa.table(
        {
            "tconst": [row[0].decode() for row in rows],
            "averageRating": [float(row[1]) for row in rows],
            "numVotes": [int(row[2]) for row in rows],
        }
    )
    pq.write_table(table, folder / "ratings.parquet", row_group_size=4000)
    command("build", folder / "clean.tsv", *OPTIONS, "-o", folder / "groups.umbel")
    command("build", folder / "clean.tsv", "--key", "tconst", "-o", folder / "one.umbel")
    return folder


@pytest.fixture(scope="module")
def frame(spark, data):
    """The rows as a DataFrame."""
    return spark.read.parquet(str(data / "ratings.parquet")).cache()


def same(structure, path):
    return structure.to_bytes() == path.read_bytes()


def test_groups_are_the_commands(frame, data):
    reports = []
    groups = us.build(frame, **GROUPS, report=reports.append)
    assert same(groups, data / "groups.umbel")
    assert [job.does for job in reports[0].jobs] == ["gather"] and reports[0].bytes_shuffled > 0
    assert reports[0].rows > 29_000 and reports[0].malformed == 0


def test_one_filter_is_the_commands(frame, data):
    assert same(us.build(frame, key="tconst"), data / "one.umbel")


@pytest.mark.parametrize("partitions", [1, 2, 7, 200])
def test_any_number_of_partitions_gives_the_same_bytes(frame, data, partitions):
    n = umbel.open(data / "one.umbel").sizing.capacity
    assert same(us.build(frame, key="tconst", n=n, partitions=partitions), data / "one.umbel")
    assert same(us.build(str(data / "clean.tsv"), key="tconst", n=n, partitions=partitions), data / "one.umbel")


@pytest.mark.parametrize("large", [2**40, 0])
def test_what_is_too_long_for_the_driver_is_united_by_tasks_and_brought_part_by_part(frame, data, monkeypatch, large):
    monkeypatch.setattr("umbel.spark.carrier.NEAR", 0)
    monkeypatch.setattr("umbel.spark.carrier.HASHES", 0)
    monkeypatch.setattr("umbel.spark.carrier.LARGE", large)
    assert same(us.build(frame, **GROUPS), data / "groups.umbel")
    n = umbel.open(data / "one.umbel").sizing.capacity
    for rows in (frame, str(data / "clean.tsv")):
        assert same(us.build(rows, key="tconst", n=n, partitions=3), data / "one.umbel")


def test_ways_to_send_differ_in_bytes_shuffled_alone(frame, data, monkeypatch):
    monkeypatch.setattr("umbel.spark.carrier.HASHES", 0)
    shuffled = {}
    for how in ("indexes", "filters", None):
        groups = us.build(frame, **GROUPS, how=how, partitions=8, report=lambda made: shuffled.update({how: made.jobs[-1].bytes}))
        assert same(groups, data / "groups.umbel"), how
    assert shuffled[None] < shuffled["filters"] and shuffled[None] < shuffled["indexes"], shuffled


def test_paths_of_texts_and_tables_are_read_by_the_executors(spark, data):
    assert same(us.build(data / "ratings.parquet", **GROUPS), data / "groups.umbel")
    assert same(us.build([str(data / "ratings.parquet")], **GROUPS, partitions=5), data / "groups.umbel")
    with pytest.warns(UserWarning, match=r"2 rows could not be used; the first: .*ratings\.tsv, line 15002: "):
        groups = us.build(str(data / "ratings.tsv"), **GROUPS, partitions=6)
    assert same(groups, data / "groups.umbel")


def test_skewed_empty_and_single_row_partitions(spark, data):
    rows = [("k%05d" % i, i % 3) for i in range(2000)]
    context = spark.sparkContext
    parts = [rows[:1990], [], [rows[1990]], [], rows[1991:]]
    frame = context.parallelize(parts, 5).flatMap(lambda part: part).toDF("key string, by int")
    (data / "skewed.tsv").write_text("key\tby\n" + "".join(f"{key}\t{by}\n" for key, by in rows))
    command("build", data / "skewed.tsv", "--key", "key", "--by", "by", "-o", data / "skewed.umbel")
    assert same(us.build(frame, key="key", by="by"), data / "skewed.umbel")
    nothing = us.build(frame.where("by > 5"), key="key", n=100)
    assert nothing.estimated_len() == 0 and len(us.build(frame.where("by > 5"), key="key", by="by")) == 0


def test_types_follow_the_rules_of_parquet(spark, data):
    table = pa.table({"id": pa.array([1, -2, None, 2**40], pa.int64()), "raw": [b"a", b"", b"\xff\x00", None], "x": [0.5, 1.5, 2.5, float("nan")]})
    pq.write_table(table, data / "types.parquet")
    frame = spark.read.parquet(str(data / "types.parquet"))
    for key, options in [("id", []), ("id", ["--type", "int"]), ("raw", [])]:
        command("build", data / "types.parquet", "--key", key, *options, "-n", "10", "-o", data / "types.umbel")
        with pytest.warns(UserWarning, match="could not be used"):
            built = us.build(frame, key=key, n=10, integers=bool(options))
        assert same(built, data / "types.umbel"), (key, options)
    command("build", data / "types.parquet", "--key", "id", "--by", "x", "--round", "-o", data / "types.umbel")
    with pytest.warns(UserWarning, match="2 rows could not be used"):
        assert same(us.build(frame, key="id", by="x", round=True), data / "types.umbel")


def test_parameters_are_those_of_the_command(frame):
    table = us.parameters(frame, **GROUPS, layout="classic")
    assert [line.group for line in table] == [str(i) for i in range(1, 11)]
    assert all(line.layout == "classic" and line.k == 7 and line.n <= line.rows for line in table)
    assert "expected rate" in str(table) and table.report.malformed == 0
    assert [line.layout for line in us.parameters(frame.select("tconst"))] == ["blocked", "classic"]


def test_audit_counts_exactly(frame, data):
    groups = umbel.open(data / "groups.umbel")
    table = us.audit(frame, groups)
    assert table.holds and not table.missing and all(line.false_negatives == 0 for line in table)
    members = {line.group: line.true_positives for line in table}
    text = command("audit", data / "groups.umbel", data / "clean.tsv", "--json")
    import json

    for line in json.loads(text)["filters"]:
        assert line["true_positives"] == members[line["group"]]
        found = next(found for found in table if found.group == line["group"])
        assert (found.false_positives, found.true_negatives) == (line["false_positives"], line["true_negatives"])
        assert list(found.interval) == pytest.approx(line["interval"]) and found.holds == line["holds"]
    one = umbel.open(data / "one.umbel")
    again = us.audit(frame.select("tconst"), one, members=frame.where("averageRating < 5").select("tconst"))
    assert again[0].false_negatives == 0 and again[0].true_positives > 0


def test_screen_keeps_rows_and_columns_say_which(frame, data, spark):
    some = frame.where("averageRating >= 9")
    bloom = us.build(some, key="tconst", p=0.001)
    # Defaults may be said.
    kept = us.screen(frame, bloom, key="tconst", header=False, strict=False)
    assert kept.columns == frame.columns
    members, admitted = some.count(), kept.count()
    assert kept.where("averageRating >= 9").count() == members <= admitted <= members + 0.004 * ROWS
    assert us.screen(frame, bloom, key="tconst", invert=True).count() == frame.count() - admitted
    assert frame.select(us.contains("tconst", bloom).alias("seen")).where("seen").count() == admitted
    numbers = spark.range(100).toDF("id")
    evens = us.build(spark.range(0, 100, 2).toDF("id"), integers=True)
    assert {row.id for row in us.screen(numbers, evens).collect()} >= set(range(0, 100, 2))
    # A filter of texts takes integers for their decimal text; nulls are no members.
    texts = us.build(spark.createDataFrame([("7",), ("8",)], "id string"))
    frame = spark.createDataFrame([(7,), (None,), (9,)], "id int")
    assert [row.id for row in us.screen(frame, texts).collect()] == [7]


def test_lines_of_paths_are_kept_in_their_order(spark, data):
    bloom = umbel.open(data / "groups.umbel")["9"]
    output = data / "kept"
    made = us.screen(data / "clean.tsv", bloom, key="tconst", output=output, partitions=5)
    here = command("screen", data / "groups.umbel", data / "clean.tsv", "--key", "tconst", "--group", "9")
    there = b"".join(path.read_bytes() for path in sorted(output.iterdir()))
    assert there == here and made.admitted == here.count(b"\n")
    with pytest.raises(ValueError, match="exists already"):
        us.screen(data / "clean.tsv", bloom, key="tconst", output=output)
    assert not [path for path in data.iterdir() if path.name.endswith(".part")]


def test_counts_are_the_commands(frame, data):
    command("count", "build", data / "clean.tsv", "--key", "tconst", "--weight", "numVotes", "--eps", "0.001", "-o", data / "votes.umbel")
    counts = us.count(frame, key="tconst", weight="numVotes", eps=0.001)
    assert same(counts, data / "votes.umbel")
    command("count", "build", data / "clean.tsv", "--key", "tconst", "--by", "averageRating", "--round", "--eps", "0.01", "-o", data / "by.umbel")
    assert same(us.count(frame, key="tconst", by="averageRating", round=True, eps=0.01), data / "by.umbel")
    asked = us.estimate(frame.limit(100), counts, key="tconst").collect()
    assert all(row.estimate >= row.numVotes for row in asked)


def test_a_column_may_differ_in_case_alone_where_spark_tells_it(spark):
    frame = spark.createDataFrame([("a",)], "Key string")
    with pytest.raises(ValueError, match="a column 'key' already"):
        us.estimate(frame, umbel.CountMin(), into="key")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert us.estimate(frame, umbel.CountMin(), into="key").columns == ["Key", "key"]
        with pytest.raises(ValueError, match="a column 'Key' already"):
            us.estimate(frame, umbel.CountMin(), into="Key")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_filters_that_hold_more_than_they_are_sized_for_are_told_of(spark):
    frame = spark.range(2400).selectExpr("id", "id % 12 as rest")
    with pytest.warns(UserWarning, match="the filter holds about .* but was sized for 1000: "):
        us.build(frame, key="id", n=1000)
    with pytest.warns(UserWarning) as told:
        us.build(frame, key="id", by="rest", n=100)
    told = [str(one.message) for one in told]
    assert len(told) == 11 and told[0].startswith("group 0: the filter holds") and told[10] == "and so it is with more groups: 2"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        us.build(frame, key="id", by="rest")


def counted(sketch):
    sketch.add(7 if isinstance(sketch, umbel.Ranges) else "7", 7)
    return sketch


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda frame: us.build(frame, key="nothing"), ValueError, "there is no column 'nothing'; the DataFrame has: tconst"),
        (lambda frame: us.build(frame), ValueError, "several columns"),
        (lambda frame: us.build(frame, key="averageRating"), TypeError, "floating-point numbers, which cannot be the key"),
        (lambda frame: us.build(frame, key="tconst", by="averageRating"), TypeError, "only with round=True"),
        (lambda frame: us.build(frame.selectExpr("current_date() as d")), TypeError, "column d is date"),
        (lambda frame: us.build(frame, key="tconst", p=2), ValueError, "between 0 and 1"),
        (lambda frame: us.build(frame, key="tconst", how="bits"), ValueError, "how is"),
        (lambda frame: us.build(frame, key="tconst", by="tconst", round=True), ValueError, "not a number"),
        (lambda frame: us.screen(frame, umbel.CountMin(), key="tconst"), TypeError, "not CountMin"),
        (lambda frame: us.audit(frame, umbel.CountMin()), TypeError, "not CountMin"),
        (lambda frame: us.count(frame, key="tconst", like=umbel.Heavy(10)), TypeError, "not Heavy"),
        (lambda frame: us.count(frame, key="tconst", like=counted(umbel.CountMin())), ValueError, r"like is an empty sketch .* holds counts \(7 in all\)"),
        (lambda frame: us.count(frame, key="tconst", by="numVotes", like=counted(umbel.CountMin())), ValueError, "like is an empty sketch"),
        (lambda frame: us.count(frame, key="numVotes", like=counted(umbel.Ranges(0, 99, 0.1))), ValueError, "like is an empty sketch"),
        (lambda frame: us.count("/no/such/file", key="1", like=counted(umbel.CountMin())), ValueError, "like is an empty sketch"),
        (lambda frame: us.estimate(frame, umbel.Heavy(5), key="tconst"), TypeError, "CountMin, Conservative or Counts, not Heavy"),
        (lambda frame: us.build("/no/such/file", key="1"), OSError, "/no/such/file"),
        (lambda frame: us.build(frame, key="tconst", n=-1), ValueError, "n is a whole number from 0 to 2.64 - 1, not -1"),
        (lambda frame: us.screen(frame, umbel.Bloom(9, integers=True), key="tconst"), TypeError, "column tconst is string, and .* holds integers"),
        (lambda frame: us.estimate(frame, umbel.CountMin(integers=True), key="tconst"), TypeError, "column tconst is string, and .* holds integers"),
        (lambda frame: us.build(frame, key="tconst", k=2**32), ValueError, "k is a whole number from 0 to 2.32 - 1, not 4294967296"),
        (lambda frame: us.build(frame, key="tconst", n=1e6), TypeError, "n is a whole number, not 1000000.0"),
        (lambda frame: us.build(frame, key="tconst", seeds=[1, 2**32]), ValueError, "each of seeds is a whole number from 0 to 2.32 - 1"),
        (lambda frame: us.build(frame, key="tconst", seeds=7), TypeError, "seeds are a list of whole numbers, not 7"),
        (lambda frame: us.screen(frame, umbel.Bloom(9), key="tconst", output="x", header=True), TypeError, "output, header: for paths alone"),
        (lambda frame: us.screen(frame, umbel.Bloom(9), key="tconst", hedaer=True), TypeError, "unexpected keyword argument 'hedaer'"),
        (lambda frame: us.estimate(frame, umbel.CountMin(), key="tconst", into="numvotes"), ValueError, "a column 'numvotes' already"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(frame, wrong, error, message):
    with pytest.raises(error, match=message) as raised, warnings.catch_warnings():
        wrong(frame)
    assert "\n" not in str(raised.value) and "java" not in str(raised.value)
