"""Grading: what stands, what is kept, what is refused."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now

from generation.models import Run, Sample
from generation.runs.errors import RunError
from judging.curating.runs import decide_item
from judging.grades.grading import grade_sample, report_item, standing_values, undo_grade
from judging.grades.sheets import next_item, open_sheet
from judging.models import Grade, GradeItem, GradeSheet
from judging.pairs.epochs import newest_epoch, refresh_epoch
from judging.pairs.voting import mark_missed
from judging.seats import RefusedError
from tests.judging.graded import dimensions, grade, make_rubric_run, seat_with_list
from tests.judging.make import make_curator, make_entrant

pytestmark = pytest.mark.django_db


def sheet_of(seat):
    return GradeSheet.objects.get(seat=seat)


def undo(seat):
    return undo_grade(seat=seat, judge=seat.judge, step=sheet_of(seat).steps)


def test_a_list_has_every_drawing_once_under_a_code_of_its_own():
    run = make_rubric_run()
    seat = seat_with_list(run)

    items = list(seat.grade_items.all())

    assert len(items) == run.samples.count() == sheet_of(seat).items == 24
    assert not {item.code for item in items} & set(run.samples.values_list("code", flat=True))


def test_a_graded_drawing_leaves_the_line_and_marks_the_ranking(django_capture_on_commit_callbacks):
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)

    with django_capture_on_commit_callbacks(execute=True):
        done = grade(seat, item, 7.5, note="a fine one")

    assert done.values == dict.fromkeys(dimensions(item), 7.5)
    assert next_item(seat).order == item.order + 1
    assert sheet_of(seat).graded == 1
    assert GradeItem.objects.get(pk=item.pk).note == "a fine one"
    assert Run.objects.get(pk=seat.run_id).scores_changed_at is not None


def test_a_mark_that_was_lost_is_found_by_the_grade():
    seat = seat_with_list(make_rubric_run())
    grade(seat, next_item(seat))  # its process dies right after the commit

    assert (mark_missed(), mark_missed()) == (1, 0)


def test_one_dimension_can_be_saved_and_the_drawing_stays_in_line():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)

    grade_sample(judge=seat.judge, code=item.code, values={dimensions(item)[0]: 3})

    assert next_item(seat) == item
    assert sheet_of(seat).graded == 0


def test_the_same_again_changes_nothing():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)
    grade(seat, item, 6.0)

    again = grade(seat, item, 6.0)

    assert not again.changed
    assert Grade.objects.count() == 3


def test_a_change_keeps_the_old_grade_in_history():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)
    grade(seat, item, 6.0)

    grade(seat, item, 8.0)

    assert standing_values(item) == dict.fromkeys(dimensions(item), 8.0)
    old = Grade.objects.exclude(withdrawn_at=None)
    assert {(g.value, g.withdrawn_by) for g in old} == {(6.0, seat.judge)}
    assert sheet_of(seat).graded == 1


def test_undo_walks_back_change_by_change():
    seat = seat_with_list(make_rubric_run())
    first = next_item(seat)
    grade(seat, first, 5.0)
    grade(seat, first, 6.0)
    second = next_item(seat)
    grade(seat, second, 7.0)

    seen = []
    while item := undo(seat):
        seen.append((item.order, set(standing_values(item).values())))

    assert seen == [(1, set()), (0, {5.0}), (0, set())]
    assert sheet_of(seat).graded == 0
    assert next_item(seat) == first
    assert Grade.objects.filter(withdrawn_at=None).count() == 0


def test_an_undo_pressed_twice_happens_once():
    seat = seat_with_list(make_rubric_run())
    grade(seat, next_item(seat), 5.0)
    grade(seat, next_item(seat), 6.0)
    step = sheet_of(seat).steps

    undo_grade(seat=seat, judge=seat.judge, step=step)
    again = undo_grade(seat=seat, judge=seat.judge, step=step)

    assert again is None
    assert sheet_of(seat).graded == 1


@pytest.mark.parametrize("value", [-0.5, 10.5, 7.25, math.nan, math.inf, "7", True, None])
def test_a_value_off_the_scale_is_refused(value):
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)

    with pytest.raises(RefusedError) as refused:
        grade_sample(judge=seat.judge, code=item.code, values={dimensions(item)[0]: value})

    assert refused.value.code == "value"
    assert Grade.objects.count() == 0


def test_a_dimension_of_another_stage_is_refused_and_nothing_is_kept():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)

    with pytest.raises(RefusedError, match="Geometry, Colour, Impression") as refused:
        grade_sample(judge=seat.judge, code=item.code, values={"impression": 5, "structure": 5})

    assert refused.value.code == "dimension"
    assert Grade.objects.count() == 0


def test_another_judges_drawing_is_not_found():
    run = make_rubric_run()
    alice, bob = seat_with_list(run), seat_with_list(run, "bob")

    with pytest.raises(GradeItem.DoesNotExist):
        grade(bob, next_item(alice))


@pytest.mark.parametrize("state, code", [("paused", "paused"), ("closed", "closed"), ("not_open", "closed")])
def test_a_run_closed_in_between_takes_no_grade_and_no_undo(state, code):
    seat = seat_with_list(make_rubric_run())
    first = next_item(seat)
    grade(seat, first)
    item = next_item(seat)
    Run.objects.update(judging_state=state)
    seat.run.refresh_from_db()

    for act in (
        lambda: grade(seat, item),
        lambda: undo(seat),
        lambda: report_item(judge=seat.judge, code=item.code, reason="broken"),
    ):
        with pytest.raises(RefusedError) as refused:
            act()
        assert refused.value.code == code
    assert Grade.objects.filter(withdrawn_at=None).count() == 3


def test_a_judge_who_was_deactivated_is_refused():
    seat = seat_with_list(make_rubric_run())
    seat.judge.is_active = False
    seat.judge.save()

    with pytest.raises(RefusedError) as refused:
        grade(seat, next_item(seat))

    assert refused.value.code == "inactive"


@pytest.mark.parametrize("value", [-1, 10.5])
def test_the_database_itself_keeps_the_scale(value):
    seat = seat_with_list(make_rubric_run())
    sample = next_item(seat).sample

    with pytest.raises(IntegrityError), transaction.atomic():
        Grade.objects.create(run=seat.run, seat=seat, sample=sample, dimension="impression", value=value)


def test_the_database_itself_keeps_one_standing_grade():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)
    grade(seat, item)

    with pytest.raises(IntegrityError), transaction.atomic():
        Grade.objects.create(run=seat.run, seat=seat, sample=item.sample, dimension="impression", value=1)


def test_drawings_of_a_new_entrant_join_the_end_of_the_list():
    run = make_rubric_run()
    seat = seat_with_list(run)
    make_entrant(run, "new/late", attempts=2)

    open_sheet(seat.pk)
    open_sheet(seat.pk)

    assert sheet_of(seat).items == seat.grade_items.count() == 36
    late = seat.grade_items.filter(sample__entrant__name="new/late")
    assert min(item.order for item in late) == 24


def test_a_quota_is_kept_also_when_drawings_join():
    run = make_rubric_run()
    seat = seat_with_list(run, quota=10)
    make_entrant(run, "new/late", attempts=2)

    open_sheet(seat.pk)

    assert seat.grade_items.count() == 10
    assert seat.grade_items.filter(kind="shared").count() == 2


def test_a_drawing_withheld_later_is_passed_over_and_takes_no_grade():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)
    Sample.objects.filter(pk=item.sample_id).update(excluded_reason="signed")

    assert next_item(seat).order == item.order + 1
    with pytest.raises(RefusedError) as refused:
        grade(seat, item)
    assert refused.value.code == "gone"


def test_a_report_takes_the_drawing_off_the_list_until_a_curator_puts_it_back():
    run = make_rubric_run()
    seat, curator = seat_with_list(run), make_curator()
    item = next_item(seat)

    report_item(judge=seat.judge, code=item.code, reason="broken")
    report_item(judge=seat.judge, code=item.code, reason="broken")

    assert next_item(seat) != item
    assert sheet_of(seat).items == 23
    decide_item(item=item, exclude=False, by=curator)
    assert next_item(seat) == item
    assert sheet_of(seat).items == 24


def test_reports_while_grading_are_limited_by_the_hour(settings):
    settings.REPORTS_AN_HOUR = 2
    seat = seat_with_list(make_rubric_run())
    for _ in range(2):
        report_item(judge=seat.judge, code=next_item(seat).code, reason="broken")

    with pytest.raises(RefusedError, match="within an hour"):
        report_item(judge=seat.judge, code=next_item(seat).code, reason="broken")

    assert sheet_of(seat).items == 22


def test_grades_of_a_reported_drawing_can_be_taken_back():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)
    grade(seat, item)
    report_item(judge=seat.judge, code=item.code, reason="broken")

    undo(seat)

    assert standing_values(item) == {}
    assert (sheet_of(seat).items, sheet_of(seat).graded) == (23, 0)
    decide_item(item=GradeItem.objects.get(pk=item.pk), exclude=False, by=make_curator())
    assert (sheet_of(seat).items, sheet_of(seat).graded) == (24, 0)


def test_a_report_that_is_upheld_excludes_the_drawing():
    run = make_rubric_run()
    seat, curator = seat_with_list(run), make_curator()
    item = next_item(seat)
    report_item(judge=seat.judge, code=item.code, reason="signed")

    decide_item(item=item, exclude=True, by=curator)
    decide_item(item=item, exclude=False, by=curator)

    assert Sample.objects.get(pk=item.sample_id).excluded_reason == "reported by a judge: signed"
    assert run.events.filter(verb="report excluded").count() == 1


def test_a_report_is_upheld_by_the_same_verb_as_any_exclusion():
    run = make_rubric_run()
    run.protocols = ["pairwise", "rubric"]
    run.save(update_fields=["protocols"])
    epoch, seat, curator = refresh_epoch(run), seat_with_list(run), make_curator()
    fresh, known = seat.grade_items.select_related("sample")[:2]
    Sample.objects.filter(pk=known.sample_id).update(excluded_reason="a copy")
    for item in (fresh, known):
        report_item(judge=seat.judge, code=item.code, reason="signed", note="in a corner")

    decided = [decide_item(item=item, exclude=True, by=curator) for item in (fresh, known, fresh)]

    assert decided == [True, True, False]
    assert Sample.objects.get(pk=known.sample_id).excluded_reason == "a copy"
    assert newest_epoch(run).number == epoch.number + 1
    assert [event.facts for event in run.events.filter(verb="exclude_samples")] == [{"drawings": [fresh.sample.code]}]
    rows = run.events.filter(verb="report excluded").values_list("subject", "reason")
    assert set(rows) == {(f"drawing {item.sample.code}", "signed: in a corner") for item in (fresh, known)}


def test_a_report_makes_no_epoch_where_nothing_is_paired():
    seat = seat_with_list(make_rubric_run())
    item = next_item(seat)
    report_item(judge=seat.judge, code=item.code, reason="signed")

    decide_item(item=item, exclude=True, by=make_curator())

    assert newest_epoch(seat.run) is None


def test_a_report_in_a_frozen_run_excludes_nothing():
    run = make_rubric_run()
    seat, curator = seat_with_list(run), make_curator()
    item = next_item(seat)
    report_item(judge=seat.judge, code=item.code, reason="signed")
    Run.objects.filter(pk=run.pk).update(frozen_at=now())

    with pytest.raises(RunError, match="is frozen"):
        decide_item(item=GradeItem.objects.get(pk=item.pk), exclude=True, by=curator)

    assert Sample.objects.get(pk=item.sample_id).excluded_reason == ""


def test_serving_and_grading_cost_the_same_on_a_long_list(django_assert_max_num_queries):
    seat = seat_with_list(make_rubric_run(entrants=6, subjects=5))
    for _ in range(3):
        grade(seat, next_item(seat))

    with django_assert_max_num_queries(1):
        item = next_item(seat)
    with django_assert_max_num_queries(10):
        grade(seat, item)


@pytest.mark.django_db(transaction=True)
def test_of_many_submits_at_once_each_grade_is_counted_once():
    seat = seat_with_list(make_rubric_run(entrants=1, subjects=1))
    item = next_item(seat)

    def submit(value):
        try:
            grade(seat, item, value)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(submit, [3.0, 7.0] * 8))

    standing = Grade.objects.filter(withdrawn_at=None)
    assert len({g.value for g in standing}) == 1
    assert standing.count() == 3
    assert sheet_of(seat).graded == 1
    assert Grade.objects.filter(replaces=None).count() == 3
