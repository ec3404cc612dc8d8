"""The leaderboard in words."""

from __future__ import annotations

import pytest

from ranking.pairwise.sentences import (
    agreement_sentence,
    best_sentence,
    camps_sentence,
    leading_sentence,
    robustness_sentence,
    side_sentence,
    stability_sentence,
    tie_bands,
    ties_sentence,
)
from ranking.words import decimals, signed, verdict_words

LABELS = {"a": "Alpha", "b": "Beta", "c": "Gamma"}


def row(entrant, rating, low, high, votes=50):
    return {
        "entrant": entrant,
        "rating": rating,
        "rank_low": low,
        "rank_high": high,
        "votes": votes,
        "wins": votes // 2,
    }


def pair(upper, lower, status, needed):
    return {"upper": upper, "lower": lower, "status": status, "votes_needed": needed}


def board(rows, pairs=(), *, islands=1, needed=None):
    return {
        "votes": 100,
        "overall": rows,
        "categories": {"animal": rows},
        "connectivity": {"islands": [[]] * islands},
        "stability": {
            "stable": all(p["status"] != "open" for p in pairs),
            "pairs": list(pairs),
            "votes_needed": needed,
        },
    }


def test_one_leader_is_named_with_its_lead():
    made = board([row("a", 1100, 1, 1), row("b", 1000, 2, 3), row("c", 900, 2, 3)])

    assert leading_sentence(made, LABELS) == "Alpha leads, 100 points ahead of Beta."


def test_the_lead_of_one_who_won_everything_is_called_a_lead_of_at_least_so_much():
    found = board([row("a", 1500, 1, 1), row("b", 860, 2, 2)])
    found["verdicts"] = {"pairs": [{"upper": "a", "lower": "b", "state": "ahead", "gap": 640.0, "low": 387.7}]}
    found["verdicts"]["pairs"][0]["high"] = None

    assert leading_sentence(found, LABELS) == "Alpha leads, at least 387 points ahead of Beta."


def test_a_lead_that_is_still_open_is_called_so():
    made = board(
        [row("a", 1100, 1, 1), row("b", 1000, 2, 3), row("c", 900, 2, 3)],
        [pair("a", "b", "open", 310), pair("b", "c", "open", 20)],
    )

    result = leading_sentence(made, LABELS)

    assert result == (
        "Alpha is 100 points ahead of Beta, which may still change. About 310 more votes would settle their order."
    )
    sentence = leading_sentence(made, LABELS, scope="animal")
    assert sentence == "Alpha leads here by the category’s own votes, which may still change."


def test_a_shared_first_place_says_how_many_votes_would_part_it():
    rows = [row("a", 1100, 1, 2), row("b", 1090, 1, 2), row("c", 900, 3, 3)]
    made = board(rows, [pair("a", "b", "open", 1240), pair("b", "c", "separated", 0)])

    sentence = leading_sentence(made, LABELS)

    assert (
        sentence == "Two are not separated at the top: Alpha and Beta. About 1,240 more votes would settle their order."
    )


def test_a_forecast_of_endless_votes_is_not_a_number():
    rows = [row("a", 1100, 1, 2), row("b", 1099, 1, 2), row("c", 900, 3, 3)]
    made = board(rows, [pair("a", "b", "open", 1_451_036)], needed=1_451_036)

    assert "many times the votes so far" in leading_sentence(made, LABELS)
    assert "1,451" not in stability_sentence(made)


def test_what_this_panel_cannot_settle_is_said_with_what_could():
    rows = [row("a", 1100, 1, 2), row("b", 1090, 1, 2), row("c", 900, 3, 3)]
    stuck = pair("a", "b", "open", None) | {"judges_needed": 12, "prompts_needed": 9}
    made = board(rows, [stuck, pair("b", "c", "separated", 0)])

    sentence = leading_sentence(made, LABELS)

    assert sentence.endswith("More votes like these will not settle their order; about 12 more judges would.")
    assert "9 more prompts" in leading_sentence(board(rows, [stuck | {"judges_needed": None}]), LABELS)


def test_votes_without_a_winner_put_nobody_ahead():
    rows = [row(name, 1000, 1, 2) | {"wins": 0} for name in "ab"]

    assert leading_sentence(board(rows), LABELS) == "Every vote so far was a tie or a fail, so nobody is ahead."


def test_leaders_that_are_as_good_as_equal_are_called_so():
    rows = [row("a", 1100, 1, 2), row("b", 1099, 1, 2), row("c", 900, 3, 3)]
    made = board(rows, [pair("a", "b", "tied", 0), pair("b", "c", "separated", 0)])

    assert leading_sentence(made, LABELS).endswith("They are practically equal: more votes need not separate them.")


def test_nobody_leads_when_nobody_is_parted_from_the_first():
    made = board([row(name, 1000, 1, 3) for name in "abc"], [pair("a", "b", "open", None)])

    sentence = leading_sentence(made, LABELS)

    assert sentence.startswith("Nobody leads yet") and sentence.endswith(
        "More votes like these will not settle their order."
    )


def test_empty_alone_and_islands_have_sentences():
    assert leading_sentence(board([]), LABELS).startswith("There are no votes here yet")
    assert leading_sentence(board([row("a", 1000, 1, 1)]), LABELS).startswith("Alpha is the only one here")
    assert "2 groups that were never compared" in leading_sentence(
        board([row("a", 1, 1, 1), row("b", 1, 1, 1)], islands=2), LABELS
    )


def test_a_category_speaks_of_its_own_votes_only():
    rows = [row("a", 1100, 1, 2), row("b", 1090, 1, 2), row("c", 1000, 3, 3, votes=0)]

    sentence = leading_sentence(board(rows, [pair("a", "b", "open", 9)]), LABELS, scope="animal")

    assert sentence == "Two are not separated at the top: Alpha and Beta."


def test_stability_counts_open_pairs_and_votes():
    rows = [row("a", 1, 1, 1), row("b", 1, 2, 2)]

    assert "1 of 2 neighbouring pairs is not settled. About 300" in stability_sentence(
        board(rows, [pair("a", "b", "open", 300), pair("b", "c", "tied", 0)], needed=300)
    )
    assert stability_sentence(board(rows, [pair("a", "b", "separated", 0)])).startswith("The ranking is stable")


def test_two_entrants_have_one_pair_of_neighbours():
    rows, open_pair = [row("a", 1, 1, 2), row("b", 1, 1, 2)], [pair("a", "b", "open", 300)]

    assert stability_sentence(board(rows, open_pair, needed=300)) == (
        "The ranking is not stable yet: the only neighbouring pair is not settled. About 300 more votes of this kind would settle it."
    )


def test_brackets_join_what_votes_do_not_part():
    rows = [row("a", 4, 1, 2), row("b", 3, 1, 3), row("c", 2, 2, 3), row("d", 1, 4, 4)]

    assert tie_bands(rows) == [(0, 1), (1, 2)]
    assert tie_bands([row("a", 4, 1, 3), row("b", 3, 1, 3), row("c", 2, 1, 3)]) == [(0, 2)]
    assert tie_bands([row("a", 4, 1, 1), row("b", 3, 2, 2)]) == []


def test_agreement_says_what_it_rests_on():
    value = {"value": 0.62, "low": 0.55, "high": 0.69}

    sentence = agreement_sentence({"units": 40, "raw": value, "alpha_nominal": value | {"value": 0.45}})

    assert "62% of the time (55–69%), on 40 shared items" in sentence
    assert "moderate agreement" in sentence
    assert agreement_sentence({"units": 0}).startswith("No item")
    less = agreement_sentence({"units": 40, "raw": value, "alpha_nominal": {"value": -0.04, "low": -0.4, "high": 0.3}})
    assert "α = −0.04 (−0.40 to 0.30): less than chance" in less


def test_an_interval_without_0_says_why_the_two_are_not_separated():
    pair = {"upper": "a", "lower": "b", "state": "undecided", "gap": 61.0, "low": 9.0, "high": 113.0}

    sentence = verdict_words(pair, LABELS, digits=0)

    assert sentence == (
        "The two are not separated yet: the gap is 61 points (95% interval +9 to +113). By itself this interval excludes "
        "0, but a verdict must hold for all pairs at once."
    )
    assert verdict_words(pair | {"low": -9.0}, LABELS, digits=0).endswith("(95% interval −9 to +113).")
    assert verdict_words(pair | {"state": "ahead"}, LABELS, digits=0).endswith("This may still change.")


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.0, "they score the same"),
        (1e-9, "they score the same"),
        (0.4, "the gap is less than 1 point"),
        (0.6, "the gap is 1 point"),
        (1.6, "the gap is 2 points"),
    ],
)
def test_a_small_gap_is_neither_none_nor_a_plural(gap, words):
    pair = {"upper": "a", "lower": "b", "state": "undecided", "gap": gap, "low": -9.0, "high": 13.0}

    assert verdict_words(pair, LABELS, digits=0) == f"The two are not separated yet: {words} (95% interval −9 to +13)."


def test_what_rounds_to_nothing_has_no_sign():
    assert [signed(value, 2) for value in (-0.004, 0.004, 0.0, -0.006, 0.006)] == [
        "0.00",
        "0.00",
        "0.00",
        "−0.01",
        "+0.01",
    ]
    assert decimals(-0.001, 2) == "0.00"


def test_side_and_robustness_in_words():
    assert side_sentence({"logit": 0.2, "low": 0.1, "high": 0.3}).startswith("Judges favour the left side:")
    assert side_sentence({"logit": 0.2, "low": -0.1, "high": 0.3}) == (
        "No preference for a side shows: being shown on the left changes the odds by +0.20 on the log scale (−0.10 to +0.30)."
    )
    assert side_sentence({"logit": None}) == ""
    robustness = {"first": "a", "first_holds_without_any_judge": False}
    robustness["fewest_votes"] = {"votes": 3, "share": 0.012, "instead": "b"}
    assert robustness_sentence(robustness, LABELS) == (
        "Leaving out one judge can take the highest rating from Alpha; leaving out 3 votes (1.2%) would put Beta first."
    )


def test_chances_of_being_best_name_the_likely_and_count_the_rest():
    rows = [row(name, 1000, 1, 3) | {"p_best": chance} for name, chance in (("a", 0.3), ("b", 0.695), ("c", 0.005))]

    sentence = best_sentence(rows, LABELS)

    assert sentence == "Chance of being the best of all: Beta 70%, Alpha 30%; one other has the rest."
    assert best_sentence(rows[:1], LABELS) == ""
    sure = [rows[0] | {"p_best": 0.998}, rows[1] | {"p_best": 0.002}]
    assert "Alpha >99%" in best_sentence(sure, LABELS)


def test_ties_between_equals_follow_from_nu():
    def sentence_of(nu, ties=3, fails=0, counted="half"):
        settings = {"ties": "half", "fails": counted}
        rows = [row("a", 1000, 1, 2) | {"ties": ties, "fails": fails}]
        return ties_sentence({"ties": {"nu": nu}, "settings": settings, "overall": rows})

    assert sentence_of(0.5).startswith("Two equally good models would tie in 20% of votes")
    assert sentence_of(None) == sentence_of(0) == ""
    assert "would tie or both be called bad in 50% of votes" in sentence_of(2, fails=9)
    assert "would both be called bad in 50% of votes" in sentence_of(2, ties=0, fails=9)
    assert "would tie in 50% of votes" in sentence_of(2, fails=9, counted="drop")


def test_a_camp_is_named_where_chance_would_not_make_it():
    def judges(camp, everybody, high=0.4):
        row = {"votes": 10, "reliability_high": high}
        return {f"judge-{n}": row | {"opposite_taste": n < camp} for n in range(everybody)}

    assert camps_sentence(judges(4, 20)).startswith("4 of 20 judges consistently prefer what the others do not (20% of")
    assert camps_sentence(judges(1, 12, high=-0.2)).startswith("1 judge consistently prefers what the others do not")
    assert camps_sentence(judges(4, 60)) == camps_sentence(judges(1, 12)) == camps_sentence(judges(0, 3)) == ""


def test_robustness_leaves_a_name_as_it_is_written():
    robustness = {"first": "a", "first_holds_without_any_judge": True, "leave_one_judge_out": [], "fewest_votes": None}

    sentence = robustness_sentence(robustness, {"a": "acme/alpha"})

    assert sentence == "acme/alpha keeps the highest rating whichever one judge is left out."
