"""Logging in at an organisation's provider, and with a second factor, in a browser under the site's content policy."""

from __future__ import annotations

import pyotp
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from accounts.models import Authenticator
from judging.models import Seat
from tests.accounts.conftest import provider as provider
from tests.accounts.test_second_factor import PASSWORD
from tests.judging.make import make_curator, make_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.mark.provokes("favicon.ico")
def test_an_invited_judge_joins_through_the_provider_and_logs_out_there_too(page, live_server, provider, look):
    from judging.curating.invitations import create_invitations

    provider.asks = True
    run = make_run()
    token = create_invitations(run=run, by=make_curator(), count=1, days=7)[0].token
    page.goto(f"{live_server.url}/join/{token}/")

    page.get_by_role("link", name="Log in with").click()
    page.get_by_role("button", name="Log in as Dora").click()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    assert look() == []
    page.get_by_role("button", name="Create my account").click()
    page.get_by_role("button", name="Accept and start judging").click()
    expect(page.get_by_role("heading", name="You are invited to judge")).to_have_count(0)

    assert Seat.objects.get(run=run).judge.username == "dora"
    page.goto(f"{live_server.url}/password/")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Logged out at the provider")).to_be_visible()
    assert provider.ended[0]["post_logout_redirect_uri"] == f"{live_server.url}/"


def test_a_curator_turns_on_a_second_factor(page, live_server, look):
    root = User.objects.create_superuser("root", password=PASSWORD)
    page.goto(f"{live_server.url}/login/?next=/account/two-factor/")
    page.get_by_label("Username").fill("root")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()

    expect(page.get_by_role("img", name="QR code for an authenticator app")).to_be_visible()
    assert look() == []
    secret = page.locator("code").inner_text()
    page.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).now())
    page.get_by_role("button", name="Turn on").click()

    expect(page.locator("li code")).to_have_count(10)
    assert Authenticator.objects.get().user == root
