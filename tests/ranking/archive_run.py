"""A small run with everything in it, and archives of it, whole or damaged on purpose."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from datetime import timedelta
from uuid import uuid4

from django.core.management import call_command
from django.utils.timezone import now

from generation.models import Measurement, ProviderCall, Reading, Run, Sample
from generation.reading.answers import READ_FIELDS, read_answer
from generation.runs import lifecycle as runs
from generation.runs.loaded import load_run
from judging.models import Grade, Matchup, Seat, Vote
from judging.pairs.tallies import rebuild_tallies
from ranking.fitting import set_counting
from tests.generation.drawing_room import BEGINNER, MASTER, make_suite
from tests.judging.make import make_judge

ART = "```\n/\\_/\\\n( o.o )  %s\n > ^ <\n```"


def make_judged_run(*, judges=4, votes=80, prompts=4, attempts=2) -> Run:
    """Drawn without a server, judged without pages, with one of each oddity an archive must carry."""
    third = type(MASTER)("demo/third", "Demo Third", provider="demo", price_in=1, price_out=1)
    suite = make_suite(models=(MASTER, BEGINNER, third), prompts=prompts, attempts=attempts)
    run = runs.start_run(suite, label="midterm", draw=False)
    fill_samples(run)
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN, drawing_state=Run.Drawing.OPEN)
    run.refresh_from_db()
    if votes:
        add_votes(run, judges=judges, votes=votes)
        add_oddities(run)
    return run


def fill_samples(run: Run) -> None:
    samples = list(run.samples.order_by("id"))
    for number, sample in enumerate(samples):
        sample.state, sample.drawn_at = Sample.State.DRAWN, now()
        sample.answer, sample.raw = ART % number, (ART % number).encode()
    samples[-1].raw, samples[-1].answer = b"\xff not utf-8", "\ufffd not utf-8"
    loaded, values = load_run(run.pk), {}
    for sample in samples:
        read = read_answer(loaded, prompt_pk=sample.prompt_id, text=sample.answer)
        values[sample.pk] = read.values
        for name in READ_FIELDS:
            setattr(sample, name, getattr(read, name))
    samples[-2].state, samples[-2].drawn_at, samples[-2].failure = Sample.State.FAILED, None, "timeout"
    samples[-2].verdict, samples[-2].answer, samples[-2].drawing, samples[-2].raw, samples[-2].facts = (
        "",
        "",
        "",
        None,
        {},
    )
    Sample.objects.bulk_update(samples, [*READ_FIELDS, "state", "drawn_at", "answer", "raw", "failure"])
    drawn = [sample for sample in samples if sample.state == "drawn"]
    Measurement.objects.bulk_create(
        Measurement(sample=sample, backend="builtin", values=values[sample.pk], format_version=sample.format_version)
        for sample in drawn
    )
    Reading.objects.create(sample=drawn[0], format_version=0, verdict="invalid", reason="old_rule", drawing="x")
    ProviderCall.objects.bulk_create(
        ProviderCall(
            sample=sample, run=run, token=uuid4(), lease_until=now(), ended_at=now(), outcome="answered",
            status=200, cost_nano=1000 + n, prompt_tokens=5, completion_tokens=7, latency_ms=3, served_by="someone",
        )
        for n, sample in enumerate(drawn)
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(spent_nano=sum(1000 + n for n in range(len(drawn))))


def add_votes(run: Run, *, judges: int, votes: int, portion: int = 2000) -> None:
    """Votes straight into the tables, so many at a time: every tenth item shared, every twentieth a repeat."""
    seats = [
        Seat.objects.create(run=run, judge=make_judge(f"judge-{n}"), pseudonym=f"judge {n}") for n in range(judges)
    ]
    luck, place = random.Random(1), {}
    for sample in run.samples.filter(state="drawn").only("prompt_id", "entrant_id", "attempt"):
        place.setdefault(sample.prompt_id, []).append(sample)
    prompts = list(run.prompts.filter(pk__in=place))
    began = now() - timedelta(days=30)
    for first in range(0, votes, portion):
        made = []
        for number in range(first, min(first + portion, votes)):
            prompt = luck.choice(prompts)
            left = luck.choice(place[prompt.pk])
            right = luck.choice([other for other in place[prompt.pk] if other.entrant_id != left.entrant_id])
            again = (
                made[-judges] if number % 20 == 19 and len(made) > judges and made[-judges].kind != "repeat" else None
            )
            sides = {
                "left_id": left.entrant_id,
                "right_id": right.entrant_id,
                "left_sample": left,
                "right_sample": right,
            }
            if again:
                prompt = again.prompt
                sides = {"left_id": again.right_id, "right_id": again.left_id}
                sides |= {"left_sample": again.right_sample, "right_sample": again.left_sample}
            kind = "repeat" if again else "shared" if number % 10 == 0 else "regular"
            key = again.key if again else f"{number:x}"
            made.append(
                Matchup(
                    run=run, seat=seats[number % judges], order=number // judges, kind=kind, state="voted", prompt=prompt,
                    category=prompt.category, key=key, repeat_of=again, opened_at=began, created_at=began, **sides,
                )
            )  # fmt: skip
        firsts = [matchup for matchup in made if matchup.repeat_of is None]
        Matchup.objects.bulk_create(firsts)
        Matchup.objects.bulk_create(matchup for matchup in made if matchup.repeat_of is not None)
        Vote.objects.bulk_create(
            Vote(
                run=run, matchup=matchup, seat_id=matchup.seat_id, response_ms=luck.randrange(300, 9000),
                voted_at=began + timedelta(seconds=first + n),
                outcome=luck.choices(["left", "right", "tie", "fail"], [3 + (matchup.left_id < matchup.right_id), 3, 1, 1])[0],
            )
            for n, matchup in enumerate(made)
        )  # fmt: skip
    rebuild_tallies(run)
    Run.objects.filter(pk=run.pk).update(scores_changed_at=now())


def add_oddities(run: Run) -> None:
    """A withdrawn vote, a judge set aside, a vote of nobody without a prompt, ties that do not count."""
    vote = Vote.objects.filter(run=run).order_by("-id").first()
    Vote.objects.filter(pk=vote.pk).update(withdrawn_at=now() + timedelta(seconds=1), left_breaks=5)
    Matchup.objects.filter(pk=vote.matchup_id).update(state="void")
    seats = list(run.seats.order_by("id"))
    Seat.objects.filter(pk=seats[-1].pk).update(weight=0, excluded_reason="pressed keys at random")
    nobody = Seat.objects.create(run=run, pseudonym="nobody", is_unknown=True)
    left, right, *_ = run.entrants.order_by("id")
    matchup = Matchup.objects.create(run=run, seat=nobody, order=0, state="voted", left=left, right=right)
    Vote.objects.create(matchup=matchup, run=run, seat=nobody, outcome="right", imported=True)
    drawing = run.samples.filter(state="drawn").first()
    for value, withdrawn in ((3.5, now()), (7, None)):
        Grade.objects.create(
            run=run, seat=seats[0], sample=drawing, dimension="shape", value=value, withdrawn_at=withdrawn
        )
    rebuild_tallies(run)
    set_counting(run=run, ties="drop", fails="half", by=None)


def leaderboard(run: Run, protocol: str = "") -> dict:
    out = io.StringIO()
    call_command("leaderboard", run.code, "--format", "json", "--protocol", protocol, stdout=out)
    return json.loads(out.getvalue())


def forget_all(run: Run) -> None:
    """As on another site, which never had the run."""
    Vote.objects.filter(run=run).delete()
    run.matchups.all().delete()
    run.delete()


def members(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def lines(path, name) -> list[dict]:
    return [json.loads(line) for line in members(path)[name].splitlines()]


def rewrite(path, *, manifest=None, seal=True, **changed: bytes | None) -> None:
    """The same archive with other files in it (`votes_jsonl=b""`); `seal` corrects its checksums, as a forger would."""
    contents = members(path)
    for name, data in changed.items():
        real = next((known for known in contents if known.replace(".", "_").replace("-", "_") == name), name)
        if data is None:
            del contents[real]
        else:
            contents[real] = data
    result = json.loads(contents.pop("manifest.json"))
    if seal:
        result["members"] = {
            name: {"bytes": len(data), "lines": data.count(b"\n"), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in contents.items()
        }
    result |= manifest or {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(result))


def edit(path, name, number, **fields) -> None:
    """Change fields of one line (numbered from 1) of one file; a field set to ... goes."""
    rows = lines(path, name)
    rows[number - 1] = {key: value for key, value in {**rows[number - 1], **fields}.items() if value is not ...}
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    rewrite(path, **{name.replace(".", "_"): data})
