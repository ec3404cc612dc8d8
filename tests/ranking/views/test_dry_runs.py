"""A dry run of a study: simulated participants in memory, and what they would tell, take and cost."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from generation.suites.studies.study import Study as Content
from judging.models import Epoch, Participation, Seat, Vote
from judging.pairs.epochs import eligible_table
from ranking.simulated.dry_runs import Crowd, dry_run
from tests.judging.make import make_curator, make_run
from tests.judging.studies.make import make_study

pytestmark = pytest.mark.django_db
STUDY = Content(name="Things", pairs=10)


@pytest.fixture(scope="module")
def table(module_rows):
    return eligible_table(make_run(entrants=4, prompts=10, attempts=2))


def test_more_participants_make_narrower_intervals_and_cost_more(table):
    few, many = (dry_run(STUDY, table, Crowd(), participants=number, pay=2.0) for number in (10, 60))

    assert many.width < 0.7 * few.width
    assert (few.cost, many.cost) == (20.0, 120.0)
    assert many.in_order > 0.5


def test_drop_outs_are_replaced_and_take_time_without_pay(table):
    loyal = dry_run(STUDY, table, Crowd(dropouts=0.0), participants=20, pay=1.0)
    fickle = dry_run(STUDY, table, Crowd(dropouts=0.5), participants=20, pay=1.0)
    dropped = dry_run(replace(STUDY, votes_of_dropouts="drop"), table, Crowd(dropouts=0.5), participants=20)

    assert (loyal.started, loyal.done, loyal.votes) == (20, 20, 200)
    assert fickle.started > 30 and fickle.done == 20 and fickle.cost == 20.0
    assert fickle.votes > 200 == dropped.votes


def test_a_quota_beyond_the_drawings_is_noticed(table):
    play = dry_run(replace(STUDY, pairs=300), table, Crowd(dropouts=0.0), participants=2)

    assert (play.done, play.short) == (0, 2)


def test_page_and_command_say_what_to_expect_and_store_nothing(client):
    study = make_study(make_run(entrants=4, prompts=10), pairs=5, is_open=False)
    client.force_login(make_curator())
    page = f"/runs/{study.run.code}/dry-run/{study.code}/"
    crowd = {"participants": 6, "hasty": 10, "random": 10, "dropouts": 10, "seconds": 12, "pay": 1.5}
    out = StringIO()

    form = client.get(page).text
    played = client.get(page, crowd).text
    wrong = client.get(page, crowd | {"random": 90}).text
    call_command("dry_run_study", study.code, participants=6, pay=1.5, stdout=out)

    assert 'value="50"' in form and "What to expect" not in form
    assert "simulated" in played and "9.00" in played
    assert "more than 100%" in wrong and "What to expect" not in wrong
    assert "6 finish" in out.getvalue() and "Pay: 9.00." in out.getvalue()
    assert not any(model.objects.exists() for model in (Epoch, Participation, Seat, Vote))


def test_a_run_without_drawings_says_so(client):
    study = make_study(make_run(entrants=2, prompts=1), is_open=False)
    study.run.samples.update(excluded_reason="offensive")

    with pytest.raises(CommandError, match="no two drawings"):
        call_command("dry_run_study", study.code)
