"""Becoming a judge, logging in, and passwords: by invitation only, and throttled."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Run
from judging.curating.invitations import (
    UsedUpError,
    accept_invitation,
    create_invitations,
    revoke_invitation,
)
from judging.curating.reset_links import reset_path
from judging.models import Invitation, Matchup, Seat
from tests.judging.make import make_curator, make_judge, make_run, make_seat

pytestmark = pytest.mark.django_db
PASSWORD = {"password": "quite-a-good-one"}


def invite(run=None, **options):
    run = run or make_run()
    return create_invitations(run=run, by=make_curator(), count=1, days=7, **options)[0]


def link(invitation):
    return reverse("join", args=[invitation.token])


def test_it_works_from_link_to_first_pair(client):
    invitation = invite(quota=9)

    welcome = client.get(link(invitation))
    page = client.post(link(invitation), {"name": "dora", **PASSWORD}, follow=True)

    assert "You are invited to judge" in welcome.text
    seat = Seat.objects.get()
    assert (seat.judge.username, seat.quota, seat.invitation) == ("dora", 9, invitation)
    assert (seat.judge.is_staff, seat.judge.is_superuser) == (False, False)
    assert page.context["pair"].code == Matchup.objects.get(state="open").code
    assert Invitation.objects.get().state == "used"


def test_the_address_of_a_link_is_told_to_no_other_page(client):
    invitation = invite()

    for page in (link(invitation), reset_path(make_judge("ada")), link(invitation)):
        assert client.get(page)["Referrer-Policy"] == "strict-origin"


@pytest.mark.parametrize("protocol", ["pairwise", "rubric"])
def test_an_invitation_says_what_its_judges_will_do(client, protocol):
    run = make_run()
    run.protocols = [protocol]
    run.save()

    welcome = client.get(link(invite(run))).text

    assert ("two drawings of one prompt side by side" in welcome) is (protocol == "pairwise")
    assert ("one drawing at a time and grade it" in welcome) is (protocol == "rubric")


def test_opening_the_link_uses_nothing(client):
    invitation = invite()

    client.get(link(invitation))

    assert Invitation.objects.get().uses == 0


def test_a_link_works_as_often_as_it_says(client):
    invitation = invite(max_uses=2)

    answers = []
    for name in ("dora", "emil", "fay"):
        client.logout()
        answers.append(client.post(link(invitation), {"name": name, **PASSWORD}).status_code)

    assert answers == [302, 302, 410]
    assert set(User.objects.values_list("username", flat=True)) == {"carol", "dora", "emil"}


@pytest.mark.parametrize("how", ["revoked", "expired", "used"])
def test_a_link_that_is_no_longer_open_lets_nobody_in(client, how):
    invitation = invite()
    if how == "revoked":
        revoke_invitation(invitation=invitation, by=make_curator())
    elif how == "expired":
        Invitation.objects.update(expires_at=now() - timedelta(seconds=1))
    else:
        Invitation.objects.update(uses=1)

    answers = [client.get(link(invitation)), client.post(link(invitation), {"name": "dora", **PASSWORD})]

    assert [answer.status_code for answer in answers] == [410, 410]
    assert not User.objects.filter(username="dora").exists()
    with pytest.raises(UsedUpError):
        accept_invitation(invitation=invitation, judge=make_judge("emil"))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"name": "CAROL", **PASSWORD}, "That name is taken"),
        ({"name": "dora", "password": "short"}, "too short"),
        ({"name": "dora", "password": "password123"}, "too common"),
        ({"name": "do ra", **PASSWORD}, "Enter a valid username"),
        ({"name": "", "password": ""}, "This field is required"),
    ],
)
def test_a_bad_name_or_password_is_explained_and_uses_nothing(client, message, words):
    invitation = invite()

    page = client.post(link(invitation), message)

    assert words in page.text
    assert Invitation.objects.get().uses == 0
    assert User.objects.count() == 1


def test_a_judge_who_is_logged_in_accepts_without_a_new_account(client):
    invitation = invite()
    client.force_login(make_judge("alice"))

    client.post(link(invitation))
    client.post(link(invitation))

    assert Seat.objects.get().judge.username == "alice"
    assert Invitation.objects.get().uses == 1


def test_a_run_that_is_not_open_yet_takes_judges_but_shows_no_pair(client):
    invitation = invite()
    Run.objects.update(judging_state="not_open")

    page = client.post(link(invitation), {"name": "dora", **PASSWORD}, follow=True)

    assert "not open at the moment" in page.text
    assert Matchup.objects.count() == 0


def test_an_unknown_link_is_not_found(client):
    assert client.get(reverse("join", args=["nothing"])).status_code == 404


def test_login_logout_and_password_change(client):
    make_judge("alice")
    new = {"new_password1": "another-good-one", "new_password2": "another-good-one"}

    logged_in = client.post(reverse("login"), {"username": "alice", "password": "a-good-password"})
    changed = client.post(reverse("password_change"), {"old_password": "a-good-password", **new}, follow=True)
    client.post(reverse("logout"))

    assert logged_in.status_code == 302
    assert "Your password is changed" in changed.text
    assert client.get(reverse("judging:home")).status_code == 302
    assert User.objects.get().check_password("another-good-one")


def test_wrong_passwords_are_throttled(client, settings):
    make_judge("alice")
    settings.AXES_FAILURE_LIMIT = 3

    answers = [client.post(reverse("login"), {"username": "alice", "password": "wrong"}) for _ in range(4)]
    right = client.post(reverse("login"), {"username": "alice", "password": "a-good-password"})

    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert right.status_code == 429
    assert "Too many attempts" in right.text


def test_a_curator_makes_a_reset_link_that_works_once(client):
    seat = make_seat(make_run(), "alice")
    client.force_login(make_curator())
    page = client.post(reverse("judging:reset_link", args=[seat.run.code, seat.pk]))
    client.logout()

    form = client.get(page.context["link"], follow=True)
    new = {"new_password1": "another-good-one", "new_password2": "another-good-one"}
    done = client.post(form.redirect_chain[-1][0], new, follow=True)
    again = client.get(page.context["link"], follow=True)

    assert "Your new password is set" in done.text
    assert User.objects.get(username="alice").check_password("another-good-one")
    assert "has been used" in again.text


def test_a_reset_link_lets_somebody_in_who_was_locked_out(client, settings):
    settings.AXES_FAILURE_LIMIT = 3
    alice = make_judge("alice")
    home, desk = {"REMOTE_ADDR": "192.0.2.7"}, {"REMOTE_ADDR": "192.0.2.8"}
    for address in (home, desk):
        answers = [client.post(reverse("login"), {"username": "alice", "password": "x"}, **address) for _ in range(3)]
        assert answers[-1].status_code == 429

    form = client.get(reset_path(alice), follow=True, **home)
    new = {"new_password1": "another-good-one", "new_password2": "another-good-one"}
    done = client.post(form.redirect_chain[-1][0], new, follow=True, **home)
    client.post(reverse("logout"))
    again = client.post(reverse("login"), {"username": "alice", "password": "another-good-one"}, **desk)

    assert done.context["user"] == alice
    assert again.status_code == 302


def test_no_reset_link_is_made_for_staff(client):
    seat = make_seat(make_run(), "alice")
    User.objects.filter(username="alice").update(is_staff=True)
    client.force_login(make_curator())

    assert client.post(reverse("judging:reset_link", args=[seat.run.code, seat.pk])).status_code == 404


@pytest.mark.parametrize(("staff", "page"), [(False, "judging:home"), (True, "generation:runs")])
def test_logging_in_leads_to_the_work(client, staff, page):
    User.objects.create_user("alice", password="a-good-password", is_staff=staff)
    entry = {"username": "alice", "password": "a-good-password"}

    assert client.post(reverse("login"), entry)["Location"] == reverse(page)
    assert client.get(reverse("login"))["Location"] == reverse(page), "who is logged in already"
    client.logout()
    assert client.post(f"{reverse('login')}?next=/about/numbers/", entry)["Location"] == "/about/numbers/"
