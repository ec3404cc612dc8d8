"""What judges marked as breaking in a font, and whether the measured robustness says the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
from django.db.models import Count, Q

from generation.models import Measurement, Run
from judging.models import Vote
from ranking.pairwise.result import FontCheckResult
from ranking.statistics.rank_correlation import spearman


def font_marks(run: Run) -> dict[str, list[int]]:
    """By entrant: votes in which a judge marked its drawing as breaking in font 1, 2 and 3. Reads marked votes only."""
    marks: dict[str, list[int]] = {}
    counted = Vote.objects.counting(run).order_by()
    for side in ("left", "right"):
        votes = counted.filter(**{f"{side}_breaks__gt": 0})
        for name, bits, count in votes.values_list(f"matchup__{side}__name", f"{side}_breaks").annotate(Count("id")):
            by_font = marks.setdefault(name, [0, 0, 0])
            for font in range(3):
                by_font[font] += count * (bits >> font & 1)
    return marks


def font_check(run: Run) -> FontCheckResult | None:
    """Robustness against the share of votes in which a drawing was marked, over its drawings; None without any mark."""
    counted = Vote.objects.counting(run).order_by()
    shown: Counter[int] = Counter()
    marked: Counter[int] = Counter()
    for side in ("left", "right"):
        marks = Count("id", filter=Q(**{f"{side}_breaks__gt": 0}))
        rows = counted.values_list(f"matchup__{side}_sample_id").annotate(votes=Count("id"), marks=marks)
        for sample, votes, own in rows:
            shown[sample] += votes
            marked[sample] += own
    if not marked.total():
        return None
    measured = Measurement.objects.filter(sample__run=run, backend=run.measure_backend)
    values = measured.values_list("sample_id", "values__robustness")
    robustness = {pk: value for pk, value in values if value is not None}
    drawings = [pk for pk in shown if pk in robustness]
    shares = np.array([marked[pk] / shown[pk] for pk in drawings])
    rho = spearman(np.array([robustness[pk] for pk in drawings]), shares)
    return {"drawings": len(drawings), "marks": marked.total(), "value": rho.value, "low": rho.low, "high": rho.high}
