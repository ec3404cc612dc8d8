"""Pages about checks: to a judge they are pairs like any other; to a curator they are what the server knows."""

from __future__ import annotations

import re
from random import Random

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from generation.formats import get_format
from generation.models import Sample
from judging.gold.placing import is_due
from judging.gold.pool import make_gold, rule_for
from judging.models import GoldAnswer, Matchup, Report
from judging.pairs import planning
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote, report_matchup
from judging.studies.entering import free_places
from tests.judging.gold.make import CAT, honest, make_checked_seat, make_drawn_run, reach_check, wrong
from tests.judging.make import make_seat
from tests.judging.pairs.test_blindness import plain
from tests.judging.studies.make import Guest, make_study

JSON = {"accept": "application/json"}
SHAPES = "".join(f'<circle cx="{n}" cy="4" r="{n % 3 + 1}"/>' for n in range(1, 9))
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">' + SHAPES + '<rect width="{}" height="3"/></svg>'
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def responses(client, seat, code, outcome):
    """All that a judge can fetch about the pair on the screen, before and after an answer, undone and skipped."""
    client.force_login(seat.judge)
    run = seat.run

    def post(name, *args, **data):
        return client.post(reverse(f"judging:{name}", args=args), data, headers=JSON)

    def pages():
        return [client.get(reverse(f"judging:{name}", args=[run.code])) for name in ("judge", "history", "done")]

    def pictures():
        return [client.get(reverse("judging:picture", args=[code, side])) for side in ("left", "right")]

    return [
        *[*pages(), post("start", run.code), *pictures()],
        *[post("vote", code=code, outcome=outcome), post("vote", code=code, outcome=outcome)],
        *[post("vote", code=code, outcome="tie"), *pages(), *pictures()],
        *[post("undo", code=code), post("undo", code=code), *pages()],
        *[post("skip", code=code), *pages(), post("undo", code=code)],
        *[post("report", code=code, side="left", reason="broken"), post("vote", code=code, outcome=outcome)],
    ]


@pytest.mark.parametrize(("format", "drawing"), [("ascii_art", CAT), ("svg", SVG)])
def test_no_response_tells_a_check_from_a_pair(client, monkeypatch, format, drawing):
    run = make_drawn_run(checks=0, entrants=2, prompts=1, attempts=9, categories=("animal",), format=format)
    for number, sample in enumerate(run.samples.order_by("pk")):
        Sample.objects.filter(pk=sample.pk).update(drawing=drawing.format(number))
    with time_machine.travel(now(), tick=False):
        make_gold(run=run, count=6, by=None)
        art = [*run.samples.values_list("drawing", flat=True), *run.gold_pairs.values_list("damaged", flat=True)]
        rendered = [get_format(format).render(text) for text in art]
        art += [picture.body.decode() for picture in rendered if picture]
        checked, other = (make_checked_seat(run, name, quota=12, every=6) for name in ("alice", "bobby"))
        monkeypatch.setattr(planning, "is_due", lambda seat, pairs: seat.pk == checked.pk and is_due(seat, pairs=pairs))
        check = reach_check(checked)
        answered = checked.matchups.filter(state="voted").count()
        for _ in range(answered):
            cast_vote_on_pair(other)
        pair = Matchup.objects.get(seat=other, state="open")
        of_check = [plain(each, art) for each in responses(client, checked, check.code, "left")]
        of_pair = [plain(each, art) for each in responses(client, other, pair.code, "left")]

    assert GoldAnswer.objects.filter(seat=checked).exists()
    sized = [
        [re.sub(r"(cols|rows)-\d+|by-\d+", "SIZE", text.replace("bobby", "alice")) for text in texts]
        for texts in (of_check, of_pair)
    ]
    assert sized[0] == sized[1]


def cast_vote_on_pair(seat):
    return cast_vote(judge=seat.judge, code=take_seat(seat.pk).current.code, ballot=Ballot("left"))


def test_a_participant_who_fails_meets_that_end_and_no_code_of_success():
    run = make_drawn_run(checks=6)
    gold = {"every": 3, "on_failure": "end", "allowed": 0}
    study = make_study(run, pairs=9, gold=gold)
    guest = Guest(study)
    guest.enter()
    seat = guest.participation().seat
    check = reach_check(seat)

    answer = guest.client.post("/judge/vote/", {"code": check.code, "outcome": wrong(check)}, headers=JSON).json()

    assert answer["current"] is None
    assert "You ended: failed_gold." in guest.page()
    mine = guest.participation()
    assert (mine.outcome, mine.completion_code, mine.reason) == (
        "failed_gold",
        None,
        "1 of 1 attention checks wrong",
    )


def test_who_fails_and_closes_the_page_is_ended_by_the_clock():
    study = make_study(make_drawn_run(checks=6), pairs=9, gold={"every": 3, "on_failure": "end", "allowed": 0})
    guest = Guest(study)
    guest.enter()
    check = reach_check(guest.participation().seat)
    cast_vote(judge=check.seat.judge, code=check.code, ballot=Ballot(wrong(check)))

    assert free_places() == 1

    assert guest.participation().outcome == "failed_gold"


def test_a_participant_who_passes_is_told_of_all_pairs_and_done_with_the_quota():
    study = make_study(make_drawn_run(checks=6), pairs=9, gold={"every": 3, "feedback": True})
    guest = Guest(study)
    guest.enter()
    sentences = []
    while current := guest.client.post(f"/judge/{study.run.code}/start/", headers=JSON).json()["current"]:
        matchup = Matchup.objects.select_related("gold").get(code=current["code"])
        body = guest.client.post("/judge/vote/", {"code": matchup.code, "outcome": honest(matchup)}, headers=JSON)
        sentences.append(body.json()["said"])

    assert sentences.count("That pair was an attention check, and you answered it right.") == 3
    assert len(sentences) == 12
    end = guest.page()
    assert "You ended: done." in end and "12 of 12" in end


def test_a_curator_sets_the_rule_looks_at_pairs_removes_one_and_sees_who_failed(client, curator):
    run = make_drawn_run(checks=0)
    page = reverse("judging:checks", args=[run.code])

    client.post(reverse("judging:set_checks", args=[run.code]), {"every": 4, "on_failure": "weight_0"})
    removed = run.gold_pairs.first()
    client.post(reverse("judging:retire_check", args=[run.code, removed.code]))
    seat = make_checked_seat(run, allowed=0)
    check = reach_check(seat)
    cast_vote(judge=seat.judge, code=check.code, ballot=Ballot(wrong(check)))

    assert rule_for(run).every == 4
    text = client.get(page).text
    assert "One attention check in every 4 pairs" in text
    assert reverse("judging:retire_check", args=[run.code, removed.code]) not in text
    assert '<span class="tag warn">failed</span>' in text
    assert "failed\n      attention checks" in client.get(reverse("judging:overview", args=[run.code])).text
    client.post(reverse("judging:set_checks", args=[run.code]), {"none": "yes"})
    assert rule_for(run) is None


def test_two_drawings_that_a_curator_chose_are_a_check_once(client, curator):
    run = make_drawn_run(checks=0)
    one, two = run.samples.filter(prompt=run.prompts.first(), attempt=1)[:2]
    address = reverse("judging:choose_check", args=[run.code])

    for _ in range(2):
        client.post(address, {"better": one.code, "worse": two.code})
    elsewhere = run.samples.filter(prompt=run.prompts.last()).first()
    refused = client.post(address, {"better": one.code, "worse": elsewhere.code}, follow=True)

    gold = run.gold_pairs.get()
    assert (gold.better, gold.worse, gold.damaged) == (one, two, "")
    assert "same prompt by two models" in refused.text


def test_a_report_about_a_damaged_copy_blames_no_drawing(client, curator):
    run = make_drawn_run()
    seat = make_checked_seat(run)
    check = reach_check(seat)
    damaged = "right" if honest(check) == "left" else "left"
    report_matchup(judge=seat.judge, code=check.code, side=damaged, reason="broken")
    make_seat(run, "bob")

    page = client.get(reverse("judging:overview", args=[run.code])).text

    assert Report.objects.count() == 1
    assert "<h2>Reports</h2>" not in page


def test_a_report_about_both_sides_of_a_check_blames_the_intact_drawing_alone(client, curator):
    run = make_drawn_run()
    seat = make_checked_seat(run)
    check = reach_check(seat)
    report_matchup(judge=seat.judge, code=check.code, side="both", reason="offensive")
    report = Report.objects.get()

    page = client.get(reverse("judging:overview", args=[run.code])).text
    client.post(reverse("judging:decide", args=[run.code, report.pk]), {"decision": "exclude"})

    assert f"</strong>, {honest(check)}, on" in page
    assert reverse("generation:sample", args=[check.gold.worse.code]) not in page
    assert [sample.pk for sample in run.samples.exclude(excluded_reason="")] == [check.gold.better_id]


def test_a_run_whose_drawings_cannot_be_damaged_says_so(client, curator):
    run = make_drawn_run(checks=0)
    run.samples.update(drawing="o")

    refused = client.post(
        reverse("judging:set_checks", args=[run.code]), {"every": 4, "on_failure": "flag"}, follow=True
    )

    assert "No attention check can be made of this run" in refused.text
    assert rule_for(run) is None


def test_checks_are_made_with_as_many_statements_whatever_the_number_of_drawings():
    def statements(attempts):
        run = make_drawn_run(checks=0, entrants=2, prompts=2, attempts=attempts)
        with CaptureQueriesContext(connection) as asked:
            assert make_gold(run=run, count=1, by=None, random=Random(1)) == 1
        return len(asked)

    assert statements(9) <= statements(2)
