"""The masthead marks the part of the site that is open, and only that one."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from tests.judging.make import make_run

pytestmark = pytest.mark.django_db


def marked(response) -> list[str]:
    links = re.findall(r'<a [^>]*aria-current="true"[^>]*>([^<]*)</a', response.content.decode())
    return [" ".join(link.split()) for link in links]


@pytest.mark.parametrize(
    ("name", "args", "part"),
    [
        ("home", (), []),
        ("ranking:leaderboards", (), ["Leaderboards"]),
        ("suites", (), ["Suites"]),
        ("suite", ("ascii",), ["Suites"]),
        ("numbers", (), ["About the numbers"]),
        ("login", (), ["Log in"]),
    ],
)
def test_the_current_part_is_marked(client, name, args, part):
    assert marked(client.get(reverse(name, args=args))) == part


def test_a_curators_page_about_judging_belongs_to_runs_and_a_judges_page_to_judging(client):
    run = make_run()
    client.force_login(User.objects.create_user("cora", is_staff=True))

    assert marked(client.get(reverse("judging:overview", args=[run.code]))) == ["Runs"]
    for page in ("dataset", "webhooks"):
        assert marked(client.get(reverse(f"ranking:{page}", args=[run.code]))) == ["Runs"]
    assert marked(client.get(reverse("ranking:api_docs"))) == []
    assert marked(client.get(reverse("judging:home"))) == ["Judge drawings"]


def test_a_page_that_is_not_there_marks_nothing(client):
    assert marked(client.get("/nowhere/")) == []
