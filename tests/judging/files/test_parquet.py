"""Parquet of strangers: what a few bytes unpack to is bounded, and what is broken is named."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchsite.lib.file_errors import BadLine, FileError
from judging.files import vote_files
from judging.files.parquet import ParquetReader
from judging.files.vote_files import read_vote_lines


def write_votes(path, *, rows=1, model="a/one", **columns):
    """A file whose every row is the same, so that thousands of rows take a few bytes."""
    cells = {"left_model": model, "right_model": "b/two", "outcome": "left"} | columns
    repeated = {
        name: pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [cell]) for name, cell in cells.items()
    }
    pq.write_table(pa.table(repeated), path, compression="zstd")
    return path


def refused(path):
    with pytest.raises(BadLine) as error:
        read_vote_lines(path)
    return str(error.value)


def test_votes_are_read(tmp_path):
    lines, file = read_vote_lines(write_votes(tmp_path / "votes.parquet", rows=3))

    assert [(line.left_model, line.right_model, line.outcome) for line in lines] == [("a/one", "b/two", "left")] * 3
    assert file.convention.is_ours


def test_a_row_that_unpacks_to_more_than_the_memory_is_refused(tmp_path):
    path = write_votes(tmp_path / "votes.parquet", rows=5000, model="x" * (1 << 24))
    assert path.stat().st_size < 1 << 20

    assert "unpacks to more than can be read" in refused(path)


def test_rows_that_unpack_to_more_than_votes_need_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(vote_files, "LARGEST_UNPACKED", 1 << 20)

    assert "holds more than can be read" in refused(write_votes(tmp_path / "votes.parquet", rows=100_000))


@pytest.mark.parametrize("size", [0, 10, 300])
def test_a_file_cut_short_is_named(tmp_path, size):
    path = write_votes(tmp_path / "votes.parquet")
    path.write_bytes(path.read_bytes()[:size])

    assert refused(path).startswith("votes.parquet: is not a whole Parquet file")


def test_one_child_reads_file_after_file_and_a_file_read_meanwhile_has_its_own(tmp_path):
    path, broken = write_votes(tmp_path / "votes.parquet", rows=2), tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1")
    children = []
    with ParquetReader() as reader:
        for _ in range(2):
            with reader.open(path) as file:
                assert len(list(file.rows())) == 2
            children.append(file.child)
        with reader.open(path) as file:
            first = next(file.rows())
            with reader.open(path) as other:
                assert next(other.rows()) == first
            children += [file.child, other.child]
        with pytest.raises(FileError, match="not a whole Parquet file"), reader.open(broken):
            pass
        with reader.open(path) as file:
            assert len(list(file.rows())) == 2

    assert children[0] is children[1] is children[2] and children[3] is not children[2]
    assert all(child.returncode is not None for child in [*children, file.child])
