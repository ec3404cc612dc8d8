"""Best of: a drawing of each leader, from published runs whose drawings nobody judges blind any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from generation.models import Measurement, Run, Sample
from judging.disclosure import drawings_are_open
from ranking.models import Fit
from ranking.pairwise.result import full_of

MOST = 4  # drawings on the home page, so at most so many runs are asked for one


@dataclass(frozen=True)
class Best:
    """A drawing and what says that it is good."""

    sample: Sample
    words: str


def best_of(lines: Iterable[dict[str, Any]]) -> list[Best]:
    """From lines of `ranking.pages.overview`: for each run that may show drawings, the best of its leader."""
    found: dict[int, Best] = {}
    for line in lines:
        run, fit = line["run"], line["fit"]
        if len(found) == MOST or fit is None or run.pk in found or not _is_open(run):
            continue
        if best := _FINDERS[line["protocol"]](run, fit):
            found[run.pk] = best
    return list(found.values())


def _is_open(run: Run) -> bool:
    return run.visibility == Run.Visibility.PUBLISHED and drawings_are_open(run)


def _sample(run: Run, **where: Any) -> Sample | None:
    rows = run.samples.judgeable().filter(**where).select_related("prompt", "entrant", "run")
    return rows.defer("raw", "answer", "earlier_answers").first()


def _by_votes(run: Run, fit: Fit) -> Best | None:
    full = full_of(fit)
    if full is None or not full.result["overall"]:
        return None
    leader = full.result["overall"][0]["entrant"]
    for text, attempt, points, votes, _ in full.result["run"].get("entrants", {}).get(leader, {}).get("best", []):
        if sample := _sample(run, entrant__name=leader, prompt__text=text, attempt=attempt):
            return Best(sample, f"{points:g} points from {votes} vote{'' if votes == 1 else 's'}")
    return None


def _by_grades(run: Run, fit: Fit) -> Best | None:
    points = sorted(fit.result["run"].get("points", []), key=lambda point: -point["visual"])
    for point in points[:1]:
        if sample := _sample(run, code=point["code"]):
            return Best(sample, f"{point['visual']:.0f} of 100 points by its grades")
    return None


def _by_score(run: Run, fit: Fit) -> Best | None:
    leader = next((row["entrant"] for row in fit.result["overall"] if row["score"] is not None), None)
    drawings = run.samples.judgeable().filter(entrant__name=leader)
    measured = Measurement.objects.filter(sample__in=drawings, backend=run.measure_backend)
    scores = {pk: run.drawing_format.score(values) for pk, values in measured.values_list("sample_id", "values")}
    known = {pk: score for pk, score in scores.items() if score is not None}
    if not known:
        return None
    best = min(known, key=lambda pk: (-known[pk], pk))
    sample = _sample(run, pk=best)
    return Best(sample, f"score {known[best]:.2f} of 1") if sample else None


_FINDERS: dict[str, Callable[[Run, Fit], Best | None]] = {
    "pairwise": _by_votes,
    "rubric": _by_grades,
    "automatic": _by_score,
}
