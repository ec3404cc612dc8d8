"""Python programs as entrants: a row for each call, money and pauses between them, and off unless an operator allows them."""

from __future__ import annotations

import asyncio

import pytest

from benchsite.operations.doctor import check_machine
from generation.demo.server import Scripted
from generation.drawing import crew
from generation.models import Entrant, Run, Sample
from generation.runs.curating import approve_entrants
from generation.runs.errors import RunError
from generation.runs.lifecycle import pause_run, resume_run, start_run
from generation.sandbox import isolation
from generation.sandbox.programs import OFF, why_not
from generation.suites.costs import cost_bound_nano, longest_prompt
from generation.suites.program_files import read_programs
from generation.suites.yaml_source import SuiteError
from tests.generation.drawing_room import (
    MASTER,
    ask,
    assert_all_drawn,
    assert_invariants,
    claim,
    draw_some,
    make_program,
    make_suite,
    settle,
)
from tests.judging.make import make_curator
from tests.services import bubblewrap

pytestmark = pytest.mark.django_db

# Two drafts, a mark for each, and the better one.
JUDGE = """
def run(target, ask):
    drafts = [ask(f"Draw a {target}, draft {n}.") for n in range(2)]
    marks = [ask([{"role": "user", "content": "Draw."}, {"role": "assistant", "content": draft},
                  {"role": "user", "content": "Mark it."}]) for draft in drafts]
    return drafts[marks.index(max(marks, key=len))]
"""
ONE = "def run(target, ask):\n    return ask(f'Draw a {target}.')\n"
BROKEN = "def run(target, ask):\n    ask('Draw.')\n    return target[99]\n"


@pytest.fixture(autouse=True)
def allowed(settings):
    bubblewrap()
    settings.PYTHON_PROGRAMS = True


def python_run(source=ONE, *, approve=True, **options) -> Run:
    programs = [make_program("thinker", turns=(), python=source)]
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1, programs=programs), **options)
    if approve:
        approve_entrants(Entrant.objects.filter(run=run), by=make_curator(), reason="Read it.")
    return run


def reply(text: str) -> Scripted:
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.001}
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Scripted(body={"id": "g", "model": "demo/master", "choices": [choice], "usage": usage}, cost_nano=10**6)


def draw_to_the_end(run: Run) -> Sample:
    for _ in range(20):
        draw_some(run)
    return run.samples.get()


def test_a_program_branches_evaluates_itself_and_ends_with_the_better_draft(demo):
    drafts = ["```\n/\\\n```", "```\n/\\/\\\n```"]
    bodies, texts = [], [*drafts, "Poor.", "Very good."]
    server = demo(plan=lambda number, body: bodies.append(body) or reply(texts[number]))
    run = python_run(JUDGE)

    sample = draw_to_the_end(run)

    assert (sample.state, sample.verdict, sample.answer) == ("drawn", "valid", drafts[1])
    assert sample.earlier_answers == [*drafts, "Poor.", "Very good."]
    assert [question["messages"][-1]["content"] for question in sample.questions] == [
        "Draw a cat, draft 0.",
        "Draw a cat, draft 1.",
        "Mark it.",
        "Mark it.",
    ]
    assert list(sample.calls.order_by("turn").values_list("turn", "cost_nano")) == [(n, 10**6) for n in range(4)]
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=4)
    assert [message["role"] for message in bodies[3]["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.django_db(transaction=True)
def test_the_crew_draws_programs_of_every_kind(demo):
    server = demo()
    programs = [make_program(), make_program("thinker", turns=(), python=ONE)]
    run = start_run(make_suite(programs=programs))
    approve_entrants(Entrant.objects.filter(run=run), by=make_curator(), reason="Read it.")

    asyncio.run(crew.draw(run_id=run.pk, patience=1.0))

    assert_all_drawn(run)
    assert Sample.objects.filter(run=run, entrant__name="thinker", verdict="valid").count() == 12
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=36)


def test_a_program_waits_for_a_curator_even_in_a_suite_of_ones_own(demo):
    demo()
    run = python_run(approve=False)

    assert claim(run) == []
    assert set(run.samples.values_list("state", flat=True)) == {"cancelled"}


def test_programs_are_off_unless_an_operator_allows_them(demo, settings):
    demo()
    settings.PYTHON_PROGRAMS = False

    with pytest.raises(RunError, match="turned off on this site"):
        python_run()

    assert not Entrant.objects.get().approved


def test_programs_stay_off_where_they_cannot_be_isolated(demo, monkeypatch):
    demo()
    why_not.cache_clear()
    monkeypatch.setattr(isolation, "TOOL", "no-such-tool")

    with pytest.raises(RunError, match="apt-get install bubblewrap"):
        python_run()

    why_not.cache_clear()


def test_a_worker_that_may_not_run_programs_pauses_the_run_and_says_why(demo, settings):
    demo()
    run = python_run()
    settings.PYTHON_PROGRAMS = False

    draw_some(run)

    run.refresh_from_db()
    assert (run.drawing_state, run.paused_reason) == ("paused", OFF)
    settings.PYTHON_PROGRAMS = True
    resume_run(run)
    assert draw_to_the_end(run).state == "drawn"


def test_a_program_that_fails_has_an_invalid_answer_and_its_reason(demo):
    demo()

    sample = draw_to_the_end(python_run(BROKEN))

    assert (sample.state, sample.verdict, sample.reason) == ("drawn", "invalid", "program_failed")
    assert sample.detail == "IndexError in line 3: string index out of range"
    assert sample.calls.count() == 1


def test_a_pause_holds_between_two_questions(demo):
    demo()
    run = python_run(JUDGE)
    draw_some(run)
    draw_some(run)
    pause_run(run)

    assert claim(run) == []
    assert run.samples.get().calls.count() == 1
    resume_run(run)
    assert draw_to_the_end(run).state == "drawn"


def test_a_step_of_a_lost_worker_is_taken_again_and_asks_nothing_twice(demo):
    server = demo()
    run = python_run()
    (step,) = claim(run)
    late = ask([step])
    draw_again = claim(run)
    assert draw_again == []  # its lease still holds
    settle(run, late)
    settle(run, late)

    assert draw_to_the_end(run).state == "drawn"
    assert server.bill.requests == 1


def test_a_budget_is_checked_before_each_question(demo):
    demo(plan=[reply("```\n/\\\n```")] * 9)
    run = python_run(JUDGE, budget=0.0165)

    sample = draw_to_the_end(run)

    run.refresh_from_db()
    assert sample.state == "pending"
    assert run.drawing_state == "paused"
    assert "does not allow another call" in run.paused_reason


def test_the_cost_bound_has_every_question_that_the_rules_allow():
    plain = make_suite(models=[MASTER], prompts=1, attempts=1, programs=[make_program(turns=("Draw {{target}}.",))])
    thinking = make_suite(models=[MASTER], prompts=1, attempts=1, programs=[make_program(turns=(), python=ONE)])

    assert cost_bound_nano(thinking) > 10 * cost_bound_nano(plain)
    assert longest_prompt(thinking, MASTER) > 20_000


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def draw(): pass", "no function run"),
        ("def run(target): pass", "no function run"),
        ("def run(target, ask) return", "It is not Python"),
        ("def run(target, ask): pass  # \\u202E", "U\\+202E"),
        ("def run(target, ask): pass" + " " * 10_000, "at most 10000"),
    ],
)
def test_a_program_that_cannot_run_does_not_qualify(tmp_path, source, why):
    path = tmp_path / "programs.yaml"
    path.write_text(f'programs: [{{name: odd, python: "{source}"}}]')

    with pytest.raises(SuiteError, match=why):
        read_programs(path)


def test_its_page_and_its_samples_show_what_it_is_and_what_it_asked(demo, client):
    demo()
    run = python_run()
    sample = draw_to_the_end(run)
    client.force_login(make_curator("dora"))

    page = client.get(f"/samples/{sample.code}/").text

    assert "Question" in page
    assert "Draw a cat." in page


def test_doctor_says_whether_programs_can_be_run(monkeypatch):
    assert "Python programs are run in a sandbox, which was tried." in [finding.what for finding in check_machine()]

    why_not.cache_clear()
    monkeypatch.setattr(isolation, "TOOL", "no-such-tool")
    assert "Python programs are allowed, but cannot be run here." in [finding.what for finding in check_machine()]
    why_not.cache_clear()
