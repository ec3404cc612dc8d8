"""What tests of several apps ask for: a demo server, Carol the curator, judges who need not wait, bars that draw every step."""

from __future__ import annotations

import gc
import secrets
from random import Random

import pytest
from django.db import transaction
from hypothesis import HealthCheck, is_hypothesis_test, settings

from benchsite.lib.progress_bar import Pace
from generation.demo.server import start
from generation.reading.limited import READER
from tests.emptying import empty_only_what_has_rows
from tests.judging.make import make_curator
from tests.site.url_world import make_world

# A busy machine takes its time: no test fails for that, nor for how slowly its examples are made. A test tries the same
# examples whenever it runs, a quarter of those it asks for; `script/bench properties` and `script/bench fuzz` try new ones.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("new", settings.get_profile("steady"), derandomize=False, database=None)
settings.load_profile("steady")

SERVICES = {"db", "transactional_db", "live_server", "valkey", "page"}
FEW = 5  # examples of a property, where an answer is wanted quickly

empty_only_what_has_rows()


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="no test that is long or needs a database, queue or browser")
    parser.addoption("--examples", type=float, default=0.25, help="share of the examples that a property asks for")


def pytest_collection_modifyitems(config, items):
    """What takes longest begins first; in a quick run it is left out, and properties are tried with a few examples."""
    if config.getoption("quick"):
        slow = {item for item in items if is_slow(item)}
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
    share = 0 if config.getoption("quick") else config.getoption("examples")
    for test in {item.function for item in items if is_hypothesis_test(item.function)}:
        asked = test._hypothesis_internal_use_settings
        count = max(min(FEW, asked.max_examples), round(share * asked.max_examples))
        test._hypothesis_internal_use_settings = settings(asked, max_examples=count)
    items.sort(key=lambda item: not is_long(item))


def pytest_collection_finish(session):
    """What was collected stays: no search for garbage goes through it again."""
    gc.collect()
    gc.freeze()


def is_long(item):
    return item.get_closest_marker("long") or item.get_closest_marker("processes")


def is_slow(item):
    return is_long(item) or item.get_closest_marker("django_db") or not SERVICES.isdisjoint(item.fixturenames)


@pytest.fixture(autouse=True)
def same_luck(request, monkeypatch):
    """A test draws the same seeds whenever it runs, and others than other tests, as tables are kept in memory by seed.

    What holds for every seed is tested in tests/judging/pairs/schedule/test_items.py.
    """
    monkeypatch.setattr(secrets, "randbelow", Random(request.node.name).randrange)


@pytest.fixture(scope="module")
def module_rows(request, django_db_setup, django_db_blocker):
    """A transaction around a module's tests: what its fixtures write in here is there for each test, and gone with the last.

    For modules none of whose tests is transactional itself.
    """
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, transaction.atomic():
        patch.setattr(secrets, "randbelow", Random(request.node.name).randrange)
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def fresh_reader():
    """Answers are read by a copy of this process as the test has set it up."""
    yield
    READER.stop()


@pytest.fixture
def demo(monkeypatch):
    """Starts demo servers: `demo(plan=[…])` is a server that the run's models are asked at, without chance faults."""
    servers = []

    def begin(**knobs):
        server = start(**{"latency": 0.0, "faults": 0.0, **knobs})
        servers.append(server)
        monkeypatch.setenv("DEMO_PROVIDER_URL", server.url)
        return server

    yield begin
    for server in servers:
        server.stop()


@pytest.fixture
def eager(settings):
    """Progress bars are drawn at every step, however quick the work or slow the machine."""
    settings.PROGRESS_PACE = Pace(patience=0, every=0, seldom=0)


@pytest.fixture
def no_waiting(settings):
    """Votes may follow each other as quickly as they like."""
    settings.MIN_VOTE_SECONDS = 0


@pytest.fixture
def curator(client):
    """Carol, who is logged in with the test's client."""
    user = make_curator()
    client.force_login(user)
    return user


@pytest.fixture
def world(db, settings):
    """Two runs that Alice judges (pairs and a rubric), two of Bob's, Carol the curator and a superuser."""
    settings.METRICS_TOKEN = "of-another"
    return make_world()
