"""What a storm of the chaos bench strikes: a run that is drawn, or a model judge that compares or grades drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil
from random import Random
from typing import TYPE_CHECKING, Any

from generation.demo.answers import Asked, answer_to
from generation.demo.judges import HABITS, Habits, grade_picture, judge_pictures
from generation.demo.players import Player
from generation.formats.grade_sheet import FORMAT as GRADE_SHEET

if TYPE_CHECKING:
    from generation.models import Run

SKILL = Habits(skill=0.9)  # and never a word that cannot be read, so that each answer is one call
ENTRANTS = 10


def answer(player: Player, asked: Asked, random: Random) -> str:
    if player.name not in HABITS:
        return answer_to(player, asked, random)
    if asked.format == GRADE_SHEET.name:
        return grade_picture(SKILL, asked.pictures[0], asked.users[-1], random)
    return judge_pictures(SKILL, asked.pictures, random)


def start_asking(asked_for: str, samples: int, *, at_once: int) -> Run:
    """The run whose samples are asked for, that many."""
    return STARTS[asked_for](samples, at_once)


def _drawings(samples: int, at_once: int) -> Run:
    from generation.runs.lifecycle import start_run
    from tests.generation.drawing_room import MASTER, make_suite

    return start_run(make_suite(models=[MASTER], prompts=samples // 2, attempts=2, concurrency=at_once))


def _pairs(samples: int, at_once: int) -> Run:
    from judging.model_judges.pairs import PAIRS
    from tests.ranking.voted_run import make_voted_run

    prompts = ceil(samples / 2 / (ENTRANTS * (ENTRANTS - 1) / 2 * 4)) + 1  # two attempts each
    run = make_voted_run(votes=60, judges=3, entrants=ENTRANTS, prompts=max(prompts, 4))
    return _judge(run, PAIRS, samples // 2, at_once)


def _grades(samples: int, at_once: int) -> Run:
    from judging.model_judges.grading import GRADES as KIND
    from ranking.simulated.grades import simulate_grades
    from tests.judging.graded import make_rubric_run

    run = make_rubric_run(entrants=ENTRANTS, subjects=5, attempts=ceil(samples / (15 * ENTRANTS)), quota=20)
    simulate_grades(run, judges=2)
    return _judge(run, KIND, samples, at_once)


STARTS: dict[str, Callable[[int, int], Run]] = {"drawings": _drawings, "pairs": _pairs, "grades": _grades}


def _judge(run: Run, kind: Any, wanted: int, at_once: int) -> Run:
    from generation.models import Run as Runs
    from generation.suites.suite import ModelEntry
    from judging.model_judges.asking import Plan, add_model_judge
    from judging.model_judges.instructions import versioned

    entry = ModelEntry("demo/critic", "Critic", provider="demo", price_in=0.5, price_out=2)
    judge = add_model_judge(run, Plan(entry, versioned(run, "", kind), wanted, 1_000.0, kind=kind))
    Runs.objects.filter(pk=judge.pk).update(concurrency=at_once)
    judge.refresh_from_db()
    return judge


def broken_answers(run: Run, asked: int, *, failed: int) -> Iterable[str]:
    """What is wrong with a model judge's answers, as files have them; nothing where the run is one of drawings."""
    from judging.model_judges.answers import model_grade_lines, model_vote_lines
    from judging.models import Grade, Vote

    judged = run.judged_run
    if judged is None:
        return
    people = (Vote if judged.votes.exists() else Grade).objects
    lines: list[Any] = [*model_vote_lines(judged), *model_grade_lines(judged)]
    if len({line.key for line in lines}) != len(lines):
        yield "an answer is there twice"
    if len(lines) != asked - failed:
        yield f"of {asked} answers {len(lines)} are there, and {failed} failed"
    if any(line.unreadable for line in lines):
        yield "an answer is unreadable"
    if people.filter(run=run).exists() or people.filter(run=judged, seat__judge=None).exists():
        yield "a model's answer is among people's"
