"""A second factor for curators and superusers who log in with a password."""

from __future__ import annotations

import re

import pyotp
import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from accounts import second_factor
from accounts.models import Authenticator, RecoveryCode
from benchsite.operations.accounts import make_curator
from generation.models import Event

pytestmark = pytest.mark.django_db
PASSWORD = "four-wise-owls-hoot"
NOON = 1_790_000_000


@pytest.fixture
def carol():
    user = User.objects.create_user("carol", password=PASSWORD)
    make_curator(user)
    return user


@pytest.fixture
def clock():
    """Stands still; a test moves it."""
    with time_machine.travel(NOON, tick=False) as travel:
        yield travel


def give_password(client: Client, page: str = "/login/", target: str = "/runs/"):
    return client.post(f"{page}?next={target}", {"username": "carol", "password": PASSWORD})


def turn_on(user: User) -> tuple[pyotp.TOTP, list[str]]:
    secret = second_factor.new_secret()
    totp = pyotp.TOTP(secret)
    codes = second_factor.enrol(user, secret=secret, code=totp.now())
    return totp, codes


def test_it_works_from_the_picture_to_the_next_login(client, carol, clock):
    give_password(client)
    page = client.get("/account/two-factor/")
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page.text)[1]
    assert "<svg" in page.text and "style=" not in page.text
    totp = pyotp.TOTP(secret)
    shown = client.post("/account/two-factor/", {"code": totp.now()})
    codes = re.findall(r"<code>([a-z0-9-]{14})</code>", shown.text)
    assert len(codes) == 10 and secret not in Authenticator.objects.get().sealed_secret

    clock.shift(60)
    other = Client()
    assert give_password(other)["Location"] == "/login/code/"
    assert other.get("/runs/").status_code == 302, "the password alone opens nothing"
    answer = other.post("/login/code/", {"code": f"{totp.now()[:3]} {totp.now()[3:]}"})

    assert answer["Location"] == "/runs/" and other.get("/runs/").status_code == 200
    assert not any(code in str(list(RecoveryCode.objects.values())) for code in codes)


def test_a_session_from_before_it_was_on_is_nobody(client, carol, clock):
    thief = Client()
    give_password(thief)
    give_password(client)
    assert thief.get("/runs/").status_code == 200
    page = client.get("/account/two-factor/")
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page.text)[1]

    client.post("/account/two-factor/", {"code": pyotp.TOTP(secret).now()})

    assert (client.get("/runs/").status_code, thief.get("/runs/").status_code) == (200, 302)
    assert thief.get("/account/two-factor/").status_code == 302


def test_the_admin_is_behind_it_too(client, carol, clock):
    turn_on(carol)

    give_password(client, "/admin/login/", "/admin/")

    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0] == "/login/code/"


def test_a_code_is_used_once_and_an_old_one_is_none(client, carol, clock):
    totp, _ = turn_on(carol)
    assert second_factor.check_code(carol, totp.now()) is False, "it turned the factor on"
    clock.shift(30)
    code = totp.now()

    assert second_factor.check_code(carol, code) is True
    assert second_factor.check_code(carol, code) is False
    clock.shift(90)
    assert second_factor.check_code(carol, code) is False


def test_a_recovery_code_opens_once(client, carol, clock):
    _, codes = turn_on(carol)
    give_password(client)

    assert client.post("/login/code/", {"code": codes[0].upper()})["Location"] == "/runs/"

    assert second_factor.check_code(carol, codes[0]) is False
    assert Event.objects.filter(verb=Event.Verb.USE_RECOVERY_CODE, actor=carol).count() == 1


def test_guessing_is_stopped_whatever_the_address(client, carol, clock):
    totp, _ = turn_on(carol)
    clock.shift(60)
    give_password(client)
    for number in range(second_factor.MOST_FAILURES):
        client.post("/login/code/", {"code": f"wrong-{number}"}, REMOTE_ADDR=f"10.0.0.{number}")

    answer = client.post("/login/code/", {"code": totp.now()})

    assert "Too many wrong codes" in answer.text and client.get("/runs/").status_code == 302
    assert Event.objects.filter(verb=Event.Verb.SECOND_FACTOR_LOCKED).count() == 1
    clock.shift(16 * 60)
    assert second_factor.check_code(carol, totp.now()) is True


def test_where_it_is_required_nothing_opens_before_it_is_on(client, carol, clock, settings):
    settings.REQUIRE_TOTP = True
    give_password(client)
    assert client.get("/runs/").status_code == client.get("/admin/").status_code == 302

    answer = client.get("/login/code/", follow=True)
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", answer.text)[1]
    client.post("/account/two-factor/", {"code": pyotp.TOTP(secret).now()})

    assert client.get("/runs/").status_code == client.get("/admin/").status_code == 200
    clock.shift(60)
    client.post("/account/two-factor/off/", {"code": pyotp.TOTP(secret).now()})
    assert Authenticator.objects.count() == 1, "it cannot be turned off"


def test_who_has_one_cannot_put_another_in_its_place_with_the_password_alone(client, carol, clock):
    turn_on(carol)
    give_password(client)

    answer = client.post("/account/two-factor/", {"code": "123456"})

    assert answer["Location"].startswith("/login/") and Authenticator.objects.count() == 1


def test_turning_it_off_and_new_codes_need_a_code(client, carol, clock):
    totp, codes = turn_on(carol)
    give_password(client)
    client.post("/login/code/", {"code": codes[0]})

    client.post("/account/two-factor/off/", {"code": "000000"})
    assert Authenticator.objects.count() == 1
    clock.shift(60)
    assert client.post("/account/two-factor/codes/", {"code": totp.now()}).text.count("<li><code>") == 10
    assert second_factor.check_code(carol, codes[1]) is False
    clock.shift(60)
    client.post("/account/two-factor/off/", {"code": totp.now()})

    assert Authenticator.objects.count() == 0


def test_an_operator_resets_it_and_says_why(client, carol, clock):
    turn_on(carol)

    call_command("reset_second_factor", "carol", "--reason", "seen in person")

    assert give_password(client)["Location"] == "/runs/"
    event = Event.objects.get(verb=Event.Verb.REMOVE_SECOND_FACTOR)
    assert (event.subject, event.reason) == ("carol", "seen in person")


def test_judges_are_asked_for_none(client, settings):
    settings.REQUIRE_TOTP = True
    User.objects.create_user("carol", password=PASSWORD)

    give_password(client, target="/judge/")

    assert client.get("/judge/").status_code == 200
    assert client.get("/account/two-factor/").status_code == 403


def test_another_secret_key_makes_no_code_right_but_recovery_codes(carol, clock, settings):
    totp, codes = turn_on(carol)
    clock.shift(60)
    settings.SECRET_KEY = "another"

    assert second_factor.check_code(carol, totp.now()) is False
    assert second_factor.check_code(carol, codes[0]) is True
