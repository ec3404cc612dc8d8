"""The public front: what strangers see, and what they do not."""

from __future__ import annotations

import shutil

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from generation.models import Run
from generation.runs.lifecycle import start_run
from generation.runs.publishing import publish_runs
from judging.curating.invitations import seat_judge
from tests.generation.drawing_room import make_suite

pytestmark = pytest.mark.django_db


def test_home_shows_published_runs_only(client):
    shown = start_run(make_suite(title="Shown"))
    start_run(make_suite(title="Secret"))
    Run.objects.filter(pk=shown.pk).update(visibility="published")

    page = client.get("/").content.decode()

    assert "Shown" in page
    assert "Secret" not in page


def test_a_card_that_may_not_show_drawings_says_what_the_models_were_asked(client):
    run = start_run(make_suite(title="Shown"))
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="open")

    page = client.get("/").text

    assert "“Cat”" in page
    assert "Drawings appear when judging closes." in page


def test_a_request_that_cannot_be_read_gets_a_page(client):
    page = client.get("/", headers={"host": "somewhere.else.example"})

    assert (page.status_code, "We could not read this request" in page.text) == (400, True)


def test_home_of_an_empty_site_says_how_to_begin(client):
    assert "Nothing is published yet." in client.get("/").content.decode()


def test_home_of_a_new_site_says_that_demo_runs_are_coming(client):
    run = start_run(make_suite(), demo=True, key="demo-ascii")

    assert "The demo runs are being drawn" in client.get("/").content.decode()
    publish_runs([run], by=None, reason="A demo run.")
    assert "The demo runs are being drawn" not in client.get("/").content.decode()


def test_a_run_says_what_it_asks_also_where_the_server_has_no_such_suite(client):
    run = start_run(make_suite(title="Mine", method="By eye, in pairs."))
    address = f"/runs/{run.code}/suite/"
    assert client.get(address).status_code == 404, "private"
    publish_runs([run], by=None, reason="Ready.")

    page = client.get(address).text
    data = client.get(f"{address}?format=json").json()

    assert "By eye, in pairs." in page and "Draw a cat number 0 in ASCII art" in page
    assert (data["method"], len(data["prompts"]), data["runs"][0]["run"]) == ("By eye, in pairs.", 3, run.code)
    assert "demo/master" not in page
    assert address in client.get(f"/runs/{run.code}/leaderboard/").text
    assert client.get("/suites/tiny/").status_code == 404


def test_a_judge_is_offered_no_link_to_a_ranking_that_is_hidden(client):
    run = start_run(make_suite(title="Mine"))
    Run.objects.update(visibility="published", judging_state="open")
    judge = User.objects.create_user("bob")
    seat_judge(run=run, judge=judge)
    address = f"/runs/{run.code}/leaderboard/"

    assert address in client.get("/").content.decode()
    client.force_login(judge)
    page = client.get("/").content.decode()
    assert "its ranking is hidden from you" in page
    assert address not in page


def test_a_curator_finds_private_runs_marked(client):
    start_run(make_suite(title="Secret"))
    client.force_login(User.objects.create_user("alice", is_staff=True))

    page = client.get("/").content.decode()

    assert "Secret" in page
    assert '<span class="tag">private</span>' in page


@pytest.mark.parametrize("count", [1, 3])
def test_home_asks_the_database_a_fixed_number_of_times(client, count, django_assert_num_queries):
    for _ in range(count):
        start_run(make_suite())
    Run.objects.update(visibility="published")

    with django_assert_num_queries(8):
        client.get("/")


@pytest.mark.parametrize("page", ["/", "/leaderboards/", "/suites/ascii/"])
def test_a_judge_of_several_runs_costs_no_more_questions(client, page):
    judge, asked = User.objects.create_user("bob"), []
    client.force_login(judge)
    for _ in range(3):
        run = start_run(make_suite(slug="ascii"))
        seat_judge(run=run, judge=judge)
        Run.objects.update(visibility="published", judging_state="open")
        client.get(page)  # a run's rules are read once and kept
        with CaptureQueriesContext(connection) as queries:
            shown = client.get(page).content.decode()
        asked.append(len(queries))
        assert run.code not in shown

    assert asked[0] == asked[1] == asked[2]


def test_a_suite_page_says_what_is_asked(client):
    page = client.get("/suites/ascii/").content.decode()

    assert "Draw the requested ASCII art." in page
    assert page.count("in ASCII art</li>") + page.count("in ASCII art ") >= 40
    assert client.get("/suites/none-such/").status_code == 404


def test_a_suite_that_nobody_judges_does_not_speak_of_judging(client):
    suites = client.get("/suites/").text

    assert "No drawings to show yet." in suites
    assert "Drawings appear when judging closes." not in suites


def test_about_the_numbers_is_public(client):
    page = client.get("/about/numbers/").content.decode()

    assert "In plain words" in page
    assert "For statisticians" in page


def test_a_changed_suite_is_read_again(client, settings, tmp_path):
    folder = tmp_path / "config"
    shutil.copytree(settings.SUITES_DIR, folder)
    settings.SUITES_DIR = folder
    file = folder / "ascii" / "config.yaml"
    assert "Changed title" not in client.get("/suites/").content.decode()

    file.write_text(file.read_text().replace("title: ASCII art", "title: Changed title"))

    assert "Changed title" in client.get("/suites/").content.decode()


def test_a_page_that_no_role_of_a_curator_opens_does_not_call_itself_the_curators(client, curator):
    client.force_login(curator)
    answer = client.get(reverse("own_token"))

    assert answer.status_code == 403
    assert "Your role does not include it." in " ".join(answer.text.split())
