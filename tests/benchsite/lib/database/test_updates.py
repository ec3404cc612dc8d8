"""A worker's own `UPDATE` does what the ORM's does, on both databases."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils.timezone import now

from benchsite.lib.database.updates import AT_ONCE, insert_alike, insert_rows, update_rows
from generation.models import ProviderCall, Sample
from tests.judging.make import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample():
    return make_run(entrants=2, prompts=1, attempts=1).samples.first()


def test_every_kind_of_value_arrives_as_the_orm_would_store_it(sample):
    fields = {
        "state": Sample.State.FAILED,
        "token": uuid4(),
        "lease_until": now(),
        "claims": 3,
        "raw": b"\x00\xff",
        "answer": "100% of '%s' \N{SNOWMAN}",
        "flags": ["a", {"b": None}],
        "completion_tokens": None,
        "held": True,
    }

    assert update_rows(Sample, fields, where={"id": sample.pk}) == 1

    stored = Sample.objects.get(pk=sample.pk)
    assert {name: getattr(stored, name) for name in fields if name != "raw"} == {
        name: value for name, value in fields.items() if name != "raw"
    }
    assert bytes(stored.raw) == fields["raw"]


@pytest.mark.parametrize(
    ("where", "changed"),
    [
        ({"claims": 0}, 1),
        ({"claims": 1}, 0),
        ({"token": None}, 1),
        ({"drawn_at": None}, 0),
        ({"state": Sample.State.DRAWN, "claims": 0}, 1),
        ({"state": Sample.State.PENDING}, 0),
    ],
)
def test_a_row_is_changed_only_where_every_condition_holds(sample, where, changed):
    assert update_rows(Sample, {"claims": 7}, where={"id": sample.pk, **where}) == changed

    assert Sample.objects.get(pk=sample.pk).claims == (7 if changed else 0)


def test_a_time_is_compared_with_the_stored_one(sample):
    moment = Sample.objects.get(pk=sample.pk).next_at

    def changed(limit):
        return update_rows(Sample, {"claims": 1}, where={"id": sample.pk, "next_at__lte": limit})

    assert [changed(moment - timedelta(microseconds=1)), changed(moment)] == [0, 1]


def test_one_of_several_constants_is_enough(sample):
    def changed(*states):
        return update_rows(Sample, {"claims": 1}, where={"id": sample.pk}, either=("state", states))

    assert [changed("pending", "asking"), changed("pending", "drawn")] == [0, 1]


def test_many_rows_are_inserted_with_the_defaults_of_the_orm(sample):
    moment = now()
    given = {"sample_id": sample.pk, "run_id": sample.run_id, "started_at": moment, "lease_until": moment}
    rows = [given | {"token": uuid4(), "turn": n, "cost_nano": n or None} for n in range(AT_ONCE + 2)]

    insert_rows(ProviderCall, rows)
    stored = list(ProviderCall.objects.order_by("turn").values())
    ProviderCall.objects.all().delete()
    ProviderCall.objects.bulk_create(ProviderCall(**row) for row in rows)

    def without_key(calls):
        return [{name: value for name, value in call.items() if name != "id"} for call in calls]

    assert without_key(stored) == without_key(ProviderCall.objects.order_by("turn").values())


def test_rows_that_are_alike_are_as_the_orm_makes_them_and_none_twice(sample):
    moment, names = now() - timedelta(days=1), ("entrant_id", "model_id", "prompt_id", "attempt", "code", "state")
    shared = {"run_id": sample.run_id, "next_at": moment}
    made = [(sample.entrant_id, sample.model_id, sample.prompt_id, n, f"code{n}", "pending") for n in range(1, 4)]

    insert_alike(Sample, shared, names, made)  # attempt 1 is there already
    insert_alike(Sample, shared, names, made)

    stored = list(Sample.objects.filter(code__startswith="code").order_by("code"))
    assert [row.attempt for row in stored] == [2, 3]
    wanted = Sample(**shared, **dict(zip(names, made[1], strict=True)))
    assert {f.attname: getattr(stored[0], f.attname) for f in Sample._meta.concrete_fields if f.name != "id"} == {
        f.attname: getattr(wanted, f.attname) for f in Sample._meta.concrete_fields if f.name != "id"
    }
