"""What every board shares: facts, thumbnails, search, filters and order; prompts, votes and the frontier beside it."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from generation.models import Entrant, LanguageModel, Run
from ranking.fitting import fit_run, publish_fit
from tests.judging.make import make_judge
from tests.pages import collapsed
from tests.ranking.answered_run import make_answered_run
from tests.ranking.test_effort import make_call
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.once]
FACTS = [
    {"organisation": "Halden Labs", "weights": "closed", "released": "2026-08-12"},
    {"organisation": "Northlight", "weights": "open", "licence": "MIT", "released": "2026-01"},
    {"organisation": "Halden Labs", "weights": "open"},
    {},
]


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    run = make_voted_run(votes=200, judges=4)
    for model, facts, price in zip(run.models.all(), FACTS, (15, 2, 0.4, None), strict=True):
        nano = None if price is None else int(price * 1e9)
        LanguageModel.objects.filter(pk=model.pk).update(facts=facts, price_in_nano=nano, price_out_nano=nano)
    for place, entrant in enumerate(run.entrants.all(), start=1):
        sample = run.samples.filter(entrant=entrant).first()
        make_call(sample, 1000 * place, 10**7 // place)
    run.visibility, run.judging_state = Run.Visibility.PUBLISHED, Run.Judging.CLOSED
    run.save()
    fit_run(run)
    return run.pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


def names(client, run, **query):
    text = client.get(reverse("ranking:leaderboard", args=[run.code]), query).content.decode()
    body = re.search(r"<tbody>(.*?)</tbody>", text, re.S)[1]
    return re.findall(r'data-name="[a-z]+/([a-z]+)\S* label"', body)


def test_a_board_is_searched_filtered_and_sorted_without_script(client, run):
    everyone = names(client, run)

    assert len(everyone) == 4
    assert names(client, run, q="northlight") == ["beta"]
    assert names(client, run, organisation="Halden Labs", sort="name") == ["alpha", "gamma"]
    assert set(names(client, run, weights="open")) == {"beta", "gamma"}
    assert set(names(client, run, price="5")) == {"beta", "gamma"}
    assert names(client, run, sort="seconds") == ["alpha", "beta", "gamma", "delta"]
    assert names(client, run, sort="cost") == ["delta", "gamma", "beta", "alpha"]
    assert names(client, run, sort="released")[:2] == ["alpha", "beta"]
    assert names(client, run, sort="nonsense", price="free", weights="ajar") == everyone
    assert names(client, run, q="nobody") == []


def test_brackets_stand_in_the_whole_ranking_only(client, run):
    address = reverse("ranking:leaderboard", args=[run.code])

    assert "if votes were independent" in client.get(address).content.decode()
    assert "if votes were independent" not in client.get(address, {"sort": "name"}).content.decode()


def test_the_legend_names_only_the_signs_that_the_table_has(client, run):
    text = client.get(reverse("ranking:leaderboard", args=[run.code])).content.decode()
    table, _, legend = text.partition('class="small soft legend"')
    named = {"settled lead": '"settled"', "practically equal": " tied", "not separated yet": 'class="tie lane-'}

    for words, sign in named.items():
        assert (words in legend.partition("</ul>")[0]) <= (sign in table), words
    assert any(words in legend for words in [*named, "ahead (may still change)"])


def test_facts_and_thumbnails_stand_beside_the_name(client, run):
    text = collapsed(client.get(reverse("ranking:leaderboard", args=[run.code])))

    assert "Halden Labs" in text and "MIT" in text and "15.00 / 15.00" in text
    assert text.count('class="tile"') == 4


def test_a_frozen_board_has_no_thumbnails(client, run):
    made = publish_fit(fit=fit_run(run), by=None)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PRIVATE)

    text = client.get(reverse("ranking:publication", args=[made.code])).content.decode()

    assert "Halden Labs" in text
    assert 'class="tile"' not in text and "/gallery/" not in text


def test_nothing_of_this_shows_while_people_judge_blind(client, run):
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN)

    for name, *more in (("leaderboard",), ("frontier", "pairwise"), ("votes",), ("history",)):
        text = client.get(reverse(f"ranking:{name}", args=[run.code, *more])).content.decode()
        assert "/gallery/" not in text and 'class="tile' not in text
        assert "Median" not in text and "is better" not in text
    for name in ("gallery", "prompts"):
        response = client.get(reverse(f"gallery:{name}", args=[run.code]))
        assert response.status_code == 403
        assert b"opens once judging is closed" in response.content


@pytest.mark.parametrize("slug", ["pixel-art-lite", "science-birds"])
def test_every_kind_of_board_has_the_same_tabs(client, slug):
    run = make_answered_run(slug)
    fit_run(run)

    text = collapsed(client.get(reverse("ranking:leaderboard", args=[run.code])))

    tabs = re.findall(r"<li><a href=[^>]*>\s*([^<]*?)\s*</a></li>", text)
    assert tabs[:3] == ["Ranking", "Drawings", "Prompts"]
    assert "builtin" not in text and "invalid_json" not in text


def test_the_frontier_gives_chances_and_follows_the_filter(client, run):
    address = reverse("ranking:frontier", args=[run.code, "pairwise"])

    whole = client.get(address, {"format": "json"}).json()
    open_ones = client.get(address, {"format": "json", "weights": "open", "by": "seconds"}).json()

    assert len(whole["points"]) == 4
    assert all(0 <= point["chance_on_frontier"] <= 1 for point in whole["points"])
    cheapest = min(whole["points"], key=lambda point: point["cost"])
    assert cheapest["on_frontier"] and cheapest["chance_on_frontier"] == 1
    assert len(open_ones["points"]) == 2
    assert client.get(address, {"by": "beauty"}).status_code == 404
    assert client.get(address, {"file": "svg"})["Content-Type"].startswith("image/svg+xml")
    assert client.get(address, {"file": "csv"}).content.count(b"\n") == 5


def test_a_prompt_shows_all_drawings_and_who_wins(client, run):
    prompt = run.prompts.all()[1]

    text = collapsed(client.get(reverse("gallery:prompt", args=[run.code, prompt.code])))

    assert text.count('class="tile') == 8
    assert "wins here with" in text or "share first place here" in text
    assert ('class="wins"' in text) == ("wins here with" in text)
    assert 'rel="prev"' in text and 'rel="next"' in text


def test_votes_are_listed_filtered_and_paged_once_judging_is_closed(client, run):
    address, entrant = reverse("ranking:votes", args=[run.code]), run.entrants.first()

    whole = client.get(address, {"format": "json"}).json()
    some = client.get(address, {"format": "json", "entrant": entrant.code, "outcome": "left", "page": 1}).json()

    assert whole["count"] == 200 and whole["pages"] == 10 and len(whole["votes"]) == 20
    assert {vote["judge"] for vote in whole["votes"]} <= {f"Judge {n}" for n in range(1, 5)}
    assert 0 < some["count"] < 200
    assert all(vote["outcome"] == "left" for vote in some["votes"])
    assert all(entrant.code in (vote["left"]["code"], vote["right"]["code"]) for vote in some["votes"])


@pytest.mark.parametrize("name", ["votes", "frontier"])
def test_statements_do_not_grow_with_rows(client, django_assert_max_num_queries, name):
    few, many = make_voted_run(votes=40, judges=2, entrants=2), make_voted_run(votes=160, judges=4, entrants=8)
    for run in (few, many):
        run.visibility, run.judging_state = Run.Visibility.PUBLISHED, Run.Judging.CLOSED
        run.save()
        fit_run(run)
        args = [run.code, "pairwise"] if name == "frontier" else [run.code]
        with django_assert_max_num_queries(12):
            client.get(reverse(f"ranking:{name}", args=args))
        with django_assert_max_num_queries(14):
            client.get(reverse("gallery:prompt", args=[run.code, run.prompts.first().code]))
        with django_assert_max_num_queries(14):
            client.get(reverse("gallery:prompts", args=[run.code]))


def test_a_judge_of_the_run_sees_no_votes_page(client, run):
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN)
    client.force_login(make_judge("someone"))

    assert client.get(reverse("ranking:votes", args=[run.code])).status_code == 200
    assert "is better" not in client.get(reverse("ranking:votes", args=[run.code])).content.decode()


def test_a_drawing_links_its_model_and_downloads(client, run):
    sample = run.samples.judgeable().first()

    text = collapsed(client.get(reverse("gallery:sample", args=[sample.code])))
    file = client.get(reverse("gallery:file", args=[sample.code]))

    assert reverse("ranking:entrant", args=[run.code, sample.entrant.code]) in text
    assert 'rel="next"' in text
    assert file.content.decode() == sample.drawing
    assert "attachment" in file["Content-Disposition"]


def test_forty_models_with_long_names_stay_below_200_kb(client):
    run = make_voted_run(votes=800, judges=8, entrants=40)
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    for place, entrant in enumerate(run.entrants.all()):
        Entrant.objects.filter(pk=entrant.pk).update(label=f"{place:02d}-{'long' * 14}"[:60])
    fit_run(run)

    board = client.get(reverse("ranking:leaderboard", args=[run.code])).content
    others = [client.get(reverse(f"ranking:{name}", args=[run.code])).content for name in ("history", "versus")]
    others.append(client.get(reverse("gallery:gallery", args=[run.code])).content)

    assert board.count(b'<th scope="row" class="who">') == 40
    assert b"Here are the first 8 models" in b" ".join(board.split())
    assert all(len(page) < 200_000 for page in [board, *others])
