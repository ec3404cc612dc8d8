"""What a fit tells the schedule, for runs whose pairs are adaptive: votes of each pair, and which are undecided."""

from __future__ import annotations

from itertools import combinations

from generation.models import Run
from judging.pairs.adaptive.focus import FocusRow, save_focus
from ranking.models import Fit
from ranking.statistics.verdicts.doubt import doubtful_pairs


def store_focus(run: Run, fit: Fit) -> None:
    if run.adaptive_pairs:
        save_focus(run=run, rows=focus_rows(run, fit), votes=fit.votes, read_at=fit.read_at)


def focus_rows(run: Run, fit: Fit) -> list[FocusRow]:
    """Every pair of entrants that the fit knows."""
    ids = dict(run.entrants.values_list("name", "id"))
    counts = fit.result["run"]["pairs"]
    names = counts["entrants"]
    votes = {}
    for a, b in combinations(range(len(names)), 2):
        votes[names[a], names[b]] = (
            counts["wins"][a][b] + counts["wins"][b][a] + counts["ties"][a][b] + counts["fails"][a][b]
        )
    doubts = doubtful_pairs(fit.result["verdicts"]["pairs"])
    doubts |= {(lower, upper): chance for (upper, lower), chance in doubts.items()}
    return [
        (ids[one], ids[other], n, doubts.get((one, other)))
        for (one, other), n in votes.items()
        if one in ids and other in ids
    ]
