"""Which drawings a judge grades, and in which order: balanced over entrants and subjects, random, and a pure function of seeds.

- Stages come one after the other, so that a judge keeps one set of dimensions in mind; judges begin at different stages.
- Within a stage every entrant has a drawing in each round, and neighbours show different subjects wherever that is possible.
- The drawings that all judges grade (`overlap`) are the first of one order that is the run's own.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Drawing:
    """A sample that can be graded."""

    sample: int
    entrant: int
    subject: int
    stage: str


def choose_drawings(
    drawings: Sequence[Drawing],
    *,
    quota: int | None,
    overlap: float,
    run_seed: int,
    seed: int,
    graded: Mapping[int, int],
) -> tuple[list[Drawing], set[int]]:
    """The drawings of one judge, and which samples of them are shared by all judges.

    Without a quota (or with one that covers everything) that is every drawing. Else the shared part is taken from the run's
    own order, and the rest are those that fewest judges have so far (`graded`, by sample).
    """
    if quota is None or quota >= len(drawings):
        return list(drawings), {drawing.sample for drawing in drawings}
    shared = in_rounds(drawings, random.Random(run_seed))[: round(quota * overlap)]
    kept = {drawing.sample for drawing in shared}
    rest = in_rounds([d for d in drawings if d.sample not in kept], random.Random(seed), graded)
    return shared + rest[: quota - len(shared)], kept


def in_rounds(
    drawings: Sequence[Drawing], luck: random.Random, graded: Mapping[int, int] | None = None
) -> list[Drawing]:
    """A random order of which every beginning has entrants and stages as evenly as it can; the least `graded` come first."""
    graded = graded or {}
    piles: dict[tuple[str, int], list[Drawing]] = defaultdict(list)
    for drawing in sorted(drawings, key=lambda d: d.sample):
        piles[drawing.stage, drawing.entrant].append(drawing)
    done = {key: sum(graded.get(d.sample, 0) for d in pile) for key, pile in piles.items()}
    for pile in piles.values():
        luck.shuffle(pile)
        pile.sort(key=lambda d: -graded.get(d.sample, 0))  # taken from the end
    ordered: list[Drawing] = []
    while piles:
        turn = list(piles)
        luck.shuffle(turn)
        turn.sort(key=done.__getitem__)
        ordered += [piles[key].pop() for key in turn]
        piles = {key: pile for key, pile in piles.items() if pile}
    return ordered


def order_drawings(drawings: Sequence[Drawing], *, stages: Sequence[str], first: int, seed: int) -> list[Drawing]:
    """The judge's order: the stages in turn, beginning with number `first`, each mixed by itself."""
    luck = random.Random(seed)
    turned = [stages[(first + n) % len(stages)] for n in range(len(stages))] if stages else []
    return [drawing for stage in turned for drawing in mix([d for d in drawings if d.stage == stage], luck)]


def mix(drawings: Sequence[Drawing], luck: random.Random) -> list[Drawing]:
    """One stage in rounds of entrants, subjects apart."""
    left = in_rounds(drawings, luck)
    waiting = Counter(drawing.subject for drawing in left)
    mixed: list[Drawing] = []
    while left:
        before = mixed[-1] if mixed else None
        most = max(waiting.values())
        # Once half of what is left is of one subject, only taking it now keeps it apart from itself.
        urgent = most if 2 * most > len(left) else 0
        burdens = [
            (
                before is not None and drawing.subject == before.subject,
                waiting[drawing.subject] < urgent,
                before is not None and drawing.entrant == before.entrant,
            )
            for drawing in left
        ]
        chosen = left.pop(burdens.index(min(burdens)))
        waiting[chosen.subject] -= 1
        mixed.append(chosen)
    return mixed
