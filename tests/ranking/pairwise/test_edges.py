"""Votes at the edge of what can be ranked: page, Markdown and JSON say something true about each."""

from __future__ import annotations

import html
import re

import pytest

from tests.ranking.edge_runs import EDGES, make_edge

pytestmark = [pytest.mark.django_db, pytest.mark.once]

ALPHA, BETA, GAMMA = "acme/alpha-1", "bestco/beta-mini", "corp/gamma-xl"
EVEN = "Every vote so far was a tie or a fail, so nobody is ahead"
NOBODY_FIRST = (
    "keeps the highest rating",
    "can take the highest rating",
    "would put",
    "not separated at the top",
    f"{ALPHA} leads",
    f"{ALPHA} label leads",
)
# What page and Markdown both say, and what neither may say.
SENTENCES = {
    "no votes": (["0 votes by 0 judges on 0 prompts"], ["Chance of being the best", *NOBODY_FIRST]),
    "all ties": ([EVEN, "24 votes by 4 judges on 6 prompts"], ["clustered by", "intervals are", *NOBODY_FIRST]),
    "all fails": ([EVEN, "24 votes by 4 judges on 6 prompts"], ["clustered by", "intervals are", *NOBODY_FIRST]),
    "one vote": (
        ["1 vote by 1 judge on 1 prompt", "It cannot be said yet how many votes would settle their order"],
        [
            "clustered by",
            "will not settle",
            "1 votes",
            "1 of 1",
            "worth less than their number",
            f"{ALPHA} leads",
            f"{ALPHA} label leads",
        ],
    ),
    "one entrant": (["0 votes by 0 judges on 0 prompts"], ["Chance of being the best", *NOBODY_FIRST]),
    "a perfect cycle": (
        ["These ratings do not describe the votes well", f"{ALPHA} label beats {BETA} label in 100% instead of 50%"],
        [*NOBODY_FIRST],
    ),
    "islands": (
        ["There are 2 groups that were never compared", "ranks hold within a group only"],
        ["Chance of being the best of all", "separation reliability", *NOBODY_FIRST],
    ),
    "undefeated": (
        [f"Won every comparison, so the rating has no upper limit: {ALPHA} label"],
        ["Lost every comparison"],
    ),
    "nearly certain": ([f"{ALPHA} label keeps the highest rating", "192 votes by 4 judges on 6 prompts"], []),
}


def text_of(response) -> str:
    """What stands between the tags of a page's own part."""
    assert response.status_code == 200
    page = response.content.decode().partition("<main")[2].partition("</main")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.fixture
def edge(request):
    return make_edge(request.param)


@pytest.mark.parametrize(("edge", "name"), [(name, name) for name in EDGES], indirect=["edge"], ids=list(EDGES))
def test_page_markdown_and_json_say_what_is_true(client, edge, name):
    page = text_of(client.get(f"/runs/{edge.code}/leaderboard/"))
    markdown = " ".join(client.get(f"/runs/{edge.code}/leaderboard.md").content.decode().split())
    document = client.get(f"/runs/{edge.code}/leaderboard.json").json()

    expected, never = SENTENCES[name]
    assert [words for words in expected if words not in page] == []
    assert [words for words in expected if words.replace(" label", "") not in markdown] == []
    assert [words for words in never if words.lower() in f"{page} {markdown}".lower()] == []
    assert "nan" not in markdown.lower().split() and "inf" not in markdown.lower().split()
    assert len(EDGES[name][1]) == document["votes"]
    assert not any(row["p_best"] in (0, 1) for row in document["overall"])


@pytest.mark.parametrize("edge", ["one entrant"], indirect=True)
def test_one_entrant_is_told_that_nothing_will_come(client, edge):
    page = text_of(client.get(f"/runs/{edge.code}/leaderboard/"))

    assert f"{ALPHA} label is the only one here" in page and "within seconds of the first votes" not in page


@pytest.mark.parametrize("edge", ["no votes", "one entrant"], indirect=True)
def test_head_to_head_waits_for_two_with_votes(client, edge):
    assert "There is no leaderboard yet" in text_of(client.get(f"/runs/{edge.code}/leaderboard/versus/"))
    assert client.get(f"/runs/{edge.code}/leaderboard/versus/?format=json").json()["overall"] == []


@pytest.mark.parametrize("edge", ["all ties", "all fails", "a perfect cycle"], indirect=True)
def test_nobody_is_first_where_all_are_equal(client, edge):
    document = client.get(f"/runs/{edge.code}/leaderboard.json").json()

    assert {row["rank"] for row in document["overall"]} == {1}
    assert {row["rating"] for row in document["overall"]} == {1000.0}
    assert document["robustness"]["first"] is None and document["robustness"]["leave_one_judge_out"] == []


@pytest.mark.parametrize("edge", ["all ties", "all fails"], indirect=True)
def test_votes_that_tell_no_difference_name_no_best_drawing(client, edge):
    document = client.get(f"/runs/{edge.code}/leaderboard.json").json()
    entrant = text_of(client.get(f"/runs/{edge.code}/entrants/{edge.entrants.first().code}/"))

    assert all(row["low"] is None and row["high"] is None for row in document["overall"])
    assert "Best drawings" not in entrant and "Weakest drawings" not in entrant


@pytest.mark.parametrize("edge", ["islands"], indirect=True)
def test_islands_are_not_compared(client, edge):
    document = client.get(f"/runs/{edge.code}/leaderboard.json").json()
    rows = client.get(f"/runs/{edge.code}/leaderboard/charts/wins.csv").content.decode().splitlines()[1:]

    assert {frozenset(names) for names in document["connectivity"]["islands"]} == {
        frozenset({ALPHA, BETA}),
        frozenset({GAMMA, "delta/delta-pro"}),
    }
    assert sum(pair["state"] == "apart" for pair in document["verdicts"]["pairs"]) == 4
    assert len(rows) == 4 and not any(ALPHA in row and GAMMA in row for row in rows)
    assert document["robustness"]["first"] is None
    assert {row["p_best"] for row in document["overall"]} == {None}


@pytest.mark.parametrize("edge", ["islands"], indirect=True)
def test_head_to_head_across_islands_has_no_chance(client, edge):
    codes = {entrant.name: entrant.code for entrant in edge.entrants.all()}
    page = text_of(client.get(f"/runs/{edge.code}/leaderboard/versus/?a={codes[ALPHA]}&b={codes[GAMMA]}"))

    assert "The two have never been compared, not even through others." in page
    assert "is preferred to" not in page and "no votes yet" not in page
    assert "Chance of being best" not in text_of(client.get(f"/runs/{edge.code}/entrants/{codes[ALPHA]}/"))


@pytest.mark.parametrize("edge", ["undefeated"], indirect=True)
def test_the_undefeated_have_no_upper_limit_anywhere(client, edge):
    document = client.get(f"/runs/{edge.code}/leaderboard.json").json()
    history = client.get(f"/runs/{edge.code}/leaderboard/history/?format=json").json()

    first = document["overall"][0]
    assert (first["entrant"], first["high"], first["unbounded"]) == (ALPHA, None, True)
    assert history["points"][0]["ratings"][0][2] is None
    gaps = {(pair["upper"], pair["lower"]): pair for pair in document["verdicts"]["pairs"]}
    assert all(gaps[ALPHA, other]["high"] is None and gaps[ALPHA, other]["low"] is not None for other in (BETA, GAMMA))
    assert None not in (gaps[BETA, GAMMA]["low"], gaps[BETA, GAMMA]["high"])
    versus = text_of(client.get(f"/runs/{edge.code}/leaderboard/versus/"))
    assert re.search(r": the 95% interval of the gap is [+−][\d,]+ or more", versus) and "the gap is 3" not in versus


@pytest.mark.parametrize("edge", ["nearly certain"], indirect=True)
def test_nearly_certain_is_not_certain(client, edge):
    page = text_of(client.get(f"/runs/{edge.code}/leaderboard/"))
    document = client.get(f"/runs/{edge.code}/leaderboard.json").json()

    assert 0.99 < document["overall"][0]["p_best"] < 1
    assert f"Chance of being the best of all: {ALPHA} label >99%" in page


@pytest.mark.parametrize("edge", ["undefeated"], indirect=True)
def test_an_entrant_s_page_has_its_infit(client, edge):
    infit = client.get(f"/runs/{edge.code}/leaderboard.json").json()["model_fit"]["entrant_infit"]

    for entrant in edge.entrants.all():
        assert f"Infit {infit[entrant.name]:.2f}" in text_of(client.get(f"/runs/{edge.code}/entrants/{entrant.code}/"))


@pytest.mark.parametrize("edge", ["one vote"], indirect=True)
def test_a_single_vote_is_no_plural_on_cards_and_charts(client, edge):
    card = client.get(f"/embed/{edge.code}/").content.decode()
    history = client.get(f"/runs/{edge.code}/leaderboard/history/").content.decode()

    assert "1 vote," in " ".join(card.split())
    assert "after 1 vote<" in history or "after 1 vote|" in history or 'after 1 vote"' in history
