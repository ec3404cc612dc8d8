"""A text format of an installed package: drawn by demo players, and shown as text wherever drawings are shown."""

from __future__ import annotations

import re
from random import Random

import pytest
from django.urls import reverse

from generation.demo.answers import answer_to, read_question
from generation.demo.players import PLAYERS
from generation.formats import get_format
from generation.formats.base import Answer
from generation.models import Run
from generation.runs.lifecycle import start_run
from generation.suites.loading import load_suite
from judging.curating.runs import set_judging
from judging.grades.sheets import next_item, open_sheet
from ranking.fitting import fit_run
from ranking.simulated.grades import simulate_grades
from ranking.simulated.judges import simulate_judges
from tests.generation.drawing_room import draw_some
from tests.generation.formats.packages import install
from tests.generation.suites.suite_files import CONFIG, write_suite
from tests.judging.make import make_curator, make_judge, make_seat

pytestmark = pytest.mark.django_db
POND = "an old silent pond\na frog jumps into the pond\nsplash then silence"
EVERY_WAY = CONFIG.replace("format: svg", "format: haiku").replace(
    "[rubric, pairwise]", "[pairwise, rubric, automatic]"
)


@pytest.fixture
def haiku(tmp_path, monkeypatch):
    """The format comes by an entry point: no line of the site names it."""
    value = "tests.generation.formats.haiku:FORMAT"
    monkeypatch.syspath_prepend(install(tmp_path / "packages", name="haiku", value=value))
    return get_format("haiku")


@pytest.fixture
def run(haiku, tmp_path, demo):
    """Drawn over HTTP by the demo players, scored by votes, grades and formula, and judged by nobody yet."""
    demo()
    config = EVERY_WAY.replace("temperature: 1", "temperature: 0")
    run = start_run(load_suite(write_suite(tmp_path, "haiku", config=config, programs=None)), demo=True)
    while draw_some(run):
        pass
    Run.objects.filter(pk=run.pk).update(visibility="published")
    run.refresh_from_db()
    return run


def by_master(run):
    return run.samples.get(model__model_id="demo/master", prompt__subject="A", attempt=1)


def texts(page):
    """Every drawing on a page that is text."""
    return [text.strip() for text in re.findall(r'<(?:pre|span)[^>]*dir="ltr"[^>]*>([^<]*)<', page)]


def get(client, path):
    response = client.get(path)
    assert response.status_code == 200, path
    return response.content.decode()


def test_demo_players_draw_it(run):
    assert by_master(run).drawing == POND
    assert run.samples.filter(state="drawn").count() == run.samples.count()


def test_demo_players_differ_in_their_score(haiku):
    def score(player, luck):
        asked = read_question(
            {"model": player.name, "format": "haiku", "messages": [{"role": "user", "content": "Spring"}]}
        )
        answer = Answer(answer_to(player, asked, Random(f"{player.name} {luck}")))
        drawing = haiku.extract(answer).drawing
        return haiku.measure(drawing, answer, backend="builtin")["score"] if drawing else 0.0

    means = [sum(score(player, luck) for luck in range(80)) for player in PLAYERS.values()]

    assert means == sorted(means, reverse=True)
    assert len(set(means)) == len(means)


@pytest.mark.parametrize(
    "place", ["run", "samples", "sample", "gallery", "gallery_sample", "admin_list", "admin_change"]
)
def test_curators_see_text(client, run, place):
    client.force_login(make_curator())
    sample = by_master(run)
    path = {
        "run": f"/runs/{run.code}/",
        "samples": f"/runs/{run.code}/samples/",
        "sample": f"/samples/{sample.code}/",
        "gallery": f"/runs/{run.code}/gallery/",
        "gallery_sample": f"/gallery/{sample.code}/",
        "admin_list": f"{reverse('admin:generation_sample_changelist')}?run__id__exact={run.pk}",
        "admin_change": reverse("admin:generation_sample_change", args=[sample.pk]),
    }[place]

    html = get(client, path)

    assert POND in texts(html)
    assert "/picture/" not in html


def test_the_gallery_tells_the_score(client, run):
    client.force_login(make_curator())

    assert "score 1.00" in get(client, f"/runs/{run.code}/gallery/")


def test_judges_of_pairs_see_text_in_one_font(client, run):
    set_judging(run=run, verb="open", by=make_curator(), reason="all drawn")
    make_seat(run)
    client.force_login(make_judge())
    client.post(reverse("judging:start", args=[run.code]))

    html = get(client, reverse("judging:judge", args=[run.code]))

    assert html.count('<pre class="art') == 2
    assert "splash" in html
    assert "Breaks in a font?" not in html
    assert '<div class="picture"' not in html


def test_graders_see_text(client, run):
    set_judging(run=run, verb="open", by=make_curator(), reason="all drawn")
    seat = make_seat(run)
    open_sheet(seat.pk)
    client.force_login(seat.judge)

    html = get(client, reverse("judging:drawing", args=[next_item(seat).code]))

    assert len(texts(html)) == 1
    assert '<img class="drawing"' not in html


def test_leaderboards_show_text(client, run):
    set_judging(run=run, verb="open", by=make_curator(), reason="all drawn")
    simulate_judges(run, judges=3, votes=60, seed=1)
    simulate_grades(run, judges=2)
    set_judging(run=run, verb="close", by=make_curator(), reason="all judged")
    for protocol in run.protocols:
        fit_run(run, protocol=protocol, full=True)
    master, journeyman = (run.entrants.get(name=f"demo/{name}") for name in ("master", "journeyman"))
    pages = {
        "best drawings": f"/runs/{run.code}/entrants/{master.code}/",
        "side by side": f"/runs/{run.code}/leaderboard/versus/?a={master.code}&b={journeyman.code}",
        "home": "/",
    }

    for page, path in pages.items():
        html = get(client, path)
        assert POND in texts(html), page
        assert '<img class="drawing"' not in html, page
    for protocol in run.protocols:
        assert "Demo Master" in get(client, f"/runs/{run.code}/leaderboard/{protocol}/")
    standings = client.get(f"/runs/{run.code}/leaderboard.json?protocol=automatic").json()["overall"]
    assert {row["entrant"]: row["score"] for row in standings}["demo/master"] == 1.0


def test_pages_stay_up_when_the_package_is_gone(client, run, monkeypatch):
    client.force_login(make_curator())
    monkeypatch.undo()

    for path in (f"/runs/{run.code}/", f"/samples/{by_master(run).code}/", f"/runs/{run.code}/gallery/", "/"):
        assert POND in texts(get(client, path)) or path == "/"
    assert client.get(f"/samples/{by_master(run).code}/picture/").status_code == 404
