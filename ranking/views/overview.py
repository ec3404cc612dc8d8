"""The list of leaderboards: what each says first, its top three, and a few drawings where nobody judges blind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from generation.models import Entrant, Prompt, Run, Sample
from generation.protocols import Protocol, load, protocols_of
from judging.disclosure import is_judged_blind, may_see_drawings
from judging.models import PublicState
from ranking.charts.markers import marker, marker_sign
from ranking.charts.svg import Svg
from ranking.models import Fit, Standing
from ranking.people import hidden_from, is_closed_to
from ranking.public_states import newest_states, public_sentence, standings_of
from ranking.words import counted, rank_words

TOP = 3  # rows and drawings on a card
STATES = {
    "open": "Judging open",
    "finished": "Finished",
    "scored": "Scored automatically",
    "drawing": "Drawing",
    "not_open": "Judging not open yet",
    "paused": "Judging paused",
}


def overview(listed: Iterable[Run], user: Any, *, drawings: int = TOP) -> list[dict[str, Any]]:
    """A line for each run and protocol: what its newest leaderboard says first. The statements do not grow with the runs."""
    runs = list(listed)
    fits = Fit.objects.newest_of(runs)
    entrants: dict[int, dict[str, Entrant]] = {}
    for entrant in Entrant.objects.filter(run__in=runs).only("pk", "run_id", "name", "label").order_by("pk"):
        entrants.setdefault(entrant.run_id, {})[entrant.name] = entrant
    hidden, lines = hidden_from(user, runs), []
    states = newest_states([run for run in runs if not run.is_curated_by(user) and is_judged_blind(run)])
    for run in runs:
        of_run = entrants.get(run.pk, {})
        labels = {name: entrant.label for name, entrant in of_run.items()}
        for name, entry in protocols_of(run).items():
            fit: Fit | PublicState | None = fits.get((run.pk, name))
            sentence = ""
            if run.pk not in hidden and is_closed_to(user, run, name):
                fit = states.get((run.pk, name))
                sentence = public_sentence(run, fit, labels, entry)
            elif isinstance(fit, Fit) and entry.sentence and run.pk not in hidden:
                sentence = load(entry.sentence)(fit.result, labels)
            key = state_key(run, entry)
            lines.append(
                {
                    "run": run,
                    "protocol": name,
                    "entry": entry,
                    "fit": fit,
                    "sentence": sentence,
                    "rests_on": counted(fit.votes, entry.rests_on.removesuffix("s")) if fit else "",
                    "hidden": run.pk in hidden,
                    "state_key": key,
                    "pill": STATES[key],
                    "entrants": of_run,
                    "open": may_see_drawings(run, user),
                }
            )
    _add_top(lines)
    _add_drawings(lines, drawings)
    _add_prompts(lines)
    return lines


def state_key(run: Run, entry: Protocol) -> str:
    """The state as cards show it and the list filters by it: a key of STATES."""
    if run.frozen_at or run.judging_state == Run.Judging.CLOSED:
        return "finished"
    if run.judging_state == Run.Judging.OPEN and entry.by_people:
        return "open"
    if run.drawing_state == Run.Drawing.OPEN and run.finished_at is None:
        return "drawing"
    return str(run.judging_state) if entry.by_people else "scored"


@dataclass(frozen=True)
class TopRow:
    """One of the first three; `number` is its place in the order of entry, the rest are shares of the card's axis."""

    label: str
    number: int
    rank: str
    score: float
    at: float
    low: float
    high: float

    @property
    def line(self) -> dict[str, float]:
        """Where the interval and its marker stand on a line of 120 px."""
        return {name: round(8 + 104 * getattr(self, name), 1) for name in ("at", "low", "high")}

    @property
    def mark(self) -> Svg:
        return marker(self.number, self.line["at"], 7, size=4.5)

    @property
    def sign(self) -> Svg:
        return marker_sign(self.number)


def _add_top(lines: list[dict[str, Any]]) -> None:
    """The first three of each line that may show them, in one query."""
    fits = [line["fit"].pk for line in lines if isinstance(line["fit"], Fit) and not line["hidden"]]
    rows = Standing.objects.filter(fit__in=fits, scope="overall", score__isnull=False).select_related("entrant")
    stored: dict[int, list[dict[str, Any]]] = {}
    for row in rows.order_by(F("rank").asc(nulls_last=True), "-score"):
        bounds = {name: getattr(row, name) for name in ("rank", "rank_low", "rank_high", "score", "low", "high")}
        stored.setdefault(row.fit_id, []).append(bounds | {"entrant": row.entrant.name})
    for line in lines:
        fit = None if line["hidden"] else line["fit"]
        standings = stored.get(fit.pk, []) if isinstance(fit, Fit) else standings_of(fit)
        line["top"] = _top(standings[:TOP], line["entrants"])


def _top(standings: Sequence[dict[str, Any]], entrants: dict[str, Entrant]) -> list[TopRow]:
    rows = [(row, row.get("rating", row.get("score"))) for row in standings]
    scores = [(row, score, row.get("low"), row.get("high")) for row, score in rows if score is not None]
    bounds = [(score if low is None else low, score if high is None else high) for _, score, low, high in scores]
    least = min((low for low, _ in bounds), default=0.0)
    span = max((high for _, high in bounds), default=1.0) - least or 1.0
    names = list(entrants)
    top = []
    for (row, score, _, _), (low, high) in zip(scores, bounds, strict=True):
        name, rank = row["entrant"], row.get("rank")
        ranks = row.get("rank_low"), row.get("rank_high")
        top.append(
            TopRow(
                label=entrants[name].label if name in entrants else name,
                number=names.index(name) if name in entrants else len(names),
                rank=rank_words(ranks[0], ranks[1]) if None not in ranks else str(rank or "–"),
                score=score,
                at=(score - least) / span,
                low=(low - least) / span,
                high=(high - least) / span,
            )
        )
    return top


def _add_drawings(lines: list[dict[str, Any]], most: int) -> None:
    """The leader's first drawings of each run whose drawings the visitor may see, in one query."""
    leaders: dict[int, int | None] = {}
    for line in lines:
        if line["open"] and line["top"]:
            labels = {entrant.label: entrant.pk for entrant in line["entrants"].values()}
            leaders.setdefault(line["run"].pk, labels.get(line["top"][0].label))
    place = Window(RowNumber(), partition_by=[F("run")], order_by=[F("attempt"), F("prompt__position"), F("pk")])
    first = Sample.objects.judgeable().filter(run__in=leaders, entrant__in=leaders.values()).annotate(place=place)
    wanted = first.filter(place__lte=4 * most).values_list("pk", flat=True)
    tiles = Sample.objects.select_related("prompt", "entrant").defer("raw", "answer", "earlier_answers", "questions")
    rows = tiles.filter(pk__in=list(wanted)) if leaders else ()
    by_run: dict[int, list[Sample]] = {}
    for sample in sorted(rows, key=lambda sample: (sample.attempt, sample.prompt.position)):
        of_run = by_run.setdefault(sample.run_id, [])
        if sample.prompt_id not in {other.prompt_id for other in of_run}:
            of_run.append(sample)
    for line in lines:
        run = line["run"]
        shown = by_run.get(run.pk, [])[: most if most != TOP or run.drawing_format.shown_as != "text" else TOP - 1]
        for sample in shown:
            sample.run = run  # as its tile asks for it
        line["drawings"] = shown


def _add_prompts(lines: list[dict[str, Any]]) -> None:
    """What the models were asked, for cards that may not show drawings yet: the first prompts of the last categories."""
    sealed = {line["run"].pk for line in lines if not line["drawings"]}
    place = Window(RowNumber(), partition_by=[F("run"), F("category")], order_by=[F("position")])
    first = Prompt.objects.filter(run__in=sealed).only("run_id", "subject", "text").annotate(place=place)
    by_run: dict[int, list[str]] = {}
    for prompt in first.filter(place__lt=TOP).order_by("place", "-position") if sealed else ():
        by_run.setdefault(prompt.run_id, []).append(prompt.subject or prompt.text)
    for line in lines:
        line["prompts"] = by_run.get(line["run"].pk, [])[: TOP - 1]
