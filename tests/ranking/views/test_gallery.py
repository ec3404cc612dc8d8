"""The gallery: drawings by prompt and entrant, hidden from everybody who might still judge them."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from generation.models import Run, Sample
from tests.judging.make import make_curator, make_judge, make_run, make_seat
from tests.ranking.answered_run import make_answered_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """An ASCII run with votes to come, published while it is judged."""
    run = make_run()
    Run.objects.filter(pk=run.pk).update(visibility="published")
    return run


def test_it_shows_each_drawing_of_an_attempt_with_its_entrant(client):
    run = make_answered_run(models=["demo/master", "demo/beginner"])

    page = client.get(f"/runs/{run.code}/gallery/?attempt=2").content.decode()

    for sample in run.samples.all():
        assert (f"/gallery/{sample.code}/" in page) == (sample.attempt == 2)
    assert "Demo Master" in page and "the sun" in page


@pytest.mark.parametrize("state", ["not_open", "open", "paused"])
@pytest.mark.parametrize("protocol", ["pairwise", "rubric"])
def test_it_is_closed_to_all_but_curators_until_judging_is_over(client, run, state, protocol):
    Run.objects.filter(pk=run.pk).update(judging_state=state, protocols=["automatic", protocol])
    sample = run.samples.first()
    make_seat(run)
    paths = (f"/gallery/{sample.code}/", f"/gallery/{sample.code}/picture/")

    for visitor in (None, make_judge(), make_judge("bob")):
        if visitor:
            client.force_login(visitor)
        page = client.get(f"/runs/{run.code}/gallery/")
        assert page.status_code == 403
        assert sample.entrant.label not in page.content.decode()
        assert [client.get(path).status_code for path in paths] == [404, 404]

    client.force_login(make_curator())
    assert sample.entrant.label in client.get(f"/runs/{run.code}/gallery/").content.decode()


def test_it_opens_when_judging_is_closed(client, run):
    Run.objects.filter(pk=run.pk).update(judging_state="closed")

    page = client.get(f"/runs/{run.code}/gallery/").content.decode()

    assert run.samples.first().entrant.label in page


def test_a_private_run_is_not_there(client, run):
    Run.objects.filter(pk=run.pk).update(visibility="private", judging_state="closed")

    assert client.get(f"/runs/{run.code}/gallery/").status_code == 404
    assert client.get(f"/gallery/{run.samples.first().code}/").status_code == 404


def test_what_a_curator_excluded_is_not_shown(client):
    run = make_answered_run(models=["demo/master"], prompts=["saturn"])
    first, second = run.samples.all()
    Sample.objects.filter(pk=first.pk).update(excluded_reason="offensive")

    assert first.code not in client.get(f"/runs/{run.code}/gallery/").content.decode()
    assert client.get(f"/gallery/{first.code}/picture/").status_code == 404
    assert client.get(f"/gallery/{second.code}/picture/").status_code == 200


def test_a_thumbnail_has_an_address_of_its_own_drawing_and_is_kept_for_good(client):
    run = make_answered_run(models=["demo/master"], prompts=["saturn"])
    sample = run.samples.first()
    path = f"/gallery/{sample.code}/{sample.picture_key}/192.png"

    page = client.get(f"/runs/{run.code}/gallery/").content.decode()
    response = client.get(path)

    assert path in page
    assert (response.status_code, response["Content-Type"]) == (200, "image/png")
    assert Image.open(BytesIO(response.content)).size == (192, 192)
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    Sample.objects.filter(pk=sample.pk).update(drawing=sample.drawing.replace("1", "2"))
    assert client.get(path).status_code == 404, "another drawing has another address"
    assert client.get(f"/gallery/{sample.code}/{sample.picture_key}/5000.png").status_code == 404


def test_a_picture_is_kept_for_good_under_the_address_of_its_own_drawing_alone(client):
    run = make_answered_run(models=["demo/master"], prompts=["saturn"])
    sample = run.samples.first()
    kept, newest = f"/gallery/{sample.code}/{sample.picture_key}/picture/", f"/gallery/{sample.code}/picture/"

    found, known = client.get(kept), client.get(newest)

    assert found.content == known.content
    assert found["Cache-Control"] == "private, max-age=31536000, immutable"
    assert known["Cache-Control"] == "private, max-age=600"
    assert not {"ETag", "Last-Modified"} & {*found.headers, *known.headers}
    Sample.objects.filter(pk=sample.pk).update(drawing=sample.drawing.replace("1", "2"))
    assert client.get(kept).status_code == 404, "another drawing has another address"


@pytest.mark.parametrize("form", ["192.png", "picture/"])
def test_nothing_is_kept_of_a_drawing_that_may_still_be_judged(client, run, form):
    Run.objects.filter(pk=run.pk).update(format="svg")
    run.samples.update(drawing='<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>')
    sample = run.samples.select_related("run").first()
    path = f"/gallery/{sample.code}/{sample.picture_key}/{form}"

    client.force_login(make_judge())
    assert client.get(path).status_code == 404

    client.force_login(make_curator())
    assert client.get(path).status_code == 200


def test_a_drawing_that_is_too_much_to_draw_here_is_left_to_the_browser(client):
    run = make_answered_run(models=["demo/master"], prompts=["saturn"])
    Run.objects.filter(pk=run.pk).update(format="svg")
    Sample.objects.filter(run=run).update(drawing="<svg")
    sample = run.samples.select_related("run").first()

    response = client.get(f"/gallery/{sample.code}/{sample.picture_key}/192.png")

    picture = f"/gallery/{sample.code}/{sample.picture_key}/picture/"
    assert (response.status_code, response["Location"]) == (302, picture)


def test_a_drawings_page_says_what_it_lost_and_escapes_the_answer(client):
    run = make_answered_run(
        say=lambda _: '<script>alert(1)</script> {"a": 1}', models=["demo/master"], prompts=["saturn"]
    )
    sample = run.samples.first()

    page = client.get(f"/gallery/{sample.code}/").content.decode()

    assert "The object has no list named grid." in page
    assert "0.400 of 1" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_odd_choices_fall_back(client, run):
    Run.objects.filter(pk=run.pk).update(judging_state="closed")

    for query in ("attempt=99999999999", "attempt=-1", "attempt=x", "model=nobody", "category=none", "page=77"):
        assert client.get(f"/runs/{run.code}/gallery/?{query}").status_code == 200, query


def test_queries_do_not_grow(client):
    counts = []
    for shape in ({"entrants": 1, "prompts": 1}, {"entrants": 3, "prompts": 9}):
        made = make_run(**shape)
        Run.objects.filter(pk=made.pk).update(visibility="published", judging_state="closed")
        with CaptureQueriesContext(connection) as caught:
            client.get(f"/runs/{made.code}/gallery/")
        counts.append(len(caught))

    assert counts[0] == counts[1]


def test_a_drawings_page_shows_what_the_others_drew(client):
    counts = []
    for entrants in (2, 4):
        made = make_run(entrants=entrants, prompts=2, attempts=2)
        Run.objects.filter(pk=made.pk).update(visibility="published", judging_state="closed")
        sample = made.samples.filter(attempt=2).first()
        with CaptureQueriesContext(connection) as caught:
            page = client.get(f"/gallery/{sample.code}/").text
        counts.append(len(caught))
        others = made.samples.filter(prompt=sample.prompt, attempt=2).exclude(pk=sample.pk)
        tiles = set(re.findall(r'href="/gallery/(\w+)/"\s+class="tile', page))

        assert tiles == set(others.values_list("code", flat=True))

    assert counts[0] == counts[1]


def test_an_answer_without_a_drawing_says_why_in_one_sentence(client):
    run = make_answered_run(say=lambda _: "no", models=["demo/master"], prompts=["saturn"])

    page = " ".join(client.get(f"/runs/{run.code}/gallery/").text.split())

    assert (
        '<span class="tile failed"><span>No drawing<span class="reason">: no JSON in the answer</span></span></span>'
        in page
    )
