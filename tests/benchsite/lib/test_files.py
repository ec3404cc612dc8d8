"""Names of files in headers."""

from __future__ import annotations

import pytest
from django.http import HttpResponse

from benchsite.lib.files import attachment


@pytest.mark.parametrize(
    ("name", "saved_as"),
    [
        ("svg-a1.zip", "svg-a1.zip"),
        ('x"; filename="y.exe', "x___filename__y.exe"),
        ("a\r\nSet-Cookie: b", "a__Set-Cookie__b"),
    ],
)
def test_a_name_cannot_leave_its_header(name, saved_as):
    response = HttpResponse(headers={"Content-Disposition": attachment(name)})

    assert response["Content-Disposition"] == f'attachment; filename="{saved_as}"'
