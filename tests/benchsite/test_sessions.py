"""Whoever is logged out, barred or has a new password is nobody at once, however often the session was read before."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils.timezone import now

from benchsite.sessions import SessionStore
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(client):
    seat = make_seat(make_run())
    client.force_login(seat.judge)
    assert [page(client) for _ in range(2)] == [200, 200]
    return seat.judge


def page(client):
    return client.get(reverse("judging:home")).status_code


def change_password(user):
    user.set_password("another one")
    user.save()


def bar(user):
    user.is_active = False
    user.save()


@pytest.mark.parametrize(
    "end",
    [
        change_password,
        bar,
        lambda user: Session.objects.update(expire_date=now() - timedelta(seconds=1)),
        lambda user: Session.objects.update(session_data="e30:forged:signature"),
        lambda user: Session.objects.all().delete(),
    ],
    ids=["password", "barred", "expired", "forged", "logged out"],
)
def test_a_session_that_ended_is_nobody(client, judge, end):
    end(judge)

    assert page(client) == 302


def test_a_session_that_names_another_account_since_is_that_accounts(client, judge):
    other = make_seat(make_run()).judge
    session = client.session
    session["_auth_user_id"] = str(other.pk)
    session["_auth_user_hash"] = other.get_session_auth_hash()
    session.save()

    response = client.get(reverse("judging:home"))

    assert response.context["user"] == other


def test_what_a_request_changes_inside_a_session_and_does_not_save_is_gone(client, judge):
    session = client.session
    session["oidc_states"] = {"a": 1}
    session.save()
    SessionStore(session.session_key)["oidc_states"].pop("a")

    assert SessionStore(session.session_key)["oidc_states"] == {"a": 1}
