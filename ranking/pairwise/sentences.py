"""A leaderboard in words: who leads, who is tied, what is still open, and how far judges agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scipy.special import bdtrc

from benchsite.templatetags.wording import chance, percent, thousands
from ranking.pairwise.documents.standings import JudgeResult, StandingRow
from ranking.pairwise.documents.trust import (
    AgreementResult,
    ModelFitResult,
    NeighboursResult,
    RobustnessResult,
    SideBiasResult,
)
from ranking.pairwise.result import PairwiseDocument, scope_rows
from ranking.results import EstimateResult
from ranking.words import (
    ALPHA_WORDS,
    LISTED,
    counted,
    decimals,
    joined,
    label,
    named,
    number_word,
    pair_of,
    signed,
    with_missing,
)

# How intervals were made, in the middle of a sentence.
CLUSTERED = {
    "two-way": "clustered by judge and prompt",
    "judge": "clustered by judge",
    "prompt": "clustered by prompt",
    "iid": "as if votes were independent",
}
MANY_TIMES = 20  # beyond this many times the votes so far a forecast is a figure of speech
BY_CHANCE = 0.02  # judges who are taken for having another taste though they press keys at random
MOST_PANEL = 200  # judges or prompts: a forecast of more says nothing but that it is far away


def clustered(result: PairwiseDocument) -> str:
    """How intervals were made; empty where votes decide nothing, so that there are none."""
    known = any(row["low"] is not None or row["high"] is not None for row in result["overall"])
    return CLUSTERED[result["intervals"]["method"]] if known else ""


def leading_sentence(result: PairwiseDocument, labels: Mapping[str, str], *, scope: str = "") -> str:
    """The first thing a page says: who leads, and whether answers are missing."""
    sentence = leaders_sentence(result, labels, scope=scope)
    if not scope and (other := answers_sentence(result, labels)):
        sentence = f"{sentence} {other}"
    return with_missing(sentence, result.get("answers"))


def answers_sentence(result: PairwiseDocument, labels: Mapping[str, str]) -> str:
    """What the headline adds where the rating of the answers has another entrant first than the rating of the drawings."""
    ratings, rows = result.get("answer_ratings"), scope_rows(result, "")
    if not ratings or not rows:
        return ""
    drawings = {row["entrant"] for row in rows if row["rank"] == 1}
    answers = [row for row in ratings["overall"] if row["rank"] == 1]
    if any(row["entrant"] in drawings for row in answers):
        return ""
    return f"By answers {named(answers[0], labels)} is rated highest: an invalid answer loses to a valid one."


def leaders_sentence(result: PairwiseDocument, labels: Mapping[str, str], *, scope: str = "") -> str:
    """Who leads, and what would settle it. `scope` is a category's key; stability is known for the whole run only."""
    rows = scope_rows(result, scope)
    if not rows and len(labels) == 1:
        return f"{next(iter(labels.values()))} is the only one here, so there is nothing to compare it with."
    if not rows:
        return "There are no votes here yet, so nothing is ranked."
    if len(rows) == 1:
        return f"{named(rows[0], labels)} is the only one here, so there is nothing to compare it with."
    if not scope and len(islands := result["connectivity"]["islands"]) > 1:
        return f"There are {len(islands)} groups that were never compared with each other, so nobody leads overall."
    if not any(row["wins"] for row in rows):
        return "Every vote so far was a tie or a fail, so nobody is ahead."
    leaders = [row for row in rows if row["rank_low"] == 1]
    if len(leaders) < 2 and scope:  # no lead within a category is settled
        return f"{named(rows[0], labels)} leads here by the category’s own votes, which may still change."
    if len(leaders) < 2:
        return lead_sentence(result, rows, labels, open_to_doubt=is_open(result, rows[0], rows[1]))
    if len(leaders) == len(rows) > 2:
        sentence = f"Nobody leads yet: none of the {len(rows)} is separated from the first."
    else:
        sentence = f"{number_word(len(leaders)).capitalize()} are not separated at the top: {joined(leaders, labels)}."
    down_to = rows.index(leaders[-1]) + 1  # a close fourth may stand between the leaders
    return sentence if scope else f"{sentence} {separation(result, rows[:down_to])}".strip()


def lead_sentence(
    result: PairwiseDocument, rows: Sequence[StandingRow], labels: Mapping[str, str], *, open_to_doubt: bool
) -> str:
    """A lead that the stricter bound, which allows for looking after every vote, does not grant yet may still change."""
    first, second = named(rows[0], labels), named(rows[1], labels)
    points = lead_words(result, rows[0], rows[1])
    if not open_to_doubt:
        return f"{first} leads, {points} ahead of {second}."
    sentence = f"{first} is {points} ahead of {second}, which may still change."
    return f"{sentence} {separation(result, rows[:2])}".strip()


def lead_words(result: PairwiseDocument, upper: StandingRow, lower: StandingRow) -> str:
    """The gap; where one of the two won or lost everything, only how large it is at least."""
    pair = pair_of(result.get("verdicts"), upper["entrant"], lower["entrant"])
    if pair and pair["high"] is None and pair["low"] is not None:
        return "more than 0 points" if pair["low"] < 1 else f"at least {counted(int(pair['low']), 'point')}"
    gap = upper["rating"] - lower["rating"]
    return counted(round(gap), "point") if gap >= 0.5 else "less than 1 point"


def is_open(result: PairwiseDocument, upper: StandingRow, lower: StandingRow) -> bool:
    wanted = {upper["entrant"], lower["entrant"]}
    return any({p["upper"], p["lower"]} == wanted and p["status"] == "open" for p in result["stability"]["pairs"])


def separation(result: PairwiseDocument, top: Sequence[StandingRow]) -> str:
    """What would settle the neighbours at the top, or that they are practically equal."""
    names = {row["entrant"] for row in top}
    pairs = [p for p in result["stability"]["pairs"] if p["upper"] in names and p["lower"] in names]
    if all(pair["status"] == "tied" for pair in pairs):
        return "They are practically equal: more votes need not separate them." if pairs else ""
    open_pairs = [pair for pair in pairs if pair["status"] == "open"]
    needed = [votes for pair in open_pairs if (votes := pair["votes_needed"]) is not None]
    if len(needed) < len(open_pairs):
        return panel_sentence(open_pairs, "their order")
    if needed and max(needed) > MANY_TIMES * result["votes"]:
        return "It would take many times the votes so far to settle their order."
    return f"About {counted(max(needed), 'more vote')} would settle their order." if needed else ""


def panel_sentence(pairs: Sequence[NeighboursResult], what: str) -> str:
    """What more votes of the same judges on the same prompts cannot settle, and what could."""
    for noun, waits in (
        ("judge", [pair.get("judges_needed") for pair in pairs]),
        ("prompt", [pair.get("prompts_needed") for pair in pairs]),
    ):
        needed = [more for more in waits if more is not None]
        if len(needed) == len(waits) and max(needed) <= MOST_PANEL:
            more = counted(max(needed), f"more {noun}")
            return f"More votes like these will not settle {what}; about {more} would."
    if any(pair.get("half_width", 0.0) is None for pair in pairs):
        return f"It cannot be said yet how many votes would settle {what}."
    return f"More votes like these will not settle {what}."


def stability_sentence(result: PairwiseDocument, *, before: str = "") -> str:
    """Whether the ranking is stable; `before` is the sentence before it, so that no number comes twice."""
    stability, votes = result["stability"], result["votes"]
    if not stability["pairs"]:
        return ""
    if stability["stable"]:
        return f"The ranking is stable: after {counted(votes, 'vote')} every two neighbours are separated or practically equal, by a bound that stays valid however often it is checked."
    open_pairs = sum(pair["status"] == "open" for pair in stability["pairs"])
    pairs = len(stability["pairs"])
    unsettled = f"{open_pairs} of {pairs} neighbouring pairs {'is' if open_pairs == 1 else 'are'} not settled"
    if open_pairs == pairs:
        unsettled = f"none of the {pairs} neighbouring pairs is settled"
    what = "all of them"
    if pairs == 1:
        unsettled, what = "the only neighbouring pair is not settled", "it"
    sentence = f"The ranking is not stable yet: {unsettled}."
    needed = stability["votes_needed"]
    if needed is None:
        still = [pair for pair in stability["pairs"] if pair["status"] == "open"]
        return sentence if "More votes like these" in before else f"{sentence} {panel_sentence(still, what)}"
    if needed and needed <= MANY_TIMES * votes and thousands(needed) not in before:
        sentence += f" About {counted(needed, 'more vote')} of this kind would settle {what}."
    return sentence


def raw_sentence(agreement: AgreementResult) -> str:
    """The agreement in few words, as a closed fold states it."""
    if not agreement["units"]:
        return "Agreement is unknown yet"
    raw = agreement["raw"]
    return f"Two judges agree {percent(raw['value'])} of the time{interval(raw, percent)}"


def agreement_sentence(agreement: AgreementResult) -> str:
    """Raw agreement and alpha with their intervals, and what they mean."""
    if not agreement["units"]:
        return "No item has been seen by two judges yet, so agreement is unknown."
    alpha = agreement["alpha_nominal"]
    sentence = f"{raw_sentence(agreement)}, on {thousands(agreement['units'])} shared items."
    if alpha["value"] is None:
        return sentence
    strength = next(words for limit, words in ALPHA_WORDS if alpha["value"] >= limit)
    beyond = f"{two_digits(alpha['value'])}{interval(alpha, two_digits)}"
    return f"{sentence} Corrected for chance, Krippendorff’s α = {beyond}: {strength}."


def interval(estimate: EstimateResult, written: Callable[[float], str]) -> str:
    if estimate["low"] is None or estimate["high"] is None:
        return ""
    low, high = (written(end) for end in (estimate["low"], estimate["high"]))
    if low.endswith("%"):
        low = low[:-1]  # 40–81%
    return f" ({low} to {high})" if "−" in low else f" ({low}–{high})"


def robustness_sentence(robustness: RobustnessResult, labels: Mapping[str, str]) -> str:
    first = robustness["first"]
    if not first:
        return ""
    clauses = []
    holds = robustness["first_holds_without_any_judge"]
    if holds is not None:
        name = label(first, labels)
        stays = f"{name} keeps the highest rating whichever one judge is left out"
        clauses.append(stays if holds else f"Leaving out one judge can take the highest rating from {name}")
    if few := robustness["fewest_votes"]:
        votes = counted(few["votes"], "vote")
        leaving = "leaving" if clauses else "Leaving"
        clauses.append(
            f"{leaving} out {votes} ({percent(few['share'], 1)}) would put {label(few['instead'], labels)} first"
        )
    return f"{'; '.join(clauses)}." if clauses else ""


def best_sentence(rows: Sequence[StandingRow], labels: Mapping[str, str]) -> str:
    """Chances of being the best of all, the likeliest first; those under one in a hundred are not listed."""
    chances = [(row["p_best"], named(row, labels)) for row in rows if row["p_best"] is not None]
    if len(rows) < 2 or len(chances) < len(rows):
        return ""
    likely = sorted((entry for entry in chances if entry[0] >= 0.01), key=lambda entry: -entry[0])
    listed = ", ".join(f"{name} {chance(share)}" for share, name in likely[:LISTED])
    rest = len(rows) - min(len(likely), LISTED)
    more = "; one other has the rest" if rest == 1 else f"; {rest} others share the rest"
    return f"Chance of being the best of all: {listed}{more if rest else ''}."


def ties_sentence(result: PairwiseDocument) -> str:
    """Davidson's nu in words: equals i and j are in proportion 1, 1 and nu for a win of each and a tie, or a fail that counts as one."""
    nu = result["ties"]["nu"]
    if not nu:
        return ""
    settings, rows = result["settings"], result["overall"]
    ties = settings["ties"] == "half" and any(row["ties"] for row in rows)
    fails = settings["fails"] == "half" and any(row["fails"] for row in rows)
    words = " or ".join(word for word, known in (("tie", ties or not fails), ("both be called bad", fails)) if known)
    return f"Two equally good models would {words} in {percent(nu / (2 + nu))} of votes (Davidson’s ν = {nu:.2f})."


def side_sentence(bias: SideBiasResult) -> str:
    if bias["logit"] is None or bias["low"] is None or bias["high"] is None:
        return ""
    apart = bias["low"] > 0 or bias["high"] < 0
    side = "left" if bias["logit"] > 0 else "right"
    favour = f"Judges favour the {side} side" if apart else "No preference for a side shows"
    logit, low, high = (signed(value, 2) for value in (bias["logit"], bias["low"], bias["high"]))
    return f"{favour}: being shown on the left changes the odds by {logit} on the log scale ({low} to {high})."


def tie_bands(rows: Sequence[StandingRow]) -> list[tuple[int, int]]:
    """Maximal runs (first, last) of places whose entrants the votes do not part; a place alone has no band.

    A row is tied with the one at place p (from 0) while its best possible rank is not below p + 1.
    """
    bands: list[tuple[int, int]] = []
    for first in range(len(rows)):
        last = first
        while last + 1 < len(rows) and rows[last + 1]["rank_low"] <= first + 1:
            last += 1
        if last > first and (not bands or last > bands[-1][1]):
            bands.append((first, last))
    return bands


def two_digits(value: float) -> str:
    return decimals(value, 2)


def camps_sentence(judges: Mapping[str, JudgeResult]) -> str:
    """How many judges share a taste that is the reverse of the others', where it is clear: a camp, not a fault."""
    camp = [judge for judge in judges.values() if judge.get("opposite_taste")]
    # Of each 50 judges without any taste one would look so: few, of whom none is clear, are no camp.
    clear = any(judge["reliability_high"] < 0 for judge in camp)
    if not camp or (not clear and bdtrc(len(camp) - 1, len(judges), BY_CHANCE) >= BY_CHANCE):
        return ""
    votes, whole = sum(j["votes"] for j in camp), sum(j["votes"] for j in judges.values())
    who = (
        "1 judge consistently prefers" if len(camp) == 1 else f"{len(camp)} of {len(judges)} judges consistently prefer"
    )
    return (
        f"{who} what the others do not ({percent(votes / whole)} of the votes): probably another taste rather than careless "
        "judging. The common rating lies between the two camps."
    )


def scale_sentence(checks: ModelFitResult) -> str:
    """Separation and split-half reliability, where they are known."""
    separation, halves = checks["separation_reliability"], checks.get("split_half_reliability")
    known = [f"separation reliability {separation:.2f}"] if separation is not None else []
    known += [f"split-half reliability {halves:.2f}"] if halves is not None else []
    if not known:
        return ""
    return f"The scale as a whole: {' and '.join(known)} (1 is perfect; papers on comparative judgement ask for 0.8)."
