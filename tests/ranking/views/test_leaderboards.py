"""Leaderboard pages: what they say, and who may see them."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Measurement, Run, Sample
from generation.pictures import thumbnail
from judging.models import Seat, Vote
from ranking.automatic.page import overall_sentence
from ranking.charts.share_picture import TILE, SharedRow, draw_share_picture
from ranking.fitting import fit_run, publish_fit
from ranking.models import Counting, Fit, Publication
from ranking.pairwise.sentences import leading_sentence
from ranking.views.pages import drawings_by_rank
from tests.judging.make import close_judging, make_curator, make_judge, make_run
from tests.pages import collapsed
from tests.ranking.answered_run import make_answered_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.once]


@pytest.fixture(scope="module", autouse=True)
def voted(module_rows):
    run = make_voted_run(votes=306)
    publish(run)
    fit_run(run)
    return run.pk


@pytest.fixture
def run(voted):
    """Voted on, closed, published, ranked."""
    return Run.objects.get(pk=voted)


def publish(run):
    run.visibility, run.judging_state = Run.Visibility.PUBLISHED, Run.Judging.CLOSED
    run.save(update_fields=["visibility", "judging_state"])


def page(client, name, run, *args, **query):
    return client.get(reverse(f"ranking:{name}", args=[run.code, *args]), query)


def test_a_published_leaderboard_says_who_leads(client, run):
    response = page(client, "leaderboard", run)

    assert response.status_code == 200
    text = response.content.decode()
    assert "acme/alpha-1 label" in text
    assert "Model</th>" in text and "Entrant" not in text
    assert "not separated at the top" in text or "leads" in text or "Nobody leads" in text
    assert "style=" not in text and "<script>" not in text


@pytest.mark.parametrize("name", ["leaderboard", "judges", "history", "versus"])
def test_every_page_opens_for_everybody_and_shows_no_judge_by_name(client, run, name):
    text = page(client, name, run).content.decode()

    assert "judge1" not in text
    assert "alpha-1" in text


def test_curators_see_judges_by_name(client, run):
    client.force_login(make_curator())

    assert "judge1" in page(client, "judges", run).content.decode()


@pytest.mark.parametrize("name", ["leaderboard", "judges", "history", "versus"])
def test_a_private_run_is_for_curators_only(client, run, name):
    Run.objects.update(visibility=Run.Visibility.PRIVATE)

    assert page(client, name, run).status_code == 404
    client.force_login(make_curator())
    assert page(client, name, run).status_code == 200


def test_a_judge_sees_no_ranking_before_judging_is_closed(client, run):
    Run.objects.update(judging_state=Run.Judging.OPEN)
    client.force_login(make_judge("judge1"))

    response = page(client, "leaderboard", run)
    assert response.status_code == 403
    assert "alpha-1" not in response.content.decode()
    assert client.get(reverse("ranking:download", args=[run.code, "json"])).status_code == 403
    assert "first place" not in client.get(reverse("ranking:leaderboards")).content.decode()

    Run.objects.update(judging_state=Run.Judging.CLOSED)
    assert page(client, "leaderboard", run).status_code == 200


def test_the_json_names_judges_for_curators_only(client, run):
    public = page(client, "download", run, "json").json()
    client.force_login(make_curator())
    private = page(client, "download", run, "json").json()

    assert set(public["judges"]) == {f"Judge {n}" for n in range(1, 7)}
    assert "judge1" in private["judges"]
    assert "judge judge1" not in json.dumps(public) and '"judge1"' not in json.dumps(public)
    assert public["overall"] == private["overall"] == Fit.objects.get().result["overall"]


def test_markdown_and_csv_are_those_of_the_fit(client, run):
    markdown = page(client, "download", run, "md").content.decode()
    table = page(client, "download", run, "csv").content.decode()

    assert markdown.startswith("# ASCII") and "## Consistency score" in markdown
    assert table.splitlines()[0].startswith("scope,category,entrant,rating")
    assert page(client, "download", run, "exe").status_code == 404


@pytest.mark.parametrize("name", ["ratings", "wins", "history"])
def test_charts_come_as_files(client, run, name):
    drawn = page(client, "chart", run, name, "svg")
    listed = page(client, "chart", run, name, "csv")

    assert drawn["Content-Type"].startswith("image/svg+xml") and b"<svg xmlns" in drawn.content
    assert b"style" not in drawn.content
    assert len(listed.content.decode().splitlines()) > 4


def test_an_unknown_chart_is_not_found(client, run):
    assert page(client, "chart", run, "nothing", "svg").status_code == 404
    assert page(client, "chart", run, "wins", "exe").status_code == 404


def test_a_category_has_a_table_of_its_own(client, run):
    text = page(client, "leaderboard", run, category="animal").content.decode()

    assert "Raw" in text
    assert page(client, "leaderboard", run, category="nonsense").status_code == 404


def close(run):
    run.judging_state = Run.Judging.CLOSED
    run.save(update_fields=["judging_state"])


def test_an_entrant_shows_its_best_and_worst_drawings(client, run):
    close(run)
    entrant = run.entrants.get(name="acme/alpha-1")

    text = page(client, "entrant", run, entrant.code).content.decode()

    assert "Best drawings" in text and "Weakest drawings" in text and "Head to head" in text
    assert "Prompt by prompt" in text


def test_no_page_puts_a_name_to_a_drawing_while_people_judge(client, run):
    Run.objects.update(format="svg", judging_state=Run.Judging.OPEN)
    entrant, sample = run.entrants.get(name="acme/alpha-1"), run.samples.first()

    pages = [page(client, "entrant", run, entrant.code), page(client, "versus", run), page(client, "leaderboard", run)]

    text = "".join(response.content.decode() for response in pages)
    assert f"/runs/{run.code}/drawings/" not in text and "/gallery/" not in text and "<pre" not in text
    assert 'class="tile' not in text and "Best drawings" not in text
    assert "Median time" not in text and "tokens</dd>" not in text  # lengths would tell drawings apart
    assert " ".join(text.split()).count("when judging closes") >= 3
    assert reverse("gallery:gallery", args=[run.code]) not in text
    assert page(client, "drawing", run, sample.code).status_code == 404
    close(run)
    assert "/gallery/" in page(client, "versus", run).content.decode()


def test_an_entrant_without_votes_has_a_page(client):
    run = make_run(entrants=2)
    publish(run)
    fit_run(run)

    response = page(client, "entrant", run, run.entrants.first().code)

    assert response.status_code == 200 and "No votes yet" in response.content.decode()


def test_a_run_without_a_fit_says_what_will_be_there(client):
    run = make_run(entrants=2)
    publish(run)

    assert "There is no leaderboard yet" in page(client, "leaderboard", run).content.decode()
    fit_run(run)
    assert "nothing is ranked" in page(client, "leaderboard", run).content.decode()


def test_a_curator_freezes_a_leaderboard_under_a_link_that_does_not_change(client, run):
    client.force_login(make_curator())
    fit = Fit.objects.get()
    address = reverse("ranking:publish", args=[run.code])

    client.post(address, {"fit": fit.code, "title": "Midterm", "note": "as agreed"})

    link = reverse("ranking:publication", args=[Publication.objects.get().code])
    client.logout()
    Run.objects.update(visibility=Run.Visibility.PRIVATE)
    text = collapsed(client.get(link))
    assert "Midterm" in text and "these numbers do not change" in text
    assert f"{fit.result['overall'][0]['rating']:.0f}" in text


def linked_picture(client, address):
    """What comes along with a link to this page."""
    text = collapsed(client.get(address))
    matches = re.search(r'<meta property="og:image" content="http://testserver([^"]+)">', text)
    return client.get(unescape(matches.group(1))).content


def shared_rows(fit, score):
    labels = dict(fit.run.entrants.order_by("id").values_list("name", "label"))
    return [
        SharedRow(labels[row["entrant"]], row[score], row["low"], row["high"], [*labels].index(row["entrant"]))
        for row in fit.result["overall"]
    ]


def drawn(fit, title, drawing=None):
    labels = dict(fit.run.entrants.values_list("name", "label"))
    sentence = leading_sentence(fit.result, labels)
    return draw_share_picture(title, sentence, shared_rows(fit, "rating"), drawing=drawing)


def leaders_drawing(fit):
    return thumbnail(drawings_by_rank(fit)[0], side=TILE)


def test_a_link_to_a_frozen_leaderboard_brings_the_frozen_numbers(client, run):
    old = Fit.objects.get()
    frozen = publish_fit(fit=old, by=None, title="Midterm")
    Vote.objects.filter(run=run).update(outcome="right")
    new = fit_run(run)
    live, past = (reverse("ranking:leaderboard", args=[run.code]), reverse("ranking:past", args=[run.code, old.code]))
    assert linked_picture(client, live) == drawn(new, str(run), leaders_drawing(new)) != drawn(new, str(run))
    assert linked_picture(client, past) == drawn(old, str(run))

    Run.objects.update(visibility=Run.Visibility.PRIVATE)

    address = reverse("ranking:publication", args=[frozen.code])
    assert linked_picture(client, address) == drawn(old, "Midterm")
    assert '<meta property="og:title" content="Midterm">' in client.get(address).content.decode()


def test_a_link_to_a_protocol_brings_its_picture(client):
    run = make_answered_run(models=["demo/master", "demo/beginner"], attempts=1, protocols=("pairwise", "automatic"))
    close_judging(run)
    fit = fit_run(run, protocol="automatic")
    labels = dict(run.entrants.values_list("name", "label"))
    rows = shared_rows(fit, "score")

    picture = linked_picture(client, reverse("ranking:protocol", args=[run.code, "automatic"]))

    sentence = overall_sentence(fit.result, labels)
    assert picture == draw_share_picture(str(run), sentence, rows, label="demo players", drawing=leaders_drawing(fit))


def test_a_curator_chooses_how_ties_count(client, run):
    client.force_login(make_curator())

    client.post(reverse("ranking:count", args=[run.code]), {"ties": "drop", "fails": "half", "reason": "why not"})

    assert Counting.objects.get(run=run).ties == "drop"


def test_a_frozen_run_is_counted_as_it_was(client, run):
    Run.objects.update(frozen_at=now())
    client.force_login(make_curator())

    answer = client.post(reverse("ranking:count", args=[run.code]), {"ties": "drop", "fails": "drop"}, follow=True)

    assert "is frozen" in answer.content.decode()
    assert not Counting.objects.exists()


def test_a_leaderboard_that_votes_replaced_meanwhile_is_not_published(client, run):
    client.force_login(make_curator())

    answer = client.post(reverse("ranking:publish", args=[run.code]), {"fit": "gone", "title": "x"}, follow=True)

    assert "replaced" in answer.content.decode()
    assert not Publication.objects.exists()


@pytest.mark.parametrize("name", ["count", "publish"])
def test_only_curators_decide(client, run, name):
    address = reverse(f"ranking:{name}", args=[run.code])

    client.force_login(make_judge("bob"))
    assert client.post(address, {"ties": "drop", "fails": "drop", "title": "x"}).status_code == 403
    assert not Counting.objects.exists() and not Publication.objects.exists()


def test_both_versions_are_shown_when_a_judge_is_set_aside(client, run):
    Seat.objects.filter(pseudonym="judge judge6").update(weight=0, excluded_reason="clicks at random")
    fit_run(run)

    text = page(client, "leaderboard", run).content.decode()

    assert "If every judge counted fully" in text
    assert "clicks at random" not in page(client, "judges", run).content.decode()


def test_fonts_are_shown_as_measured_and_as_judges_marked_them(client, run):
    fonts = {"courier": 0.5, "dejavu": 1.0, "fira": 0.75}
    similarity = {"courier": 0.2, "dejavu": 0.4, "fira": 0.6}
    values = {"robustness": 0.2, "similarity": similarity, "coverage": 0.5, "fonts": fonts}
    samples = run.samples.filter(verdict=Sample.Verdict.VALID)
    Measurement.objects.bulk_create(
        Measurement(sample=sample, backend=run.measure_backend, values=values, format_version=1) for sample in samples
    )
    vote = run.votes.filter(withdrawn_at=None).first()
    run.votes.filter(pk=vote.pk).update(left_breaks=0b101, right_breaks=0b010)
    fit = fit_run(run)

    table = page(client, "leaderboard", run).context["fonts"]

    assert fit.result["run"]["font_marks"] == {vote.matchup.left.name: [1, 0, 1], vote.matchup.right.name: [0, 1, 0]}
    assert table["heads"] == ["Courier", "DejaVu", "Fira"]
    assert {tuple(cell["coverage"] for cell in line["cells"]) for line in table["lines"]} == {(0.5, 1.0, 0.75)}
    assert [line["robustness"] for line in table["lines"]] == pytest.approx([0.2] * len(table["lines"]))
    assert sum(cell["marks"] for line in table["lines"] for cell in line["cells"]) == 3
    assert table["check"]["value"] is None  # all drawings are as robust


def test_robustness_is_held_against_judges_marks_drawing_by_drawing(client, run):
    samples = list(run.samples.filter(verdict=Sample.Verdict.VALID))
    values = {"similarity": {"courier": 0.2}, "coverage": 1.0, "fonts": {"courier": 1.0, "dejavu": 1.0, "fira": 1.0}}
    Measurement.objects.bulk_create(
        Measurement(
            sample=sample,
            backend=run.measure_backend,
            values=values | {"robustness": (sample.pk % 2) / 2},
            format_version=1,
        )
        for sample in samples
    )
    fragile = [sample.pk for sample in samples if sample.pk % 2 == 0]
    run.votes.filter(matchup__left_sample__in=fragile).update(left_breaks=1)
    fit = fit_run(run)

    check = fit.result["run"]["font_check"]

    assert check["drawings"] <= len(samples) and check["marks"] > 0
    assert -1 <= check["low"] < check["value"] < -0.3
    assert "Do judges see it too?" in page(client, "leaderboard", run).text


def test_a_past_leaderboard_does_not_become_the_newest(client, run):
    until = run.votes.order_by("voted_at")[40].voted_at
    old = fit_run(run, until=until.isoformat())

    assert Fit.objects.newest(run, "pairwise") != old
    text = client.get(reverse("ranking:past", args=[run.code, old.code])).content.decode()
    assert "A past leaderboard" in text
    assert old.code in page(client, "history", run).content.decode()


def test_a_withheld_drawing_is_not_shown(client, run):
    Run.objects.update(format="svg")
    run.samples.update(drawing='<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg>')
    close(run)
    sample = run.samples.first()
    address = reverse("ranking:drawing", args=[run.code, sample.code])

    assert client.get(address).status_code == 200
    run.samples.filter(pk=sample.pk).update(held=True)
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("entrants", [2, 6])
def test_a_page_asks_the_database_as_often_for_many_entrants_as_for_few(
    client, django_assert_max_num_queries, entrants
):
    run = make_voted_run(entrants=entrants, votes=60, judges=3)
    publish(run)
    close(run)
    fit_run(run)

    with django_assert_max_num_queries(11):
        page(client, "leaderboard", run)


def test_the_page_of_a_run_that_is_judged_takes_as_many_statements_for_six_prompts_as_for_two(client):
    def statements(prompts):
        run = make_run(prompts=prompts, attempts=1)
        Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="open")
        page(client, "leaderboard", run)
        with CaptureQueriesContext(connection) as asked:
            assert page(client, "leaderboard", run).text.count("<li>") >= prompts
        return len(asked)

    assert statements(6) == statements(2)
