"""What other sites get of a page: its title, description and picture, and a card that they may put in a frame."""

from __future__ import annotations

import re
from html import unescape
from io import BytesIO

import pytest
import time_machine
from django.utils.timezone import now
from PIL import Image

from generation.models import Run
from ranking.fitting import fit_run
from tests.judging.make import make_curator
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def voted(module_rows):
    run = make_voted_run()
    fit_run(run, protocol="pairwise")
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    return run.pk


@pytest.fixture
def run(voted):
    return Run.objects.get(pk=voted)


def shared(client, path: str) -> dict[str, str]:
    text = client.get(path).text
    tags = re.findall(r'<meta (?:name|property)="([^"]+)"\s+content="([^"]*)"', text)
    title = re.search(r"<title>(.*?)</title>", text, re.S).group(1)
    return {"title": " ".join(title.split())} | {name: unescape(words) for name, words in tags}


def test_every_public_page_has_its_own_title_and_a_description(client, run):
    entrant, sample = run.entrants.first(), run.samples.judgeable().first()
    paths = ["/", "/drawings/", "/suites/", "/suites/ascii/", "/about/numbers/", "/leaderboards/"]
    paths += ["/login/", "/api/v1/docs"]
    paths += [f"/runs/{run.code}/leaderboard/", f"/runs/{run.code}/gallery/", f"/gallery/{sample.code}/"]
    paths += [f"/runs/{run.code}/entrants/{entrant.code}/"]

    cards = {path: shared(client, path) for path in paths}

    wanted = ("og:title", "og:description", "description", "og:image")
    assert all(card[part] for card in cards.values() for part in wanted)
    titles = [card["og:title"] for path, card in cards.items() if "gallery/" not in path or path[:9] == "/gallery/"]
    assert len(set(titles)) == len(titles)
    assert cards[f"/gallery/{sample.code}/"]["og:image"].endswith(f"/gallery/{sample.code}/share.png")
    assert cards["/"]["og:image"].endswith(".png")
    assert re.search(r"/gallery/\w+/share.png$", cards[f"/runs/{run.code}/entrants/{entrant.code}/"]["og:image"])


def test_a_link_to_a_prompt_or_a_model_brings_one_of_its_drawings(client, run):
    entrant, prompt = run.entrants.first(), run.prompts.first()
    for path, mine in (
        (f"/runs/{run.code}/entrants/{entrant.code}/", {"entrant": entrant}),
        (f"/runs/{run.code}/prompts/{prompt.code}/", {"prompt": prompt}),
    ):
        card = shared(client, path)
        code = re.search(r"/gallery/(\w+)/share.png$", card["og:image"])[1]

        assert run.samples.filter(code=code, **mine).exists()
        assert card["og:description"] != run.config["description"]
        assert client.get(f"/gallery/{code}/share.png").status_code == 200


def test_no_drawing_is_shared_while_people_judge(client, run):
    Run.objects.filter(pk=run.pk).update(judging_state="open")

    assert "/gallery/" not in shared(client, f"/runs/{run.code}/entrants/{run.entrants.first().code}/")["og:image"]


def test_the_picture_of_a_drawing_shows_it(client, run):
    sample = run.samples.judgeable().first()

    response = client.get(f"/gallery/{sample.code}/share.png")

    picture = Image.open(BytesIO(response.content)).convert("L")
    assert (response["Content-Type"], picture.size) == ("image/png", (1200, 630))
    assert min(picture.crop((20, 20, 610, 610)).get_flattened_data()) < 100, "ink on the left half"


@pytest.mark.parametrize("state", ["open", "paused"])
def test_there_is_no_picture_of_a_drawing_that_is_judged_blind(client, run, state):
    Run.objects.update(judging_state=state)
    sample = run.samples.judgeable().first()

    assert client.get(f"/gallery/{sample.code}/share.png").status_code == 404
    assert sample.code not in client.get(f"/embed/{run.code}/").text
    assert "Drawings appear when judging closes." in " ".join(client.get(f"/embed/{run.code}/").text.split())


def test_only_the_card_may_be_framed(client, run):
    card = client.get(f"/embed/{run.code}/")

    assert "frame-ancestors *" in card["Content-Security-Policy"]
    assert "script-src 'self'" in card["Content-Security-Policy"] and "X-Frame-Options" not in card
    for path in ("/", f"/runs/{run.code}/leaderboard/", f"/runs/{run.code}/gallery/"):
        page = client.get(path)
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
        assert page["X-Frame-Options"] == "DENY"


def test_the_card_is_the_same_for_everybody(client, run):
    with time_machine.travel(now(), tick=False):  # it says how many seconds ago it was made
        stranger = client.get(f"/embed/{run.code}/").text
        client.force_login(make_curator())

        assert client.get(f"/embed/{run.code}/").text == stranger
    assert "csrfmiddlewaretoken" not in stranger and "<form" not in stranger


def test_only_published_runs_have_a_card(client, run):
    assert client.get(f"/embed/{run.code}/?protocol=nothing").status_code == 404
    Run.objects.update(visibility="private")
    client.force_login(make_curator())

    assert client.get(f"/embed/{run.code}/").status_code == 404


def test_a_graded_run_has_a_card_too(client):
    graded = make_graded_run()
    fit_run(graded, protocol="rubric")
    Run.objects.filter(pk=graded.pk).update(visibility="published", judging_state="closed")

    assert "grades" in client.get(f"/embed/{graded.code}/").text
