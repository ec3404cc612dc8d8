"""Verb: bring votes made elsewhere into a run, so that they can be ranked beside any other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.timezone import now

from benchsite.lib.file_errors import BadLine
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from generation.formats import DEFAULT_FORMAT
from generation.models import Entrant, Event, LanguageModel, Prompt, Run, Sample, default_team
from generation.runs.staleness import mark_stale
from generation.suites.suite import Category, Generation, ModelEntry, PromptEntry, Suite
from judging.files.vote_files import Mapped, left_out, read_vote_lines
from judging.files.vote_lines import VoteLine
from judging.models import Kind, Matchup, Seat, Vote
from judging.pairs import NAME
from judging.pairs.tallies import rebuild_tallies
from judging.provenance import import_reason, refuse_judged

BATCH = 500
SHOWN = ("left_id", "right_id", "prompt_id", "left_sample_id", "right_sample_id")
IMPORTED = " (imported)"  # a judge of a file who has the name of one with an account
# By text and category, and by text alone (then the category is None).
Prompts = dict[tuple[str | None, str | None], Prompt]


@transaction.atomic
def import_votes(
    *,
    path: Path,
    reason: str,
    run: Run | None = None,
    title: str = "",
    mapped: Mapped | None = None,
    by: User | None = None,
    progress: Progress = unwatched,
    notice: Callable[[str], object] = len,
) -> tuple[Run, int]:
    """Import a file into a run, or into a new one made of the names in it. The same file never counts twice in a run.

    `notice` is told of rows that are no votes.
    """
    if run is not None:
        refuse_judged(run)
    reason = import_reason(reason)
    lines, file = read_vote_lines(path, mapped=mapped, progress=progress)
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    run = run or _make_run(lines, clean_text(title or path.stem)[0], by)
    if Event.objects.filter(run=run, verb=Event.Verb.IMPORT_VOTES, facts__digest=digest).exists():
        raise BadLine(path.name, 0, "", "it has already been imported into this run")
    store_votes(run, lines, progress)
    facts = {"digest": digest, "votes": len(lines), "columns": file.convention.name, "unanswered": file.unanswered}
    name = clean_text(path.name)[0][:200]
    Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_VOTES, subject=name, reason=reason, facts=facts)
    if file.unanswered:
        notice(left_out(file.unanswered))
    rebuild_tallies(run)
    mark_stale(run.pk)
    return run, len(lines)


def _make_run(lines: list[VoteLine], title: str, by: User | None) -> Run:
    names = sorted({name for line in lines for name in (line.left_model, line.right_model)})
    prompts = dict.fromkeys((line.prompt_text, line.category) for line in lines if line.prompt_text)
    categories = sorted({line.category for line in lines if line.category})
    suite = Suite(
        slug="imported",
        title=title[:200],
        description="Votes that were cast elsewhere.",
        method="The votes were imported; how they were collected is not recorded here.",
        format=DEFAULT_FORMAT,
        protocols=(NAME,),
        seed=0,
        generation=Generation(attempts_per_prompt=1, temperature=0.0, max_tokens=1, provider="import"),
        models=tuple(ModelEntry(id=name, label=name) for name in names),
        prompts=tuple(PromptEntry(key=f"p{n}", text=text, category=c) for n, (text, c) in enumerate(prompts)),
        categories=tuple(Category(key=key, label=key) for key in categories),
    )
    run = Run.objects.create(
        suite=suite.slug,
        title=suite.title,
        format=suite.format,
        protocols=[NAME],
        config=suite.to_dict(),
        digest=suite.digest(),
        drawing_state=Run.Drawing.CANCELLED,
        judging_state=Run.Judging.CLOSED,
        team=default_team(by),
    )
    for name in names:
        model = LanguageModel.objects.create(run=run, model_id=name, label=name, provider="import")
        Entrant.objects.create(run=run, name=name, label=name, model=model)
    Prompt.objects.bulk_create(
        Prompt(run=run, position=n, key=entry.key, text=entry.text, category=entry.category)
        for n, entry in enumerate(suite.prompts)
    )
    return run


def store_votes(
    run: Run, lines: list[VoteLine], progress: Progress = unwatched, *, stored: Callable[[list[Vote]], Any] = len
) -> None:
    """Matchups and votes of these lines, in a transaction of the caller's; `stored` is told of each batch, in their order."""
    entrants = {entrant.name: entrant for entrant in run.entrants.all()}
    prompts: Prompts = {}
    for prompt in run.prompts.all():
        prompts[prompt.text, prompt.category] = prompt
        prompts.setdefault((prompt.text, None), prompt)
    samples = {
        (entrant, prompt, attempt): pk
        for entrant, prompt, attempt, pk in Sample.objects.filter(run=run).values_list(
            "entrant_id", "prompt_id", "attempt", "id"
        )
    }
    seats: dict[str | None, Seat] = {}
    newest = run.votes.aggregate(newest=Max("pk"))["newest"]
    for start in range(0, len(lines), BATCH):
        progress(start, len(lines))
        pairs = []
        for line in lines[start : start + BATCH]:
            if line.judge not in seats:
                seats[line.judge] = _seat(run, line.judge)
            pairs.append((line, _matchup(run, seats[line.judge], line, entrants, prompts, samples)))
        if newest is not None:
            _refuse_known(run.votes.filter(pk__lte=newest), pairs)
        Matchup.objects.bulk_create(matchup for _, matchup in pairs)
        stored(Vote.objects.bulk_create(_vote(run, line, matchup) for line, matchup in pairs))
    for seat in seats.values():
        seat.save(update_fields=["made", "voted"])


def _refuse_known(votes: QuerySet[Vote], pairs: list[tuple[VoteLine, Matchup]]) -> None:
    """A run's own votes, exported and brought back, must not count twice: one judge, one moment, the same drawings."""
    moments = [line.voted_at for line, _ in pairs if line.judge and line.voted_at]
    columns = [f"matchup__{name}" for name in SHOWN]
    known = set(votes.filter(voted_at__in=moments).values_list("voted_at", "seat__pseudonym", *columns))
    for line, matchup in pairs:
        shown = [getattr(matchup, name) for name in SHOWN]
        for judge in (line.judge, f"{line.judge}{IMPORTED}"):
            if (line.voted_at, judge, *shown) in known:
                raise line.bad(f"this vote of {line.judge} is in run {matchup.run.code} already")


def _seat(run: Run, judge: str | None) -> Seat:
    name = judge or "unknown judges"
    if Seat.objects.filter(run=run, pseudonym=name, judge__isnull=False).exists():
        name = f"{name}{IMPORTED}"
    return Seat.objects.get_or_create(run=run, pseudonym=name, defaults={"is_unknown": judge is None})[0]


def _matchup(
    run: Run,
    seat: Seat,
    line: VoteLine,
    entrants: dict[str, Entrant],
    prompts: Prompts,
    samples: dict[tuple[int, int, int], int],
) -> Matchup:
    for name in (line.left_model, line.right_model):
        if name not in entrants:
            raise line.bad(f"{name!r} is not an entrant of this run. Import the file without a run to create a new one")
    left, right = entrants[line.left_model], entrants[line.right_model]
    prompt = prompts.get((line.prompt_text, line.category)) or prompts.get((line.prompt_text, None))
    order, seat.made = seat.made, seat.made + 1
    seat.voted += not line.withdrawn

    def sample(entrant: Entrant, attempt: int | None) -> int | None:
        return samples.get((entrant.pk, prompt.pk, attempt)) if prompt and attempt is not None else None

    return Matchup(
        run=run,
        seat=seat,
        order=order,
        kind=line.kind,
        state=Matchup.State.VOID if line.withdrawn else Matchup.State.VOTED,
        prompt=prompt,
        # The run's word stands above the file's: counts by prompt and by judge must speak of the same categories.
        category=prompt.category if prompt else line.category,
        left=left,
        right=right,
        left_sample_id=sample(left, line.left_attempt),
        right_sample_id=sample(right, line.right_attempt),
    )


def _vote(run: Run, line: VoteLine, matchup: Matchup) -> Vote:
    moment = line.voted_at or now()
    return Vote(
        matchup=matchup,
        run=run,
        seat=matchup.seat,
        outcome=line.outcome,
        voted_at=moment,
        response_ms=line.response_ms,
        imported=True,
        kept_out=line.kind == Kind.PICKED,
        withdrawn_at=moment if line.withdrawn is True else line.withdrawn or None,
    )
