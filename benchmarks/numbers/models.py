"""script/bench models: whether people's ratings stay true when model judges correct their votes, and what that saves.

Simulated people and models, so the truth is known. `--write` puts the tables into docs/model-judges.md. The full form takes about
12 minutes of one core.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads cost more than they give

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures.table import Row, make_parser, markdown, refresh, show, write_json
from benchmarks.numbers.model_worlds import Judged, SimulatedModel, simulate_judged
from benchmarks.numbers.ranking_coverage import FIRST_SEED, held, truth_of
from benchmarks.numbers.worlds import BASE, NOT_IDENTIFIABLE, WORLDS, FieldWorld
from ranking.statistics.model_judges.agreement import agreement_with_people
from ranking.statistics.model_judges.corrected import correct_votes
from ranking.statistics.model_judges.pairing import pair_up
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.votes import tally_votes

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
SAVINGS: tuple[tuple[str, Models], ...] = (
    *((f"agrees {a}%", (SimulatedModel(a / 100),)) for a in (55, 65, 70, 75, 80, 85)),
    ("three of 65%", (SimulatedModel(0.65),) * 3),
    ("three of 75%", (SimulatedModel(0.75),) * 3),
)


LIMITED = ("agrees 75%", "agrees 80%", "three of 75%")  # those with a limit
STEPS = (0.4, 0.55, 0.7, 0.85, 1.0)  # of the votes, tried in search of as many as are as sure as all without models
SEARCHED = FIRST_SEED - 1_000  # the seeds of that search


def main() -> None:
    parser = make_parser(
        __doc__, "20 studies of each world and kind of judge instead of 3, and 60 of each saving instead of 8"
    )
    parser.add_argument("--write", action="store_true", help="put the tables into docs/model-judges.md")
    options = parser.parse_args()
    runs = 20 if options.full else 3
    figures: dict[str, list[Row]] = {}
    figures["kinds"], figures["worlds"] = coverage_tables(runs=runs)
    show("Coverage of nominal 95% intervals, by kind of model judge", figures["kinds"])
    show("The same by world", figures["worlds"])
    figures["saved"] = saving_table("varied prompts", VARIED, runs=60 if options.full else 8)
    figures["saved"] += saving_table("baseline", STUDY, runs=60 if options.full else 8)
    show("Human votes saved", figures["saved"])
    figures["fewer"] = fewer_votes_table(runs=60 if options.full else 9)
    show(
        "Votes that are as sure with model judges as 1,500 without, of the same people on the same prompts",
        figures["fewer"],
    )
    figures["agreement"] = [agreement_row(0.7, runs=10 * runs)]
    show("Coverage of the agreement of a model judge with people", figures["agreement"])
    write_json(options.json, figures)
    if options.write:
        for mark, rows in figures.items():
            refresh(PAGE, mark, markdown(rows))


def study(world: FieldWorld, judged: Judged) -> Row:
    """One study: what intervals hold for people alone and with corrected votes, squared errors and squared widths."""
    truth = truth_of(world, judged.drawn)
    fit = fit_overall(tally_votes(judged.people), Settings())
    corrected = correct_votes(pair_up(judged.people, judged.models), fit, Settings())
    (people, people_gap), (rating, gap) = held(fit, truth), held(corrected.fit, truth)
    return {
        "rating": rating,
        "gap": gap,
        "people": people,
        "people_gap": people_gap,
        "square": float(np.mean((corrected.fit.theta - truth) ** 2)),
        "people_square": float(np.mean((fit.theta - truth) ** 2)),
        "width": float((corrected.fit.spread.reach() ** 2).mean()),
        "people_width": float((fit.spread.reach() ** 2).mean()),
    }


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


def coverage_tables(*, runs: int) -> tuple[list[Row], list[Row]]:
    """Every world of the field with every kind of judge; one table by kind over all worlds, one by world over all kinds."""
    by_kind: dict[str, list[Row]] = {kind: [] for kind in KINDS}
    worlds = []
    for name, world in WORLDS.items():
        if name in NOT_IDENTIFIABLE:
            continue
        rows = []
        for kind, models in KINDS.items():
            for seed in range(FIRST_SEED, FIRST_SEED + runs):
                rows.append(study(world, simulate_judged(world, models, seed=seed)))
                by_kind[kind].append(rows[-1])
        # All kinds meet the same people: a world has as many independent studies as seeds.
        seeds = [rows[number::runs] for number in range(runs)]
        error = np.std([np.mean([row["rating"] for row in same]) for same in seeds], ddof=1) / np.sqrt(runs)
        worlds.append({"world": name, **summary(rows), "error": float(error)})
    return [{"model judge": kind, **summary(rows)} for kind, rows in by_kind.items()], worlds


def saving_table(name: str, world: FieldWorld, *, runs: int) -> list[Row]:
    """With ten times the prompts, and with ten times the pairs of people's own prompts."""
    table = []
    for kind, models in SAVINGS:
        row: Row = {"world": name, "model judges": kind}
        for label, more in (("", True), ("same_prompts_", False)):
            seeds = range(FIRST_SEED, FIRST_SEED + runs)
            studies = [study(world, simulate_judged(world, models, seed=seed, more_prompts=more)) for seed in seeds]
            part = summary(studies)
            row |= {f"{label}{key}": part[key] for key in ("saved", "rating", "gap")}
            if more:
                row |= {key: part[key] for key in ("people", "people_gap")}
                widths = {key: np.mean([each[key] for each in studies]) for key in ("width", "people_width")}
                row |= {key: float(2 * ELO * np.sqrt(width)) for key, width in widths.items()}
        table.append(row | {"studies": runs})
    return table


def fewer_votes_table(*, runs: int) -> list[Row]:
    """How few votes of the same people on the same prompts are as sure as people's 1,500 alone.

    The number is searched with studies of their own (`STEPS` of the votes, and a + b/n between them), then measured.
    """
    table = []
    alone = [width_of(STUDY, (), seed=seed)[1] for seed in range(SEARCHED, SEARCHED + runs)]
    for kind in LIMITED:
        models = dict(SAVINGS)[kind]
        widths = []
        for step in STEPS:
            world = replace(STUDY, votes=round(STUDY.votes * step))
            widths.append(np.mean([width_of(world, models, seed=SEARCHED + n)[0] for n in range(runs)]))
        inverse = np.interp(np.mean(alone), widths[::-1], [1 / step for step in STEPS][::-1])
        world = replace(STUDY, votes=25 * math.ceil(STUDY.votes / inverse / 25))
        seeds = range(FIRST_SEED, FIRST_SEED + runs)
        studies = [study(world, simulate_judged(world, models, seed=seed)) for seed in seeds]
        people = np.mean([width_of(STUDY, (), seed=seed)[1] for seed in seeds])
        part = summary(studies)
        table.append(
            {
                "model judges": kind,
                "votes": world.votes,
                "saved": 1 - world.votes / STUDY.votes,
                "width": float(2 * ELO * np.sqrt(np.mean([each["width"] for each in studies]))),
                "width of 1,500": float(2 * ELO * np.sqrt(people)),
                **{key: part[key] for key in ("rating", "gap")},
                "studies": runs,
            }
        )
    return table


def width_of(world: FieldWorld, models: Models, *, seed: int) -> tuple[float, float]:
    """The mean squared reach of corrected ratings, and of people's own."""
    judged = simulate_judged(world, models or (SimulatedModel(),), seed=seed)
    fit = fit_overall(tally_votes(judged.people), Settings())
    alone = float((fit.spread.reach() ** 2).mean())
    if not models:
        return alone, alone
    corrected = correct_votes(pair_up(judged.people, judged.models), fit, Settings())
    return float((corrected.fit.spread.reach() ** 2).mean()), alone


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
