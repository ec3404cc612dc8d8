"""Preference pairs: two drawings of one prompt, and which of them won more votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Count

from judging.models import Outcome, Vote
from ranking.dataset.columns import Published, Rows, Table, columns_of


def pair_table(source: Published) -> Rows:
    """A row for each two drawings of which one won more often; prompt by prompt, so that memory stays flat."""
    run = source.run
    aside = [seat for seat, weight in source.weights.items() if not weight]
    votes = Vote.objects.counting(run).without_repeats().exclude(seat__in=aside).order_by()
    for prompt in run.prompts.order_by("position"):
        columns = ("matchup__left_sample_id", "matchup__right_sample_id", "outcome")
        counts: dict[tuple[int, int], dict[str, int]] = defaultdict(lambda: dict.fromkeys(Outcome.values, 0))
        for left, right, outcome, n in votes.filter(matchup__prompt=prompt).values_list(*columns).annotate(Count("id")):
            if left and right:
                turned = left > right and outcome in ("left", "right")
                kind = {"left": "right", "right": "left"}[outcome] if turned else outcome
                counts[min(left, right), max(left, right)][kind] += n
        drawings = {sample.pk: sample for sample in prompt.samples.select_related("entrant")} if counts else {}
        rows = [_pair(prompt, drawings[a], drawings[b], tally) for (a, b), tally in counts.items()]
        yield from sorted((row for row in rows if row), key=lambda row: (row["chosen_sample"], row["rejected_sample"]))


def _pair(prompt: Any, first: Any, second: Any, tally: Mapping[str, int]) -> dict[str, Any]:
    wins, losses = tally["left"], tally["right"]
    if wins == losses:
        return {}
    chosen, rejected = (first, second) if wins > losses else (second, first)
    return {
        "prompt": prompt.text,
        "chosen": chosen.drawing,
        "rejected": rejected.drawing,
        "prompt_id": prompt.key,
        "category": prompt.category,
        "chosen_model": chosen.entrant.name,
        "rejected_model": rejected.entrant.name,
        "chosen_sample": chosen.code,
        "rejected_sample": rejected.code,
        "votes_for": max(wins, losses),
        "votes_against": min(wins, losses),
        "ties": tally["tie"],
        "both_bad": tally["fail"],
    }


PAIRS = Table(
    "preference_pairs",
    "pairs of drawings of the same prompt, one of which won more votes; for preference training",
    columns_of(
        prompt=("text", "the prompt's text"),
        chosen=("text", "the drawing that won more votes"),
        rejected=("text", "the other drawing"),
        prompt_id=("text", "the prompt's key"),
        category=("text", "the prompt's category"),
        chosen_model=("text", "the entrant that drew the chosen drawing"),
        rejected_model=("text", "the entrant that drew the rejected drawing"),
        chosen_sample=("text", "the chosen drawing in the table `samples`"),
        rejected_sample=("text", "the rejected drawing in the table `samples`"),
        votes_for=("whole", "counted votes for the chosen drawing"),
        votes_against=("whole", "counted votes for the rejected drawing"),
        ties=("whole", "votes that called both good"),
        both_bad=("whole", "votes that called both bad"),
    ),
    pair_table,
)
