"""Requests that are too large are refused before they are read."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client

from tests.pages import collapsed

pytestmark = pytest.mark.django_db
MEBIBYTE = 1 << 20


@pytest.fixture
def spooled(settings, monkeypatch):
    """The names of files that were begun to be stored."""
    names = []
    settings.FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
    new_file = TemporaryFileUploadHandler.new_file

    def noted(handler, field_name, file_name, *args, **kwargs):
        names.append(file_name)
        return new_file(handler, field_name, file_name, *args, **kwargs)

    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", noted)
    return names


def send(client: Client, page: str, size: int):
    return client.post(page, {"file": SimpleUploadedFile("large.jsonl", b"x" * size)})


@pytest.mark.parametrize("page", ["/login/", "/runs/import/votes/", "/nowhere/"])
def test_a_visitor_s_upload_is_refused_before_it_is_stored(spooled, page):
    answer = send(Client(enforce_csrf_checks=True), page, 2 * MEBIBYTE)

    assert answer.status_code == 413
    assert "none of it was read" in collapsed(answer)
    assert spooled == []


def test_a_judge_has_no_more_than_a_visitor(client, spooled):
    client.force_login(User.objects.create_user("judge"))

    assert send(client, "/judge/report/", 2 * MEBIBYTE).status_code == 413
    assert spooled == []


def test_a_curator_uploads_up_to_the_limit_and_no_more(client, settings, spooled):
    settings.UPLOAD_MEGABYTES = 2
    client.force_login(User.objects.create_user("curator", is_staff=True))

    assert send(client, "/runs/import/votes/", MEBIBYTE + 9).status_code != 413
    assert spooled == ["large.jsonl"]
    assert send(client, "/runs/import/votes/", 2 * MEBIBYTE).status_code == 413
    assert spooled == ["large.jsonl"]
