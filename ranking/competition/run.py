"""A Science Birds run as a competition of programs: trials from its measurements, scores and verdicts for its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, cast

import pandas as pd
from django.db.models import Count

from benchsite.lib.text import markdown_cell
from generation.models import Entrant, Run, Sample
from ranking.answers import count_answers, notes_markdown
from ranking.automatic.against_people import compare_with_people
from ranking.automatic.run import answers_of, measured_rows
from ranking.competition.files import competition_csv, competition_markdown, program_record
from ranking.competition.result import CompetitionResult
from ranking.competition.scores import Competition, score_competition
from ranking.results import AnswersResult
from ranking.statistics.rounding import rounded
from ranking.words import missing_sentence

COLUMNS = ("program", "model", "target", "trial", "stability", "similarity", "vector")


def trial_frame(rows: list[dict[str, Any]], targets: dict[str, str]) -> pd.DataFrame:
    """The frame that `score_competition` takes, and the sample's id; one backend's rows only."""
    trials = [
        {
            "program": row["entrant__name"],
            "model": row["model__model_id"],
            "target": targets[row["prompt__key"]],
            "trial": row["attempt"],
            "stability": row["measurements__values"].get("stability", 0.0),
            "similarity": row["measurements__values"].get("similarity", 0.0),
            "vector": row["measurements__values"].get("vector"),
            "sample": row["id"],
        }
        for row in rows
    ]
    return pd.DataFrame(trials, columns=[*COLUMNS, "sample"])


def analyse_run(run: Run, *, options: dict[str, Any], full: bool) -> CompetitionResult:
    """Programs with their verdicts, weights, char scores.

    A level that fell or was excluded counts 0; one whose answer is missing is left out of its letter's mean.
    """
    backend = options["backend"]
    entrants = list(run.entrants.all())
    targets = {p.key: str(p.facts.get("target") or p.subject or p.key) for p in run.prompts.all()}
    trials = trial_frame(measured_rows(run, backend=backend), targets)
    count = run.config["generation"]["attempts_per_prompt"]
    result: dict[str, Any] = {
        "backend": backend,
        "trials": count,
        "votes": len(trials),
        "unmeasured": answers_of(run).unmeasured(backend).count(),
        "answers": count_answers(run),
        "waiting": [entrant.name for entrant in entrants if not entrant.approved and not entrant.disqualified],
        "overall": [],
        "categories": {},
        "run": {},
    }
    if trials.empty:
        return cast(CompetitionResult, result)
    lost = missing_trials(run, targets)
    scored = compete(trials, entrants, targets=list(targets.values()), count=count, lost=lost)
    result |= document_of(scored, trials) | {
        "run": {"md": markdown_of(run, result["answers"], scored, backend=backend), "csv": competition_csv(scored)},
    }
    result["people"] = rounded(
        compare_with_people(
            run,
            options=options,
            entrants={row["entrant"]: row["score"] for row in result["overall"] if row["score"] is not None},
            drawings=dict(zip(trials["sample"], trials["stability"] * trials["similarity"], strict=True)),
        )
    )
    return cast(CompetitionResult, result)


def document_of(scored: Competition, trials: pd.DataFrame) -> dict[str, Any]:
    return {
        "competition": scored.competition,
        "verdicts": scored.verdicts,
        "overall": [standing(scored, row, trials) for row in scored.programs.to_dict("records")],
        "models": list(scored.prompts.columns),
        "targets": sorted({*scored.chars["target"]}),
        "weights": scored.weights.to_dict("records"),
        "chars": scored.chars.to_dict("records"),
    }


def markdown_of(run: Run, answers: AnswersResult, scored: Competition, *, backend: str) -> str:
    read_by = f"Letters are read by {run.drawing_format.backend_name(backend)}."
    head = (f"# {markdown_cell(str(run))}", read_by, missing_sentence(answers))
    notes = "\n".join(notes_markdown(run))
    return "\n\n".join(part for part in (*head, competition_markdown(scored), notes) if part)


def missing_trials(run: Run, targets: Mapping[str, str]) -> dict[tuple[str, str, str], int]:
    """By program, model and target: trials whose answer is missing; while the run draws, those to come too."""
    missing = run.samples.exclude(state=Sample.State.DRAWN).filter(excluded_reason="").order_by()
    rows = missing.values_list("entrant__name", "model__model_id", "prompt__key").annotate(Count("id"))
    lost: Counter[tuple[str, str, str]] = Counter()
    for program, model, prompt, count in rows:
        lost[program, model, targets[prompt]] += count
    return dict(lost)


def compete(
    trials: pd.DataFrame,
    entrants: list[Entrant],
    *,
    targets: list[str],
    count: int,
    lost: Mapping[tuple[str, str, str], int] | None = None,
) -> Competition:
    """The programs that compete, those with no trial yet too; one that waits for approval is not in it."""
    listed = [entrant for entrant in entrants if entrant.approved or entrant.disqualified]
    return score_competition(
        trials,
        count=count,
        programs=[entrant.name for entrant in listed],
        targets=targets,
        baselines={entrant.name for entrant in listed if entrant.baseline},
        disqualified={entrant.name: entrant.disqualified for entrant in listed if entrant.disqualified},
        lengths={entrant.name: entrant.prompt_length for entrant in listed},
        lost=lost,
    )


def standing(scored: Competition, row: Mapping[Hashable, Any], trials: pd.DataFrame) -> dict[str, Any]:
    record = program_record(scored, row)
    mine = trials[trials["program"] == row["program"]]
    return {
        "entrant": record.pop("program"),
        "score": record["normalised"],
        **record,
        "prompt_length": int(row["prompt_length"]),
        "n": len(mine),
        "levels": int(mine["vector"].notna().sum()),
        "stability": float(mine["stability"].mean()) if len(mine) else None,
        "similarity": float(mine["similarity"].mean()) if len(mine) else None,
    }
