"""The cast that pages are shown to, and where each row of the table of addresses is found among their runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Group, User
from django.urls import reverse
from django.utils.timezone import now

from benchsite.lib.fact_admin import FactAdmin
from benchsite.operations.accounts import make_curator
from generation.models import Entrant, Run, Team
from judging.grades.sheets import next_item
from judging.models import Matchup, Report
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from ranking.fitting import fit_run
from ranking.models import AnalystToken
from tests.judging.graded import make_rubric_run, seat_with_list
from tests.judging.make import make_run, make_seat
from tests.site.admin.rows import make_rows
from tests.site.url_roles import ADMIN, FACT_PAGES, ROLES, STAFF_MOVED, SUPERUSERS, UNNAMED, Row

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>'
OLD = "<path:object_id>/"  # the admin still knows the address that a row had before its page was called `change`


def make_published(state: str) -> Run:
    """A published run of levels, one of its two entrants a program; Bob voted, and goes on while it is open."""
    run = make_run(entrants=2, prompts=1, attempts=1, format="science_birds")
    run.samples.update(drawing="drop_block('b11', 4)")
    seat = make_seat(run, "bob")
    cast_vote(judge=seat.judge, code=take_seat(seat.pk).current.code, ballot=Ballot("left"))
    run.visibility, run.judging_state = "published", state
    run.save()
    fit_run(run)
    run.entrants.filter(pk=run.entrants.last().pk).update(model=None, turns=["Draw."])
    return run


def parts_of(name: str, run: Run) -> dict[str, str]:
    return {
        name: run.code,
        f"{name}_fit": run.fits.first().code,
        f"{name}_program": run.entrants.get(model=None).code,
        f"{name}_sample": run.samples.first().code,
        f"{name}_picture": run.samples.first().picture_key,
        f"{name}_prompt": run.prompts.first().code,
    }


def make_superusers_rows(root: User) -> None:
    """What superusers alone look after: a group, the diary, and the lists of who logged in and who could not."""
    guests = Group.objects.create(name="guests")
    LogEntry.objects.log_actions(root.pk, [guests], ADDITION)
    mallory = {"username": "mallory", "ip_address": "203.0.113.9", "attempt_time": now()}
    AccessAttempt.objects.create(**mallory, failures_since_start=8)
    AccessFailureLog.objects.create(**mallory)
    AccessLog.objects.create(**mallory)


def make_world() -> dict[str, Any]:
    """Two runs that Alice judges (pairs and a rubric), two of Bob's, Carol the curator and a superuser."""
    root = User.objects.create_superuser("root", password="x")
    carol = User.objects.create_user("carol")
    make_curator(carol)
    team = Team.objects.create(name="Painters")
    team.members.add(carol)
    run = make_rows(root, number=2)
    run.format = "svg"
    run.save()
    run.samples.update(drawing=SVG)
    seat = run.seats.get()
    published = make_published("open")
    closed = make_published("closed")
    bob = User.objects.get(username="bob")
    rubric = make_rubric_run(subjects=1, attempts=1)
    item = next_item(seat_with_list(rubric, seat.judge.username))
    program = run.entrants.last()
    Entrant.objects.filter(pk=program.pk).update(model=None, turns=["Draw."])
    make_superusers_rows(root)
    return {
        "team": team.code,
        "webhook": run.webhooks.get().code,
        "analyst": AnalystToken.objects.get().code,
        "rubric": rubric.code,
        "item": item.code,
        "stage": item.stage,
        "program": program.code,
        "users": dict(zip(ROLES, (None, seat.judge, bob, carol, root), strict=True)),
        "run": run.code,
        **parts_of("published", published),
        **parts_of("closed", closed),
        "fit": run.fits.first().code,
        "publication": run.fits.first().publications.get().code,
        "entrant": run.entrants.first().code,
        "sample": run.samples.first().code,
        "picture": run.samples.first().picture_key,
        "prompt": run.prompts.first().code,
        "token": run.invitations.get().token,
        "invitation": run.invitations.get().pk,
        "seat": seat.pk,
        "report": Report.objects.get().pk,
        "matchup": Matchup.objects.get(seat=seat, state="open").code,
        "voted": Matchup.objects.get(seat=seat, state="voted").code,
        "user": bob.pk,
        "check": run.gold_pairs.get().code,
        "study": run.studies.get().code,
        "participant": run.studies.get().participations.get().code,
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
        rows[f"admin/{model._meta.app_label}/{model._meta.model_name}/{OLD}"] = Row(STAFF_MOVED, STAFF_MOVED)
    return rows | ADMIN


def fill(value: object, world: dict, name: str = "") -> object:
    if value == "@first":
        label = name.removeprefix("admin:").rpartition("_")[0]
        model = next(m for m in admin.site._registry if f"{m._meta.app_label}_{m._meta.model_name}" == label)
        return model._default_manager.order_by("pk").values_list("pk", flat=True)[0]
    return world[value[1:]] if isinstance(value, str) and value.startswith("@") else value


def address(name: str, row: Row, world: dict) -> str:
    if name.endswith(OLD):
        return f"/{name.removesuffix(OLD)}1/"
    return UNNAMED.get(name) or reverse(name.partition(" ")[0], args=[fill(value, world, name) for value in row.args])
