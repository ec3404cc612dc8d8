"""Every address × every role: what each answers, that a GET changes nothing, and that a POST needs its token."""

from __future__ import annotations

from dataclasses import replace
from http.cookies import SimpleCookie
from operator import itemgetter

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchsite.accounts import make_curator
from benchsite.fact_admin import FactAdmin
from generation.models import Entrant
from judging.grade_sheets import next_item
from judging.models import Matchup, Report
from ranking.fitting import fit_run
from ranking.models import AnalystToken
from tests.admin_rows import make_rows
from tests.judging.graded import make_rubric_run, seat_with_list
from tests.judging.make import make_run, make_seat
from tests.url_roles import ADDRESSES, ADMIN, FACT_PAGES, ROLES, SUPERUSERS, UNNAMED, Row, patterns

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>'
SITE = {name: row for name, row in ADDRESSES.items() if not name.startswith("admin:")}


@pytest.fixture(autouse=True)
def no_queue(monkeypatch, settings):
    """No queue, whatever runs on this machine: `/readyz` then says the same everywhere."""
    monkeypatch.setitem(settings.RQ_QUEUES["draw"], "URL", "redis://127.0.0.1:1/0")


@pytest.fixture
def world(db, settings):
    """Two runs that Alice judges (pairs and a rubric), one that Bob judges, Carol the curator and a superuser."""
    settings.METRICS_TOKEN = "of-another"
    root = User.objects.create_superuser("root", password="x")
    carol = User.objects.create_user("carol")
    make_curator(carol)
    run = make_rows(root, number=2)
    run.format = "svg"
    run.save()
    run.samples.update(drawing=SVG)
    seat = run.seats.get()
    published = make_run(entrants=2, prompts=1, attempts=1)
    published.visibility = "published"
    published.save()
    bob = make_seat(published, "bob").judge
    fit_run(published)
    rubric = make_rubric_run(subjects=1, attempts=1)
    item = next_item(seat_with_list(rubric, seat.judge.username))
    program = run.entrants.last()
    Entrant.objects.filter(pk=program.pk).update(model=None, turns=["Draw."])
    return {
        "analyst": AnalystToken.objects.get().code,
        "rubric": rubric.code,
        "item": item.code,
        "stage": item.stage,
        "program": program.code,
        "users": dict(zip(ROLES, (None, seat.judge, bob, carol, root), strict=True)),
        "run": run.code,
        "published": published.code,
        "fit": run.fits.first().code,
        "publication": run.fits.first().publications.get().code,
        "entrant": run.entrants.first().code,
        "sample": run.samples.first().code,
        "token": run.invitations.get().token,
        "invitation": run.invitations.get().pk,
        "seat": seat.pk,
        "report": Report.objects.get().pk,
        "matchup": Matchup.objects.get(seat=seat, state="open").code,
        "voted": Matchup.objects.get(seat=seat, state="voted").code,
        "user": bob.pk,
    }


def admin_rows() -> dict[str, Row]:
    """The admin's rows: facts as in FACT_PAGES; users, rights, the diary and locked logins for superusers only."""
    rows = {}
    for model, ours in admin.site._registry.items():
        for page, row in FACT_PAGES.items():
            if model._meta.label_lower == "admin.logentry":
                row = replace(
                    row, get=row.get.replace("200 200", "403 200"), post=row.post.replace("200 200", "403 200")
                )
            elif not isinstance(ours, FactAdmin):
                row = Row(SUPERUSERS, SUPERUSERS, row.args)
            rows[f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"] = row
    return rows | ADMIN


def fill(value: object, world: dict, name: str = "") -> object:
    if value == "@first":
        label = name.removeprefix("admin:").rpartition("_")[0]
        model = next(m for m in admin.site._registry if f"{m._meta.app_label}_{m._meta.model_name}" == label)
        found = model._default_manager.order_by("pk").first()
        return found.pk if found else None
    return world[value[1:]] if isinstance(value, str) and value.startswith("@") else value


def address(name: str, row: Row, world: dict) -> str | None:
    """Where the row is; None where the table has no row to show."""
    args = [fill(value, world, name) for value in row.args]
    return UNNAMED.get(name) or (None if None in args else reverse(name.partition(" ")[0], args=args))


def answer(client: Client, method: str, url: str, data: dict) -> str:
    """The status, or `login`; whatever the request did, to rows and to the session's cookie, is taken back."""
    cookies = client.cookies.output(header="", sep=";")
    with transaction.atomic():
        response = getattr(client, method)(url, data) if method == "post" else client.get(url)
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    client.cookies = SimpleCookie(cookies)
    moved = response.headers.get("Location", "")
    return "login" if moved.startswith(("/login/", "/admin/login/")) else str(response.status_code)


def surprises(rows: dict[str, Row], world: dict, role: str) -> list[tuple[str, ...]]:
    """What does not answer as its row says, and each GET that wrote to the database."""
    number, found, client = ROLES.index(role), [], Client()
    if world["users"][role]:
        client.force_login(world["users"][role])
    for name, row in rows.items():
        if (url := address(name, row, world)) is None:
            continue
        data = {key: fill(value, world) for key, value in row.data.items()}
        for method, said in (("get", row.get), ("post", row.post)):
            with CaptureQueriesContext(connection) as seen:
                got = answer(client, method, url, data)
            if got != (wanted := said.split()[number]):
                found.append((name, method, wanted, got))
            if method == "get":
                found += [(name, sql) for sql in map(itemgetter("sql"), seen) if writes(sql)]
    return found


def writes(sql: str) -> bool:
    return sql.split()[0] in ("INSERT", "UPDATE", "DELETE") and "django_session" not in sql


def test_every_address_has_a_row():
    """A new page needs a line in tests/url_roles.py that says who may open it."""
    rows = {**SITE, **admin_rows()}

    assert {name for name in patterns() if not name.startswith("admin/")} == {name.partition(" ")[0] for name in rows}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_what_its_column_says_and_a_get_changes_nothing(world, role):
    assert surprises(SITE, world, role) == []


@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_what_its_column_says_in_the_admin_too(world, role):
    assert surprises(admin_rows(), world, role) == []


def test_every_post_needs_its_token(world):
    """As a superuser and as the judge: whatever a form could do is refused without the token of our own page."""
    accepted = []
    for role in ("judge", "superuser"):
        client = Client(enforce_csrf_checks=True)
        client.force_login(world["users"][role])
        for name, row in {**SITE, **admin_rows()}.items():
            if (url := address(name, row, world)) is None:
                continue
            data = {key: fill(value, world) for key, value in row.data.items()}
            if answer(client, "post", url, data) != "403":
                accepted.append((role, name))

    assert accepted == []
    assert [name for name, view in patterns().items() if getattr(view, "csrf_exempt", False)] == []
