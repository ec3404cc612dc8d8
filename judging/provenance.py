"""What a leaderboard says of judgements that were not simply cast here by their judge: imported, kept out, unconfirmed.

- Imported: from a file of votes or grades, or in an archive. A seat without an account can hold no others, whatever a file says.
- Kept out: the judge could know the names. These count in no rating. (Votes on picked pairs count in none either, and have a
  place of their own.)
- Unconfirmed: cast after a curator's link set a new password, until the judge confirms it: see `judging.curating.reset_links`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Min, Q, QuerySet

from benchsite.lib.reasons import LONGEST_REASON
from benchsite.lib.text import clean_text
from generation.models import Run
from generation.protocols import Protocol
from generation.runs.errors import RunError, refuse_frozen
from judging.disclosure import IMPORTS, NOT_OVER
from judging.models import Kind, Vote

REASON = "where the votes or grades come from; shown on the leaderboard"
SHOWN_REASONS = 20


def import_reason(reason: str) -> str:
    """The reason as it is kept and shown; a RunError where there is none."""
    text = " ".join(clean_text(reason)[0].split())[:LONGEST_REASON]
    if not text:
        raise RunError("An import needs a reason: say where the votes or grades come from.")
    return text


def refuse_judged(run: Run) -> None:
    """Nothing is imported into a run that is frozen or that people are judging. Its row is locked, so that nobody freezes or
    opens it meanwhile."""
    rows = Run.objects.select_for_update(no_key=True).values_list("frozen_at", "judging_state")
    run.frozen_at, state = rows.get(pk=run.pk)
    refuse_frozen(run)
    if state in NOT_OVER and run.judged_by:
        raise RunError(f"People are judging {run}. Close judging first; what is imported then is marked as such.")


def marks_of(run: Run, entry: Protocol) -> dict[str, Any]:
    """How many of a run's standing judgements carry each mark, and why some were imported."""
    rows = entry.judgements.partition("__")[0]
    if not rows:
        return {}
    standing = getattr(run, rows).filter(withdrawn_at=None).order_by()
    kept_out = standing.filter(kept_out=True)
    if standing.model is Vote:
        kept_out = kept_out.exclude(matchup__kind=Kind.PICKED)
    marks: dict[str, Any] = {"kept_out": kept_out.count()}
    if moment := getattr(standing.model, "MOMENT", ""):
        marks["imported"] = count_imported(run, standing)
        marks["unconfirmed"] = sum(
            standing.filter(seat=seat, **{f"{moment}__gte": since}).count()
            for seat, since in unconfirmed_since(run).items()
        )
        marks["import_reasons"] = import_reasons(run) if marks["imported"] else []
    return marks


def count_imported(run: Run, judgements: QuerySet[Any]) -> int:
    imported = judgements.filter(imported=True).count()
    outside = accountless(run)
    return imported + (judgements.filter(imported=False, seat__in=outside).count() if outside else 0)


def accountless(run: Run) -> set[int]:
    """Seats of judges who have no account here."""
    return set(run.seats.filter(judge=None).order_by().values_list("pk", flat=True))


def unconfirmed_since(run: Run) -> dict[int, datetime]:
    """Seats of judges who have a link to confirm, and when the first such link was used."""
    waiting = Q(judge__reset_links__used_at__isnull=False, judge__reset_links__confirmed_at=None)
    seats = run.seats.filter(waiting).order_by().values_list("pk")
    return dict(seats.annotate(first=Min("judge__reset_links__used_at", filter=waiting)))


def import_reasons(run: Run) -> list[str]:
    reasons = run.events.filter(verb__in=IMPORTS).exclude(reason="").order_by("at").values_list("reason", flat=True)
    return list(dict.fromkeys(reasons))[:SHOWN_REASONS]
