"""Files that only their owner may read."""

from __future__ import annotations

from benchsite.lib.private_files import write_private


def test_a_private_file_is_private_from_the_start(tmp_path):
    path = tmp_path / "secret"

    write_private(path, "x")

    assert (path.stat().st_mode & 0o777, path.read_text()) == (0o600, "x")
    assert list(tmp_path.iterdir()) == [path]


def test_who_had_an_older_file_open_reads_nothing_new(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)

    with path.open() as opened:
        write_private(path, "new password")

        assert opened.read() == "old"
    assert (path.stat().st_mode & 0o777, path.read_text()) == (0o600, "new password")
