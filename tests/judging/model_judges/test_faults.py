"""Pull plugs while model judges answer: each answers once on each pair in each order, or on each drawing, whatever dies."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest
from django.db.models import Sum
from redis import Redis

from benchmarks.faults.storm_runs import answer
from generation.models import ProviderCall, Run, Sample
from generation.suites.suite import ModelEntry
from judging.model_judges.answers import model_grade_lines, model_vote_lines
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.grading import GRADES
from judging.model_judges.instructions import versioned
from judging.model_judges.pairs import PAIRS
from judging.models import Grade, Vote
from tests.generation.conftest import gate, queue, site, valkey  # noqa: F401 - fixtures
from tests.judging.model_judges.test_asking import CRITIC
from tests.processes import child_of
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
FLATTERER = ModelEntry("demo/flatterer", "Flatterer", provider="demo", price_in=0.5, price_out=2)
WANTED, ROUND = 12, 6


@pytest.fixture
def provider(demo, gate):  # noqa: F811
    """Every judge gives readable answers; after the first round calls wait at the gate."""

    def wait(number, body):
        if number >= ROUND:
            gate.wait(timeout=60)

    return demo(latency=0.3, plan=wait, say=answer)


@pytest.mark.parametrize("kind", [PAIRS, GRADES])
def test_each_judge_answers_once_on_everything_it_is_asked(site, provider, queue, gate, kind):  # noqa: F811
    run = make_voted_run(votes=24, judges=3) if kind is PAIRS else make_graded_run()
    people = (Vote.objects.count(), Grade.objects.count())
    judges = [
        add_model_judge(run, Plan(entry, versioned(run, "", kind), WANTED, 5.0, kind=kind))
        for entry in (CRITIC, FLATTERER)
    ]
    asked = Sample.objects.filter(run__in=judges)
    worker = site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(lambda: provider.bill.requests > ROUND and provider.bill.in_flight, "calls at the gate")

    child = child_of(worker.pid)
    worker.kill()
    os.kill(child, signal.SIGKILL)
    Redis.from_url(queue.url).flushall()
    gate.set()

    site.wait_until(lambda: not asked.unended().exists(), "the end of both judges")
    calls = ProviderCall.objects.filter(run__in=judges)
    site.wait_until(lambda: not calls.filter(outcome="open").exists(), "the last call")

    lines = [*model_vote_lines(run), *model_grade_lines(run)]
    shown = Counter(line.key for line in lines)
    assert len(lines) == len(shown) == 2 * kind.orders * WANTED  # no answer lost, none doubled
    each = kind.orders * WANTED
    assert Counter(line.judge for line in lines) == {"demo/critic": each, "demo/flatterer": each}
    assert not any(line.unreadable for line in lines)
    if kind is PAIRS:  # the other order, by the same judge
        assert all((key[0], key[1], *key[4:], *key[2:4]) in shown for key in shown)
    assert (Vote.objects.count(), Grade.objects.count()) == people
    killed = sum(judge.concurrency for judge in judges)
    assert provider.bill.requests - len(lines) <= killed, "asked again only where a call was cut off"
    known = calls.aggregate(sum=Sum("cost_nano", default=0))["sum"]
    held = calls.filter(cost_nano=None).aggregate(sum=Sum("reserved_nano", default=0))["sum"]
    assert known <= provider.bill.total_nano <= known + held
    for judge in Run.objects.filter(pk__in=[judge.pk for judge in judges]):
        own = judge.calls.aggregate(sum=Sum("cost_nano", default=0))["sum"]
        assert judge.spent_nano == own and judge.spent_nano + judge.reserved_nano <= judge.budget_nano
