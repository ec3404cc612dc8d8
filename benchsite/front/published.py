"""What the front page knows: which runs are shown, and the site's live numbers."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from generation.models import Run, Sample
from judging.models import Seat


@dataclass(frozen=True)
class LiveNumbers:
    """Sums over everything that is published; simulated votes are separate."""

    drawings: int
    votes: int
    simulated_votes: int
    judges: int


def shown_runs(user: object) -> QuerySet[Run]:
    """Runs this user may see the ranking of, newest first, with counts from small tables."""
    votes = Seat.objects.filter(run=OuterRef("pk")).order_by().values("run").annotate(n=Sum("voted")).values("n")
    drawn = (
        Sample.objects.filter(run=OuterRef("pk"), state=Sample.State.DRAWN)
        .order_by()
        .values("run")
        .annotate(n=Count("id"))
        .values("n")
    )
    return Run.objects.listed_for(user).annotate(
        vote_count=Coalesce(Subquery(votes, output_field=IntegerField()), 0),
        drawing_count=Coalesce(Subquery(drawn, output_field=IntegerField()), 0),
    )


def live_numbers() -> LiveNumbers:
    shown = Q(run__visibility=Run.Visibility.PUBLISHED)
    seats = Seat.objects.filter(shown).aggregate(
        votes=Sum("voted", filter=Q(is_simulated=False), default=0),
        simulated=Sum("voted", filter=Q(is_simulated=True), default=0),
        judges=Count("judge", filter=Q(is_simulated=False, voted__gt=0), distinct=True),
    )
    drawings = Sample.objects.filter(shown, state=Sample.State.DRAWN).count()
    return LiveNumbers(drawings, seats["votes"], seats["simulated"], seats["judges"])
