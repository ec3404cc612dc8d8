"""Matchups and votes as files of a run's archive."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Q

from benchsite.lib.file_errors import BadLine
from generation.models import Run, Sample
from judging.files.exports import vote_rows, write_votes
from judging.files.model_vote_lines import OUTCOMES, ModelVoteLine
from judging.model_judges.answers import count_model_votes, model_vote_lines
from judging.model_judges.importing import store_model_votes
from judging.models import Matchup, Seat, Vote
from judging.pairs.tallies import rebuild_tallies
from ranking.archive.fields import fields_of
from ranking.archive.lines import Rows, rows_of, same_names
from ranking.archive.members import Member
from ranking.archive.storing import ImportState, Where, advance, guarded, made, portions, store, time_of

MATCHUP = fields_of(
    matchup=("code", "its public id; votes refer to it"),
    judge=("text", "who was shown it"),
    order=("whole", "its number in this judge's sequence"),
    kind=("text", "regular, shared (all judges get it), repeat (shown to this judge before) or picked (by a curator)"),
    state=("text", "queued, open, voted, skipped or void"),
    prompt=("text?", "the prompt's key; null where a file of votes named none"),
    category=("text", "the prompt's category"),
    left_entrant=("text", "who was on the left"),
    right_entrant=("text", "who was on the right"),
    left_sample=("text?", "the drawing on the left"),
    right_sample=("text?", "the drawing on the right"),
    key=("text", "the same for the same two drawings, whatever their sides"),
    repeat_of=("text?", "the matchup that a repeat shows again"),
    created_at=("time", "when it was planned"),
    opened_at=("time?", "when the judge saw it"),
    skipped_at=("time?-", "when the judge skipped it"),
)
VOTE = fields_of(
    run=("text", "the run's public id"),
    suite=("text", "the suite"),
    judge=("text?", "the judge's pseudonym; null where unknown"),
    prompt_text=("text?", "what was to be drawn"),
    category=("text?", "the prompt's category"),
    left_model=("text", "the entrant on the left"),
    right_model=("text", "the entrant on the right"),
    left_attempt=("whole?", "which attempt of it"),
    right_attempt=("whole?", "which attempt of it"),
    outcome=("text", "left, right, tie (both good) or fail (both bad)"),
    voted_at=("time", "when"),
    response_ms=("whole?", "how long the judge looked"),
    kind=("text", "regular, shared, repeat or picked; the last two never enter a rating"),
    withdrawn=("flag", "it does not count: taken back by the judge, kept out, or about a drawing that was excluded"),
    withdrawn_at=("time?", "when it was taken back"),
    matchup=("text", "the matchup it is about"),
    unblind=("flag", "names were shown after each vote of this run, or could be known before this one"),
    kept_out=("flag-", "in no rating, because the judge could know the names or a curator picked the pair"),
    imported=("flag", "came from a file"),
    unconfirmed=("flag-", "after a curator's link set the judge's password, which the judge has not confirmed"),
    left_breaks=("whole", "fonts in which the left one breaks, as bits 1, 2, 4"),
    right_breaks=("whole", "the same for the right one"),
)
STORED_AS_THEY_ARE = ("outcome", "response_ms", "unblind", "imported", "left_breaks", "right_breaks")


def matchup_rows(run: Run) -> Rows:
    return rows_of(
        Matchup.objects.filter(run=run, gold=None).order_by("id"),
        matchup="code",
        judge="seat__pseudonym",
        **same_names("order", "kind", "state"),
        prompt="prompt__key",
        category="category",
        left_entrant="left__name",
        right_entrant="right__name",
        left_sample="left_sample__code",
        right_sample="right_sample__code",
        key="key",
        repeat_of="repeat_of__code",
        **same_names("created_at", "opened_at", "skipped_at"),
    )


def load_matchups(state: ImportState) -> None:
    repeats: list[tuple[int, str, str]] = []

    def make(row: dict[str, Any], where: Where) -> Matchup:
        code = state.code(row["matchup"])
        if row["repeat_of"] is not None:
            repeats.append((where.line, code, state.code(row["repeat_of"])))
        same = {name: row[name] for name in ("order", "kind", "state", "category", "key")}
        return Matchup(
            run=state.run,
            code=code,
            seat_id=where.known(state.seats, "judge"),
            prompt_id=where.known_or_null(state.prompts, "prompt"),
            left_id=where.known(state.entrants, "left_entrant"),
            right_id=where.known(state.entrants, "right_entrant"),
            left_sample_id=row["left_sample"],
            right_sample_id=row["right_sample"],
            created_at=time_of(row["created_at"]),
            opened_at=time_of(row["opened_at"]),
            skipped_at=time_of(row.get("skipped_at")),
            **where.fitting(Matchup, same),
        )

    for _ in made(state, "matchups.jsonl", make, samples=("left_sample", "right_sample")):
        pass
    for portion in portions(repeats):
        _link_repeats(state, portion)


def _link_repeats(state: ImportState, portion: list[tuple[int, str, str]]) -> None:
    codes = {code for _, *pair in portion for code in pair}
    matchups = {row.code: row for row in Matchup.objects.filter(run=state.run, code__in=codes)}
    for line, code, original in portion:
        if original not in matchups:
            raise BadLine("matchups.jsonl", line, "repeat_of", "is not a matchup of this archive")
        matchups[code].repeat_of = matchups[original]
    guarded(
        lambda: Matchup.objects.bulk_update([matchups[code] for _, code, _ in portion], ["repeat_of"]),
        "matchups.jsonl",
        portion[0][0],
    )


def load_votes(state: ImportState) -> None:
    for portion in portions(state.archive.rows("votes.jsonl")):
        codes = {state.code(row["matchup"]) for _, row in portion}
        places = {
            code: (pk, seat)
            for code, pk, seat in Matchup.objects.filter(run=state.run, code__in=codes).values_list(
                "code", "pk", "seat_id"
            )
        }
        rows = []
        for line, row in portion:
            where = Where("votes.jsonl", line, row)
            pk, seat = where.look_up(places, "matchup", state.code(row["matchup"]))
            if row["withdrawn_at"] is not None and not row["withdrawn"]:
                raise where.error("withdrawn", "does not agree with withdrawn_at")
            times = {name: time_of(row[name]) for name in ("voted_at", "withdrawn_at")}
            same = {name: row[name] for name in STORED_AS_THEY_ARE} | {"kept_out": row.get("kept_out", False)}
            rows.append((line, Vote(run=state.run, matchup_id=pk, seat_id=seat, **times, **where.fitting(Vote, same))))
        store(rows, "votes.jsonl")
        advance(state, len(rows))
    _count_seats(state.run)
    rebuild_tallies(state.run)


def _count_seats(run: Run) -> None:
    """What a seat keeps count of, from the rows."""
    # Checks are in no archive: their places in the order are empty, and need no vote either.
    needed = Count("id", filter=~Q(state__in=[Matchup.State.VOID, Matchup.State.SKIPPED]))
    shown = run.matchups.order_by().values("seat").annotate(made=Max("order") + 1, void=Max("order") + 1 - needed)
    for seat in shown:
        Seat.objects.filter(pk=seat["seat"]).update(made=seat["made"], void=seat["void"])
    standing = run.votes.standing().order_by().values("seat").annotate(voted=Count("id"), last=Max("voted_at"))
    for row in standing:
        Seat.objects.filter(pk=row["seat"]).update(voted=row["voted"], last_vote_at=row["last"])


MODEL_VOTE = fields_of(
    judge=("text", "the model judge's name"),
    model=("text", "its model's id"),
    left_model=("text", "the entrant whose drawing was shown first"),
    right_model=("text", "the entrant whose drawing was shown second"),
    prompt_text=("text", "what was to be drawn"),
    answer=("text?", "left, right, tie (both good) or fail (both bad); null where it was unreadable"),
    version=("whole", "of its instructions"),
    simulated=("flag", "by a simulated judge"),
    category=("text", "the prompt's category"),
    left_attempt=("whole?", "which attempt of it; null where there are votes and no drawings"),
    right_attempt=("whole?", "which attempt of it"),
    reason=("text", "the judge's own words"),
    unreadable=("text", "what was wrong with an unreadable answer"),
    cost_nano=("whole?", "what it cost, in nano-dollars; null if unknown"),
    answered_at=("time?", "when"),
)


def model_vote_rows(run: Run) -> Rows:
    return (line.as_row() for line in model_vote_lines(run))


def load_model_votes(state: ImportState) -> None:
    """Model judges whose questions were asked at the other site; their answers are in no table of votes here either."""
    lines = []
    for number, row in state.archive.rows("model_votes.jsonl"):
        values = row | {"answered_at": time_of(row["answered_at"])}
        if row["answer"] not in (None, *OUTCOMES):
            raise BadLine("model_votes.jsonl", number, "answer", f"must be null or one of {', '.join(OUTCOMES)}")
        lines.append(ModelVoteLine(**values, file="model_votes.jsonl", number=number))
    guarded(lambda: store_model_votes(state.run, lines), "model_votes.jsonl", 1)
    advance(state, len(lines))


MEMBERS = (
    Member(
        name="matchups.jsonl",
        table=Matchup,
        fields=MATCHUP,
        rows=matchup_rows,
        load=load_matchups,
        listed=False,
        always=True,
    ),
    Member(
        name="votes.jsonl",
        table=Vote,
        fields=VOTE,
        rows=vote_rows,
        load=load_votes,
        write=write_votes,
        always=True,
    ),
    Member(
        name="model_votes.jsonl",
        table=Sample,
        fields=MODEL_VOTE,
        rows=model_vote_rows,
        load=load_model_votes,
        listed=False,
        optional=True,
        total=count_model_votes,
    ),
)
