"""A run with many votes, made in a few statements; tallies are rebuilt from them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from generation.models import Run, Sample
from judging.models import Kind, Matchup, Seat, Vote
from judging.pairs.tallies import rebuild_tallies
from tests.judging.make import make_run, make_seat

START = datetime(2026, 5, 1, 12, tzinfo=UTC)
STEP = timedelta(seconds=7)


def make_voted_run(*, votes=150, judges=6, seed=1, **shape):
    """Entrants get weaker in order; a fifth of the items is shown to all judges, a few come back as repeats."""
    run = make_run(**{"entrants": 4, "prompts": 4, "attempts": 2, **shape})
    luck = random.Random(seed)
    seats = [make_seat(run, name=f"judge{n}") for n in range(1, judges + 1)]
    samples: dict[tuple[int, int], list[Sample]] = {}
    for sample in run.samples.all():
        samples.setdefault((sample.entrant_id, sample.prompt_id), []).append(sample)
    entrants, prompts = list(run.entrants.all()), list(run.prompts.all())
    common = [pick(luck, entrants, prompts, samples) for _ in range(max(votes // judges // 5, 2))]
    made = []
    for n in range(votes):
        turn, seat = divmod(n, judges)
        shared = turn < len(common)
        pair = common[turn] if shared else pick(luck, entrants, prompts, samples)
        made.append(matchup(run, seats[seat], turn, pair, Kind.SHARED if shared else Kind.REGULAR))
    turns = votes // judges + 1
    made += [matchup(run, seat, turns, swapped(common[0]), Kind.REPEAT) for seat in seats]
    Matchup.objects.bulk_create(made)
    strength = {entrant.pk: -0.6 * place for place, entrant in enumerate(entrants)}
    Vote.objects.bulk_create(
        Vote(
            matchup=item,
            run=run,
            seat=item.seat,
            outcome=outcome(luck, strength[item.left_id] - strength[item.right_id]),
            voted_at=START + n * STEP,
            response_ms=luck.randint(900, 9000),
        )
        for n, item in enumerate(made)
    )
    for seat in seats:
        Seat.objects.filter(pk=seat.pk).update(voted=seat.votes.count(), made=turns + 1)
    rebuild_tallies(run)
    Run.objects.filter(pk=run.pk).update(scores_changed_at=START + len(made) * STEP)
    run.refresh_from_db()
    return run


def pick(luck, entrants, prompts, samples):
    left, right = luck.sample(entrants, 2)
    prompt = luck.choice(prompts)
    return prompt, luck.choice(samples[left.pk, prompt.pk]), luck.choice(samples[right.pk, prompt.pk])


def swapped(pair):
    prompt, left, right = pair
    return prompt, right, left


def matchup(run, seat, order, pair, kind):
    prompt, left, right = pair
    return Matchup(
        run=run,
        seat=seat,
        order=order,
        kind=kind,
        state=Matchup.State.VOTED,
        prompt=prompt,
        category=prompt.category,
        left_id=left.entrant_id,
        right_id=right.entrant_id,
        left_sample=left,
        right_sample=right,
    )


def outcome(luck, gap):
    if luck.random() < 0.15:
        return luck.choice(["tie", "fail"])
    return "left" if luck.random() < 1 / (1 + 2.718281828**-gap) else "right"
