"""Grades as a published dataset has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judging.models import Grade
from ranking.dataset.columns import Published, Rows, Table, columns_of
from ranking.rubric.page import agreement_words
from ranking.words import counted

PATHS = {
    "seat": "seat_id",
    "sample": "sample__code",
    "entrant": "sample__entrant__name",
    "prompt_id": "sample__prompt__key",
    "category": "sample__prompt__category",
    "attempt": "sample__attempt",
    "dimension": "dimension",
    "value": "value",
    "timestamp": "graded_at",
    **{name: name for name in ("kept_out", "imported", "withdrawn_at")},
}


def grade_table(source: Published) -> Rows:
    """In an order that any site gives them."""
    order = ("graded_at", "seat_id", "sample__prompt__position", "sample__entrant_id", "sample__attempt", "dimension")
    grades = Grade.objects.filter(run=source.run).order_by(*order, "id")
    excluded = set(source.run.samples.excluded().values_list("code", flat=True))
    for values in grades.values_list(*PATHS.values()).iterator(chunk_size=2000):
        row = dict(zip(PATHS, values, strict=True))
        seat = row.pop("seat")
        weight = source.weights[seat]
        out = row["withdrawn_at"] is not None or row["kept_out"] or row["sample"] in excluded or not weight
        yield {**row, "judge": source.judges[seat], "weight": weight, "split": "uncounted" if out else "train"}


GRADES = Table(
    "grades",
    "grades of drawings by a rubric, one row per dimension",
    columns_of(
        judge=("text", "the judge's pseudonym"),
        entrant=("text", "the entrant that drew it"),
        sample=("text", "the drawing, in the table `samples`"),
        prompt_id=("text", "the prompt's key"),
        category=("text", "the rubric's stage, which is the prompt's category"),
        attempt=("whole", "the drawing's attempt, from 1"),
        dimension=("text", "the dimension that was graded"),
        value=("number", "the grade, 0 to 10"),
        timestamp=("time", "when it was graded"),
        weight=("number", "how much the judge's grades count, 0 to 1"),
        kept_out=("flag", "in no score, because the judge could know the names"),
        imported=("flag", "came from a file of grades"),
        withdrawn_at=("time", "when it was withdrawn or replaced"),
    ),
    grade_table,
    splits=(("train", "the grades that count"), ("uncounted", "grades that count in no score")),
)
TABLES = (GRADES,)


def grade_lines(archive: Any) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Grades of a published dataset, as an archive has them."""
    for file, number, row in archive.table("grades"):
        yield (
            file,
            number,
            {**row, "stage": row["category"], "subject": row["prompt_id"], "graded_at": row["timestamp"]},
        )


READERS = {"grades.jsonl": grade_lines}


def methods(result: Any, labels: Mapping[str, str]) -> str:
    """How the scores came about; every number is taken from the leaderboard."""
    grades, judges, stages = result.get("votes", 0), len(result.get("judges", ())), result["stages"].values()
    if not grades:
        return "No drawing has been graded."
    weighed = ", ".join(f"{stage['weight']:g} for “{stage['label']}”" for stage in stages)
    sentences = [
        f"{counted(grades, 'grade')} by {counted(judges, 'judge')} on drawings by {counted(len(result.get('overall', ())), 'entrant')} "
        f"{'was' if grades == 1 else 'were'} counted. "
        "Judges grade a drawing on each dimension of the rubric. On Benchsite they see one drawing at a time, and no name "
        "before they have graded it.",
        "A drawing’s score is the mean over its judges, a stage’s score the mean over its drawings, and the total, out of "
        f"100, the weighted mean of the stages{f' (weights: {weighed})' if len(stages) > 1 else ''}.",
        f"A missing or invalid drawing {'scores 0' if result['missing'] == 'zero' else 'is left out'}.",
        "Intervals of scores are 95% intervals, clustered by judge and subject; those of agreement are 95% jackknife intervals "
        "over drawings.",
        *agreement_words(result),
    ]
    return " ".join(sentences)
