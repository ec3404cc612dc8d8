"""The curator's pages: who may open them, and what their buttons do."""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchsite.accounts import make_curator as give_role
from generation.models import Event, Run, Sample
from judging import voting
from judging.models import Epoch, Invitation, Matchup, Report, Seat, Vote
from judging.serving import take_seat

from .make import make_curator, make_judge, make_run, make_seat

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(voting, "MIN_INTERVAL", voting.timedelta(0))


@pytest.fixture
def run():
    return make_run()


@pytest.fixture
def curator(client):
    user = make_curator()
    client.force_login(user)
    return user


def vote(seat, outcome="left", times=1):
    take_seat(seat.pk)
    for _ in range(times):
        code = Matchup.objects.get(seat=seat, state="open").code
        voting.cast_vote(judge=seat.judge, code=code, ballot=voting.Ballot(outcome))


def curator_urls(run):
    seat = make_seat(run, "someone")
    invitation = Invitation.objects.create(run=run, expires_at="2100-01-01T00:00Z")
    take_seat(seat.pk)
    report = Report.objects.create(matchup=seat.matchups.first(), side="left", reason="broken")
    gets = [("overview", []), ("invitations", []), ("invitations_csv", [])]
    posts = [("set_state", ["pause"]), ("invitations", []), ("revoke", [invitation.pk])]
    posts += [("weigh", [seat.pk]), ("reset_link", [seat.pk]), ("decide", [report.pk])]
    get = [("get", reverse(f"judging:{name}", args=[run.code, *args])) for name, args in gets]
    return get + [("post", reverse(f"judging:{name}", args=[run.code, *args])) for name, args in posts]


@pytest.mark.parametrize("who", ["anonymous", "judge", "other judge", "curator", "superuser"])
def test_only_curators_may(client, run, who):
    urls = curator_urls(run)
    if who != "anonymous":
        user = make_judge("someone" if who == "judge" else who.replace(" ", "-"))
        if who == "curator":
            give_role(user)
        User.objects.filter(pk=user.pk, username="superuser").update(is_superuser=True, is_staff=True)
        client.force_login(User.objects.get(pk=user.pk))

    for method, url in urls:
        status = getattr(client, method)(url).status_code
        if who == "anonymous":
            assert (status, url) == (302, url)
        elif "judge" in who:
            assert (status, url) == (403, url)
        else:
            assert status in (200, 302), url


@pytest.mark.parametrize("name", ["set_state", "revoke", "weigh", "reset_link", "decide"])
def test_get_changes_nothing(client, run, curator, name):
    args = {"set_state": ["close"]}.get(name, [1])

    assert client.get(reverse(f"judging:{name}", args=[run.code, *args])).status_code == 405


def test_the_overview_shows_coverage_progress_and_shortfalls(client, run, curator):
    seat = make_seat(run, "alice")
    make_seat(run, "bob")
    vote(seat, "left", 3)
    vote(seat, "fail", 2)
    lone = run.entrants.first()
    Sample.objects.filter(entrant=lone, prompt__category="animal").update(excluded_reason="test")
    client.post(reverse("judging:set_state", args=[run.code, "open"]))

    page = client.get(reverse("judging:overview", args=[run.code]))

    assert "5 votes by 1 of 2 judges" in page.text
    assert (
        sum(cell.votes for _, cells in page.context["coverage"] for cell in cells)
        == Vote.objects.exclude(matchup__kind="repeat").count()
    )
    assert page.context["judges"][0][1] == {"left": 3, "right": 0, "tie": 0, "fail": 2}
    assert sum(count for _, count in page.context["hours"]) == 5
    assert "2 pairs have no common prompt in Animal." in page.context["shortfalls"]
    assert f"{lone.label} lacks a drawing for 2 of 4 prompts." in page.context["shortfalls"]


@pytest.mark.parametrize("count", [1, 3])
def test_the_overview_takes_the_same_queries_for_any_number_of_judges(client, run, curator, count):
    for name in ("alice", "bob", "charlie")[:count]:
        vote(make_seat(run, name), times=2)
    client.get(reverse("judging:overview", args=[run.code]))

    with CaptureQueriesContext(connection) as context:
        client.get(reverse("judging:overview", args=[run.code]))

    assert len(context) <= 13


def test_open_pause_close_are_written_down(client, run, curator):
    for verb, state in [("pause", "paused"), ("open", "open"), ("close", "closed")]:
        client.post(reverse("judging:set_state", args=[run.code, verb]))
        assert Run.objects.get().judging_state == state

    assert set(Event.objects.values_list("verb", "actor__username")) == {
        ("pause judging", "carol"),
        ("open judging", "carol"),
        ("close judging", "carol"),
    }
    assert Epoch.objects.count() == 1
    assert client.post(reverse("judging:set_state", args=[run.code, "explode"])).status_code == 404


def test_many_invitations_at_once_as_a_list_and_as_csv(client, run, curator):
    url = reverse("judging:invitations", args=[run.code])
    client.post(url, {"count": 3, "label": "=Class", "max_uses": 2, "days": 5, "quota": 50})

    page = client.get(url)
    sheet = list(csv.DictReader(io.StringIO(client.get(reverse("judging:invitations_csv", args=[run.code])).text)))

    assert Invitation.objects.filter(max_uses=2, quota=50).count() == 3
    assert len(page.context["links"]) == 3
    assert {row["link"] for row in sheet} == {link for _, link in page.context["links"]}
    assert {row["for"] for row in sheet} == {"'=Class 1", "'=Class 2", "'=Class 3"}


def test_revoking_is_once_and_for_all(client, run, curator):
    client.post(reverse("judging:invitations", args=[run.code]), {"count": 1, "max_uses": 1, "days": 5})
    invitation = Invitation.objects.get()

    client.post(reverse("judging:revoke", args=[run.code, invitation.pk]))

    assert Invitation.objects.get().state == "revoked"


def test_a_judge_is_set_aside_with_a_reason_and_let_in_again(client, run, curator):
    seat = make_seat(run, "alice")
    url = reverse("judging:weigh", args=[run.code, seat.pk])

    client.post(url, {"weight": "0", "reason": "votes too fast"})
    aside = Seat.objects.get()
    client.post(url, {"weight": "1"})

    assert (aside.weight, aside.excluded_reason) == (0, "votes too fast")
    assert (Seat.objects.get().weight, Seat.objects.get().excluded_reason) == (1, "")
    assert Event.objects.filter(verb="set judge aside", reason="votes too fast").exists()


def test_a_judge_is_counted_in_part(client, run, curator):
    seat = make_seat(run, "alice")

    client.post(reverse("judging:weigh", args=[run.code, seat.pk]), {"weight": "0.25", "reason": "in a hurry"})
    page = client.get(reverse("judging:overview", args=[run.code])).text

    seat = Seat.objects.get()
    assert (seat.weight, seat.excluded_reason) == (0.25, "in a hurry")
    assert Event.objects.filter(verb="weigh judge at 0.25", reason="in a hurry").exists()
    assert "counts 0.25" in page and 'value="0.25"' in page


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"weight": "0"},
        {"weight": "0.5", "reason": " "},
        *({"weight": weight, "reason": "why"} for weight in ("-0.1", "1.1", "nan", "inf", "half")),
    ],
)
def test_a_weight_outside_the_range_or_without_a_reason_changes_nothing(client, run, curator, said):
    seat = make_seat(run, "alice")

    page = client.post(reverse("judging:weigh", args=[run.code, seat.pk]), said, follow=True)

    assert "Nothing changed" in page.text
    assert Seat.objects.get().weight == 1


@pytest.mark.parametrize(("weight", "reason"), [(0.5, ""), (-0.1, "why"), (1.5, "why")])
def test_the_database_refuses_a_weight_without_a_reason_or_out_of_range(run, weight, reason):
    seat = make_seat(run, "alice")

    with pytest.raises(IntegrityError), transaction.atomic():
        Seat.objects.filter(pk=seat.pk).update(weight=weight, excluded_reason=reason)


@pytest.mark.parametrize("decision", ["exclude", "dismiss"])
def test_a_report_is_decided_once(client, run, curator, decision):
    seat = make_seat(run, "alice")
    line = take_seat(seat.pk)
    voting.report_matchup(judge=seat.judge, code=line.current.code, side="left", reason="signed")
    report = Report.objects.get()
    url = reverse("judging:decide", args=[run.code, report.pk])

    client.post(url, {"decision": decision})
    client.post(url, {"decision": "exclude"})

    sample = Sample.objects.get(pk=line.current.left_sample_id)
    assert bool(sample.excluded_reason) is (decision == "exclude")
    assert Report.objects.get().decision == ("excluded" if decision == "exclude" else "dismissed")
    assert not Sample.objects.get(pk=line.current.right_sample_id).excluded_reason


def test_in_the_admin_votes_are_read_only(client, run):
    seat = make_seat(run, "alice")
    vote(seat)
    User.objects.create_superuser("root", password="x")
    client.force_login(User.objects.get(username="root"))
    pk = Vote.objects.get().pk

    assert client.get(reverse("admin:judging_vote_changelist")).status_code == 200
    assert client.get(reverse("admin:judging_vote_change", args=[pk])).status_code == 200
    assert client.post(reverse("admin:judging_vote_change", args=[pk]), {"outcome": "right"}).status_code == 403
    assert client.get(reverse("admin:judging_vote_delete", args=[pk])).status_code == 403
    assert client.get(reverse("admin:judging_vote_add")).status_code == 403
    assert Vote.objects.get().outcome == "left"
