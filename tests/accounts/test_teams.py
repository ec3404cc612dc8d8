"""Teams: who is let in, what changes when somebody leaves, and where new runs go."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.management import CommandError, call_command
from django.urls import reverse

from accounts.teams import add_member, create_team, move_run, remove_member
from benchsite.operations.accounts import make_curator
from generation.models import Event, Run, Team
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run
from judging.curating.invitations import ANALYSTS
from ranking.people import is_closed_to
from ranking.webhooks.subscriptions import create_webhook
from tests.generation.drawing_room import make_suite
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


@pytest.fixture
def root():
    return User.objects.create_superuser("root", password="x")


def curator(name: str, *teams: Team) -> User:
    user = User.objects.create_user(name)
    make_curator(user)
    for team in teams:
        team.members.add(user)
    return user


@pytest.fixture
def painters(root):
    return create_team(name="Painters", by=root)


@pytest.fixture
def sculptors(root):
    return create_team(name="Sculptors", by=root)


def of_team(team: Team | None) -> Run:
    run = make_run(entrants=2, prompts=1, attempts=1)
    Run.objects.filter(pk=run.pk).update(team=team)
    run.refresh_from_db()
    return run


def test_a_run_without_a_team_is_open_to_every_curator(painters):
    run = of_team(None)
    alone, member = curator("carol"), curator("dave", painters)

    assert [run.is_curated_by(user) for user in (alone, member, AnonymousUser())] == [True, True, False]
    assert {Run.objects.curated_by(user).count() for user in (alone, member)} == {1}


def test_a_run_of_a_team_is_open_to_its_members_and_to_superusers(root, painters, sculptors):
    run = of_team(painters)
    people = [curator("ann", painters), curator("ben", sculptors), curator("cy", painters, sculptors), root]

    assert [run.is_curated_by(user) for user in people] == [True, False, True, True]
    assert [Run.objects.visible_to(user).count() for user in people] == [1, 0, 1, 1]


def test_a_curator_of_another_team_sees_of_a_published_run_what_visitors_see(painters, sculptors):
    run = of_team(painters)
    run.visibility = "published"
    run.save()
    other = curator("ben", sculptors)

    assert Run.objects.visible_to(other).get() == run
    assert is_closed_to(other, run, "pairwise") and not is_closed_to(curator("ann", painters), run, "pairwise")


def test_two_teams_cannot_share_a_name(painters, root):
    with pytest.raises(RunError, match="There is a team called painters already"):
        create_team(name="painters", by=root)


def test_whoever_leaves_loses_the_runs_and_their_webhooks_at_once(painters, root):
    run, ann = of_team(painters), curator("ann", painters)
    webhook = create_webhook(run=run, url="https://example.org/x", kinds=["run"], by=ann)

    assert remove_member(painters, user=ann, by=root, reason="moved on")

    webhook.refresh_from_db()
    assert webhook.disabled_at is not None
    assert not Run.objects.get(pk=run.pk).is_curated_by(User.objects.get(pk=ann.pk))
    assert not remove_member(painters, user=ann, by=root)


@pytest.mark.parametrize("change", [add_member, remove_member])
def test_a_judge_who_joins_or_leaves_counts_only_if_a_curator_says_so(painters, root, change):
    run = of_team(painters)
    seat = make_seat(run, "jo")
    if change is remove_member:
        painters.members.add(seat.judge)

    change(painters, user=seat.judge, by=root)

    seat.refresh_from_db()
    assert seat.weight == 0 and "names" in seat.excluded_reason


def test_model_judges_move_with_their_run_and_the_log_says_why(painters, sculptors, root):
    run = of_team(painters)
    fields = {"suite": "x", "title": "x", "format": "ballot", "config": {}, "digest": "x", "budget_nano": 1}
    judge = Run.objects.create(judged_run=run, team=painters, **fields)

    assert move_run(run, team=sculptors, by=root, reason="theirs")

    judge.refresh_from_db()
    event = run.events.get(verb=Event.Verb.MOVE_RUN)
    assert judge.team == sculptors and (event.subject, event.reason) == ("from Painters to Sculptors", "theirs")
    assert not move_run(run, team=sculptors, by=root, reason="again")


def test_a_new_run_goes_to_the_curators_team(painters):
    suite = make_suite()

    assert start_run(suite, by=curator("ann", painters), draw=False).team == painters
    assert start_run(suite, by=curator("zoe"), draw=False).team is None


def test_the_start_page_asks_only_those_who_have_a_choice(client, painters, sculptors):
    for name, teams, asked in (("ann", [painters], False), ("cy", [painters, sculptors], True), ("zoe", [], False)):
        client.force_login(curator(name, *teams))

        assert ('name="team"' in client.get(reverse("generation:start", args=["ascii"])).text) is asked


def test_a_team_of_others_cannot_be_chosen(client, painters, sculptors):
    third = Team.objects.create(name="Potters")
    client.force_login(curator("cy", painters, sculptors))
    url = reverse("generation:start", args=["ascii"])

    response = client.post(url, {"team": third.code, "attempts": 1, "budget": "1", "key": "k", "models": []})

    assert response.status_code == 200 and "team" in response.context["form"].errors


def test_only_superusers_change_teams(client, painters, root):
    ann = curator("ann", painters)
    client.force_login(ann)
    pages = [
        reverse("teams"),
        reverse("team", args=[painters.code]),
        reverse("leave_team", args=[painters.code, ann.pk]),
    ]

    assert [client.post(page, {"name": "X", "member": "root"}).status_code for page in pages] == [403, 403, 403]
    assert "Painters" in client.get(pages[0]).text and "ann" in client.get(pages[1]).text


def test_a_superuser_makes_a_team_and_lets_people_in(client, root):
    client.force_login(root)
    curator("ann")
    User.objects.create_user("lea").groups.add(Group.objects.create(name=ANALYSTS))
    User.objects.create_user("jo")
    page = client.post(reverse("teams"), {"name": "Painters"}, follow=True).redirect_chain[0][0]

    for name in ("ANN", "lea"):
        assert "is in the team" in client.post(page, {"member": name}, follow=True).text
    assert "neither a curator nor an analyst" in client.post(page, {"member": "jo"}).text
    assert "There is no account called nobody" in client.post(page, {"member": "nobody"}).text
    assert set(Team.objects.get().members.values_list("username", flat=True)) == {"ann", "lea"}


def test_a_run_moves_to_ones_own_teams_alone(client, painters, sculptors):
    run, cy = of_team(painters), curator("cy", painters)
    client.force_login(cy)
    url = reverse("run_team", args=[run.code])

    refused = client.post(url, {"team": sculptors.code, "reason": "try"})
    assert "team" in refused.context["form"].errors
    assert "belongs to no team now" in client.post(url, {"team": "", "reason": "for all"}, follow=True).text


def test_a_judge_of_two_teams_gets_no_new_password_from_one(client, painters, sculptors):
    run, other = of_team(painters), of_team(sculptors)
    seat = make_seat(run, "jo")
    make_seat(other, "jo")
    client.force_login(curator("ann", painters))

    answer = client.post(reverse("judging:reset_link", args=[run.code, seat.pk]), follow=True).text

    assert "jo also judges for another team" in answer


def test_the_command_names_the_teams_there_are(painters):
    with pytest.raises(CommandError, match="There is no team called Potters"):
        call_command("start_run", "ascii", team="Potters")
    call_command("start_run", "ascii", team="painters", demo=True, no_draw=True)
    assert Run.objects.get().team == painters


def test_the_list_of_runs_says_whose_they_are_once_there_are_teams(client, root, painters):
    of_team(None)
    client.force_login(root)
    without = client.get("/runs/").text
    of_team(painters)

    page = client.get("/runs/").text

    assert "<th>Team</th>" not in without and "<th>Team</th>" in page
    assert [cell in page for cell in ("<td>Painters</td>", "<td>none</td>")] == [True, True]
