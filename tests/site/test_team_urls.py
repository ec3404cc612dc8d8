"""Every address × a curator of another team: what is not published is not there, and no list names it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from benchsite.lib.fact_admin import FactAdmin
from benchsite.operations.accounts import make_curator
from generation.models import Run, Team
from judging.models import ResetLink
from ranking.models import AnalystToken
from ranking.tokens import create_token
from tests.site.url_roles import ADDRESSES
from tests.site.url_world import address, fill, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.long]
TITLE = "Hush, a run of the painters"
API = {name: row for name, row in ADDRESSES.items() if name.startswith("ranking:api") and "@run" in row.args}
SITE = {name: row for name, row in ADDRESSES.items() if not name.startswith("ranking:api")}


@pytest.fixture(scope="module")
def world(module_rows):
    """All of it belongs to the painters, with Carol; Dave is a curator of the sculptors."""
    made = make_world()
    painters = Team.objects.get(code=made["team"])
    Run.objects.update(team=painters)
    Run.objects.filter(code=made["run"]).update(title=TITLE)
    Run.objects.filter(code=made["rubric"]).update(title=TITLE)
    carol = made["users"]["curator"]
    AnalystToken.objects.update(created_by=carol)
    ResetLink.objects.update(made_by=carol)
    dave = User.objects.create_user("dave")
    make_curator(dave)
    Team.objects.create(name="Sculptors").members.add(dave)
    return made | {"dave": dave}


@pytest.fixture(autouse=True)
def no_queue(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    settings.METRICS_TOKEN = "of-another"


def ask(client: Client, method: str, url: str, data: dict, **headers: str) -> tuple[str, str]:
    """Status and text; what the request did is taken back."""
    with transaction.atomic():
        response = client.post(url, data, **headers) if method == "post" else client.get(url, **headers)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    return str(response.status_code), body.decode("utf-8", "replace")


def allowed(expected: str) -> set[str]:
    """What anybody gets; where a login is asked for first, that there is nothing."""
    anonymous, curator = expected.split()[0], expected.split()[3]
    if anonymous == curator:
        return {anonymous}
    return {"404", "405"} if anonymous == "login" else {anonymous}


def test_a_curator_of_another_team_gets_what_strangers_get(world):
    client, surprises = Client(), []
    client.force_login(world["dave"])
    of_runs = {name: row for name, row in SITE.items() if any(str(part).startswith("@") for part in row.args)}
    for name, row in of_runs.items():
        url = address(name, row, world)
        data = {key: fill(value, world) for key, value in row.data.items()}
        for method, expected in (("get", row.get), ("post", row.post)):
            status, _ = ask(client, method, url, data)
            if status not in allowed(expected) | {"405"} and name not in ("join", "leave_team"):
                surprises.append((name, method, expected, status))

    assert surprises == []


def test_no_page_or_list_names_a_run_of_another_team(world):
    client, named = Client(), []
    client.force_login(world["dave"])
    lists = [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model, ours in admin.site._registry.items()
        if isinstance(ours, FactAdmin)
    ]
    plain = [address(name, row, world) for name, row in SITE.items() if not row.args]
    for url in [*lists, *plain, reverse("admin:index")]:
        status, text = ask(client, "get", url, {})
        if TITLE in text or world["run"] in text or world["rubric"] in text:
            named.append((url, status))

    assert len(lists) > 30 and named == []


def test_no_row_of_another_team_opens_in_the_admin(world):
    client, opened = Client(), []
    client.force_login(world["dave"])
    for model, ours in admin.site._registry.items():
        if not isinstance(ours, FactAdmin) or model._meta.label_lower == "admin.logentry":
            continue
        row = model._default_manager.order_by("pk").first()
        url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
        if ask(client, "get", url, {})[0] == "200":
            opened.append(model._meta.label_lower)

    assert opened == []


def test_a_token_of_another_team_reads_nothing(world):
    _, token = create_token(label="dave's", by=world["dave"], role="curate", expires_at=now() + timedelta(days=1))
    sent = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    statuses = {name: ask(Client(), "get", address(name, row, world), {}, **sent)[0] for name, row in API.items()}

    assert {name: status for name, status in statuses.items() if status not in ("404", "405")} == {}
    assert TITLE not in ask(Client(), "get", reverse("ranking:api_runs"), {}, **sent)[1]
