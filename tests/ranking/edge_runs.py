"""Runs whose votes are an edge of what a ranking can be made of."""

from __future__ import annotations

from itertools import combinations

from generation.models import Run
from judging.models import Kind, Matchup, Seat, Vote
from judging.pairs.tallies import rebuild_tallies
from ranking.fitting import fit_run
from tests.judging.make import make_run, make_seat
from tests.ranking.voted_run import START, STEP, matchup

ALL = list(combinations(range(3), 2))
# By name: the number of entrants, and (winner or left, loser or right, outcome) of each vote.
EDGES = {
    "no votes": (3, []),
    "all ties": (3, [(i, j, "tie") for i, j in ALL * 8]),
    "all fails": (3, [(i, j, "fail") for i, j in ALL * 8]),
    "one vote": (3, [(0, 1, "left")]),
    "one entrant": (1, []),
    "a perfect cycle": (3, [(i, (i + 1) % 3, "left") for i in range(3)] * 16),
    "islands": (
        4,
        [(0, 1, "left"), (0, 1, "left"), (0, 1, "right"), (2, 3, "left"), (2, 3, "left"), (2, 3, "right")] * 5,
    ),
    "undefeated": (3, [(0, 1, "left"), (0, 2, "left"), (1, 2, "left"), (1, 2, "right")] * 8),
    "nearly certain": (2, [(0, 1, "left")] * 120 + [(0, 1, "right")] * 72),  # the same for every judge and prompt
}


def make_edge(name: str) -> Run:
    """Published and closed, so that everybody sees the board; sides alternate, judges take turns."""
    entrants, votes = EDGES[name]
    run = make_run(entrants=entrants, prompts=6, attempts=2)
    seats = [make_seat(run, name=f"judge{n}") for n in range(1, 5)]
    rows = list(run.entrants.all())
    samples = {(s.entrant_id, s.prompt_id): s for s in run.samples.order_by("attempt")}
    prompts = list(run.prompts.all())
    made, outcomes = [], []
    for n, (left, right, outcome) in enumerate(votes):
        prompt = prompts[n // len(seats) % len(prompts)]
        sides = [rows[left], rows[right]]
        if n // 2 % 2:
            sides, outcome = sides[::-1], {"left": "right", "right": "left"}.get(outcome, outcome)
        pair = (prompt, *(samples[side.pk, prompt.pk] for side in sides))
        made.append(matchup(run, seats[n % len(seats)], n, pair, Kind.REGULAR))
        outcomes.append(outcome)
    Matchup.objects.bulk_create(made)
    Vote.objects.bulk_create(
        Vote(matchup=item, run=run, seat=item.seat, outcome=outcome, voted_at=START + n * STEP, response_ms=3000)
        for n, (item, outcome) in enumerate(zip(made, outcomes, strict=True))
    )
    for seat in seats:
        Seat.objects.filter(pk=seat.pk).update(voted=seat.votes.count())
    rebuild_tallies(run)
    Run.objects.filter(pk=run.pk).update(
        judging_state="closed", visibility="published", scores_changed_at=START + (len(made) + 1) * STEP
    )
    run.refresh_from_db()
    fit_run(run)
    return run
