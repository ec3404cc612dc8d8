"""Pairs that deserve people's eyes: those on which they and a model judge differ, and those that it finds hardest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.models import Run
from judging.model_judges.answers import model_vote_lines
from judging.models import Kind, PickedPair, Vote
from ranking.pairwise.columns.votes import votes_of
from ranking.pairwise.model_judges.ballots import ballots_of
from ranking.pairwise.model_judges.document import PickedResult
from ranking.results import EstimateResult
from ranking.statistics.agreement.clustered import clustered_share
from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.model_judges.habits import worst_disagreements
from ranking.statistics.model_judges.pairing import Paired, pair_up
from ranking.statistics.votes import standing_votes

Array = NDArray[Any]
DIFFERS, HARD = PickedPair.Why.DIFFERS, PickedPair.Why.HARD
DECIDED = ("left", "right")


def pairs_to_pick(run: Run, judge: str, why: str, *, most: int) -> list[tuple[int, int]]:
    """Numbers of two drawings each, most telling first, without those in line; where the judge differs, it prefers the first."""
    lines = [line for line in model_vote_lines(run) if line.judge == judge]
    if not lines:
        return []
    paired = pair_up(standing_votes(votes_of(run)), ballots_of(lines).votes)
    ordered = _differing(paired) if why == DIFFERS else _hardest(paired, seed=run.pk)
    fields = ("prompt__text", "entrant__name", "attempt", "pk")
    drawings = {tuple(key): pk for *key, pk in run.samples.judgeable().values_list(*fields)}
    waiting = PickedPair.objects.filter(run=run, ended_at=None)
    taken = {frozenset(pair) for pair in waiting.values_list("first", "second")}
    pairs = []
    for unit in ordered:
        pair = _drawings(paired, unit, drawings)
        if pair and frozenset(pair) not in taken:
            pairs.append(pair)
        if len(pairs) == most:
            break
    return pairs


def _differing(paired: Paired) -> list[int]:
    return [case.unit for case in worst_disagreements(paired, 0, most=len(paired.first))]


def _hardest(paired: Paired, *, seed: int) -> list[int]:
    """Those of both orders on which the judge contradicts itself, or says that neither is better; by chance among equals."""
    doubt = np.abs(paired.score[:, 0] - 0.5)
    luck = np.random.default_rng(seed).random(len(doubt))
    units = np.flatnonzero(paired.both_orders[:, 0] & (doubt < 0.25))
    return units[np.lexsort((luck[units], doubt[units]))].tolist()


def _drawings(paired: Paired, unit: int, drawings: dict[tuple[Any, ...], int]) -> tuple[int, int] | None:
    """The drawing that the judge prefers, and the other."""
    names = paired.people.entrants
    first, second = (
        drawings.get((paired.prompts[paired.prompt[unit]], names[side[unit]], int(attempt[unit])))
        for side, attempt in ((paired.first, paired.first_attempt), (paired.second, paired.second_attempt))
    )
    if first is None or second is None:
        return None
    return (first, second) if paired.score[unit, 0] >= 0.5 else (second, first)


def picked_figures(run: Run) -> list[PickedResult]:
    """What people answered to all that was ever picked, also after the line was ended."""
    picked = {pair.key: pair for pair in PickedPair.objects.filter(run=run)}  # the newest of a key
    votes = Vote.objects.standing().filter(run=run, matchup__kind=Kind.PICKED, unblind=False, matchup__key__in=picked)
    fields = ("matchup__key", "seat_id", "outcome", "matchup__left_sample_id")
    rows = [(picked[key], *rest) for key, *rest in votes.order_by("id").values_list(*fields)]
    figures = []
    for why, judge in sorted({(pair.why, pair.judge) for pair, *_ in rows}):
        own = [row for row in rows if (row[0].why, row[0].judge) == (why, judge)]
        decided = [row for row in own if row[2] in DECIDED]
        agreed = [(left == pair.first_id) == (outcome == "left") for pair, _, outcome, left in decided]
        figures.append(
            PickedResult(
                why=why,
                judge=judge,
                pairs=len({pair.key for pair, *_ in own}),
                answers=len(own),
                people=len({seat for _, seat, *_ in own}),
                with_judge=_share(agreed, decided),
                undecided=_share([outcome not in DECIDED for _, _, outcome, _ in own], own),
            )
        )
    return figures


def _share(hits: list[bool], rows: list[tuple[Any, ...]]) -> EstimateResult:
    """Clustered by person and by pair of drawings."""
    if not rows:
        return _result(Estimate(None))
    pairs = {key: number for number, key in enumerate(dict.fromkeys(pair.key for pair, *_ in rows))}
    ways = np.array([seat for _, seat, *_ in rows]), np.array([pairs[pair.key] for pair, *_ in rows])
    return _result(clustered_share(np.array(hits), *ways))


def _result(estimate: Estimate) -> EstimateResult:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
