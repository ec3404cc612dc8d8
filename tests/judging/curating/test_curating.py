"""The curator's pages: who may open them, and what their buttons do."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchsite.operations.accounts import make_curator as give_role
from generation.models import Event, Run, Sample
from judging.models import Epoch, Invitation, Matchup, Report, Seat, Vote
from judging.pairs import voting
from judging.pairs.serving import take_seat
from tests.judging.make import make_judge, make_run, make_seat
from tests.pages import collapsed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


@pytest.fixture
def run():
    return make_run()


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

    assert '<span class="big">5</span> votes by 1 of 2 judges' in collapsed(page)
    assert (
        sum(cell.votes for _, cells in page.context["coverage"] for cell in cells)
        == Vote.objects.exclude(matchup__kind="repeat").count()
    )
    assert page.context["judges"][0][1] == {"left": 3, "right": 0, "tie": 0, "fail": 2, "skip": 0}
    assert sum(count for _, count in page.context["hours"]) == 5
    assert "2 pairs have no common prompt in Animal." in page.context["shortfalls"]
    assert f"{lone.label} lacks a drawing for 2 of 4 prompts." in page.context["shortfalls"]


def test_the_overview_marks_pairs_that_no_drawing_allows(client, run, curator):
    bare, *others = run.entrants.all()
    run.samples.filter(entrant=bare).update(excluded_reason="test")
    run.samples.filter(prompt__category="animal").update(excluded_reason="test")
    client.post(reverse("judging:set_state", args=[run.code, "open"]))

    coverage = client.get(reverse("judging:overview", args=[run.code])).context["coverage"]

    for cell in (cell for _, cells in coverage for cell in cells):
        possible = bare not in (cell.row, cell.column)
        assert cell.possible is possible
        assert cell.by_category == (("Animal", 0, False), ("Object", 0, possible))
    assert sum(cell.possible for _, cells in coverage for cell in cells) == 1 and len(others) == 2


def test_the_overview_shows_votes_that_exist_though_no_drawing_allows_more(client, curator):
    run = make_run(entrants=2, overlap=0, repeats=0)
    vote(make_seat(run, "alice"), times=3)
    run.samples.update(held=True)
    client.post(reverse("judging:set_state", args=[run.code, "open"]))

    page = client.get(reverse("judging:overview", args=[run.code]))

    counts = sorted(count for _, count, _ in page.context["coverage"][1][1][0].by_category)
    assert counts == [1, 2]
    assert re.search(r'<td class="level-4"> 3<small>(1 2|2 1)</small></td>', collapsed(page))


@pytest.mark.parametrize("count", [1, 3])
def test_the_overview_takes_the_same_queries_for_any_number_of_judges(client, run, curator, count):
    for name in ("alice", "bob", "charlie")[:count]:
        vote(make_seat(run, name), times=2)
    client.get(reverse("judging:overview", args=[run.code]))

    with CaptureQueriesContext(connection) as context:
        client.get(reverse("judging:overview", args=[run.code]))

    assert len(context) <= 21


def test_open_pause_close_are_written_down_with_who_and_why(client, run, curator):
    for verb, state in [("pause", "paused"), ("open", "open"), ("close", "closed")]:
        client.post(reverse("judging:set_state", args=[run.code, verb]), {"reason": f"time to {verb}"})
        assert Run.objects.get().judging_state == state

    assert set(Event.objects.values_list("verb", "actor__username", "reason")) == {
        ("pause judging", "carol", "time to pause"),
        ("open judging", "carol", "time to open"),
        ("close judging", "carol", "time to close"),
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

    client.post(reverse("judging:revoke", args=[run.code, invitation.pk]), {"reason": "the wrong list"})

    assert Invitation.objects.get().state == "revoked"
    event = Event.objects.get(verb="revoke invitation")
    assert (event.actor, event.reason) == (curator, "the wrong list")


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
    assert Event.objects.filter(verb="weigh judge", subject__endswith=" at 0.25", reason="in a hurry").exists()
    assert "counts 0.25" in page and 'value="0.25"' in page


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"weight": "0"},
        {"weight": "0.5", "reason": " "},
        *({"weight": weight, "reason": "why"} for weight in ("-0.1", "1.1", "nan", "inf", "half")),
    ],
)
def test_a_weight_outside_the_range_or_without_a_reason_changes_nothing(client, run, curator, message):
    seat = make_seat(run, "alice")

    page = client.post(reverse("judging:weigh", args=[run.code, seat.pk]), message, follow=True)

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
    screen = take_seat(seat.pk)
    voting.report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="signed")
    report = Report.objects.get()
    url = reverse("judging:decide", args=[run.code, report.pk])

    first = client.post(url, {"decision": decision}, follow=True).text
    second = client.post(url, {"decision": "exclude"}, follow=True).text

    assert ("The drawing is out of judging." if decision == "exclude" else "The report is dismissed.") in first
    assert "Nothing changed." in second and "The drawing is out of judging." not in second
    sample = Sample.objects.get(pk=screen.current.left_sample_id)
    assert bool(sample.excluded_reason) is (decision == "exclude")
    assert Report.objects.get().decision == ("excluded" if decision == "exclude" else "dismissed")
    assert not Sample.objects.get(pk=screen.current.right_sample_id).excluded_reason


@pytest.mark.parametrize(("typed", "message"), [("a copy", "a copy"), ("", "reported by a judge: signed")])
def test_a_report_is_decided_with_the_curator_s_reason_or_the_judge_s(client, run, curator, typed, message):
    seat = make_seat(run, "alice")
    screen = take_seat(seat.pk)
    voting.report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="signed")
    url = reverse("judging:decide", args=[run.code, Report.objects.get().pk])

    client.post(url, {"decision": "exclude", "reason": typed})

    assert Sample.objects.get(pk=screen.current.left_sample_id).excluded_reason == message
    event = Event.objects.get(verb="report excluded")
    assert (event.actor, event.reason) == (curator, message)


def test_figures_come_alone_and_say_when_no_more_will_come(client, run, curator):
    seat = make_seat(run, "alice")
    vote(seat, times=2)
    url = reverse("judging:figures", args=[run.code])

    page = collapsed(client.get(url))

    assert page.startswith(f'<section data-live="{url}" data-done="false">')
    assert "</span> votes by 1 judge." in page and "<html" not in page
    client.post(reverse("judging:set_state", args=[run.code, "pause"]))
    assert 'data-done="true"' in client.get(url).text


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
