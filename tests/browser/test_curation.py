"""A curator in the admin: find a drawing, exclude it with a reason, see it in the log, take it back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from benchsite.accounts import make_curator
from generation.models import Event, Sample
from tests.judging.make import make_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def curator():
    user = User.objects.create_user("carol")
    make_curator(user)
    return user


def choose(page, action: str, reason: str) -> None:
    page.locator(".action-select").first.check()
    page.get_by_label("Action:").select_option(label=action)
    page.get_by_role("button", name="Go").click()
    page.get_by_label("Why").fill(reason)
    page.get_by_role("button", name=action).click()


def test_a_drawing_is_excluded_with_a_reason_and_restored(page, live_server, log_in, curator, complaints):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()
    log_in(curator)
    page.goto(f"{live_server.url}/admin/generation/sample/?q={sample.code}")
    expect(page.locator("pre.thumb")).to_have_count(1)

    choose(page, "Exclude from judging and ranking", "a copy")

    expect(page.get_by_text("Excluded: 1.")).to_be_visible()
    expect(page.get_by_text("excluded: a copy")).to_be_visible()
    page.goto(f"{live_server.url}/admin/")
    expect(page.get_by_role("link", name=f"exclude samples drawing {sample.code}")).to_be_visible()
    expect(page.get_by_text("Users", exact=True)).to_have_count(0)

    page.goto(f"{live_server.url}/admin/generation/sample/?excluded_reason__isempty=0")
    choose(page, "Restore", "not a copy after all")

    assert Sample.objects.get(pk=sample.pk).excluded_reason == ""
    assert [event.reason for event in Event.objects.all()] == ["not a copy after all", "a copy"]
    assert complaints == []


def test_a_fact_has_no_button_to_change_it(page, live_server, log_in, curator):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()
    log_in(curator)

    page.goto(f"{live_server.url}/admin/generation/sample/{sample.pk}/change/")

    expect(page.locator("#content input:not([type=hidden]), #content textarea, #content select")).to_have_count(0)
    expect(page.get_by_role("link", name="Delete")).to_have_count(0)
