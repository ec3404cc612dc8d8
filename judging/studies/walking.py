"""Verbs: pass a step, begin to judge, come to an end. Where somebody is follows from stored rows, whatever tab asks."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import Event, Run
from generation.suites.studies.study import Question
from generation.suites.studies.study import Study as Content
from judging.curating.invitations import seat_judge
from judging.curating.runs import weigh_judge
from judging.gold.answering import checks_in_words, failed_checks
from judging.models import Participation, Seat, StepRecord, StudyAnswer
from judging.models.studies import new_receipt
from judging.pairs.serving import Screen, take_seat
from judging.studies.arena.panel import in_arena
from judging.studies.steps import (
    CHECK,
    CLOSING,
    CONSENT,
    JUDGE,
    PRACTICE,
    PROFILE,
    due_questions,
    is_right,
    is_screened_out,
    next_step,
    questions_of,
)
from judging.studies.writing import content_for

DROPOUTS = (Participation.Outcome.TIMED_OUT, Participation.Outcome.RETURNED)


class StaleStepError(Exception):
    """Another tab has passed this step, or it has not come yet: the present one is shown instead."""


def is_running(participation: Participation) -> bool:
    return participation.outcome == Participation.Outcome.RUNNING


def current_step(participation: Participation) -> str | None:
    """Where the participant is; None behind the last step."""
    content = content_for(participation)
    return next_step(content, _passed(participation, content))


def _passed(participation: Participation, content: Content) -> set[str]:
    """The steps that were passed, and those whose questions are all answered or not for this participant."""
    passed = set(participation.steps.exclude(passed_at=None).values_list("step", flat=True))
    if has_judged(participation):
        passed.add(JUDGE)
    asking = [step for step in (PROFILE, CLOSING) if step not in passed and questions_of(content, step)]
    return passed.union(step for step in asking if not questions_to_ask(participation, content, step))


def has_judged(participation: Participation) -> bool:
    seat = participation.seat
    return seat is not None and seat.quota is not None and seat.voted >= seat.quota


def _locked(participation: Participation) -> Participation:
    """The row as it is now, held till the end of the transaction; rows that refer to it may come meanwhile, or two would block."""
    rows = Participation.objects.select_for_update(of=("self",), no_key=True).select_related("version", "study", "seat")
    return rows.defer("seat__plan").get(pk=participation.pk)


def _here(participation: Participation, step: str) -> tuple[Participation, StepRecord, Content]:
    mine = _locked(participation)
    if not is_running(mine) or current_step(mine) != step:
        raise StaleStepError
    record, _ = StepRecord.objects.get_or_create(participation=mine, step=step)
    return mine, record, content_for(mine)


def _pass(record: StepRecord) -> None:
    record.passed_at = now()
    record.save(update_fields=["tries", "passed_at"])


def note_step(participation: Participation, step: str) -> StepRecord:
    """When a step was first seen, for its timing."""
    record, _ = StepRecord.objects.get_or_create(participation=participation, step=step)
    return record


@transaction.atomic
def give_consent(participation: Participation) -> None:
    mine, record, content = _here(participation, CONSENT)
    mine.consent_version = content.consent.version if content.consent else ""
    mine.consented_at = now()
    mine.save(update_fields=["consent_version", "consented_at"])
    _pass(record)


@transaction.atomic
def refuse_consent(participation: Participation) -> None:
    mine, _, _ = _here(participation, CONSENT)
    end_participation(mine, Participation.Outcome.REFUSED)


@transaction.atomic
def read_on(participation: Participation, step: str) -> None:
    """Pass a step that asks nothing."""
    _, record, content = _here(participation, step)
    if questions_of(content, step) or step in (CONSENT, PRACTICE, JUDGE):
        raise StaleStepError
    _pass(record)


@transaction.atomic
def answer_questions(participation: Participation, step: str, answers: dict[str, Any]) -> int | None:
    """Store the answers and pass the step, or come to an end by them.

    Of a comprehension check that went wrong, how many tries are left. StaleStepError where other questions are due now.
    """
    mine, record, content = _here(participation, step)
    questions = questions_to_ask(mine, content, step)
    if any(question.key not in answers for question in questions):
        raise StaleStepError
    for question in questions:
        _store(mine, step, question.key, answers.get(question.key))
    record.tries += 1
    if step == CHECK and content.check and not is_right(questions, answers):
        record.save(update_fields=["tries"])
        left = content.check.tries - record.tries
        if left <= 0:
            end_participation(mine, Participation.Outcome.SCREENED_OUT, reason="failed the comprehension check")
            return None
        return left
    if questions_to_ask(mine, content, step) and step != CHECK:  # others follow from these answers
        record.save(update_fields=["tries"])
    else:
        _pass(record)
    if is_screened_out(questions, answers):
        end_participation(mine, Participation.Outcome.SCREENED_OUT, reason=f"by an answer in {step}")
    return None


@transaction.atomic
def answer_practice(participation: Participation, *, number: int, choice: str) -> None:
    """Keep what was chosen in the next practice pair; StaleStepError for any other pair. How many are answered are its tries."""
    mine, record, content = _here(participation, PRACTICE)
    if content.practice is None or number != record.tries + 1 or number > content.practice.pairs:
        raise StaleStepError
    _store(mine, PRACTICE, f"practice_{number}", choice)
    record.tries = number
    record.save(update_fields=["tries"])


@transaction.atomic
def finish_practice(participation: Participation) -> None:
    _, record, content = _here(participation, PRACTICE)
    if content.practice is None or record.tries < content.practice.pairs:
        raise StaleStepError
    _pass(record)


@transaction.atomic
def skip_practice(participation: Participation) -> None:
    """Pass it where the run has no pair to practise on any more."""
    _, record, _ = _here(participation, PRACTICE)
    _pass(record)


def questions_to_ask(participation: Participation, content: Content, step: str) -> tuple[Question, ...]:
    """The questions of a step that its next form has: a check's are all asked again, the others once and by their conditions."""
    questions = questions_of(content, step)
    if step == CHECK or not questions:
        return questions
    standing = participation.answers.filter(replaced_at=None).values_list("question", "value")
    return due_questions(questions, dict(standing))


def _store(participation: Participation, step: str, question: str, value: Any) -> None:
    standing = StudyAnswer.objects.filter(participation=participation, question=question, replaced_at=None)
    standing.update(replaced_at=now())
    StudyAnswer.objects.create(participation=participation, step=step, question=question, value=value)


def begin_judging(participation: Participation) -> Screen | None:
    """Seat the participant, once, and put a pair on the screen; None where judging is not open, or the step not reached."""
    with transaction.atomic():
        mine = _locked(participation)
        if not is_running(mine) or current_step(mine) != JUDGE:
            return None
        run = Run.objects.defer("config").get(pk=mine.study.run_id)
        if run.judging_state != Run.Judging.OPEN:
            return None
        if mine.seat is None and mine.guest is not None:
            note_step(mine, JUDGE)
            content = content_for(mine)
            pairs = content.pairs
            crowd = in_arena() if mine.study.arena else {}
            mine.seat = seat_judge(run=run, judge=mine.guest, quota=pairs, gold=content.gold, **crowd)
            if mine.seat.quota != pairs:  # a seat from elsewhere
                mine.seat.quota = pairs
                mine.seat.save(update_fields=["quota"])
            mine.save(update_fields=["seat"])
    participation.seat = mine.seat
    return take_seat(mine.seat.pk) if mine.seat else None


def settle(participation: Participation) -> str | None:
    """Where the participant goes on; None at an end, which is made here if it has been reached."""
    participation.refresh_from_db()
    if not is_running(participation):
        return None
    step = current_step(participation)
    if participation.seat and participation.seat.ended_at and failed_checks(participation.seat):
        end_participation(participation, Participation.Outcome.FAILED_GOLD, reason=checks_in_words(participation.seat))
        participation.refresh_from_db()
        return None
    if step is None:
        end_participation(participation, Participation.Outcome.DONE)
        participation.refresh_from_db()
        return None if not is_running(participation) else JUDGE
    return step


@transaction.atomic
def end_participation(participation: Participation, outcome: str, *, reason: str = "") -> bool:
    """End it, once, and close its seat; False where it had ended before, or is said to be done without all its votes.

    The seat is locked as a vote locks it: a vote or undo under way comes before, or finds the seat closed.
    """
    mine = _locked(participation)
    if not is_running(mine):
        return False
    moment = now()
    if mine.seat_id:
        seat = Seat.objects.select_for_update(no_key=True).defer("plan").get(pk=mine.seat_id)
        if outcome == Participation.Outcome.DONE and (seat.quota is None or seat.voted < seat.quota):
            return False
        Seat.objects.filter(pk=seat.pk).update(ended_at=moment, version=F("version") + 1)
        judged = StepRecord.objects.filter(participation=mine, step=JUDGE, passed_at=None)
        if seat.quota and seat.voted >= seat.quota:
            judged.update(passed_at=seat.last_vote_at or moment)
    elif outcome == Participation.Outcome.DONE:
        return False
    Participation.objects.filter(pk=mine.pk).update(
        outcome=outcome,
        reason=reason,
        ended_at=moment,
        completion_code=new_receipt() if outcome == Participation.Outcome.DONE else None,
    )
    if outcome in DROPOUTS and mine.seat_id and content_for(mine).votes_of_dropouts == "drop":
        seat = Seat.objects.select_related("run").defer("plan", "run__config").get(pk=mine.seat_id)
        if seat.run.frozen_at is None:
            reason = f"{Participation.Outcome(outcome).label.capitalize()}; the study drops such votes."
            weigh_judge(seat=seat, weight=0, by=None, reason=reason)
    return True


@transaction.atomic
def return_participants(*, study: Any, ids: list[str], by: Any, reason: str = "") -> tuple[int, list[str]]:
    """Free the places of these platform ids or participants' codes. Says how many, and which are unknown or had ended."""
    chosen = study.participations.filter(Q(external_id__in=ids) | Q(code__in=ids))
    rows = {row.code: row for row in chosen} | {row.external_id: row for row in chosen if row.external_id}
    ended = [
        external
        for external in dict.fromkeys(ids)
        if external in rows and end_participation(rows[external], Participation.Outcome.RETURNED, reason=reason)
    ]
    if ended:
        Event.objects.create(
            run=study.run,
            actor=by,
            verb=Event.Verb.RETURN_PARTICIPANTS,
            subject=f"{len(ended)} of {study}",
            reason=reason,
        )
    return len(ended), [external for external in dict.fromkeys(ids) if external not in ended]
