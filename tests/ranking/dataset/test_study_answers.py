"""What judges said in studies: published by choice only, and nothing that sets fewer than five of them apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from django.utils.timezone import now
from hypothesis import given
from hypothesis import strategies as st

from judging.models import Participation, StudyAnswer
from ranking.dataset.importing import import_dataset
from ranking.dataset.publishing import publish_dataset
from ranking.dataset.study_answers import SMALLEST, shared_only
from tests.judging.make import close_judging, make_curator, make_seat
from tests.judging.studies.make import WHOLE, make_study
from tests.ranking.archive_run import make_judged_run
from tests.ranking.dataset.test_publishing import ABOUT

QUESTIONS = [("s", key) for key in "abc"]


@given(st.lists(st.dictionaries(st.sampled_from(QUESTIONS), st.sampled_from("xyz")), max_size=40))
def test_what_is_left_of_one_judge_is_left_of_five(given_answers):
    kept = shared_only(dict(enumerate(given_answers)))

    alike = Counter(frozenset(each.items()) for each in kept.values())
    assert min(alike.values(), default=SMALLEST) >= SMALLEST
    assert all(kept[judge].items() <= given_answers[judge].items() for judge in kept)


def test_nothing_is_left_out_that_need_not_be():
    answers = {judge: {("s", "a"): "x" if judge < 5 else "y", ("s", "b"): "z"} for judge in range(10)}

    assert shared_only(answers) == answers
    assert shared_only({**answers, 10: {("s", "a"): "alone", ("s", "b"): "z"}}) == answers


@pytest.fixture
def run(db):
    run = make_judged_run(judges=3, votes=30)
    study = make_study(run, is_open=False, **WHOLE)
    version = study.versions.get()
    for number in range(8):
        seat = make_seat(run, f"guest{number}")
        person = Participation.objects.create(
            study=study, version=version, seat=seat, guest=seat.judge, consent_version="1", consented_at=now()
        )
        profile = {"age": "18 or older", "tools": ["pen"] if number < 7 else ["mouse"], "years": 20 + number}
        rows = [StudyAnswer(participation=person, step="profile", question=key, value=profile[key]) for key in profile]
        rows.append(
            StudyAnswer(participation=person, step="closing", question="remarks", value=f"I am person {number}")
        )
        rows.append(StudyAnswer(participation=person, step="check", question="task", value="a"))
        StudyAnswer.objects.bulk_create(rows)
    return close_judging(run)


def read(folder, name):
    return pd.read_parquet(folder / f"data/{name}/train.parquet")


def test_what_judges_said_is_published_by_choice_only(run, tmp_path):
    plain = publish_dataset(run, tmp_path / "plain", ABOUT)
    chosen = publish_dataset(run, tmp_path / "chosen", replace(ABOUT, answers=True, comments=True))

    card = (chosen / "README.md").read_text()
    answers, comments = read(chosen, "answers"), read(chosen, "comments")
    assert not (plain / "data/answers").exists() and not (plain / "data/comments").exists()
    assert "What judges said about themselves is not published." in (plain / "README.md").read_text()
    assert Counter(zip(answers.question, answers.answer, strict=True)) == {
        ("age", "18 or older"): 8 - 1, ("tools", "pen"): 7, ("years", "20–29"): 7,
    }  # fmt: skip
    assert set(answers.judge) <= set(read(chosen, "judges").judge)
    assert "3 rarer answers are left out" in card
    assert list(comments.comment) == [f"I am person {number}" for number in range(8)] and "judge" not in comments
    votes = [(folder / "data/votes/train.parquet").read_bytes() for folder in (plain, chosen)]
    assert votes[0] == votes[1]


def test_a_dataset_with_answers_is_imported_without_them(run, tmp_path):
    chosen = publish_dataset(run, tmp_path / "chosen", replace(ABOUT, answers=True, comments=True))

    imported = import_dataset(chosen, reason="a paper", copy=True)

    assert imported.votes.count() == run.votes.count() and not imported.studies.exists()


def test_the_page_offers_it_where_there_were_studies(run, client):
    client.force_login(make_curator("carla"))

    assert "Publish what judges wrote in studies" in client.get(f"/runs/{run.code}/dataset/").content.decode()
    run.studies.all().delete()
    assert "in studies</label>" not in client.get(f"/runs/{run.code}/dataset/").content.decode()
