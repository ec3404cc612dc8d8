"""A board that the visitor's browser has already is confirmed without being made, and never where it could have changed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils.timezone import now

from benchsite.templatetags import wording
from benchsite.templatetags.wording import THIN_SPACE
from generation.models import Run
from generation.runs.curating import exclude_samples
from ranking.boards import conditional
from ranking.boards.conditional import KeptPages
from ranking.fitting import fit_run
from ranking.models import Fit
from tests.judging.make import make_curator, make_judge
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.once]


@pytest.fixture(scope="module", autouse=True)
def voted(module_rows):
    run = make_voted_run(votes=60)
    Run.objects.filter(pk=run.pk).update(
        visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED, finished_at=now()
    )
    run.refresh_from_db()
    fit_run(run)
    Fit.objects.filter(run=run).update(read_at=now() - timedelta(days=9))  # so that no page counts seconds
    return run.pk


@pytest.fixture
def run(voted):
    return Run.objects.get(pk=voted)


def ask(client, run, tag="", **query):
    headers = {"if-none-match": tag} if tag else {}
    return client.get(reverse("ranking:leaderboard", args=[run.code]), query, headers=headers)


def test_an_unchanged_board_is_confirmed_in_few_statements(client, run, django_assert_max_num_queries):
    page = ask(client, run)

    with django_assert_max_num_queries(5):
        again = ask(client, run, page["ETag"])

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == page["ETag"]
    assert set(page["Cache-Control"].split(", ")) == {"private", "no-cache"}
    assert "Cookie" in page["Vary"]


def pages_of(run):
    prompt, entrant, sample = run.prompts.first(), run.entrants.first(), run.samples.judgeable().first()
    return {
        "board": reverse("ranking:leaderboard", args=[run.code]),
        "differences": reverse("ranking:differences", args=[run.code, "pairwise"]),
        "model": reverse("ranking:entrant", args=[run.code, entrant.code]),
        "gallery": reverse("gallery:gallery", args=[run.code]),
        "prompts": reverse("gallery:prompts", args=[run.code]),
        "prompt": reverse("gallery:prompt", args=[run.code, prompt.code]),
        "drawing": reverse("gallery:sample", args=[sample.code]),
        "file": reverse("ranking:download", args=[run.code, "csv"]),
        "json": reverse("gallery:gallery", args=[run.code]) + "?format=json",
    }


@pytest.mark.parametrize(
    "page", ["board", "differences", "model", "gallery", "prompts", "prompt", "drawing", "file", "json"]
)
def test_a_page_that_was_made_is_not_made_again(client, run, page, django_assert_max_num_queries):
    address = pages_of(run)[page]
    made = client.get(address)

    with django_assert_max_num_queries(7):
        again = client.get(address)

    assert made.status_code == again.status_code == 200
    assert again.content == made.content
    headers = [{**page.headers, "X-Request-ID": ""} for page in (made, again)]
    assert headers[0] == headers[1]
    assert client.get(address, headers={"if-none-match": made["ETag"]}).status_code == 304


def test_a_kept_page_is_gone_once_a_curator_changed_something(client, run):
    drawing = run.samples.judgeable().first()
    for address in pages_of(run).values():
        client.get(address)
    exclude_samples(run.samples.filter(pk=drawing.pk), by=make_curator(), reason="Broken.")

    assert client.get(pages_of(run)["gallery"]).content.decode().count(drawing.code) == 0
    assert client.get(reverse("gallery:sample", args=[drawing.code])).status_code == 404


def test_a_curators_page_is_nobody_elses(client, run):
    client.force_login(make_curator())
    mine = ask(client, run)
    client.logout()

    theirs = ask(client, run)

    assert b"csrfmiddlewaretoken" in mine.content and b"csrfmiddlewaretoken" not in theirs.content
    assert "ETag" not in mine


def test_kept_pages_have_a_limit_and_no_secrets(rf):
    kept, plain = KeptPages(most_bytes=1600), rf.get("/")
    for number in range(20):
        kept.keep(f"{number}", plain, HttpResponse(100 * b"x"))
    kept.keep("19", plain, HttpResponse(50 * b"x"))
    with_cookie = HttpResponse("x")
    with_cookie.set_cookie("a", "b")
    with_token = rf.get("/")
    get_token(with_token)
    for tag, request, response in [
        ("long", plain, HttpResponse(101 * b"x")),
        ("cookie", plain, with_cookie),
        ("token", with_token, HttpResponse("x")),
        ("failed", plain, HttpResponse("x", status=500)),
        ("private", plain, HttpResponse("x", headers={"X-Mine": "1"})),
    ]:
        assert kept.keep(tag, request, response) is response

    assert list(kept.pages) == [str(number) for number in range(4, 20)]
    assert kept.bytes == 1550
    assert kept.find("3") is None
    assert kept.find("19").content == 50 * b"x"


def test_a_kept_page_tells_the_age_of_its_votes_as_it_is_now(client, run, monkeypatch):
    Fit.objects.filter(run=run).update(read_at=now() - timedelta(hours=1))
    young = ask(client, run)
    for module in (wording, conditional):
        monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=20))

    old = ask(client, run, young["ETag"])

    assert f"60{THIN_SPACE}min ago</time>" in young.content.decode()
    assert f"21{THIN_SPACE}h 0{THIN_SPACE}min ago</time>" in old.content.decode()


def test_another_page_of_the_board_has_another_tag(client, run):
    assert ask(client, run, sort="name")["ETag"] != ask(client, run)["ETag"]


def test_a_new_fit_is_seen_at_once(client, run):
    tag = ask(client, run)["ETag"]
    fit_run(run)

    assert ask(client, run, tag).status_code == 200


def test_what_a_curator_does_is_seen_at_once(client, run):
    tag = ask(client, run)["ETag"]
    exclude_samples(run.samples.filter(attempt=1), by=make_curator(), reason="Broken.")

    assert ask(client, run, tag).status_code == 200


def test_a_run_that_is_taken_back_is_not_confirmed(client, run):
    tag = ask(client, run)["ETag"]
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PRIVATE)

    assert ask(client, run, tag).status_code == 404


@pytest.mark.parametrize(
    "change", [{"judging_state": Run.Judging.OPEN}, {"judging_state": Run.Judging.NOT_OPEN}, {"finished_at": None}]
)
def test_a_board_that_may_change_without_a_trace_has_no_tag(client, run, change):
    tag = ask(client, run)["ETag"]
    Run.objects.filter(pk=run.pk).update(**change)

    page = ask(client, run, tag)

    assert page.status_code == 200
    assert "ETag" not in page


@pytest.mark.parametrize(
    "page", ["board", "differences", "model", "gallery", "prompts", "prompt", "drawing", "file", "json"]
)
def test_a_judge_reads_a_visitors_page_under_own_links(client, run, page, monkeypatch, django_assert_max_num_queries):
    address = pages_of(run)[page]
    client.force_login(make_judge())
    with monkeypatch.context() as without:
        without.setattr(conditional, "board_tag", lambda *_: None)
        made = client.get(address)
    first = client.get(address)

    with django_assert_max_num_queries(9):
        again = client.get(address)

    assert "ETag" not in again
    assert secretless(made) == secretless(first) == secretless(again)
    client.logout()
    assert b"csrfmiddlewaretoken" not in client.get(address).content


def secretless(page):
    """A page but for its token against forgery, which is another one each time."""
    return re.sub(rb'(csrfmiddlewaretoken" value=")[^"]+', rb"\1", page.content), page["Content-Type"]


@pytest.mark.parametrize("make_user", [make_curator, make_judge])
def test_whoever_is_logged_in_gets_a_page_of_their_own(client, run, make_user):
    tag = ask(client, run)["ETag"]
    client.force_login(make_user())

    page = ask(client, run, tag)

    assert page.status_code == 200
    assert "ETag" not in page


def test_the_tag_says_nothing_about_votes(client, run, settings):
    tag = ask(client, run)["ETag"]
    settings.SECRET_KEY = "another site's"

    assert ask(client, run)["ETag"] != tag
    assert len(tag) == 34
