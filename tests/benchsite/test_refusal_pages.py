"""What a visitor reads where Django has a blank page, or one of its own."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from generation.models import Run
from tests.judging.make import make_curator, make_run
from tests.pages import collapsed

pytestmark = pytest.mark.django_db


def test_the_address_of_a_form_says_what_it_is_and_leads_home(client):
    answer = client.get("/logout/")

    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    assert "There is no page at this address" in answer.text
    assert 'href="/"' in answer.text


def test_programs_get_their_own_answer_to_a_wrong_method(client):
    problem = client.get(reverse("ranking:api_set_drawing", args=["nothing"]))

    assert problem.status_code == 405
    assert problem["Content-Type"].startswith("application/problem+json")
    assert client.post(reverse("ranking:api_openapi")).content == b""


def test_a_form_of_another_login_says_what_to_do():
    answer = Client(enforce_csrf_checks=True).post("/login/", {"username": "bob", "password": "guess"})

    assert answer.status_code == 403
    assert "go back, reload the page and try again" in collapsed(answer)
    assert "operator" not in answer.text


def test_a_form_from_an_address_that_the_site_does_not_know_names_the_setting():
    answer = Client(enforce_csrf_checks=True).post("/login/", headers={"origin": "https://bench.example.org"})

    assert answer.status_code == 403
    assert "sent from https://bench.example.org" in collapsed(answer)
    assert "SITE_URL" in answer.text


@pytest.mark.parametrize(
    "address", ["/runs/{}/leaderboard.png?fit=a%00b", "/runs/{}/gallery/?category=%00", "/teams/%00/", "/join/a%00b/"]
)
def test_an_address_with_a_character_that_postgresql_cannot_hold_is_only_unknown(client, address):
    run = make_run()
    Run.objects.update(visibility="published", judging_state="closed")
    client.force_login(make_curator())

    assert client.get(address.format(run.code)).status_code in (200, 404)
