"""A run's picks as a leaderboard: the share that each entrant won."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from generation.models import Run
from judging.models import Seat
from ranking.best import Best, find_sample
from ranking.models import Fit
from tests.best_of_four.judging.picking import drawings_of, next_prompt, pick_best


def analyse_run(run: Run, *, options: dict[str, Any], full: bool) -> dict[str, Any]:
    counts = Counter(run.picks.values_list("sample__entrant__name", flat=True))
    total = sum(counts.values())
    names = sorted(run.entrants.values_list("name", flat=True), key=lambda name: (-counts[name], name))
    overall = [
        {"entrant": name, "score": counts[name] / total if total else None, "rank": place, "n": counts[name]}
        for place, name in enumerate(names, start=1)
    ]
    rows = "".join(f"{row['entrant']},{row['n']}\n" for row in overall)
    return {"overall": overall, "categories": {}, "votes": total, "run": {"csv": f"entrant,picks\n{rows}"}}


def leading_sentence(result: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    return f"{labels[result['overall'][0]['entrant']]} is picked most often."


def best_drawing(run: Run, fit: Fit) -> Best | None:
    picks = Counter(run.picks.values_list("sample", flat=True))
    best = find_sample(run, pk=picks.most_common(1)[0][0]) if picks else None
    return Best(best, f"picked {picks[best.pk]} times") if best else None


def judge_demo_run(run: Run) -> None:
    seat, _ = Seat.objects.get_or_create(run=run, pseudonym="simulated 1", is_simulated=True)
    while prompt := next_prompt(seat):
        pick_best(seat=seat, code=drawings_of(seat, prompt)[0].code)
