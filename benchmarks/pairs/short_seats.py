"""script/bench short_seats [--full] [--json FILE]: what is balanced across hundreds of seats of 20, as studies have them.

Played with the schedule's own functions: how often a prompt comes twice running, the most that left and right of an entrant differ
in any seat, and how often the least and the most shown pair and prompt came. Beside them the same seats with shared items and
repeats, as other judges get them, and a few long seats.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

from benchmarks.figures.table import make_parser, write_json
from judging.pairs.schedule.items import REPEAT_AFTER, Place, is_due, next_regular, next_repeat, next_shared
from judging.pairs.schedule.plans import Coverage, make_plan
from judging.pairs.schedule.table import Drawing, Item, Table

INSERTED = {"studies": (0.0, 0.0), "with shared items and repeats": (0.2, 0.05)}
SHAPES = ((4, 40), (8, 10), (6, 12), (20, 40))  # entrants and prompts
SEATS = {False: ((100, 20), (5, 400)), True: ((400, 20), (20, 400))}


def make_table(entrants: int, prompts: int, attempts: int = 4) -> Table:
    drawings = {
        (entrant, question): tuple(
            Drawing(f"{entrant}/{question}/{attempt}", (hash((entrant, question, attempt)),))
            for attempt in range(attempts)
        )
        for entrant in range(entrants)
        for question in range(prompts)
    }
    categories = tuple(f"c{question % 2}" for question in range(prompts))
    return Table(tuple(range(entrants)), tuple((question, None) for question in range(prompts)), categories, drawings)


def sit(table: Table, length: int, *, seed: int, coverage: Coverage, shared: Any, kind: str) -> Iterator[Item]:
    """One judge's items, as serving makes them."""
    overlap, repeats = INSERTED[kind]
    plan = make_plan(table, seed=seed, coverage=coverage, horizon=length)
    place, shown, keys = Place(), [], set()

    def unseen(items: Iterator[Item]) -> Item | None:
        return next((item for item in items if item.key not in keys), None)

    while len(shown) < length:
        item, place = next_shared(plan, shared, table, place, unseen, overlap=overlap)
        due = is_due(place.repeats, share=repeats, served=place.served, seed=plan.seed, kind="repeat")
        if item is None and due and len(shown) > REPEAT_AFTER:
            earlier = [(old.pair, old) for old in shown[:-REPEAT_AFTER]]
            source, place = next_repeat(plan, place, earlier)
            item = source.swapped() if source else None
        if item is None:
            item, place = next_regular(plan, table, place, unseen)
        if item is None:
            return
        keys.add(item.key)
        shown.append(item)
        yield item


def measure(entrants: int, prompts: int, seats: int, length: int, kind: str) -> dict[str, Any]:
    table = make_table(entrants, prompts)
    shared = make_plan(table, seed=77)
    pairs: Counter[Any] = Counter()
    questions: Counter[int] = Counter()
    twice = worst = 0
    for seed in range(seats):
        items = list(sit(table, length, seed=seed, coverage=Coverage(pairs, questions), shared=shared, kind=kind))
        twice += sum(one.question == other.question for one, other in pairwise(items))
        lean: Counter[int] = Counter()
        for item in items:
            lean.update({item.left: 1, item.right: -1})
            worst = max(worst, *map(abs, lean.values()))
        pairs.update(item.pair for item in items)
        questions.update(item.question for item in items)
    by_pair = [pairs[pair] for pair in combinations(range(entrants), 2)]
    by_prompt = [questions[question] for question in range(prompts)]
    return {
        "kind": kind,
        "entrants": entrants,
        "prompts": prompts,
        "seats": seats,
        "length": length,
        "prompt_twice_running": twice,
        "left_minus_right": worst,
        "pairs": [min(by_pair), max(by_pair)],
        "prompt_counts": [min(by_prompt), max(by_prompt)],
    }


def main() -> int:
    parser = make_parser(__doc__, "400 seats of 20 beside 20 of 400")
    asked = parser.parse_args()
    short, long = SEATS[asked.full]
    rows = [measure(*shape, *short, kind) for shape in SHAPES for kind in INSERTED]
    rows += [measure(*shape, *long, "with shared items and repeats") for shape in SHAPES]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    write_json(asked.json, {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
