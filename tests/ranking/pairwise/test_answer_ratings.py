"""Two ratings on a pairwise board: of the drawings and of the answers, with a switch and a sentence where they disagree."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from generation.files.export_samples import write_samples
from generation.models import Run
from judging.files.exports import write_votes
from ranking.fitting import fit_run
from ranking.pairwise.sentences import answers_sentence
from tests.pages import collapsed
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """The entrant with the best drawings has half of its answers invalid; one model said nothing at all."""
    run = make_voted_run(votes=240, attempts=4)
    first = run.entrants.order_by("pk").first()
    run.samples.filter(entrant=first, attempt__gt=2).update(verdict="invalid", reason="no_content", drawing="")
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    run.refresh_from_db()
    return run


def test_an_invalid_answer_loses_to_a_valid_one(run):
    result = fit_run(run).result

    names = list(run.entrants.order_by("pk").values_list("name", flat=True))
    assert result["overall"][0]["entrant"] == names[0], "the best drawings"
    rows = {row["entrant"]: row for row in result["answer_ratings"]["overall"]}
    assert rows[names[0]]["rank"] > 1
    assert (rows[names[0]]["valid"], rows[names[0]]["answers"]) == (8, 16)
    assert all(row["low"] < row["rating"] < row["high"] for row in rows.values())
    pairs = result["answer_ratings"]["verdicts"]["pairs"]
    assert len(pairs) == len(rows) * (len(rows) - 1) // 2


def test_the_headline_says_that_the_ratings_disagree(client, run):
    fit = fit_run(run)
    label = next(row["entrant"] for row in fit.result["answer_ratings"]["overall"])
    sentence = (
        f"By answers {run.entrants.get(name=label).label} is rated highest: an invalid answer loses to a valid one."
    )

    page = collapsed(client.get(f"/runs/{run.code}/leaderboard/"))

    assert sentence in page
    assert answers_sentence(fit.result, {}).startswith("By answers")
    assert "## Elo of the answers" in fit.result["run"]["md"]
    assert "\nanswers,," in fit.result["run"]["csv"].replace("\r", "")


def test_the_switch_is_a_link_and_shows_the_other_table(client, run):
    fit_run(run)

    drawings = collapsed(client.get(f"/runs/{run.code}/leaderboard/"))
    answers = collapsed(client.get(f"/runs/{run.code}/leaderboard/?rating=answers"))

    assert "?rating=answers" in drawings
    assert "Rating of the answers:" not in drawings
    assert "Rating of the answers:" in answers
    assert "8 of 16" in answers
    for row in run.fits.latest("pk").result["overall"]:
        ranks = str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else f"{row['rank_low']}–{row['rank_high']}"
        assert f'data-label="rank of the drawings">{ranks}</td>' in answers


def test_the_table_of_the_answers_is_searched_and_looks_like_the_other_one(client, run):
    fit_run(run)
    first = run.entrants.order_by("pk").first()

    whole = client.get(f"/runs/{run.code}/leaderboard/?rating=answers")
    narrow = client.get(f"/runs/{run.code}/leaderboard/?rating=answers&q={first.label}")

    assert [row["label"] for row in narrow.context["rows"]] == [first.label]
    assert 'name="rating" value="answers"' in narrow.text, "so that a search stays on this table"
    assert f"1 of {len(whole.context['rows'])} models" in collapsed(narrow)
    assert whole.text.count('class="tile"') == whole.text.count('class="thumb"') > 1


def test_a_file_gives_the_same_two_ratings(run, tmp_path, capsys):
    for name, write in (("votes.jsonl", write_votes), ("database.jsonl", write_samples)):
        with (tmp_path / name).open("w", encoding="utf-8") as stream:
            write(run, stream)

    call_command("analyse", str(tmp_path / "votes.jsonl"), samples=tmp_path / "database.jsonl")

    of_file = json.loads(capsys.readouterr().out)
    result = fit_run(run).result
    assert of_file["answer_ratings"] == result["answer_ratings"]
    assert of_file["category_samples"] == result["category_samples"]
    assert of_file["category_basis"] == result["category_basis"]


def test_a_category_page_counts_its_own_judges_prompts_and_answers(client):
    run = make_voted_run(votes=240, prompts=4)
    prompt = run.prompts.first()
    run.prompts.exclude(pk=prompt.pk).update(category="Other")
    run.matchups.exclude(prompt=prompt).update(category="Other")
    from judging.pairs.tallies import rebuild_tallies

    rebuild_tallies(run)
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    name = run.entrants.first().name
    run.samples.filter(entrant__name=name, prompt=prompt, attempt=1).update(verdict="invalid", drawing="")

    result = fit_run(run).result

    assert result["category_basis"]["Other"]["prompts"] == 3
    assert result["category_basis"][prompt.category]["prompts"] == 1
    assert result["category_samples"][prompt.category][name]["valid_rate"] == 0.5
    assert result["category_samples"]["Other"][name]["valid_rate"] == 1
    page = collapsed(client.get(f"/runs/{run.code}/leaderboard/?category={prompt.category}"))
    assert "on 1 prompt." in page
    assert "1 of 2" in page
