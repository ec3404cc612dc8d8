"""Rows to judge by: a run with drawings, judges with sessions, and up to a million votes that were there before."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.db import connection
from django.utils.timezone import now

from generation.models import Entrant, LanguageModel, Prompt, Run, Sample
from judging.models import Matchup, Seat, Vote
from judging.pairs.tallies import rebuild_tallies

BLOCK = 1000  # votes of one earlier judge
CATEGORIES = ("object", "animal", "action", "space")

MORE_MATCHUPS = """
INSERT INTO judging_matchup (code, run_id, seat_id, "order", kind, state, prompt_id, category, left_id, right_id,
                             left_sample_id, right_sample_id, "key", created_at, opened_at)
SELECT 'x' || s.id || '-' || m."order", m.run_id, s.id, m."order", m.kind, m.state, m.prompt_id, m.category, m.left_id,
       m.right_id, m.left_sample_id, m.right_sample_id, 'x' || s.id || '-' || m."order", m.created_at, m.opened_at
FROM judging_matchup m CROSS JOIN judging_seat s
WHERE m.seat_id = %s AND s.run_id = m.run_id AND s.judge_id IS NULL AND s.voted = 0 AND s.id <> m.seat_id
"""
MORE_VOTES = """
INSERT INTO judging_vote (matchup_id, run_id, seat_id, outcome, voted_at, response_ms, unblind, kept_out, imported,
                          left_breaks, right_breaks)
SELECT m.id, m.run_id, m.seat_id, v.outcome, v.voted_at, v.response_ms, v.unblind, v.kept_out, v.imported, 0, 0
FROM judging_matchup m
JOIN judging_seat s ON s.id = m.seat_id AND s.judge_id IS NULL AND s.voted = 0
JOIN judging_matchup b ON b.seat_id = %s AND b."order" = m."order"
JOIN judging_vote v ON v.matchup_id = b.id
WHERE m.run_id = %s AND m.seat_id <> %s
"""


def make_run(*, entrants: int = 12, prompts: int = 40, attempts: int = 5) -> Run:
    config = {
        "categories": [{"key": key, "label": key, "description": ""} for key in CATEGORIES],
        "judging": {"overlap": 0.2, "repeats": 0.05},
    }
    run = Run.objects.create(
        suite="bench", title="Bench", format="ascii_art", protocols=["pairwise"], config=config, digest="0" * 64
    )
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN)
    asked = Prompt.objects.bulk_create(
        Prompt(run=run, position=n, key=f"p{n}", text=f"Draw thing {n}", category=CATEGORIES[n % 4])
        for n in range(prompts)
    )
    for number in range(entrants):
        name = f"bench/{number}"
        model = LanguageModel.objects.create(run=run, model_id=name, label=name, provider="bench")
        entrant = Entrant.objects.create(run=run, name=name, label=name, model=model)
        Sample.objects.bulk_create(
            Sample(
                run=run,
                entrant=entrant,
                model=model,
                prompt=prompt,
                attempt=attempt,
                state=Sample.State.DRAWN,
                verdict=Sample.Verdict.VALID,
                drawn_at=now(),
                drawing="\n".join(f"{'#' * (10 + n)} {number} {prompt.position} {attempt}" for n in range(20)),
            )
            for prompt in asked
            for attempt in range(1, attempts + 1)
        )
    return Run.objects.get(pk=run.pk)


def make_judges(run: Run, count: int, prefix: str = "judge") -> list[str]:
    """New judges with seats; their session keys."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    sessions = []
    for number in range(count):
        user = User.objects.create(username=f"{prefix}-{run.code}-{number}")
        Seat.objects.create(run=run, judge=user, pseudonym=user.username)
        session = store()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        sessions.append(session.session_key)
    return sessions


def fill_votes(run: Run, wanted: int, *, each: int = BLOCK) -> int:
    """Bring the run to about `wanted` votes by earlier judges, at most a thousand each, copied inside the database."""
    each = min(each, BLOCK)
    first = Seat.objects.filter(run=run, pseudonym="earlier-0").first() or _first_block(run, each)
    there = Vote.objects.filter(run=run).count()
    blocks = max(wanted - there, 0) // each
    known = Seat.objects.filter(run=run, judge=None).count()
    Seat.objects.bulk_create(Seat(run=run, pseudonym=f"earlier-{known + n}") for n in range(blocks))
    with connection.cursor() as cursor:
        cursor.execute(MORE_MATCHUPS, [first.pk])
        cursor.execute(MORE_VOTES, [first.pk, run.pk, first.pk])
        Seat.objects.filter(run=run, judge=None).update(voted=each, made=each)
    rebuild_tallies(run)
    # Done now, the server's housekeeping is not counted with the votes. SQLite has none, and nobody asks it for statistics.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
            cursor.execute("CHECKPOINT")
    return Vote.objects.filter(run=run).count()


def _first_block(run: Run, votes: int) -> Seat:
    seat = Seat.objects.create(run=run, pseudonym="earlier-0", voted=votes, made=votes)
    prompts, entrants = list(run.prompts.all()), list(run.entrants.all())
    samples = {(s.entrant_id, s.prompt_id): s.pk for s in run.samples.filter(attempt=1).only("entrant", "prompt")}
    pairs = [(a, b) for a in entrants for b in entrants if a != b]
    matchups = [
        Matchup(
            run=run,
            seat=seat,
            order=n,
            state=Matchup.State.VOTED,
            key=f"first-{n}",
            prompt=(prompt := prompts[n % len(prompts)]),
            category=prompt.category,
            left=pairs[n % len(pairs)][0],
            right=pairs[n % len(pairs)][1],
            left_sample_id=samples[pairs[n % len(pairs)][0].pk, prompt.pk],
            right_sample_id=samples[pairs[n % len(pairs)][1].pk, prompt.pk],
        )
        for n in range(votes)
    ]
    Matchup.objects.bulk_create(matchups)
    early = now() - timedelta(days=9)
    outcomes = ("left", "right", "tie", "fail")
    Vote.objects.bulk_create(
        Vote(matchup=m, run=run, seat=seat, outcome=outcomes[m.order % 4], voted_at=early, response_ms=1000)
        for m in matchups
    )
    return seat
