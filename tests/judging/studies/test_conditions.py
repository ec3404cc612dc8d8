"""Questions that follow from earlier answers, and answers that end a study."""

from __future__ import annotations

import re

import pytest

from judging.models import Study
from judging.studies import walking
from judging.studies.writing import study_faults
from tests.judging.studies.make import Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
CONDITIONAL = [
    {"key": "draws", "text": "Do you draw?", "options": ["no", "yes"]},
    {"key": "tool", "text": "What with?", "options": ["pen", "brush", "nothing"], "ask_if": {"draws": ["yes"]}},
    {"key": "brand", "text": "Which pen?", "kind": "text", "ask_if": {"draws": ["yes"], "tool": "pen"}},
]


def test_a_question_is_asked_only_after_the_answers_that_it_needs():
    study = make_study(profile=CONDITIONAL)
    one, other = Guest(study), Guest(study)
    for guest in (one, other):
        guest.enter()

    one.pass_step("profile", draws="no")
    pages = [other.page()]
    for answer in ({"draws": "yes"}, {"tool": "pen"}, {"brand": "Bic"}):
        other.pass_step("profile", **answer)
        pages.append(other.page())

    assert one.client.get(one.here).url == f"/judge/{study.run.code}/"
    asked = [[text in page for text in ("Do you draw?", "What with?", "Which pen?")] for page in pages[:3]]
    assert asked == [[True, False, False], [False, True, False], [False, False, True]]
    assert dict(other.participation().answers.values_list("question", "value")) == {
        "draws": "yes", "tool": "pen", "brand": "Bic",
    }  # fmt: skip


def test_a_follow_up_question_can_screen_out():
    follow_up = CONDITIONAL[1] | {"screen_out": ["nothing"]}
    guest = Guest(make_study(profile=[CONDITIONAL[0], follow_up]))
    guest.enter()

    guest.pass_step("profile", draws="yes")
    guest.pass_step("profile", tool="nothing")

    assert "You ended: screened_out." in guest.page()
    assert guest.participation().seat is None


@pytest.mark.parametrize("step", ["profile", "closing"])
def test_a_step_without_a_question_for_somebody_is_passed(step):
    draws = {"key": "draws", "text": "Do you draw?", "options": ["no", "yes"]}
    blocks = {"profile": [draws], "closing": [CONDITIONAL[1]]} if step == "closing" else {"profile": [CONDITIONAL[1]]}
    study = make_study(is_open=False, pairs=1, **blocks)
    Study.objects.update(state=Study.State.OPEN)
    guest = Guest(study)
    guest.enter()

    guest.pass_step("profile", draws="no")
    guest.judge(1)

    assert "You ended: done." in guest.page()
    assert guest.participation().outcome == "done"


def test_a_form_that_comes_twice_answers_no_question_that_follows():
    follow_up = CONDITIONAL[1] | {"required": False}
    guest = Guest(make_study(profile=[CONDITIONAL[0], follow_up]))
    guest.enter()
    asked = re.search(r'name="asked" value="([^"]+)"', guest.page())[1]

    for _ in range(2):
        guest.client.post(guest.here, {"step": "profile", "asked": asked, "q-draws": "yes"})
    with pytest.raises(walking.StaleStepError):  # validated before the other one was stored
        walking.answer_questions(guest.participation(), "profile", {"draws": "yes"})

    assert "What with?" in guest.page()
    assert dict(guest.participation().answers.values_list("question", "value")) == {"draws": "yes"}


def test_conditions_that_cannot_be_met_are_faults():
    wrong = [
        {"key": "one", "text": "One?", "options": ["a", "b"], "ask_if": {"two": ["c"]}},
        {"key": "two", "text": "Two?", "options": ["c", "d"], "ask_if": {"one": ["x"]}},
    ]

    faults = study_faults(make_study(profile=wrong, is_open=False))

    assert faults == [
        "“one” is asked by “two”, which is no earlier question with options.",
        "“two” is asked if “one” is “x”, which is not among its options.",
    ]
