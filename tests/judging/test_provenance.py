"""Judgements that were not simply given here by their judge are refused, or marked wherever a leaderboard is shown."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Run
from generation.runs.errors import RunError
from judging.curating.reset_links import reset_path
from judging.files.exports import grade_records, vote_records
from judging.files.import_votes import import_votes
from judging.models import PublicState, ResetLink, Vote
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from ranking.archive.importing import import_run
from ranking.archive.writing import archive_chunks
from ranking.fitting import fit_run
from ranking.public_states import take_public_states
from ranking.rubric.import_grades import import_grades
from tests.judging.make import NAMES, close_judging, make_curator, make_judge, make_run, make_seat
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
NEW = "a-new-long-password-7"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "votes.jsonl"
    line = {"left_model": NAMES[0], "right_model": NAMES[1], "outcome": "left", "judge": "ada"}
    path.write_text(f"{json.dumps(line)}\n" * 3)
    return path


def board(client, run):
    return client.get(reverse("ranking:leaderboard", args=[run.code]), {"format": "json"}).json()


def page(client, run):
    return " ".join(client.get(reverse("ranking:leaderboard", args=[run.code])).text.split())


@pytest.mark.parametrize("state", ["open", "paused"])
def test_nothing_is_imported_into_a_run_that_people_judge(file, state):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(judging_state=state)

    with pytest.raises(RunError, match="People are judging"):
        import_votes(path=file, run=run, reason="a pilot")
    with pytest.raises(CommandError, match="People are judging"):
        call_command("import_votes", file, "--run", run.code, "--reason", "a pilot")
    with pytest.raises(RunError, match="People are judging"):
        import_grades(path=file, run=run, reason="a pilot")

    assert not Vote.objects.exists()


@pytest.mark.parametrize("reason", ["", " \n\t"])
def test_an_import_needs_a_reason(file, reason, client, tmp_path):
    run = close_judging(make_run())
    archive = tmp_path / "run.zip"
    archive.write_bytes(b"".join(archive_chunks(run)))

    for refused in (
        lambda: import_votes(path=file, run=run, reason=reason),
        lambda: import_run(archive, copy=True, reason=reason),
    ):
        with pytest.raises(RunError, match="needs a reason"):
            refused()
    with pytest.raises(CommandError, match="--reason"):
        call_command("import_votes", str(file), "--run", run.code)
    client.force_login(make_curator())
    with file.open("rb") as stream:
        answer = client.post(reverse("judging:import_votes", args=[run.code]), {"file": stream, "reason": reason})

    assert "This field is required." in answer.text
    assert not Vote.objects.exists() and Run.objects.count() == 1


def test_imported_votes_are_marked_on_the_board_in_its_json_and_in_files(client, file):
    run = close_judging(make_voted_run(votes=20))
    Run.objects.filter(pk=run.pk).update(visibility="published")
    import_votes(path=file, run=run, reason="the pilot of May")
    fit_run(run)

    document, text = board(client, run), page(client, run)

    assert (document["imported"], document["import_reasons"]) == (3, ["the pilot of May"])
    assert "3 were imported from files (the pilot of May)." in text and "imported judgements" in text
    assert [row["imported"] for row in vote_records(run)].count(True) == 3


def test_an_archive_cannot_say_that_its_votes_were_cast_here(client, tmp_path):
    run, path = close_judging(make_voted_run(votes=20)), tmp_path / "run.zip"
    path.write_bytes(b"".join(archive_chunks(run)))
    copy = import_run(path, copy=True, reason="from the old site")
    Run.objects.filter(pk=copy.pk).update(visibility="published")
    assert not copy.votes.filter(imported=True).exists()  # its own word
    fit_run(copy)

    document = board(client, copy)

    assert (document["imported"], document["import_reasons"]) == (copy.votes.count(), ["from the old site"])


def test_public_states_count_imported_votes_and_no_other_marks(client, file):
    run = make_voted_run(votes=60, judges=4)
    import_votes(path=file, run=close_judging(run), reason="the pilot")
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="open")
    take_public_states()

    document = board(client, run)

    assert document["imported"] == PublicState.objects.get().imported == 3
    assert "3 of them came from files." in page(client, run)
    assert not {"kept_out", "unconfirmed"} & set(document)


def test_imported_grades_are_marked(client, tmp_path):
    run, path = close_judging(make_graded_run(subjects=1)), tmp_path / "grades.jsonl"
    call_command("export", "grades", run.code, out=path)
    count = run.grades.count()
    run.grades.all().delete()
    import_grades(path=path, run=run, reason="from paper")
    Run.objects.filter(pk=run.pk).update(visibility="published")
    fit_run(run, protocol="rubric")

    document = client.get(reverse("ranking:protocol", args=[run.code, "rubric"]), {"format": "json"}).json()

    assert (document["imported"], document["import_reasons"]) == (count, ["from paper"])
    assert all(row["imported"] for row in grade_records(run))


# A curator's link to a new password.


def use_link(browser, judge, path=""):
    form = browser.get(path or reset_path(judge), follow=True)
    browser.post(form.redirect_chain[-1][0], {"new_password1": NEW, "new_password2": NEW})


def link_by(curator, seat):
    browser = Client()
    browser.force_login(curator)
    made = browser.post(reverse("judging:reset_link", args=[seat.run.code, seat.pk]))
    return re.search(r'value="https?://[^/"]+([^"]+)"', made.text)[1]


def vote(seat):
    return cast_vote(judge=seat.judge, code=take_seat(seat.pk).current.code, ballot=Ballot("left")).vote


@pytest.fixture
def own(client):
    """The judge's own browser."""
    make_judge("zoe")
    client.post(reverse("login"), {"username": "zoe", "password": "a-good-password"})
    return client


def unconfirmed(run):
    return fit_run(run).result["run"]["unconfirmed"]


def test_a_judge_is_told_of_a_link_before_it_is_used(own):
    seat = make_seat(make_run(), "zoe")
    link_by(make_curator("carol"), seat)
    vote(seat)

    text = " ".join(own.get(reverse("judging:home")).text.split())

    assert "made by carol, not used" in text and "I used" not in text
    assert unconfirmed(seat.run) == 0


def test_votes_after_a_link_was_used_are_marked_until_the_judge_confirms(own):
    run = make_voted_run(votes=20)
    seat = make_seat(run, "zoe")
    vote(seat)
    use_link(own, seat.judge, link_by(make_curator("carol"), seat))
    marked = vote(seat)

    assert unconfirmed(run) == 1
    assert [row["voted_at"] for row in vote_records(run) if row["unconfirmed"]] == [marked.voted_at.isoformat()]
    assert "I used this link myself" in own.get(reverse("judging:home")).text
    answer = own.post(reverse("confirm_password"), follow=True)

    assert "Confirmed." in answer.text
    assert unconfirmed(run) == 0
    assert run.events.get(verb="confirm reset link").actor == seat.judge


def test_a_curator_who_uses_the_link_cannot_confirm_it(own):
    seat, thief = make_seat(make_voted_run(votes=20), "zoe"), Client()
    carol = make_curator("carol")
    thief.force_login(carol)
    use_link(thief, seat.judge, link_by(carol, seat))
    vote(seat)

    refused = thief.post(reverse("confirm_password"), follow=True)

    assert "Nothing was confirmed" in refused.text and "this one was not" in " ".join(refused.text.split())
    assert unconfirmed(seat.run) == 1
    # Nor by a second link: the browser is not the judge's for having been let in.
    use_link(thief, seat.judge, link_by(carol, seat))
    thief.post(reverse("confirm_password"))
    assert unconfirmed(seat.run) == 1
    # The judge, let in again, sees both and may say so.
    use_link(own, seat.judge, link_by(carol, seat))
    text = " ".join(own.get(reverse("judging:home")).text.split())
    assert text.count("made by carol") == 3 and "I used these links myself" in text


def test_a_cookie_that_nobody_signed_is_nobody_s(own):
    seat, thief = make_seat(make_run(), "zoe"), Client()
    use_link(thief, seat.judge, link_by(make_curator("carol"), seat))
    thief.cookies[f"known-{seat.judge.pk}"] = f"{(now() - timedelta(days=9)).timestamp()}:forged"

    thief.post(reverse("confirm_password"))

    assert ResetLink.objects.waiting().count() == 1


def test_a_password_that_a_superuser_sets_is_told_and_marked(own, admin_user):
    seat, office = make_seat(make_run(), "zoe"), Client()
    office.force_login(admin_user)
    address = reverse("admin:auth_user_password_change", args=[seat.judge.pk])
    office.post(address, {"password1": NEW, "password2": NEW, "usable_password": "true"})

    link = ResetLink.objects.get()

    assert (link.judge, link.made_by, link.confirmed_at) == (seat.judge, admin_user, None)
    assert link.used_at is not None


def test_curators_see_whose_password_is_not_confirmed(client):
    seat = make_seat(make_run(), "zoe")
    ResetLink.objects.create(judge=seat.judge, used_at=now())
    client.force_login(make_curator("carol"))

    text = client.get(reverse("judging:overview", args=[seat.run.code])).text
    assert "password not confirmed" in " ".join(text.split())


def vouch(name, seat, reason="Zoe told me by phone", **rights):
    browser = Client()
    curator = make_curator(name)
    User.objects.filter(pk=curator.pk).update(**rights)
    browser.force_login(curator)
    address = reverse("judging:vouch", args=[seat.run.code, seat.pk])
    return " ".join(browser.post(address, {"reason": reason}, follow=True).text.split())


def test_another_curator_vouches_for_a_judge_without_a_known_browser():
    seat, new = make_seat(make_voted_run(votes=20), "zoe"), Client()
    use_link(new, seat.judge, link_by(make_curator("carol"), seat))
    vote(seat)
    assert "ask a curator who did not make the link" in " ".join(new.get(reverse("judging:home")).text.split())
    assert "Say how you know" in vouch("dora", seat, reason=" ")
    assert unconfirmed(seat.run) == 1

    answer = vouch("dan", seat)

    assert "Confirmed." in answer
    assert unconfirmed(seat.run) == 0
    event = seat.run.events.get(verb="confirm reset link")
    assert (event.actor.username, event.reason) == ("dan", "Zoe told me by phone")


@pytest.mark.parametrize(
    ("maker", "rights", "words"),
    [
        ("carol", {}, "You created this link"),
        (None, {}, "a superuser"),
        (None, {"is_superuser": True}, "Confirmed"),
    ],
)
def test_nobody_vouches_for_a_link_of_their_own(maker, rights, words):
    seat = make_seat(make_run(), "zoe")
    ResetLink.objects.create(judge=seat.judge, used_at=now(), made_by=maker and make_curator(maker))
    ResetLink.objects.create(judge=seat.judge, used_at=now(), made_by=make_curator("dan"))

    assert words in vouch("carol", seat, **rights)
    assert ResetLink.objects.waiting().exists() == (words != "Confirmed")
