"""script/bench models: whether people's ratings stay true when model judges correct their votes, and what that saves.

Simulated people and models, so the truth is known. `--write` puts the tables into docs/model-judges.md. The full form takes about
ten minutes of one core.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads cost more than they give

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures.promises.promise import HOLDS
from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, markdown, refresh, show, write_json
from benchmarks.numbers.model_worlds import SimulatedModel, simulate_judged
from benchmarks.numbers.ranking_coverage import FIRST_SEED, held, truth_of
from benchmarks.numbers.worlds import BASE, NOT_IDENTIFIABLE, WORLDS, FieldWorld
from ranking.statistics.model_judges.agreement import agreement_with_people
from ranking.statistics.model_judges.corrected import correct_votes
from ranking.statistics.model_judges.pairing import pair_up
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.scopes import ScopeFit, Settings, fit_overall
from ranking.statistics.tallies import tally_votes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "model-judges.md"
Models = tuple[SimulatedModel, ...]
KINDS: dict[str, Models] = {
    "agrees 55%": (SimulatedModel(0.55),),
    "agrees 65%": (SimulatedModel(0.65),),
    "agrees 75%": (SimulatedModel(0.75),),
    "agrees 85%": (SimulatedModel(0.85),),
    "75%, favours one entrant": (SimulatedModel(0.75, favours=0.4),),
    "75%, favours the first shown": (SimulatedModel(0.75, first=0.4),),
    "adversarial, 25%": (SimulatedModel(0.25),),
    "no use, 50%": (SimulatedModel(0.5),),
    "three of 75%": (SimulatedModel(0.75),) * 3,
}
STUDY = replace(BASE, votes=1500)
VARIED = replace(BASE, votes=1500, judges=60, prompt_sd=0.5)
ALIKE = replace(BASE, votes=1000, judge_sd=0.3, prompt_sd=0.5)
SAVINGS: tuple[tuple[str, Models], ...] = (
    *((f"agrees {a}%", (SimulatedModel(a / 100),)) for a in (55, 65, 70, 75, 80, 85)),
    ("three of 65%", (SimulatedModel(0.65),) * 3),
    ("three of 75%", (SimulatedModel(0.75),) * 3),
)


LIMITED = ("agrees 75%", "agrees 80%", "three of 75%")  # those with a limit
STEPS = (0.4, 0.55, 0.7, 0.85, 1.0)  # of the votes, tried in search of as many as are as sure as all without models
SEARCHED = FIRST_SEED - 1_000  # the seeds of that search
MORE = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0)  # times the votes, tried in search of as many as are as sure without models
PART = 20  # studies that are noted together
ROUNDED = 5  # votes: up to the next multiple


def main() -> None:
    parser = add_resume(
        make_parser(
            __doc__, "100 studies of each world and kind of judge instead of 3, and 60 of each saving instead of 8"
        )
    )
    parser.add_argument("--write", action="store_true", help="put the tables into docs/model-judges.md")
    options = parser.parse_args()
    runs, savings = (100, 60) if options.full else (3, 8)
    notes = Notebook(options.resume)
    figures: dict[str, list[Row]] = {}
    figures["kinds"], figures["worlds"], figures["cells"] = coverage_tables(notes, runs=runs)
    show("Coverage of nominal 95% intervals, by kind of model judge", figures["kinds"])
    show("The same by world", figures["worlds"])
    show("The same for every kind in every world", figures["cells"])
    figures["saved"] = saving_table(notes, "varied prompts", VARIED, runs=savings)
    figures["saved"] += saving_table(notes, "baseline", STUDY, runs=savings)
    figures["saved"] += saving_table(notes, "people more alike", ALIKE, runs=savings)
    show("Human votes saved", figures["saved"])
    figures["fewer"] = fewer_votes_table(notes, runs=savings)
    show(
        "Votes that are as sure with model judges as 1,500 without, of the same people on the same prompts",
        figures["fewer"],
    )
    figures["questions"] = question_table(figures["fewer"], figures["saved"])
    show("Human votes saved, by what would be done without the model", figures["questions"])
    figures["agreement"] = [agreement_row(0.7, runs=2000 if options.full else 30)]
    show("Coverage of the agreement of a model judge with people", figures["agreement"])
    write_json(options.json, figures)
    if options.write:
        for mark, rows in figures.items():
            refresh(PAGE, mark, markdown(rows))


def studies(
    notes: Notebook,
    name: str,
    world: FieldWorld,
    kinds: Mapping[str, Models],
    seeds: range,
    *,
    more_prompts: bool = True,
) -> dict[str, list[Row]]:
    """Studies of each kind of judge with the same people, noted in parts."""
    found: dict[str, list[Row]] = {kind: [] for kind in kinds}
    for first in range(seeds.start, seeds.stop, PART):
        here = range(first, min(first + PART, seeds.stop))

        def make(here: range = here) -> Row:
            table = [
                [study(world, models, seed=n, more_prompts=more_prompts) for models in kinds.values()] for n in here
            ]
            return {kind: list(rows) for kind, rows in zip(kinds, zip(*table, strict=True), strict=True)}

        part = notes.noted(f"{name}, {world.votes} votes, more prompts {more_prompts}, {list(kinds)}, {here}", make)
        for kind, rows in part.items():
            found[kind] += rows
    return found


@lru_cache(maxsize=2)  # all kinds of judges meet the same people, one after the other
def people_fit(world: FieldWorld, seed: int, more_prompts: bool) -> ScopeFit:
    judged = simulate_judged(world, (SimulatedModel(),), seed=seed, more_prompts=more_prompts)
    return fit_overall(tally_votes(judged.people), Settings())


def study(world: FieldWorld, models: Models, *, seed: int, more_prompts: bool = True) -> Row:
    """One study: what intervals hold for people alone and with corrected votes, squared errors and squared widths."""
    judged = simulate_judged(world, models, seed=seed, more_prompts=more_prompts)
    truth = truth_of(world, judged.drawn)
    fit = people_fit(world, seed, more_prompts)
    corrected = correct_votes(pair_up(judged.people, judged.models), fit, Settings())
    (people, people_gap), (rating, gap) = held(fit, truth), held(corrected.fit, truth)
    return {
        "rating": rating,
        "gap": gap,
        "people": people,
        "people_gap": people_gap,
        "square": float(np.mean((corrected.fit.theta - truth) ** 2)),
        "people_square": float(np.mean((fit.theta - truth) ** 2)),
        "width": squared_width(corrected.fit),
        "people_width": squared_width(fit),
    }


def squared_width(fit: ScopeFit) -> float:
    return float((fit.spread.reach() ** 2).mean())


def summary(rows: Sequence[Row]) -> Row:
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    means = {key: float(column.mean()) for key, column in columns.items()}
    return {
        "studies": len(rows),
        **{key: means[key] for key in ("rating", "gap", "people", "people_gap")},
        "error": float(columns["rating"].std(ddof=1) / np.sqrt(len(rows))),
        "saved": 1 - means["width"] / means["people_width"],
        "saved_by_error": 1 - means["square"] / means["people_square"],
        "wider": float((columns["width"] > columns["people_width"] * (1 + 1e-9)).mean()),
    }


def coverage_tables(notes: Notebook, *, runs: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Every world of the field with every kind of judge: by kind over all worlds, by world over all kinds, and the single ones."""
    by_kind: dict[str, list[Row]] = {kind: [] for kind in KINDS}
    worlds, cells = [], []
    for name, world in WORLDS.items():
        if name in NOT_IDENTIFIABLE:
            continue
        rows = studies(notes, name, world, KINDS, range(FIRST_SEED, FIRST_SEED + runs))
        for kind, own in rows.items():
            by_kind[kind] += own
            cells.append(summary(own))
        # All kinds meet the same people: a world has as many independent studies as seeds.
        error = np.std([np.mean([row["rating"] for row in same]) for same in zip(*rows.values(), strict=True)], ddof=1)
        together = summary([row for own in rows.values() for row in own])
        worlds.append({"world": name, **together, "error": float(error / np.sqrt(runs))})
    kinds = [{"model judge": kind, **summary(rows)} for kind, rows in by_kind.items()]
    return kinds, worlds, [cell_row(figure, cells) for figure in ("rating", "gap", "people", "people_gap")]


def cell_row(figure: str, cells: Sequence[Row]) -> Row:
    """How far single kinds in single worlds lie apart, and what of that is chance: `error` is a cell's mean standard error."""
    values = np.array([cell[figure] for cell in cells])
    low, high = HOLDS
    return {
        "coverage of": figure,
        "cells": len(cells),
        "studies": cells[0]["studies"],
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "below": int((values < low).sum()),
        "above": int((values > high).sum()),
        "error": float(np.mean([cell["error"] for cell in cells])),
    }


def saving_table(notes: Notebook, name: str, world: FieldWorld, *, runs: int) -> list[Row]:
    """With ten times the prompts, and with ten times the pairs of people's own prompts."""
    seeds, kinds = range(FIRST_SEED, FIRST_SEED + runs), dict(SAVINGS)
    more, same = (studies(notes, name, world, kinds, seeds, more_prompts=wide) for wide in (True, False))
    table = []
    for kind in kinds:
        wide, narrow = summary(more[kind]), summary(same[kind])
        row: Row = {"world": name, "model judges": kind, "saved": wide["saved"]}
        row |= {key: wide[key] for key in ("rating", "gap", "people", "people_gap")}
        row |= {key: elo_width(more[kind], key) for key in ("width", "people_width")}
        row |= {f"same_prompts_{key}": narrow[key] for key in ("saved", "rating", "gap")}
        table.append(row | {"studies": runs})
    return table


def elo_width(studies: Sequence[Row], key: str) -> float:
    """The root of the mean squared width."""
    return float(2 * ELO * np.sqrt(np.mean([each[key] for each in studies])))


def fewer_votes_table(notes: Notebook, *, runs: int) -> list[Row]:
    """Votes of the same people on the same prompts: how many alone are as sure as 1,500 with models, and how few with models as 1,500 alone.

    Squared widths are taken as a + b/n between `MORE` and `STEPS` of the votes. The number of the second question is tried with twice
    as many other studies, and set right by how far these are off.
    """
    kinds = {kind: dict(SAVINGS)[kind] for kind in LIMITED}
    searched, measured = range(SEARCHED, SEARCHED + runs), range(FIRST_SEED, FIRST_SEED + 2 * runs)

    def found(votes: float, kinds: Mapping[str, Models], seeds: range) -> dict[str, list[Row]]:
        return studies(notes, "fewer votes", replace(STUDY, votes=round(votes)), kinds, seeds)

    steps = [found(STUDY.votes * step, kinds, searched) for step in STEPS]
    cheapest = {LIMITED[0]: kinds[LIMITED[0]]}
    longer = [found(STUDY.votes * more, cheapest, searched)[LIMITED[0]] for more in MORE[1:]]
    alone = [_mean(rows, "people_width") for rows in (steps[-1][LIMITED[0]], *longer)]
    whole = found(STUDY.votes, cheapest, measured)[LIMITED[0]]
    table = []
    for kind in kinds:
        widths = [_mean(step[kind], "width") for step in steps]
        alone_votes = _votes_as_sure(MORE, alone, widths[-1])
        tried = ROUNDED * math.ceil(_votes_as_sure(STEPS, widths, alone[0]) / ROUNDED)
        fewer = found(tried, {kind: kinds[kind]}, measured)[kind]
        off = _mean(fewer, "width") / _width_at(STEPS, widths, tried)
        votes = _votes_as_sure(STEPS, [off * width for width in widths], _mean(whole, "people_width"))
        part, slope = summary(fewer), math.log(widths[0] / widths[-1]) / math.log(STEPS[0])
        table.append(
            {
                "model judges": kind,
                "alone": round(alone_votes),
                "saved": 1 - STUDY.votes / alone_votes,
                "fewer": round(votes),
                "saved of 1,500": 1 - votes / STUDY.votes,
                "error": votes
                / STUDY.votes
                * math.hypot(_error(fewer, "width"), _error(whole, "people_width"))
                / -slope,
                **{key: part[key] for key in ("rating", "gap")},
                "studies": len(fewer),
            }
        )
    return table


def question_table(fewer: Sequence[Row], saved: Sequence[Row]) -> list[Row]:
    """What the other tables say about those judges that have a limit."""
    asked = {
        "1. the same people and prompts, as narrow as with the model": [row["saved"] for row in fewer],
        "2. the same people and prompts, as narrow as without it": [row["saved of 1,500"] for row in fewer],
    }
    for world in dict.fromkeys(row["world"] for row in saved):
        own = {row["model judges"]: row["saved"] for row in saved if row["world"] == world}
        asked[f"3. more people and prompts; {world}"] = [own[kind] for kind in LIMITED]
    return [{"question": question, **dict(zip(LIMITED, shares, strict=True))} for question, shares in asked.items()]


def _error(rows: Sequence[Row], key: str) -> float:
    """The standard error of the mean, relative to it."""
    values = np.array([row[key] for row in rows])
    return float(values.std(ddof=1) / np.sqrt(len(values)) / values.mean())


def _width_at(shares: Sequence[float], widths: Sequence[float], votes: float) -> float:
    return float(np.interp(STUDY.votes / votes, [1 / share for share in shares][::-1], list(widths)[::-1]))


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def _votes_as_sure(shares: Sequence[float], widths: Sequence[float], wanted: float) -> float:
    """The number of votes of that squared width; the nearest that was tried where it lies beyond."""
    by_width = sorted((width, 1 / share) for share, width in zip(shares, widths, strict=True))
    known, inverse = zip(*by_width, strict=True)
    return float(STUDY.votes / np.interp(wanted, known, inverse))


def agreement_row(agreement: float, *, runs: int) -> Row:
    """How often the intervals of agreement hold what endless people and prompts would give (the mean over many studies)."""
    world = replace(BASE, votes=1500, ties=0.1)
    figures: dict[str, list[Any]] = {"raw": [], "kappa": [], "alpha": [], "ac1": []}
    for seed in range(FIRST_SEED, FIRST_SEED + runs):
        judged = simulate_judged(world, (SimulatedModel(agreement),), seed=seed, times=1)
        measured = agreement_with_people(pair_up(judged.people, judged.models), 0)
        for name, column in figures.items():
            column.append(getattr(measured, name))
    row: Row = {"studies": runs}
    for name, column in figures.items():
        truth = np.mean([each.value for each in column])
        row[name] = float(np.mean([each.low <= truth <= each.high for each in column]))
    return row


if __name__ == "__main__":
    main()
