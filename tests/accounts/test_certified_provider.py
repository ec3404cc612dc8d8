"""Single sign-on at a provider that others wrote and the OpenID Foundation certified: what two programs of ours might misread alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from urllib.parse import urlsplit

import pytest
import requests
from django.contrib.auth.models import User
from django.test import Client

from accounts.models import Identity
from tests.accounts.certified_provider import CLIENT, SECRET, certified_provider
from tests.judging import make

pytestmark = [pytest.mark.django_db, pytest.mark.once]
SITE = "http://testserver"
PEOPLE = {
    "dora-17": {"email": "dora@lab.example", "email_verified": True, "preferred_username": "dora"},
    "carol-4": {"email": "carol@lab.example", "email_verified": True, "groups": ["staff", "bench-curators"]},
    "eve-1": {"email": "eve@elsewhere.example", "email_verified": True, "groups": ["bench-curators"]},
}


@pytest.fixture
def known(settings) -> Callable:
    """The site, set up for a provider of which it is a client."""

    @contextmanager
    def set_up(method: str = "client_secret_basic") -> Iterator[str]:
        with certified_provider(site=SITE, people=PEOPLE, method=method) as issuer:
            settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = issuer, CLIENT, SECRET
            settings.OIDC_DOMAINS, settings.OIDC_ROLES = ["lab.example"], {"bench-curators": "curator"}
            yield issuer

    return set_up


class Browser:
    """The person's browser at the provider: it keeps cookies there and sends the forms of its pages."""

    def __init__(self) -> None:
        self.session = requests.Session()

    def log_in(self, client: Client, name: str):
        """From our button through the provider's pages and back to ours."""
        answer = self.session.get(client.get("/login/provider/")["Location"], allow_redirects=False)
        for _ in range(10):
            place = answer.headers.get("Location", "")
            if place.startswith(SITE):
                return client.get(place.removeprefix(SITE))
            answer = self._go(place, answer) if place else self._send(answer, {"login": name, "password": "any"})
        raise AssertionError(answer.text)

    def log_out(self, place: str) -> str:
        """Where the provider leads whoever confirms there."""
        answer = self._send(self.session.get(place), {"logout": "yes"})
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]

    def _go(self, place: str, answer: requests.Response) -> requests.Response:
        return self.session.get(requests.compat.urljoin(answer.url, place), allow_redirects=False)

    def _send(self, page: requests.Response, fields: dict[str, str]) -> requests.Response:
        form = re.search(r'<form[^>]* action="([^"]+)"', page.text)
        assert form, page.text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        return self.session.post(form[1], {**hidden, **fields}, allow_redirects=False)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_somebody_new_comes_in_however_the_client_proves_itself(client, known, method):
    with known(method) as issuer:
        answer = Browser().log_in(client, "dora-17")
        assert answer["Location"] == "/login/provider/new/"
        client.post("/login/provider/new/")

    identity = Identity.objects.get()
    assert (identity.issuer, identity.subject, identity.email) == (issuer, "dora-17", "dora@lab.example")
    assert identity.user.username == "dora" and not identity.user.is_staff
    assert client.get("/judge/").status_code == 200


def test_groups_are_roles_another_domain_stays_out_and_an_account_is_not_taken_over_by_its_name(client, known):
    there = User.objects.create_user("carol", "carol@lab.example", "four-wise-owls-hoot")
    with known():
        Browser().log_in(client, "carol-4")
        client.post("/login/provider/new/")
        refused = Browser().log_in(Client(), "eve-1")

    carol = Identity.objects.get().user
    assert carol != there and (carol.username, carol.is_staff) == ("carol-2", True)
    assert client.get("/runs/").status_code == 200
    assert refused.status_code == 403 and "lab.example" not in refused.text


def test_an_account_is_linked_by_its_password_and_opens_by_either_way(client, known):
    dora = make.make_judge("dora")
    browser = Browser()
    with known():
        browser.log_in(client, "dora-17")
        client.post("/login/provider/new/", {"username": "dora", "password": "a-good-password"})
        again = Client()
        browser.log_in(again, "dora-17")

    assert Identity.objects.get().user == dora
    assert int(again.session["_auth_user_id"]) == dora.pk


def test_logging_out_here_ends_the_session_there_and_leads_back(client, known):
    browser = Browser()
    with known() as issuer:
        browser.log_in(client, "dora-17")
        client.post("/login/provider/new/")
        place = re.search(rf'href="({issuer}/session/end[^"]+)"', client.post("/logout/").text)
        assert place
        back = browser.log_out(unescape(place[1]))
        asked = client.get("/login/provider/")["Location"]
        there = browser.session.get(asked, allow_redirects=False)

    assert urlsplit(back)._replace(query="").geturl() == f"{SITE}/"
    assert "/interaction/" in there.headers["Location"], "it asks who is there"
    assert client.get("/judge/").status_code == 302
