"""What judges were shown and what they said, from an archive into tables."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Q

from benchsite.lib.file_errors import BadLine
from generation.models import Run
from judging.models import Grade, Matchup, Seat, Vote
from ranking.archive.storing import Desk, Where, advance, guarded, made, portions, store, time_of


def load_judges(desk: Desk) -> None:
    """Seats without a user: nobody can log in as a judge of an archive."""

    def make(row: dict[str, Any], where: Where) -> Seat:
        values = {**row, "pseudonym": row["judge"], "is_unknown": row["unknown"], "is_simulated": row["simulated"]}
        values.pop("judge")
        return Seat(run=desk.run, **where.fitting(Seat, {**values, "joined_at": time_of(row["joined_at"])}))

    desk.seats = {row.pseudonym: row.pk for row in made(desk, "judges.jsonl", make)}


def load_matchups(desk: Desk) -> None:
    repeats: list[tuple[int, str, str]] = []

    def make(row: dict[str, Any], where: Where) -> Matchup:
        code = desk.code(row["matchup"])
        if row["repeat_of"] is not None:
            repeats.append((where.line, code, desk.code(row["repeat_of"])))
        same = {name: row[name] for name in ("order", "kind", "state", "category", "key")}
        return Matchup(
            run=desk.run,
            code=code,
            seat_id=where.known(desk.seats, "judge"),
            prompt_id=where.known(desk.prompts, "prompt", optional=True),
            left_id=where.known(desk.entrants, "left_entrant"),
            right_id=where.known(desk.entrants, "right_entrant"),
            left_sample_id=row["left_sample"],
            right_sample_id=row["right_sample"],
            created_at=time_of(row["created_at"]),
            opened_at=time_of(row["opened_at"]),
            **where.fitting(Matchup, same),
        )

    for _ in made(desk, "matchups.jsonl", make, samples=("left_sample", "right_sample")):
        pass
    for portion in portions(repeats):
        _link_repeats(desk, portion)


def _link_repeats(desk: Desk, portion: list[tuple[int, str, str]]) -> None:
    codes = {code for _, *pair in portion for code in pair}
    found = {row.code: row for row in Matchup.objects.filter(run=desk.run, code__in=codes)}
    for line, code, original in portion:
        if original not in found:
            raise BadLine("matchups.jsonl", line, "repeat_of", "is not a matchup of this archive")
        found[code].repeat_of = found[original]
    guarded(
        lambda: Matchup.objects.bulk_update([found[code] for _, code, _ in portion], ["repeat_of"]),
        "matchups.jsonl",
        portion[0][0],
    )


def load_votes(desk: Desk) -> None:
    for portion in portions(desk.archive.rows("votes.jsonl")):
        codes = {desk.code(row["matchup"]) for _, row in portion}
        found = {
            code: (pk, seat)
            for code, pk, seat in Matchup.objects.filter(run=desk.run, code__in=codes).values_list(
                "code", "pk", "seat_id"
            )
        }
        rows = []
        for line, row in portion:
            where = Where("votes.jsonl", line, row)
            pk, seat = where.found(found, "matchup", desk.code(row["matchup"]))
            if row["withdrawn_at"] is not None and not row["withdrawn"]:
                raise where.error("withdrawn", "does not agree with withdrawn_at")
            times = {name: time_of(row[name]) for name in ("voted_at", "withdrawn_at")}
            same = {
                name: row[name]
                for name in ("outcome", "response_ms", "unblind", "imported", "left_breaks", "right_breaks")
            }
            rows.append((line, Vote(run=desk.run, matchup_id=pk, seat_id=seat, **times, **where.fitting(Vote, same))))
        store(rows, "votes.jsonl")
        advance(desk, len(rows))


def load_grades(desk: Desk) -> None:
    def make(row: dict[str, Any], where: Where) -> Grade:
        values = {name: row[name] for name in ("dimension", "value", "imported", "sample_id")}
        times = {name: time_of(row[name]) for name in ("graded_at", "withdrawn_at")}
        return Grade(run=desk.run, seat_id=where.known(desk.seats, "judge"), **times, **where.fitting(Grade, values))

    for _ in made(desk, "grades.jsonl", make, samples=("sample",)):
        pass


def count_seats(run: Run) -> None:
    """What a seat keeps count of, from the rows."""
    shown = (
        run.matchups.order_by().values("seat").annotate(made=Max("order") + 1, void=Count("id", filter=Q(state="void")))
    )
    for row in shown:
        Seat.objects.filter(pk=row["seat"]).update(made=row["made"], void=row["void"])
    standing = run.votes.standing().order_by().values("seat").annotate(voted=Count("id"), last=Max("voted_at"))
    for row in standing:
        Seat.objects.filter(pk=row["seat"]).update(voted=row["voted"], last_vote_at=row["last"])
