"""Pull plugs while model judges answer: each judge answers on each pair in each order once, whatever dies."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter

import pytest
from django.db.models import Sum
from redis import Redis

from generation.demo.server import Scripted
from generation.models import ProviderCall, Run, Sample
from generation.suites.suite import ModelEntry
from judging.model_judges.answers import model_vote_lines
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.instructions import versioned
from judging.models import Vote
from tests.generation.conftest import gate, queue, site, valkey  # noqa: F401 - fixtures
from tests.judging.model_judges.test_asking import CRITIC
from tests.processes import child_of
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
FLATTERER = ModelEntry("demo/flatterer", "Flatterer", provider="demo", price_in=0.5, price_out=2)
PAIRS, ROUND, COST = 12, 6, 7
SAID = {"message": {"content": json.dumps({"answer": "A", "reason": "Neater."})}, "finish_reason": "stop"}


@pytest.fixture
def provider(demo, gate):  # noqa: F811
    """Every judge gives readable answers; after the first round calls wait at the gate."""

    def answer(number, body):
        if number >= ROUND:
            gate.wait(timeout=60)
        return Scripted(body={"id": f"answer-{number}", "choices": [SAID]}, cost_nano=COST)

    return demo(latency=0.3, plan=answer)


def test_each_judge_answers_once_on_each_pair_and_order(site, provider, queue, gate):  # noqa: F811
    run = make_voted_run(votes=24, judges=3)
    votes = Vote.objects.count()
    judges = [add_model_judge(run, Plan(entry, versioned(run, ""), PAIRS, 5.0)) for entry in (CRITIC, FLATTERER)]
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

    lines = list(model_vote_lines(run))
    shown = Counter(line.key for line in lines)
    assert len(lines) == len(shown) == 2 * 2 * PAIRS  # no answer lost, none doubled
    assert Counter(line.judge for line in lines) == {"demo/critic": 2 * PAIRS, "demo/flatterer": 2 * PAIRS}
    assert all((key[0], key[1], *key[4:], *key[2:4]) in shown for key in shown)  # the other order, by the same judge
    assert Vote.objects.count() == votes
    killed = sum(judge.concurrency for judge in judges)
    assert provider.bill.requests - len(lines) <= killed, "asked again only where a call was cut off"
    known = calls.aggregate(sum=Sum("cost_nano", default=0))["sum"]
    held = calls.filter(cost_nano=None).aggregate(sum=Sum("reserved_nano", default=0))["sum"]
    assert known <= provider.bill.total_nano <= known + held
    for judge in Run.objects.filter(pk__in=[judge.pk for judge in judges]):
        own = judge.calls.aggregate(sum=Sum("cost_nano", default=0))["sum"]
        assert judge.spent_nano == own and judge.spent_nano + judge.reserved_nano <= judge.budget_nano
