"""What everybody sees of a run while people judge it blind: now and then a blurred state, from which no vote can be told.

An attacker votes, looks, and compares: what changed names the models. So a state is taken only after many votes by others,
shows nothing but a rating by entrant, and each rating is moved by a new random error, larger than its own uncertainty.
Where pairs are or were adaptive there is none: which two came would tell whoever knows the standings that they are close.
Once a study was opened no new one is taken: by its link one attacker can be any number of judges. An open arena's votes are in
no state, so its being open changes nothing, unless it is merged. Judges who came by one invitation link that works more than
once count as one here, for the same reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils.timezone import now

from benchsite.lib.database.errors import is_away
from generation.models import Run
from generation.protocols import Protocol, load, protocols_of
from judging.disclosure import NOT_OVER, is_judged_blind
from judging.models import Invitation, PublicState, Seat, Study
from judging.provenance import marks_of
from ranking.fitting import fit_options
from ranking.statistics.blurring import blurred, bounded_parts, by_others
from ranking.words import joined, named, number_word

log = structlog.get_logger(__name__)
OPENED = (Study.State.OPEN, Study.State.PAUSED, Study.State.CLOSED)


def take_public_states() -> int:
    """Take every public state that is due; says how many."""
    runs = Run.objects.filter(
        visibility=Run.Visibility.PUBLISHED, judging_state__in=NOT_OVER, frozen_at=None, was_adaptive=False
    ).exclude(pk__in=_by_link())
    due = [(run, *item) for run in runs.defer("config") if is_judged_blind(run) for item in protocols_of(run).items()]
    taken = 0
    for run, name, entry in due:
        try:
            taken += bool(entry.judgements and take_public_state(run, name, entry))
        except Exception as error:  # one run's odd data must not keep the others' states from being taken
            if is_away(error):
                raise
            log.error("public_state_failed", run=run.code, protocol=name, error=repr(error))
    return taken


def _by_link() -> QuerySet[Any]:
    """Runs whose board has votes that came by a link; an arena's have a board of their own, until they are merged."""
    return Study.objects.filter(Q(arena=False, state__in=OPENED) | Q(merged_at__isnull=False)).values("run")


def take_public_state(run: Run, name: str, entry: Protocol) -> PublicState | None:
    """Store a new state if enough was judged since the last one, whichever two judges are one attacker."""
    last = PublicState.objects.filter(run=run, protocol=name).order_by("-number").first()
    needed = max(settings.PUBLIC_STATE_VOTES, settings.PUBLIC_STATE_GROWTH * last.votes if last else 0)
    if by_others(_by_person(_judged(run, entry, since=last)).values()) < needed:
        return None
    judged = _judged(run, entry, since=None)
    options = fit_options(run)
    people = bounded_parts(_by_person(judged), share=settings.PUBLIC_STATE_SHARE)
    parts = {seat: people[_person(seat)] for seat in judged if _person(seat) in people}
    options["weights"] |= {seat.pseudonym: seat.weight * part for seat, part in parts.items()}
    options["parts"] = {seat.pseudonym: part for seat, part in parts.items()}  # where votes have no weights
    result = load(entry.analyse)(run, options=options, full=not entry.slow)
    # Read last: a vote that came meanwhile counts as contained.
    upto = run.seats.aggregate(newest=Max(f"{_rows(entry)}__id"))["newest"] or 0
    try:
        with transaction.atomic():
            return PublicState.objects.create(
                run=run,
                protocol=name,
                number=last.number + 1 if last else 1,
                standings=blurred(result["overall"], bounds=entry.bounds),
                votes=sum(judged.values()),
                simulated=sum(seat.is_simulated for seat in judged),
                imported=marks_of(run, entry).get("imported", 0),
                upto=upto,
                read_at=now(),
            )
    except IntegrityError:  # another process took it first
        return None


def newest_state(run: Run, protocol: str) -> PublicState | None:
    return newest_states([run]).get((run.pk, protocol))


def newest_states(runs: Collection[Run]) -> dict[tuple[int, str], PublicState]:
    """The newest state of each of these runs by each protocol, in one query; a run has few of them."""
    shown = [run for run in runs if not run.was_adaptive]
    states = PublicState.objects.filter(run__in=shown).order_by("number") if shown else ()
    return {(state.run_id, state.protocol): state for state in states}


def standings_of(state: PublicState | None) -> list[Any]:
    """The rows that pages show: none while anybody may be first, as their order would be chance; the JSON has them."""
    rows = state.standings if state else []
    return rows if any(row["rank_low"] > 1 for row in rows) else []


def public_sentence(run: Run, state: PublicState | None, labels: Mapping[str, str], entry: Protocol | None) -> str:
    """What pages say first."""
    if entry and not entry.by_people:
        return f"Scores of {entry.rests_on} are shown once people have judged them and judging is closed."
    if run.was_adaptive:
        return "Judging is open. Standings are shown once it is closed."
    if state is None or not state.standings:
        return "Judging is open. The first standings will appear after more votes."
    first = [row for row in state.standings if row["rank_low"] == 1]
    if len(first) == 1:
        return f"{named(first[0], labels)} is ahead so far; judging is open."
    if len(first) == len(state.standings):
        return f"None of the {len(first)} {run.entrant_word}s is ahead yet; judging is open."
    return f"{number_word(len(first)).capitalize()} are not separated at the top so far: {joined(first, labels)}. Judging is open."


def _rows(entry: Protocol) -> str:
    return entry.judgements.partition("__")[0]


def _person(seat: Seat) -> Seat | Invitation:
    """Who is behind a seat: by a link that works more than once, one attacker can be all who came by it."""
    return seat.invitation if seat.invitation and seat.invitation.max_uses > 1 else seat


def _by_person(judged: Mapping[Seat, int]) -> Counter[Seat | Invitation]:
    counts: Counter[Seat | Invitation] = Counter()
    for seat, count in judged.items():
        counts[_person(seat)] += count
    return counts


def _judged(run: Run, entry: Protocol, *, since: PublicState | None) -> dict[Seat, int]:
    """What each judge who counts has judged and not taken back, after a state or ever."""
    rows = _rows(entry)
    counted = Q(
        **{f"{rows}__withdrawn_at": None, f"{rows}__kept_out": False, f"{rows}__id__gt": since.upto if since else 0}
    )
    seats = run.seats.filter(weight__gt=0).select_related("invitation").defer("plan")
    counts = seats.annotate(judged=Count(entry.judgements, filter=counted, distinct=True))
    return {seat: seat.judged for seat in counts if seat.judged}
