"""Pairs for practice: what many judges of a run were shown, and what they chose. Only of runs whose drawings are open."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count, Q

from generation.models import Run, Sample
from judging.disclosure import drawings_are_open
from judging.models import Kind, Matchup, Vote
from judging.pairs import NAME
from ranking.best import PracticePair
from ranking.models import Fit, Standing

JUDGES, PAIRS = 100, 24  # at most so many judges are asked about so many pairs, however many votes there are


def practice_pairs(run: Run, *, most: int) -> list[PracticePair]:
    """The pairs that most judges have voted on, each of another prompt as far as possible."""
    if run.visibility != Run.Visibility.PUBLISHED or not drawings_are_open(run):
        return []
    judged = run.seats.filter(weight__gt=0, voted__gt=0).order_by("-voted", "pk")
    seats = list(judged.values_list("pk", flat=True)[:JUDGES])
    if not seats:
        return []
    # Pairs that every judge gets come first; a run without them has those of its busiest judge.
    shown = Matchup.objects.filter(seat=seats[0], state=Matchup.State.VOTED).exclude(
        Q(kind__in=(Kind.REPEAT, Kind.GOLD)) | Q(key="")
    )
    keys = list(shown.order_by("-kind", "order").values_list("key", flat=True)[:PAIRS])
    cast = Vote.objects.rated().without_repeats().filter(matchup__seat__in=seats, matchup__key__in=keys)
    sides = "matchup__left_sample", "matchup__right_sample"
    chosen: dict[frozenset[int], Counter[tuple[str, int | None]]] = {}
    simulated = set()
    for row in cast.values(*sides, "outcome", "seat__is_simulated").annotate(votes=Count("pk")):
        left, right = (row[side] for side in sides)
        pair = frozenset((left, right))
        picked = {"left": left, "right": right}.get(row["outcome"])
        chosen.setdefault(pair, Counter())[(row["outcome"] if picked is None else "side", picked)] += row["votes"]
        if row["seat__is_simulated"]:
            simulated.add(pair)
    samples = _samples(run, list(chosen))
    weak = weakest(run)
    # A scribble makes a poor first impression, and so does a pair that everybody or nobody could decide.
    ranked = sorted(
        (pair for pair in chosen if pair <= samples.keys()),
        key=lambda pair: (
            any(samples[pk].entrant_id in weak for pk in pair),
            _dull(chosen[pair]),
            -chosen[pair].total(),
        ),
    )
    pairs = [_pair(chosen[pair], samples, pair, pair in simulated) for pair in ranked]
    prompts = [one.left.prompt_id for one in pairs]
    again = [prompt in prompts[:place] for place, prompt in enumerate(prompts)]
    return [one for _, one in sorted(zip(again, pairs, strict=True), key=lambda item: item[0])][:most]


def weakest(run: Run) -> set[int]:
    """The two fifths of the entrants with the lowest ratings."""
    fit = Fit.objects.only("pk").newest(run, NAME)
    rated = Standing.objects.filter(fit=fit, scope="overall", score__isnull=False) if fit else Standing.objects.none()
    ordered = list(rated.order_by("score", "pk").values_list("entrant", flat=True))
    return set(ordered[: len(ordered) * 2 // 5])


def _dull(counts: Counter[tuple[str, int | None]]) -> float:
    """The share of votes that neither drawing got ("both bad" twice), and half the share by which one is ahead."""
    ties, fails = (sum(votes for (answer, _), votes in counts.items() if answer == one) for one in ("tie", "fail"))
    won = [votes for (answer, _), votes in counts.items() if answer == "side"]
    ahead = 2 * max(won, default=0) - sum(won)
    return (ties + 2 * fails + ahead / 2) / counts.total()


def _samples(run: Run, pairs: list[frozenset[int]]) -> dict[int, Sample]:
    rows = run.samples.judgeable().filter(pk__in={pk for pair in pairs for pk in pair})
    rows = rows.select_related("prompt", "entrant", "run").defer("raw", "answer", "run__config")
    return {sample.pk: sample for sample in rows}


def _pair(
    counts: Counter[tuple[str, int | None]], samples: dict[int, Sample], pair: frozenset[int], simulated: bool
) -> PracticePair:
    """Sides by the drawings' codes, which know nothing of who is better."""
    left, right = sorted((samples[pk] for pk in pair), key=lambda sample: sample.code)
    votes = Counter(left=counts["side", left.pk], right=counts["side", right.pk])
    votes.update(tie=counts["tie", None], fail=counts["fail", None])
    return PracticePair(left, right, votes, simulated)
