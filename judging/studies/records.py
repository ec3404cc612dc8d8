"""What a study leaves behind, for its authors: a row for each participant, and a codebook that says what each column is."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO, Any

from benchsite.lib.text import csv_cell
from generation.suites.studies.study import Question
from generation.suites.studies.study import Study as Content
from judging.models import Participation, Study
from judging.studies.steps import TITLES, questions_of, steps_of
from judging.studies.writing import content_of

COLUMNS = {
    "participant": "the participant's random code; it stands for nobody outside this study",
    "judge": "the pseudonym in votes.jsonl and on leaderboards; empty where nothing was judged",
    "version": "the version of the study that the participant met",
    "arm": "the condition that the participant was in; empty where the study has none",
    "language": "of the pages, as an ISO code, when the participant was last seen before the end",
    "outcome": "how it ended: running, done, refused, screened_out, failed_gold, timed_out, returned or no_work_left",
    "reason": "more about the outcome, where there is more",
    "consent_version": "the version of the consent that was given; empty where none was",
    "consented_at": "when it was given, UTC",
    "started_at": "when the participant came in, UTC",
    "ended_at": "when the participation ended, UTC; empty while it runs",
    "seconds": "from the first click to the end",
    "pairs": "standing votes",
    "quota": "pairs that were asked for",
    "checks": "standing answers to attention checks, which are no votes",
    "checks_right": "those in which the better drawing was chosen",
    "checks_wrong": "those in which it was not; “both bad” is neither",
    "weight": "how much each vote counts in the ranking, 0 to 1",
    "erased": "whether the personal data were erased; the votes stay under the pseudonym",
}
PRACTICE_CHOICES = "better (right) | worse | tie | fail"
PAYMENT = ("participant_id", "outcome", "platform_status", "code", "pairs", "minutes", "started_at", "ended_at")
UNPAID = ("REJECTED", "RETURNED", "SCREENED OUT")
SETTLED = ("APPROVED", *UNPAID)  # nothing is left to do on the platform


def participant_records(study: Study) -> Iterator[dict[str, Any]]:
    """One object for each participant in order of coming, without the platform's id and the name."""
    rows = study.participations.select_related("seat", "version").defer("seat__plan", "version__source")
    for row in rows.prefetch_related("steps", "answers").order_by("id").iterator(chunk_size=500):
        seat = row.seat
        yield {
            "participant": row.code,
            "judge": seat.pseudonym if seat else "",
            "version": row.version.number,
            "arm": row.arm,
            "language": row.language,
            "outcome": row.outcome,
            "reason": row.reason,
            "consent_version": row.consent_version,
            "consented_at": _time(row.consented_at),
            "started_at": _time(row.started_at),
            "ended_at": _time(row.ended_at),
            "seconds": _seconds(row.started_at, row.ended_at),
            "pairs": seat.voted if seat else 0,
            "quota": seat.quota if seat else None,
            "checks": seat.gold_answered if seat else 0,
            "checks_right": seat.gold_passed if seat else 0,
            "checks_wrong": seat.gold_failed if seat else 0,
            "weight": seat.weight if seat else None,
            "erased": row.erased_at is not None,
            "steps": {
                step.step: {"seconds": _seconds(step.entered_at, step.passed_at), "tries": step.tries}
                for step in row.steps.all()
            },
            "answers": {answer.question: answer.value for answer in row.answers.all() if answer.replaced_at is None},
        }


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _seconds(start: datetime, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 1) if end else None


def codebook(study: Study) -> list[dict[str, str]]:
    """What each column of the table holds, the questions of every version that somebody met among them."""
    rows = [{"column": name, "meaning": meaning, "values": ""} for name, meaning in COLUMNS.items()]
    contents = [content_of(version) for version in study.versions.all()]
    for step in dict.fromkeys(step for content in contents for step in steps_of(content)):
        title = TITLES[step]
        rows.append({"column": f"seconds.{step}", "meaning": f"from seeing “{title}” to passing it", "values": ""})
        rows.append({"column": f"tries.{step}", "meaning": f"how often “{title}” was answered", "values": ""})
    rows += [
        {"column": f"answer.practice_{n}", "meaning": f"choice in practice pair {n}", "values": PRACTICE_CHOICES}
        for n in range(1, 1 + max((content.practice.pairs for content in contents if content.practice), default=0))
    ]
    rows += [
        {"column": f"answer.{question.key}", "meaning": _meaning(question), "values": _values(question)}
        for question in _questions(contents).values()
    ]
    return rows


def _questions(contents: list[Content]) -> dict[str, Question]:
    """Every question by its key, as the newest version words it."""
    return {
        question.key: question
        for content in contents
        for step in steps_of(content)
        for question in questions_of(content, step)
    }


def _meaning(question: Question) -> str:
    conditions = " and ".join(f"{key} is {' or '.join(options)}" for key, options in question.ask_if.items())
    return f"{question.text} (asked if {conditions})" if conditions else question.text


def _values(question: Question) -> str:
    if question.options:
        joined = " | ".join(question.options)
        return f"any of: {joined}" if question.kind == "several" else joined
    return {"number": "a number", "text": "text"}[question.kind]


def flat(record: dict[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """A record as a row of the table."""
    row = {name: value for name, value in record.items() if name not in ("steps", "answers")}
    for step, facts in record["steps"].items():
        row |= {f"{name}.{step}": value for name, value in facts.items()}
    for key, value in record["answers"].items():
        row[f"answer.{key}"] = " | ".join(value) if isinstance(value, list) else value
    return {name: row.get(name) for name in columns}


def write_participants(study: Study, out: IO[str], *, as_csv: bool) -> None:
    if not as_csv:
        for record in participant_records(study):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
        return
    columns = [row["column"] for row in codebook(study)]
    _write_table(out, columns, (flat(record, columns) for record in participant_records(study)))


def write_codebook(study: Study, out: IO[str]) -> None:
    _write_table(out, ("column", "meaning", "values"), codebook(study))


def write_payments(study: Study, out: IO[str]) -> None:
    """For the platform: whose submission to approve, screen out or leave; the only list with the platform's ids.

    Who was erased has a row without an id.
    """
    _write_table(out, PAYMENT, _payments(study))


def _payments(study: Study) -> Iterator[dict[str, Any]]:
    rows = (
        study.participations.exclude(external_id="", erased_id="").select_related("seat", "version").defer("seat__plan")
    )
    for row in rows.order_by("id"):
        seconds = _seconds(row.started_at, row.ended_at)
        yield {
            "participant_id": row.external_id,
            "outcome": row.outcome,
            "platform_status": row.platform_status,
            "code": given_code(row, content_of(row.version)),
            "pairs": row.seat.voted if row.seat else 0,
            "minutes": None if seconds is None else round(seconds / 60, 1),
            "started_at": _time(row.started_at),
            "ended_at": _time(row.ended_at),
        }


def write_approvals(study: Study, out: IO[str]) -> None:
    """Whose submission to approve: done here, and not settled on the platform."""
    _write_table(out, ("participant_id",), _ids(study, Participation.Outcome.DONE))


def write_screened_out(study: Study, out: IO[str]) -> None:
    _write_table(out, ("participant_id",), _ids(study, Participation.Outcome.SCREENED_OUT))


def write_bonuses(study: Study, out: IO[str]) -> None:
    """The bonus of each who is done and counts, here and on the platform: the amount of the version that they met."""
    rows = study.participations.filter(outcome=Participation.Outcome.DONE, seat__weight__gt=0)
    rows = rows.exclude(external_id="").exclude(platform_status__in=UNPAID)
    amounts = (
        (row.external_id, content_of(row.version).bonus) for row in rows.select_related("version").order_by("id")
    )
    paid = ({"participant_id": person, "amount": f"{amount:.2f}"} for person, amount in amounts if amount)
    _write_table(out, ("participant_id", "amount"), paid)


def _ids(study: Study, outcome: str) -> Iterator[dict[str, Any]]:
    rows = study.participations.filter(outcome=outcome).exclude(external_id="").exclude(platform_status__in=SETTLED)
    for external_id in rows.order_by("id").values_list("external_id", flat=True):
        yield {"participant_id": external_id}


def given_code(participation: Participation, content: Content) -> str:
    """The code that the participant was shown; empty where there was none."""
    return content.ending(participation.outcome).code or participation.completion_code or ""


def _write_table(out: IO[str], columns: Iterable[str], rows: Iterable[dict[str, Any]]) -> None:
    columns = list(columns)
    table = csv.writer(out)
    table.writerow([csv_cell(name) for name in columns])
    for row in rows:
        table.writerow([csv_cell(row[name]) if isinstance(row[name], str) else row[name] for name in columns])
