"""Copies of a file that executors of a node share."""

import os

import pytest

pytest.importorskip("pyspark")

from umbel.spark import given


def test_copies_become_one_for_as_long_as_the_first_is_there(tmp_path):
    own = [tmp_path / f"{number}/filter.umbel" for number in range(3)]
    for path in own:
        path.parent.mkdir()
        path.write_bytes(b"the same")
    common = tmp_path / "common"
    common.mkdir()
    for path in own + own:
        given.share(path, common)
        assert path.read_bytes() == b"the same" and os.listdir(path.parent) == ["filter.umbel"]
    assert len({os.stat(path).st_ino for path in own}) == 1
    # The next who comes is the first then.
    own[0].unlink()
    given.share(own[1], common)
    own[2].unlink()
    own[2].write_bytes(b"the same")
    assert not os.path.samefile(own[1], own[2])
    given.share(own[2], common)
    assert os.path.samefile(own[1], own[2])
    own[1].unlink()
    given.sweep(common)
    assert os.listdir(common) == []


def test_a_folder_of_others_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(given.tempfile, "gettempdir", lambda: str(tmp_path))
    place = given.folder()
    assert os.stat(place).st_mode & 0o777 == 0o700
    os.chmod(place, 0o777)
    with pytest.raises(PermissionError):
        given.folder()
    os.rmdir(place)
    os.symlink(tmp_path, place)
    with pytest.raises(PermissionError):
        given.folder()
