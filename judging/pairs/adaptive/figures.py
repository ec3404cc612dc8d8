"""Where votes go while pairs are adaptive, and why: for a run's judging page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from generation.models import Run
from judging.models import Kind, PairFocus
from judging.pairs.adaptive.draws import POOL, SIZE, UNDECIDED, Focus, can_focus, votes_to_begin
from judging.pairs.adaptive.focus import read_focus
from judging.pairs.epochs import load_table, newest_epoch
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Table, unordered

NEWEST = 1000  # votes looked back on
LISTED = 12  # pairs


@dataclass(frozen=True)
class PairLine:
    """One pair: its votes, how likely its order is wrong (None where it is decided), and its share of the next pairs."""

    labels: tuple[str, str]
    votes: int
    doubt: float | None
    share: float


@dataclass(frozen=True)
class PairsFigures:
    """`state` is balanced, few (too few pairs to choose from), waiting (for votes) or adaptive.

    - `undecided` of `possible` pairs are; of ten pairs `focused` are of these and the rest of the least seen;
    - `recent` votes were cast last, `on_undecided` of them on pairs that are undecided now.
    """

    state: str
    possible: int = 0
    undecided: int = 0
    more: int = 0
    focused: int = 0
    least: int = 0
    read_at: datetime | None = None
    recent: int = 0
    on_undecided: int = 0
    lines: tuple[PairLine, ...] = ()


def pairs_figures(run: Run) -> PairsFigures:
    epoch = newest_epoch(run)
    if not run.adaptive_pairs:
        return PairsFigures("balanced")
    if epoch is None:
        return PairsFigures("waiting")
    table, _ = load_table(epoch.pk, epoch.seed)
    possible = len(table.common)
    if not can_focus(table):
        return PairsFigures("few", possible)
    focus = read_focus(run, epoch.pk, table)
    if more := votes_to_begin(table, focus):
        return PairsFigures("waiting", possible, more=more)
    undecided = [pair for pair in focus.undecided if pair in table.common]
    focused = min(UNDECIDED, len(undecided))
    recent = _recent_votes(run, table)
    return PairsFigures(
        "adaptive",
        possible,
        len(undecided),
        focused=focused,
        least=SIZE - focused,
        read_at=PairFocus.objects.values_list("read_at", flat=True).get(run=run),
        recent=recent.total(),
        on_undecided=sum(recent[pair] for pair in undecided),
        lines=_lines(run, table, focus, focused),
    )


def _recent_votes(run: Run, table: Table) -> Counter[Pair]:
    """The newest votes by pair; repeats and shared items apart, which go by a fixed order."""
    votes = run.votes.standing().filter(matchup__kind=Kind.REGULAR).order_by("-id")
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    rows = votes.values_list("matchup__left", "matchup__right")[:NEWEST]
    return Counter(unordered(index[left], index[right]) for left, right in rows if left in index and right in index)


def _lines(run: Run, table: Table, focus: Focus, focused: int) -> tuple[PairLine, ...]:
    """The pairs that come most often."""
    labels = dict(run.entrants.values_list("pk", "label"))
    shares = shares_of(table, focus, focused)
    often = sorted(table.common, key=lambda pair: (-shares[pair], focus.votes.get(pair, 0)))[:LISTED]
    return tuple(
        PairLine(
            (labels[table.entrants[pair[0]]], labels[table.entrants[pair[1]]]),
            focus.votes.get(pair, 0),
            focus.undecided.get(pair),
            shares[pair],
        )
        for pair in often
    )


def shares_of(table: Table, focus: Focus, focused: int) -> dict[Pair, float]:
    """About how much of a judge's next regular pairs each gets: no pair more than one in ten."""
    weights = {pair: focus.weight(pair) for pair in table.common}
    shares = dict.fromkeys(table.common, 0.0)
    left, rest = focused / SIZE, dict(weights)
    while left > 1e-9 and (whole := sum(rest.values())):  # what exceeds a pair's one in ten goes to the others
        for pair, weight in rest.items():
            shares[pair] += left * weight / whole
        left = sum(max(share - 1 / SIZE, 0) for share in shares.values())
        shares = {pair: min(share, 1 / SIZE) for pair, share in shares.items()}
        rest = {pair: weight for pair, weight in rest.items() if shares[pair] < 1 / SIZE - 1e-9}
    pool = sorted(table.common, key=lambda pair: focus.votes.get(pair, 0))[: max(len(table.common) // POOL, SIZE)]
    for pair in pool:
        shares[pair] = min(shares[pair] + (SIZE - focused) / SIZE / len(pool), 1 / SIZE)
    return shares
