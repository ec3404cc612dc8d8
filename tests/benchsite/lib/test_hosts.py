"""Which addresses a secret may travel to."""

from __future__ import annotations

from benchsite.lib.hosts import is_https_or_local

GOOD = ["https://example.org/a", "http://127.0.0.1:8000/", "http://localhost", "http://[::1]/"]
BAD = ["http://example.org/", "http://127.0.0.1.example.org/", "http://localhost@example.org/", "ftp://localhost/"]


def test_only_https_and_plain_http_on_this_machine_will_do():
    assert all(map(is_https_or_local, GOOD))
    assert not any(map(is_https_or_local, [*BAD, "file:///etc/passwd", "https://", "https://[", "x", ""]))
