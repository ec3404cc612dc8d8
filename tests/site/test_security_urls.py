"""Every address × every role: what each answers, that a GET changes nothing, and that a POST needs its token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie

import pytest
from django.db import connection, transaction
from django.test import Client

from tests.site.url_roles import ADDRESSES, ROLES, Row, patterns
from tests.site.url_world import address, admin_rows, fill, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.long]
NO_TOKEN = ("ranking:api_openapi", "ranking:api_docs")
SITE = {name: row for name, row in ADDRESSES.items() if not name.startswith("admin:")}
SIGNED = {"judging:platform_event"}  # by the platform's own secret: see tests/judging/studies/test_platforms.py
COOKIED = {
    name: row
    for name, row in SITE.items()
    if name not in SIGNED and (not name.startswith("ranking:api") or name in NO_TOKEN)
}


@pytest.fixture(autouse=True)
def no_queue(settings):
    """No queue, whatever runs on this machine: `/readyz` then says the same everywhere."""
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    settings.METRICS_TOKEN = "of-another"


@pytest.fixture(scope="module")
def world(module_rows):
    """Made once: whatever a request does to it is taken back."""
    return make_world()


def answer(client: Client, method: str, url: str, data: dict) -> str:
    """The status, or `login`; whatever the request did, to rows and to the session's cookie, is taken back."""
    cookies = client.cookies.output(header="", sep=";")
    with transaction.atomic():
        response = client.post(url, data) if method == "post" else getattr(client, method)(url)
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    client.cookies = SimpleCookie(cookies)
    moved = response.headers.get("Location", "")
    return "login" if moved.startswith(("/login/", "/admin/login/")) else str(response.status_code)


def surprises(rows: dict[str, Row], world: dict, role: str) -> list[tuple[str, ...]]:
    """What does not answer as its row says, and each GET that wrote to the database."""
    number, wrong, client = ROLES.index(role), [], Client()
    if world["users"][role]:
        client.force_login(world["users"][role])
    for name, row in rows.items():
        url = address(name, row, world)
        data = {key: fill(value, world) for key, value in row.data.items()}
        for method, expected in (("get", row.get), ("post", row.post)):
            with changes() as statements:
                got = answer(client, method, url, data)
            if got != (wanted := expected.split()[number]):
                wrong.append((name, method, wanted, got))
            if method == "get":
                wrong += [(name, sql) for sql in statements]
    return wrong


@contextmanager
def changes() -> Iterator[list[str]]:
    """The statements that write, to anything but sessions."""
    statements = []

    def note(execute, sql, *about):
        if sql.split(maxsplit=1)[0] in ("INSERT", "UPDATE", "DELETE") and "django_session" not in sql:
            statements.append(sql)
        return execute(sql, *about)

    with connection.execute_wrapper(note):
        yield statements


def test_every_address_has_a_row():
    """A new page needs a line in tests/site/url_roles.py that says who may open it; a second one needs a name of its own."""
    rows = {name.partition(" ")[0] for name in {**SITE, **admin_rows()}}

    assert sorted(name for name, _ in patterns()) == sorted(rows)


# One role that opens everything is enough to learn whether SQLite answers each page.
EVERY_ROLE = [pytest.param(role, marks=() if role == "superuser" else pytest.mark.once) for role in ROLES]


@pytest.mark.parametrize("role", EVERY_ROLE)
def test_each_role_gets_what_its_column_says_and_a_get_changes_nothing(world, role):
    assert surprises(SITE, world, role) == []


@pytest.mark.parametrize("role", EVERY_ROLE)
def test_each_role_gets_what_its_column_says_in_the_admin_too(world, role):
    assert surprises(admin_rows(), world, role) == []


@pytest.mark.once
def test_every_post_needs_its_token(world):
    """As a superuser and as the judge: whatever a form could do is refused without the token of our own page."""
    accepted = []
    for role in ("judge", "superuser"):
        client = Client(enforce_csrf_checks=True)
        client.force_login(world["users"][role])
        for name, row in {**COOKIED, **admin_rows()}.items():
            data = {key: fill(value, world) for key, value in row.data.items()}
            if answer(client, "post", address(name, row, world), data) != "403":
                accepted.append((role, name))

    assert accepted == []
    exempt = {name for name, view in patterns() if getattr(view, "csrf_exempt", False)}
    assert exempt <= SITE.keys() - COOKIED.keys()
    opened = {name for name in exempt - SIGNED if not set(SITE[name].post.split()) <= {"401", "404", "405"}}
    assert opened == set(), "no cookie opens what needs no form's token"


def test_no_cookie_deletes(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world["users"]["superuser"])
    removals = ("ranking:api_revoke_invitation", "ranking:api_disable_webhook")

    answers = [answer(client, "delete", address(name, SITE[name], world), {}) for name in removals]

    assert answers == ["401", "401"]
