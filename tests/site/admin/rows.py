"""A row in every table of ours, through the site's own verbs where they are short: what tests of lists need."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.contrib.auth.models import User
from django.utils.timezone import now

from generation.models import Event, Measurement, Notice, ProviderCall, Reading, ReferencePicture, Run, Team
from judging.models import (
    GoldAnswer,
    GoldPair,
    GoldSetting,
    Grade,
    GradeItem,
    GradeSheet,
    Invitation,
    Matchup,
    PairFocus,
    Participation,
    PickedPair,
    PublicState,
    ResetLink,
    Seat,
    StepRecord,
    StudyAnswer,
)
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote, report_matchup
from ranking.fitting import fit_run, publish_fit, set_counting
from ranking.models import Delivery, PushedVote, Webhook
from ranking.tokens import create_token
from tests.judging.make import make_run, make_seat
from tests.judging.studies.make import make_study


def make_rows(user: User, *, number: int = 0) -> Run:
    """A run with drawings, a judge who voted once and reported once, and a row in each other table."""
    run = make_run(entrants=2 + number, prompts=2 + number, attempts=1)
    sample = run.samples.first()
    Team.objects.create(name=f"Team {run.pk}")
    event = Event.objects.create(run=run, actor=user, verb="look")
    Notice.objects.create(event=event, channel="email")
    Measurement.objects.create(sample=sample, backend="builtin", values={"robustness": 1})
    ReferencePicture.objects.create(prompt=run.prompts.last(), address="data:image/png;base64,iVBORw0KGgo=")
    Reading.objects.create(sample=sample, format_version=1, verdict="valid")
    ProviderCall.objects.create(sample=sample, run=run, token=uuid4(), lease_until=now())
    invitation = Invitation.objects.create(run=run, created_by=user, expires_at=now() + timedelta(days=1))
    seat = make_seat(run, f"judge-{run.pk}", invitation=invitation)
    ResetLink.objects.create(judge=seat.judge, made_by=user)
    first = take_seat(seat.pk).current
    cast_vote(judge=seat.judge, code=first.code, ballot=Ballot("left", response_ms=900))
    second = Matchup.objects.get(seat=seat, state=Matchup.State.OPEN)
    report_matchup(judge=seat.judge, code=second.code, side="left", reason="signed", note="it says who")
    sheet = GradeSheet.objects.create(seat=seat, items=1)
    GradeItem.objects.create(seat=sheet.seat, sample=sample, stage="plain", order=1)
    Grade.objects.create(run=run, seat=seat, sample=sample, dimension="likeness", value=7)
    PublicState.objects.create(run=run, protocol="pairwise", number=1, standings=[], votes=0, upto=0)
    PairFocus.objects.create(run=run, votes=0, pairs=[], read_at=now())
    make_check(run, seat)
    one, other = run.samples.filter(prompt=sample.prompt)[:2]
    PickedPair.objects.create(run=run, first=one, second=other, key="1-2", why="hard", judge="a-model", picked_by=user)
    make_participation(run, number=number)
    set_counting(run=run, ties="drop", fails="half", by=user)
    publish_fit(fit=fit_run(run), by=user, title="Midterm")
    create_token(label="A notebook", by=user)
    Delivery.objects.create(
        webhook=Webhook.objects.create(run=run, url="https://example.org/"), key="1", kind="run.paused"
    )
    PushedVote.objects.create(run=run, key="1", digest="", vote=run.votes.first())
    return run


def make_check(run: Run, seat: Seat) -> None:
    """A rule of checks, a check and an answer to it."""
    GoldSetting.objects.create(run=run, rule={"every": 5})
    better, worse = run.samples.filter(prompt=run.prompts.first())[:2]
    gold = GoldPair.objects.create(run=run, prompt=better.prompt, better=better, worse=worse)
    matchup = Matchup.objects.create(
        run=run,
        seat=seat,
        order=900,
        kind="gold",
        state="void",
        prompt=better.prompt,
        left=better.entrant,
        right=worse.entrant,
        left_sample=better,
        right_sample=worse,
        gold=gold,
        key=f"gold-{gold.pk}",
    )
    GoldAnswer.objects.create(matchup=matchup, gold=gold, run=run, seat=seat, choice="better")


def make_participation(run: Run, *, number: int) -> None:
    """A study that somebody has begun."""
    study = make_study(run)
    guest = User.objects.create(username=f"guest-{run.pk}")
    mine = Participation.objects.create(
        study=study, version=study.versions.get(), guest=guest, external_id=f"p{number}"
    )
    StepRecord.objects.create(participation=mine, step="profile")
    StudyAnswer.objects.create(participation=mine, step="profile", question="age", value="18 or older")
