"""The judge's pages over HTTP: who may, what is refused, and that nothing happens twice or by accident."""

from __future__ import annotations

import re

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Run
from judging.models import Matchup, Report, Vote
from judging.pairs import voting
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from tests.judging.make import make_judge, make_run, make_seat
from tests.pages import collapsed

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture(autouse=True)
def no_waiting(settings, request):
    """Tests vote faster than people; the limit itself has tests of its own."""
    if "limit" not in request.node.name:
        settings.MIN_VOTE_SECONDS = 0


@pytest.fixture
def run():
    return make_run()


@pytest.fixture
def alice(run, client):
    seat = make_seat(run, "alice")
    client.force_login(seat.judge)
    take_seat(seat.pk)
    return seat


def open_code(seat):
    return Matchup.objects.get(seat=seat, state="open").code


def test_it_works(run, client):
    seat = make_seat(run, "alice", quota=5)
    client.force_login(seat.judge)

    started = client.post(reverse("judging:start", args=[run.code]), follow=True)
    code = open_code(seat)
    voted = client.post(reverse("judging:vote"), {"code": code, "outcome": "left"}, follow=True)

    assert started.redirect_chain == [(reverse("judging:judge", args=[run.code]), 302)]
    assert started.context["pair"].code == code
    assert "0 of 5" in started.text
    assert "1 of 5" in voted.text
    assert "Voted left" in voted.text
    assert Vote.objects.get().matchup.code == code
    assert voted.context["pair"].code == open_code(seat) != code


def test_each_drawing_stands_in_three_fonts_with_its_first_line_intact(alice, client):
    matchup = Matchup.objects.select_related("left_sample").get(seat=alice, state="open")
    type(matchup.left_sample).objects.filter(pk=matchup.left_sample_id).update(drawing="   \\o/\n  <b>&amp;")

    page = client.get(reverse("judging:judge", args=[alice.run.code])).text

    assert page.count("\n   \\o/\n  &lt;b&gt;&amp;amp;</pre>") == 3
    for number in (1, 2, 3):
        assert page.count(f'class="art font-{number}"') == 2


def test_the_script_gets_the_next_pair_and_not_what_it_has(alice, client):
    upcoming = Matchup.objects.get(seat=alice, state="queued").code
    data = {"code": open_code(alice), "outcome": "tie", "have": upcoming, "response_ms": "1"}

    answer = client.post(reverse("judging:vote"), data, headers=JSON).json()

    assert answer["current"] == {"code": upcoming}
    assert answer["next"]["code"] == Matchup.objects.get(seat=alice, state="queued").code
    assert f'data-code="{answer["next"]["code"]}"' in answer["next"]["html"]
    assert answer["said"] == "Voted both good on the last pair."
    assert answer["undo"] == data["code"]
    assert answer["progress"]["done"] == 1
    assert answer["revealed"] is None


MOVES = {"postgresql": 2, "sqlite": 1}  # queries more where a judge becomes more active


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("repeats", "more"), [(0, 0), (0.1, 3)])
def test_a_vote_with_the_next_pair_takes_few_queries(count, repeats, more, client):
    """More are needed only when the planned drawings have met before, or a repeat does not fit where it is due.

    On PostgreSQL one reads the line and one writes everything; on SQLite a guard and seven writes are cheap. Each further
    pair that has met before takes two.
    """
    most = more + (5 if connection.vendor == "postgresql" else 12)
    run = make_run(entrants=4, prompts=8, attempts=3, repeats=repeats, overlap=2 * repeats)
    for name in ("alice", "bob", "charlie")[:count]:
        seat = make_seat(run, name)
        client.force_login(seat.judge)
        take_seat(seat.pk)
        for _ in range(12):
            client.post(reverse("judging:vote"), {"code": open_code(seat), "outcome": "left"}, headers=JSON)

    for _ in range(20):
        data = {"code": open_code(seat), "outcome": "right"}
        with CaptureQueriesContext(connection) as context:
            assert client.post(reverse("judging:vote"), data, headers=JSON).status_code == 200
        # The test's own transaction adds savepoints, and holds back the note that the ranking is stale: one query more.
        mine = [query for query in context.captured_queries if "SAVEPOINT" not in query["sql"]]
        seat.refresh_from_db()
        moves = seat.voted & (seat.voted - 1) == 0  # a power of two: the judge's class of activity changes
        met = sum('SELECT 1 AS "a" FROM "judging_matchup"' in query["sql"] for query in mine)  # looked at one by one
        assert len(mine) <= most + MOVES[connection.vendor] * moves + 2 * max(0, met - 1) and met <= 3


def test_a_double_click_is_one_vote(alice, client):
    data = {"code": open_code(alice), "outcome": "left"}

    first, second = (client.post(reverse("judging:vote"), data, headers=JSON) for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json()["current"]["code"] == second.json()["current"]["code"]
    assert Vote.objects.count() == 1
    assert differences(alice.run) == 0


def test_a_replay_with_another_choice_says_what_is_recorded(alice, client):
    code = open_code(alice)
    client.post(reverse("judging:vote"), {"code": code, "outcome": "left"})

    by_script = client.post(reverse("judging:vote"), {"code": code, "outcome": "right"}, headers=JSON)
    by_form = client.post(reverse("judging:vote"), {"code": code, "outcome": "right"}, follow=True)

    assert by_script.status_code == 409
    assert by_script.json()["error"] == "recorded"
    afterwards = client.post(reverse("judging:start", args=[alice.run.code]), headers=JSON)
    assert afterwards.json()["said"] == "Voted left on the last pair."
    assert "undo your earlier vote" in by_form.text
    assert Vote.objects.get().outcome == "left"


@pytest.mark.parametrize("name", ["vote", "undo", "report"])
def test_another_judges_code_is_not_found(alice, name):
    bob = make_seat(alice.run, "bob")
    charlie = Client()
    charlie.force_login(bob.judge)
    data = {"code": open_code(alice), "outcome": "left", "side": "left", "reason": "broken"}

    answer = charlie.post(reverse(f"judging:{name}"), data)
    unknown = charlie.post(reverse(f"judging:{name}"), {**data, "code": "222222222222"})

    assert (answer.status_code, unknown.status_code) == (404, 404)
    token = r'name="csrfmiddlewaretoken" value="\w+"'
    assert re.sub(token, "", answer.text) == re.sub(token, "", unknown.text)
    assert Vote.objects.count() == 0
    assert open_code(alice) == data["code"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "win"},
        {"outcome": ""},
        {"outcome": "LEFT"},
        {"code": ""},
        {"code": "x' OR 1=1"},
        {"response_ms": "-5"},
        {"response_ms": "soon"},
        {"left_breaks": "4"},
    ],
)
def test_forged_fields_are_refused(alice, client, wrong):
    data = {"code": open_code(alice), "outcome": "left"} | wrong

    answer = client.post(reverse("judging:vote"), data, headers=JSON)

    assert answer.status_code == 400
    assert Vote.objects.count() == 0


def test_fields_that_are_not_the_judges_to_say_are_ignored(alice, client):
    bob = make_seat(alice.run, "bob")
    matchup = Matchup.objects.get(seat=alice, state="open")
    data = {
        "code": matchup.code,
        "outcome": "left",
        "seat": bob.pk,
        "judge": bob.judge_id,
        "left": matchup.right_id,
        "right": matchup.left_id,
        "voted_at": "2001-01-01",
        "kind": "repeat",
        "unblind": "1",
    }

    client.post(reverse("judging:vote"), data)

    vote = Vote.objects.select_related("matchup").get()
    assert (vote.seat, vote.matchup.left_id, vote.matchup.kind) == (alice, matchup.left_id, matchup.kind)
    assert vote.voted_at.year != 2001
    assert vote.unblind is False


def test_marks_go_with_the_vote(alice, client):
    data = {"code": open_code(alice), "outcome": "left", "left_breaks": ["1", "3"], "right_breaks": ["2"]}

    client.post(reverse("judging:vote"), data)

    assert (Vote.objects.get().left_breaks, Vote.objects.get().right_breaks) == (0b101, 0b010)


def test_get_changes_nothing(alice, client):
    run = alice.run
    client.post(reverse("judging:vote"), {"code": open_code(alice), "outcome": "left"})

    def state():
        return (
            list(Matchup.objects.order_by("pk").values()),
            list(Vote.objects.values()),
            list(run.seats.values()),
            list(Run.objects.values("judging_state")),
        )

    before = state()
    code = Vote.objects.get().matchup.code
    for name, args in [("home", []), ("judge", [run.code]), ("history", [run.code])]:
        assert client.get(reverse(f"judging:{name}", args=args)).status_code == 200
    for name, args in [("vote", []), ("undo", []), ("report", []), ("start", [run.code])]:
        url = reverse(f"judging:{name}", args=args)
        assert client.get(url, {"code": code, "outcome": "left"}).status_code == 405
    assert state() == before


@pytest.mark.parametrize("name", ["vote", "undo", "report", "start"])
def test_a_post_without_a_token_is_refused(alice, name):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice.judge)
    url = reverse(f"judging:{name}", args=[alice.run.code] if name == "start" else [])

    answer = strict.post(url, {"code": open_code(alice), "outcome": "left", "side": "left", "reason": "broken"})

    assert answer.status_code == 403
    assert Vote.objects.count() == 0


@pytest.mark.parametrize("name", ["vote", "skip", "undo", "report"])
@pytest.mark.parametrize("headers", [{}, JSON], ids=["by form", "by script"])
def test_a_code_that_no_database_can_hold_is_no_pair(alice, client, name, headers):
    fields = {"code": "a\0b", "outcome": "left", "side": "left", "reason": "broken"}

    answer = client.post(reverse(f"judging:{name}"), fields, headers=headers)

    assert answer.status_code in (302, 400, 404)
    assert Vote.objects.count() == 0


def test_two_tabs_show_the_same_pair(alice, client):
    url = reverse("judging:judge", args=[alice.run.code])

    one, other = client.get(url), client.get(url)
    client.post(reverse("judging:vote"), {"code": one.context["pair"].code, "outcome": "left"})
    late = client.post(reverse("judging:vote"), {"code": other.context["pair"].code, "outcome": "left"}, follow=True)

    assert one.context["pair"] == other.context["pair"]
    assert Vote.objects.count() == 1
    assert late.context["pair"].code == open_code(alice)


def test_the_back_button_shows_the_present_pair_because_nothing_is_cached(alice, client):
    answer = client.get(reverse("judging:judge", args=[alice.run.code]))

    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(("state", "words"), [("closed", "is closed"), ("paused", "is paused")])
def test_a_run_closed_while_looking_takes_no_vote_and_says_so(alice, client, state, words):
    code = open_code(alice)
    Run.objects.update(judging_state=state)

    by_form = client.post(reverse("judging:vote"), {"code": code, "outcome": "left"}, follow=True)
    by_script = client.post(reverse("judging:vote"), {"code": code, "outcome": "left"}, headers=JSON)

    assert words in by_form.text
    assert by_form.context["pair"] is None
    assert (by_script.status_code, by_script.json()["error"]) == (409, state)
    assert Vote.objects.count() == 0


@pytest.mark.parametrize(("state", "words"), [("closed", "is closed"), ("paused", "is paused")])
def test_a_vote_whose_answer_was_lost_stands_though_the_run_was_closed_since(alice, client, state, words):
    data = {"code": open_code(alice), "outcome": "left"}
    client.post(reverse("judging:vote"), data, headers=JSON)
    Run.objects.update(judging_state=state)

    again = client.post(reverse("judging:vote"), data, headers=JSON)
    by_form = client.post(reverse("judging:vote"), data, follow=True)

    assert (again.status_code, again.json()["current"]) == (200, None)
    assert again.json()["said"] == "Voted left on the last pair."
    assert words in by_form.text
    assert "last pair" not in by_form.text
    assert Vote.objects.count() == 1


def test_a_judge_deactivated_in_mid_session_is_out(alice, client):
    User.objects.update(is_active=False)
    data = {"code": open_code(alice), "outcome": "left"}

    by_form = client.post(reverse("judging:vote"), data)
    by_script = client.post(reverse("judging:vote"), data, headers=JSON)
    page = client.get(reverse("judging:judge", args=[alice.run.code]))

    assert by_form.status_code == page.status_code == 302
    assert by_form["Location"].startswith(reverse("login"))
    assert (by_script.status_code, by_script.json()["error"]) == (403, "login")
    assert Vote.objects.count() == 0


def test_the_limit_of_one_vote_in_300_ms_answers_429(alice, client):
    with time_machine.travel(now(), tick=False) as clock:
        answers = []
        for wait in (0.0, 0.299, 0.002):
            clock.shift(wait)
            data = {"code": open_code(alice), "outcome": "left"}
            answers.append(client.post(reverse("judging:vote"), data, headers=JSON))

    assert [answer.status_code for answer in answers] == [200, 429, 200]
    assert answers[1].json()["error"] == "too_fast"
    assert Vote.objects.count() == 2


def test_undo_by_form_and_by_script(alice, client):
    codes = []
    for _ in range(3):
        codes.append(open_code(alice))
        client.post(reverse("judging:vote"), {"code": codes[-1], "outcome": "left"})

    by_script = client.post(reverse("judging:undo"), {"code": codes[2]}, headers=JSON).json()
    by_form = client.post(reverse("judging:undo"), {"code": codes[1]}, follow=True)

    assert by_script["current"]["code"] == codes[2]
    assert by_script["undo"] == codes[1]
    assert by_form.context["pair"].code == codes[1]
    assert Vote.objects.filter(withdrawn_at=None).get().matchup.code == codes[0]


def test_history_lists_own_votes_without_names(alice, client):
    bob = make_seat(alice.run, "bob")
    take_seat(bob.pk)
    voting.cast_vote(judge=bob.judge, code=open_code(bob), ballot=voting.Ballot("fail"))
    client.post(reverse("judging:vote"), {"code": open_code(alice), "outcome": "left"})

    page = client.get(reverse("judging:history", args=[alice.run.code]))

    assert [vote.seat for vote in page.context["page"]] == [alice]
    assert "Left is better" in page.text
    category = Matchup.objects.get(seat=alice, state="voted").category
    assert f">{category.title()} · " in collapsed(page)  # its label, not its key
    for entrant in alice.run.entrants.all():
        assert entrant.label not in page.text


@pytest.mark.parametrize(
    ("reveal", "state", "names"),
    [
        ("closed", "open", False),
        ("closed", "paused", False),
        ("closed", "closed", True),
        ("never", "closed", False),
        ("after_vote", "open", True),
    ],
)
def test_names_are_shown_as_the_suite_says(client, reveal, state, names):
    run = make_run(reveal=reveal)
    seat = make_seat(run)
    client.force_login(seat.judge)
    take_seat(seat.pk)
    matchup = Matchup.objects.select_related("left").get(seat=seat, state="open")
    answer = client.post(reverse("judging:vote"), {"code": matchup.code, "outcome": "left"}, headers=JSON).json()
    Run.objects.update(judging_state=state)

    page = client.get(reverse("judging:history", args=[run.code])).text

    assert (matchup.left.label in page) is names
    assert bool(answer["revealed"]) is (reveal == "after_vote")
    assert bool(answer["undo"]) is (reveal != "after_vote")


def test_a_report_goes_to_the_curators_and_on_to_the_next_pair(alice, client):
    code = open_code(alice)
    data = {"code": code, "side": "right", "reason": "offensive", "note": "please look"}

    page = client.post(reverse("judging:report"), data, follow=True)

    assert Report.objects.get().matchup.code == code
    assert "Curators will look at it" in page.text
    assert page.context["pair"].code != code


def test_a_run_without_a_seat_is_not_found(alice, client):
    other = make_run()

    for name in ("judge", "history"):
        assert client.get(reverse(f"judging:{name}", args=[other.code])).status_code == 404
    assert client.post(reverse("judging:start", args=[other.code])).status_code == 404


@pytest.mark.parametrize("name", ["home", "judge", "history"])
def test_strangers_are_asked_to_log_in(run, name, client):
    url = reverse(f"judging:{name}", args=[] if name == "home" else [run.code])

    assert client.get(url)["Location"] == f"{reverse('login')}?next={url}"


@pytest.mark.parametrize("count", [1, 3])
def test_home_takes_the_same_queries_for_each_run(count, client, django_assert_max_num_queries):
    judge = make_judge("alice")
    client.force_login(judge)
    for _ in range(count):
        make_seat(make_run(), "alice")
    client.get(reverse("judging:home"))

    # Session, account, seats and password links; one more a run: the judge's own last votes, for the pace.
    with django_assert_max_num_queries(4 + count):
        assert client.get(reverse("judging:home")).status_code == 200


def test_home_says_where_each_run_stands(client):
    states = {"open": "Start judging", "paused": "Paused.", "closed": "Closed.", "not_open": "Not open yet."}
    for state, words in states.items():
        run = make_run()
        Run.objects.filter(pk=run.pk).update(judging_state=state)
        make_seat(run, "alice")
        client.force_login(make_judge("alice"))
        assert words in client.get(reverse("judging:home")).text
        run.seats.all().delete()


@pytest.mark.parametrize(
    ("state", "quota", "votes", "words"),
    [
        ("open", 9, 0, "0 of 9 pairs judged, 9 left."),
        ("open", 9, 6, "6 of 9 pairs judged, 3 left: about 60\u202fs."),  # at 20 seconds a pair
        ("open", 6, 6, "6 of 6 pairs judged: all done, thank you."),
        ("open", None, 1, "1 pair judged. There is no fixed number: stop when you like."),
        ("paused", None, 1, "Paused. Your 1 vote is safe; come back later."),
        ("paused", 9, 2, "Paused. Your 2 votes are safe; come back later."),
        ("paused", 9, 0, "Paused. Please come back later."),
        ("closed", None, 1, "Closed. Thank you for your 1 vote."),
        ("closed", None, 0, "Closed."),
    ],
)
def test_home_says_what_is_done_and_left_and_how_long_it_will_take(client, state, quota, votes, words):
    seat = make_seat(make_run(), quota=quota)
    client.force_login(seat.judge)
    take_seat(seat.pk)
    for _ in range(votes):
        client.post(reverse("judging:vote"), {"code": open_code(seat), "outcome": "left"})
    Vote.objects.update(response_ms=20_000)
    Run.objects.update(judging_state=state)

    page = client.get(reverse("judging:home"))

    assert re.search(r'class="lede">\s*(.*?)\s*</p>', collapsed(page))[1] == words


@pytest.mark.parametrize(("quota", "words"), [(12, "There are 12 pairs for you"), (None, "no fixed number of pairs")])
def test_before_the_start_the_page_says_what_will_come(client, quota, words):
    seat = make_seat(make_run(instructions="Look twice."), quota=quota)
    client.force_login(seat.judge)

    page = collapsed(client.get(reverse("judging:judge", args=[seat.run.code])))

    assert words in page and "Look twice." in page
    assert "The left drawing is better." in page  # what the keys mean
    assert "Start judging" in page


def test_without_a_quota_the_bar_runs_through_rounds_of_votes_whatever_their_kind(client):
    """Three entrants make three pairs; a repeat moves the bar like any other, so that it is not announced."""
    seat = make_seat(make_run(entrants=3, repeats=0.3, overlap=0.3))
    client.force_login(seat.judge)
    take_seat(seat.pk)
    url = reverse("judging:judge", args=[seat.run.code])

    for number in range(1, 20):
        data = {"code": open_code(seat), "outcome": "left"}
        result = client.post(reverse("judging:vote"), data, headers=JSON).json()["progress"]
        words = f"{number} judged · round {number // 3 + 1}: {number % 3} of 3"
        assert (result["words"], result["value"], result["max"]) == (words, number % 3, 3)
    assert f'<span id="count">{words}</span>' in client.get(url).text
    assert set(seat.matchups.values_list("kind", flat=True)) == {"regular", "shared", "repeat"}


def test_when_all_is_judged_the_judge_is_thanked(client):
    seat = make_seat(make_run(), quota=1)
    client.force_login(seat.judge)
    take_seat(seat.pk)

    page = client.post(reverse("judging:vote"), {"code": open_code(seat), "outcome": "left"}, follow=True)

    assert page.redirect_chain[-1][0] == reverse("judging:done", args=[seat.run.code])
    assert "Thank you." in page.text
    assert "all done, thank you" in client.get(reverse("judging:home")).text


def test_where_nothing_can_be_paired_yet_the_judge_is_asked_to_come_back(client):
    run = make_run(entrants=1)
    client.force_login(make_seat(run, "alice").judge)

    page = client.post(reverse("judging:start", args=[run.code]), follow=True)

    assert "no pair to judge in this run yet" in page.content.decode()


def test_who_comes_when_the_target_is_reached_is_thanked_and_not_asked_to_come_back(client):
    run = make_run(entrants=2, prompts=4, target=1, overlap=0, repeats=0)
    early, late = make_seat(run, "early"), make_seat(run, "late")
    take_seat(early.pk)
    voting.cast_vote(judge=early.judge, code=open_code(early), ballot=voting.Ballot("left"))
    client.force_login(late.judge)

    page = client.post(reverse("judging:start", args=[run.code]), follow=True)

    assert "nothing left to judge in this run" in page.text
    assert "come back later" not in page.text


@pytest.mark.parametrize(("format", "expected"), [("ascii_art", True), ("svg", False)])
def test_keys_for_fonts_are_told_where_there_are_fonts(client, format, expected):
    run = make_run(format=format)
    client.force_login(make_seat(run, "alice").judge)

    pages = [client.get(reverse("judging:home")), client.get(reverse("judging:judge", args=[run.code]))]
    pages.append(client.post(reverse("judging:start", args=[run.code]), follow=True))

    assert [("breaks in font 1" in page.content.decode()) for page in pages] == [expected] * 3
