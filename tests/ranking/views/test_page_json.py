"""The JSON beside each public page: it says what the page says, to the same people."""

from __future__ import annotations

import pytest
from django.urls import NoReverseMatch, get_resolver, reverse
from django.utils.timezone import now

from generation.models import Run
from ranking.fitting import fit_run, publish_fit
from tests.judging.make import make_judge
from tests.ranking.answered_run import make_answered_run
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run
from tests.site.url_roles import walk

pytestmark = [pytest.mark.django_db, pytest.mark.once]


@pytest.fixture(scope="module", autouse=True)
def voted(module_rows):
    run = make_voted_run(votes=63)
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    run.refresh_from_db()
    fit_run(run)
    return run.pk


@pytest.fixture
def run(voted):
    """Voted on, closed, published, ranked."""
    return Run.objects.get(pk=voted)


def test_each_page_links_to_its_json(client, run):
    entrant = run.entrants.first()
    frozen = publish_fit(fit=run.fits.first(), by=None, title="Midterm")
    pages = ["/", "/leaderboards/", "/suites/ascii/", "/about/numbers/", f"/runs/{run.code}/gallery/"]
    pages += [
        f"/runs/{run.code}/leaderboard/",
        f"/runs/{run.code}/leaderboard/pairwise/",
        f"/leaderboards/{frozen.code}/",
    ]
    pages += [f"/runs/{run.code}/leaderboard/judges/", f"/runs/{run.code}/leaderboard/fits/{run.fits.first().code}/"]
    pages += [f"/runs/{run.code}/leaderboard/history/", f"/runs/{run.code}/leaderboard/versus/"]
    pages += [f"/runs/{run.code}/entrants/{entrant.code}/", f"/gallery/{run.samples.first().code}/"]

    for address in pages:
        page = client.get(address)
        assert '<link rel="alternate" type="application/json" href="?format=json">' in page.content.decode(), address
        assert isinstance(client.get(f"{address}?format=json").json(), dict), address


def test_an_entrant_and_its_drawings(client, run):
    entrant = run.entrants.get(name="acme/alpha-1")

    data = client.get(reverse("ranking:entrant", args=[run.code, entrant.code]), {"format": "json"}).json()

    assert data["entrant"]["name"] == "acme/alpha-1"
    assert data["standing"]["entrant"] == "acme/alpha-1"
    assert {row["name"] for row in data["against"]} == set(run.entrants.values_list("name", flat=True)) - {
        "acme/alpha-1"
    }
    assert data["best"]
    assert all(client.get(row["page"]).status_code == 200 for row in data["best"])


def test_every_page_that_strangers_may_open_has_its_json(client, run):
    """Whatever answers a stranger with a page; ways in and pages that say only that something was done are forms."""
    birds = make_answered_run("science-birds", models=["demo/master"], prompts=["A"], attempts=1)
    fit_run(birds)
    forms = {"login", "join", "password_reset_confirm", "admin:login", "ranking:api_docs"}
    parts = {
        "slug": run.suite,
        "code": run.code,
        "protocol": "pairwise",
        "fit": run.fits.first().code,
        "entrant": run.entrants.first().code,
    }
    documents = {}
    for name, pattern in walk(get_resolver()):
        names = list(pattern.pattern.converters)
        special = {
            "gallery:sample": {"code": run.samples.first().code},
            "gallery:program": {"code": birds.code, "entrant": birds.entrants.first().code},
            "ranking:publication": {"code": publish_fit(fit=run.fits.first(), by=None, title="Midterm").code},
        }.get(name, parts)
        if name in forms or not set(names) <= set(special):
            continue
        try:
            address = reverse(name, kwargs={part: special[part] for part in names})
        except NoReverseMatch:
            continue
        page = client.get(address)
        if page.status_code == 200 and page.headers["Content-Type"].startswith("text/html"):
            documents[name] = client.get(f"{address}?format=json").headers["Content-Type"]

    assert len(documents) >= 13, documents
    assert set(documents.values()) == {"application/json"}, documents


def test_judges_are_numbers_in_json_too(client, run):
    response = client.get(f"/runs/{run.code}/leaderboard/judges/?format=json")

    assert [line["judge"] for line in response.json()["judges"]] == [f"Judge {n}" for n in range(1, 7)]
    assert response.json()["agreement"]["units"] > 0
    assert {len(pair["judges"]) for pair in response.json()["cohen"]} == {2}
    assert not any(seat.pseudonym in response.content.decode() for seat in run.seats.all())


def test_a_frozen_leaderboard_tells_no_judge_from_another(client, run):
    frozen = publish_fit(fit=run.fits.first(), by=None, title="Midterm")

    data = client.get(f"/leaderboards/{frozen.code}/?format=json").json()

    assert data["title"] == "Midterm" and data["overall"]
    assert "judges" not in data and "cohen" not in data["agreement"]
    assert "leave_one_judge_out" not in data["robustness"] and "weights" not in data["settings"]


def test_grades_are_by_numbered_judges_in_json(client):
    graded = make_graded_run()
    Run.objects.filter(pk=graded.pk).update(visibility="published", judging_state="closed")
    graded.refresh_from_db()
    fit_run(graded, protocol="rubric")

    data = client.get(f"/runs/{graded.code}/leaderboard/?format=json").json()

    assert [line["judge"] for line in data["judges"]] == ["Judge 1", "Judge 2", "Judge 3"]
    assert client.get(f"/runs/{graded.code}/leaderboard.json?protocol=rubric").json()["judges"] == data["judges"]


def test_a_scored_drawing_says_why_in_json(client):
    scored = make_answered_run(models=["demo/beginner"], attempts=1)

    data = client.get(f"/gallery/{scored.samples.first().code}/?format=json").json()

    assert {part["label"] for part in data["why"]["parts"]} and data["why"]["score"] is not None


def test_head_to_head_keeps_the_chosen_two(client, run):
    one, other = run.entrants.order_by("name")[:2]

    address = reverse("ranking:versus", args=[run.code])
    data = client.get(address, {"a": other.code, "b": one.code, "format": "json"}).json()

    assert (data["one"]["code"], data["other"]["code"]) == (other.code, one.code)
    cell = data["direct"]
    assert cell["votes"] == cell["wins"] + cell["losses"] + cell["ties"] + cell["fails"]


@pytest.mark.parametrize(
    ("state", "says", "pill"),
    [
        ({"drawing_state": "open", "judging_state": "not_open"}, "drawing", "Drawing"),
        ({"drawing_state": "open", "judging_state": "open"}, "open", "Judging open"),
        ({"drawing_state": "open", "judging_state": "closed", "finished_at": now()}, "finished", "Finished"),
        ({"drawing_state": "paused", "judging_state": "closed", "frozen_at": now()}, "finished", "Finished"),
        ({"drawing_state": "paused", "judging_state": "not_open"}, "not_open", "Judging not open yet"),
    ],
)
def test_a_list_of_leaderboards_says_whether_more_is_to_come(client, run, state, says, pill):
    Run.objects.update(**state)

    for address in ("/", "/leaderboards/"):
        assert client.get(f"{address}?format=json").json()["leaderboards"][0]["state"] == says
        text = client.get(address).content.decode()
        assert f">{pill}</span>" in text


def test_json_is_hidden_where_the_page_is(client, run):
    Run.objects.update(judging_state="open")
    client.force_login(make_judge("judge1"))

    assert client.get(f"/runs/{run.code}/leaderboard/history/?format=json").status_code == 403
    assert client.get(f"/runs/{run.code}/gallery/?format=json").status_code == 403
    line = client.get("/?format=json").json()["leaderboards"][0]
    assert (line["says"], line["rests_on"]) == ("", None)


def test_a_gallery_has_every_drawing_of_the_page(client):
    run = make_answered_run(models=["demo/master", "demo/beginner"])

    data = client.get(f"/runs/{run.code}/gallery/?attempt=2&format=json").json()

    codes = {drawing["code"] for row in data["rows"] for drawing in row["drawings"]}
    assert codes == set(run.samples.filter(attempt=2).values_list("code", flat=True))
    assert (data["attempt"], data["page"]) == (2, 1)


@pytest.mark.parametrize("state", ["open", "paused"])
def test_names_do_not_stand_beside_drawings_while_they_are_judged(client, run, state):
    """A judge can log out and look."""
    Run.objects.update(judging_state=state, format="svg")
    run.samples.update(drawing='<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg>')
    entrant = run.entrants.get(name="acme/alpha-1")

    whose = client.get(f"/runs/{run.code}/entrants/{entrant.code}/").content.decode()
    both = client.get(f"/runs/{run.code}/leaderboard/versus/").content.decode()

    pictures = [page.count("<img") - page.count('<img src="/static/') for page in (whose, both)]
    assert "Rated" not in whose and "Best by votes" not in whose
    assert "appear when judging closes" in both and pictures == [0, 0]
    assert client.get(f"/runs/{run.code}/drawings/{run.samples.first().code}/").status_code == 404


def test_entrants_of_a_graded_run_have_a_page_with_their_scores(client):
    run = make_graded_run()
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    fit_run(run, protocol="rubric")
    board = client.get(f"/runs/{run.code}/leaderboard/").content.decode()

    for entrant in run.entrants.all():
        address = f"/runs/{run.code}/entrants/{entrant.code}/"
        assert address in board
        page = client.get(address).content.decode()
        assert "95% interval" in page and "Grades" in page and "No votes yet" not in page


def test_entrants_of_an_automatic_run_have_a_page_with_their_scores(client):
    run = make_answered_run(models=["demo/master", "demo/beginner"])
    fit_run(run, protocol="automatic")
    entrant = run.entrants.first()

    data = client.get(f"/runs/{run.code}/entrants/{entrant.code}/?format=json").json()

    assert f"/runs/{run.code}/entrants/{entrant.code}/" in client.get(f"/runs/{run.code}/leaderboard/").content.decode()
    assert data["scores"]["automatic"]["entrant"] == entrant.name
    assert data["standing"] is None


def test_cards_show_drawings_by_leaders_of_open_runs_only(client, run):
    judged = make_graded_run()
    fit_run(judged, protocol="rubric")
    Run.objects.filter(pk=judged.pk).update(visibility="published", judging_state="open")
    scored = make_answered_run(models=["demo/master", "demo/beginner"])
    fit_run(scored, protocol="automatic")

    def shown():
        boards = client.get("/?format=json").json()["leaderboards"]
        return {(row["run"], row["entrant"]) for board in boards for row in board["drawings"]}

    fits = [*run.fits.all(), *scored.fits.all()]
    assert shown() == {(fit.run.code, fit.result["overall"][0]["entrant"]) for fit in fits}
    assert "Drawings appear when judging closes." in " ".join(client.get("/").text.split())

    Run.objects.filter(pk=judged.pk).update(judging_state="closed")
    assert len(shown()) == 3

    Run.objects.update(visibility="private")
    assert shown() == set()
