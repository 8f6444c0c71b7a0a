"""Work in parts without an engine: what a carrier in this process brings back is what the command makes in one go."""

import random
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import umbel
from umbel._umbel import jobs

WISHES = {"n": None, "p": 0.01, "k": None, "m": None, "layout": None, "hash": "xxh3", "seeds": None, "seed": 0, "integers": False}
SETUP = {"key": None, "by": None, "round": False, "weight": None, "delimiter": None, "header": False, "integers": False, "strict": False}
SETUP |= {"parts": 1, "least": 1, "most": 2**63, "name": "a job"}


class Here:
    """Carries jobs in this process: each stretch, or each part of the rows, is a mapper; records are sorted and united in several reducers."""

    def __init__(self, parts=None, together=1, room=0):
        self.parts = parts
        self.together = together
        self.hashes = room

    def room(self):
        return self.hashes

    def files(self, path):
        return ["the rows"]

    def carry(self, *, name, order, inputs, stretches, reducers, tool, lines, size):
        records = []
        if self.parts is None:
            lines_of = [line for _, line in stretches]
            for start in range(0, len(lines_of), self.together):
                records += jobs.map_stretches(order, lines_of[start : start + self.together], tool=tool, lines=lines)
        else:
            for place, part in enumerate(self.parts):
                records += jobs.map_batches(order, (0, place), iter(part), key="key", by="by", tool=tool)
        size = sum(len(key) + len(value) for key, value in records)
        if reducers:
            shares = [[], [], []]
            for key, value in sorted(records):
                shares[sum(key) % 3].append((key, value))
            records = [record for share in shares for record in jobs.reduce(order, iter(share), tool=tool)]
        return SimpleNamespace(id="here", maps=len(stretches), bytes=size, records=records)


def setup(carrier, inputs, **more):
    return SimpleNamespace(**{**SETUP, "carrier": carrier, "inputs": [str(path) for path in inputs], **more})


def wishes(**more):
    return SimpleNamespace(**{**WISHES, **more})


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A text with groups, its malformed rows among the others."""
    folder = tmp_path_factory.mktemp("jobs")
    draw = random.Random(1)
    rows = [f"k{draw.randrange(3000)}\t{draw.randrange(40) / 10}" for _ in range(5000)]
    rows[2000:2000] = ["no columns", "\t3.1"]
    (folder / "t.tsv").write_text("key\tby\n" + "\n".join(rows) + "\n")
    return folder / "t.tsv"


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 50, 200])
@pytest.mark.parametrize("how", [None, "indexes", "filters"])
def test_any_number_of_stretches_gives_the_commands_bytes(table, tmp_path, command, parts, how):
    command("build", table, "--key", "key", "--by", "by", "--round", "-o", tmp_path / "here.umbel")
    asked = setup(Here(together=1 + parts // 5), [table], key="key", by="by", round=True, parts=parts)
    groups, told, _ = jobs.build(asked, wishes(), how, {})
    assert groups.to_bytes() == (tmp_path / "here.umbel").read_bytes()
    assert (told["rows"], told["malformed"]) == (5000, 2) and "t.tsv, line 2002: " in told["first"]
    assert [job["does"] for job in told["jobs"]] == ["count", "build"]


@pytest.mark.parametrize("room, does", [(10**6, ["gather"]), (715, ["gather", "build"]), (0, ["count", "build"])])
@pytest.mark.parametrize("by", [None, "by"])
def test_hashes_spare_a_job(table, tmp_path, command, room, does, by):
    grouping = ["--by", by, "--round"] if by else []
    command("build", table, "--key", "key", *grouping, "--seed", "3", "-o", tmp_path / "here.umbel")
    asked = setup(Here(room=room), [table], key="key", by=by, round=bool(by), parts=7)
    filters, told, _ = jobs.build(asked, wishes(seed=3), None, {})
    assert filters.to_bytes() == (tmp_path / "here.umbel").read_bytes()
    assert [job["does"] for job in told["jobs"]] == does


def test_filters_that_hold_more_than_they_are_sized_for_are_told_of(table):
    told = lambda n, **columns: jobs.build(setup(Here(), [table], key="key", **columns), wishes(n=n), None, {})[2]
    one, = told(1000)
    assert one.startswith("the filter holds about ") and "was sized for 1000: " in one
    groups = told(400, by="by", round=True)
    assert [line.partition(": the filter holds about ")[0] for line in groups] == ["group 0", "group 1", "group 2", "group 3", "group 4"]
    assert told(3000) == told(None) == told(None, by="by") == []


def test_a_file_that_is_not_there_has_the_systems_number(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        jobs.build(setup(Here(), [tmp_path / "nothing"], key="1"), wishes(), None, {})
    assert caught.value.errno == 2


@pytest.mark.parametrize("parts", [1, 2, 7, 40])
def test_row_groups_of_a_table_are_shared_out(tmp_path, command, parts):
    keys = [f"k{i}" for i in range(1000)]
    pq.write_table(pa.table({"key": keys, "by": [i % 3 for i in range(1000)]}), tmp_path / "t.parquet", row_group_size=90)
    command("count", "build", tmp_path / "t.parquet", "--key", "key", "-o", tmp_path / "here.counts")
    umbel.CountMin().save(tmp_path / "empty.umbel")
    # Counts, not filters: a row that is read twice would not be seen in a filter.
    counts, told = jobs.count(setup(Here(), [tmp_path / "t.parquet"], key="key", parts=parts), tmp_path / "empty.umbel", {})
    assert counts.to_bytes() == (tmp_path / "here.counts").read_bytes() and counts.total == 1000 == told["rows"]
    assert told["jobs"][0]["maps"] == parts


def test_a_file_that_the_engine_has_read(table, tmp_path, command):
    """Whatever brings its bytes, it is read like any other file."""

    class Brought(Here):
        def files(self, path):
            return ["s3a://bucket/t.tsv"]

        def carry(self, *, order, stretches, tool, **freight):
            (_, line), = stretches
            records = jobs.map_content(order, line, table.read_bytes(), tool=tool)
            return SimpleNamespace(id="here", maps=1, bytes=0, records=jobs.reduce(order, iter(sorted(records)), tool=tool))

    command("build", table, "--key", "key", "-o", tmp_path / "here.umbel")
    bloom, told, _ = jobs.build(setup(Brought(), ["s3a://bucket/"], key="key"), wishes(), None, {})
    assert bloom.to_bytes() == (tmp_path / "here.umbel").read_bytes()
    assert told["first"].startswith("s3a://bucket/t.tsv, line 2003: ")


@given(st.lists(st.lists(st.tuples(st.one_of(st.none(), st.text(max_size=3)), st.integers(0, 3))), max_size=8))
def test_rows_come_in_any_parts(parts):
    rows = [row for part in parts for row in part]
    malformed = sum(not key for key, _ in rows)
    batch = lambda part: (pa.array([key for key, _ in part], pa.string()), pa.array([by for _, by in part], pa.int32()), None)
    handed = setup(Here([[batch(part), batch([])] for part in parts]), ["rows://"], key="key", by="by")
    if malformed > len(rows) - malformed:
        with pytest.raises(ValueError, match="most rows cannot be used: .*the rows, row "):
            jobs.build(handed, wishes(), None, {})
        return
    groups, told, _ = jobs.build(handed, wishes(), None, {})
    assert told["malformed"] == malformed and told["rows"] == len(rows) - malformed
    assert groups.names() == sorted({str(by) for key, by in rows if key})
    for key, by in rows:
        assert not key or str(by) in groups.which(key)


def test_what_python_raises_comes_through(table):
    class Broken(Here):
        def carry(self, **freight):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        jobs.build(setup(Broken(), [table], key="key"), wishes(), None, {})

    def batches():
        yield pa.array(["a"]), None, None
        raise ZeroDivisionError("in the middle")

    with pytest.raises(ZeroDivisionError):
        jobs.build(setup(Here([batches()]), ["rows://"], key="key"), wishes(n=10), None, {})


def test_counts_audits_and_lines(table, tmp_path, command):
    command("count", "build", table, "--key", "key", "-o", tmp_path / "here.counts")
    umbel.CountMin().save(tmp_path / "empty.umbel")
    asked = setup(Here(together=3), [table], key="key", parts=9)
    with_count, _ = jobs.count(asked, tmp_path / "empty.umbel", {})
    assert with_count.to_bytes() == (tmp_path / "here.counts").read_bytes()
    command("build", table, "--key", "key", "--by", "by", "--round", "-o", tmp_path / "here.umbel")
    found, missing, told = jobs.audit(setup(Here(), [table], parts=9), tmp_path / "here.umbel", None, 0.999)
    assert not missing and sum(line["false_negatives"] for line in found) == 0 and all(line["holds"] for line in found)
    groups = umbel.Groups()
    groups["1"] = umbel.open(tmp_path / "here.umbel")["1"]
    groups.metadata = umbel.open(tmp_path / "here.umbel").metadata
    groups.save(tmp_path / "less.umbel")
    _, missing, _ = jobs.audit(setup(Here(), [table], parts=9), tmp_path / "less.umbel", None, 0.999)
    assert [name for name, _ in missing] == ["0", "2", "3", "4"]
    admitted, _ = jobs.screen(setup(Here(), [table], key="key", parts=9), tmp_path / "here.umbel", "1", tmp_path / "kept", False)
    lines = command("screen", tmp_path / "here.umbel", table, "--key", "key", "--group", "1").stdout
    assert b"".join(path.read_bytes() for path in sorted((tmp_path / "kept").iterdir())) == lines
    assert admitted == lines.count(b"\n")


def test_lines_are_complete_or_absent(table, tmp_path, command):
    command("build", table, "--key", "key", "-o", tmp_path / "one.umbel")

    class Failing(Here):
        def carry(self, **freight):
            super().carry(**freight)
            raise OSError("in the end")

    with pytest.raises(OSError, match="in the end"):
        jobs.screen(setup(Failing(), [table], key="key", parts=4), tmp_path / "one.umbel", None, tmp_path / "kept", False)
    with pytest.raises(ValueError, match="the key is empty|column is missing"):
        asked = setup(Here(), [table], key="key", by="by", parts=4, strict=True)
        jobs.screen(asked, tmp_path / "one.umbel", None, tmp_path / "kept", False)
    assert [path.name for path in tmp_path.iterdir()] == ["one.umbel"]
