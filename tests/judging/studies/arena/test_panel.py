"""The open arena: anybody comes in without a link, and the votes are a crowd's of their own until a curator merges them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.studies.study import Study as Content
from generation.suites.studies.study_files import parse_study
from judging.curating.runs import set_judging, weigh_judge
from judging.files.exports import vote_records
from judging.models import Matchup, Participation, PublicState, Seat, Study
from judging.pairs.epochs import counting_votes
from judging.studies.arena.proof import is_proved, solve
from judging.studies.entering import hashed_address
from judging.studies.privacy import withdraw_participation
from judging.studies.writing import set_study_state, write_study
from ranking.fitting import fit_run
from ranking.pairwise.panels.crowd import merge_arena, part_arena
from ranking.public_states import take_public_states
from tests.judging.gold.make import judge_all, make_drawn_run
from tests.judging.make import make_curator, make_seat
from tests.judging.studies.make import Guest, come, make_study, source

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
GOLD = {"every": 3}


def make_arena(run=None, **blocks):
    run = run or make_drawn_run(checks=0)
    return make_study(run, **{"arena": True, "gold": GOLD, "name": "Arena", "pairs": 6, **blocks})


def fill(study, people):
    """So many people come and judge all of their pairs honestly, checks too."""
    for number in range(people):
        guest, _ = come(study, f"10.0.1.{number}")
        judge_all(guest.participation().seat)


def seat_with_votes(run, name="alice", *, votes):
    seat = make_seat(run, name, quota=votes)
    judge_all(seat)
    return seat


def test_a_published_run_invites_everybody_to_its_arena():
    run = make_drawn_run(checks=0)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    study = make_arena(run)

    pages = [Client().get(address).content.decode() for address in ("/", f"/runs/{run.code}/leaderboard/")]
    set_study_state(study=study, verb="close", by=None)
    closed = Client().get("/").content.decode()

    assert all(f"/study/{study.code}/" in page for page in pages)
    assert f"/study/{study.code}/" not in closed


def test_a_browser_proves_that_it_is_there_before_it_comes_in():
    study = make_arena()
    guest = Guest(study)

    without = guest.enter()
    forged = guest.enter(proof="7")
    seated, answer = come(study)

    assert without.status_code == forged.status_code == 400 and "JavaScript" in without.content.decode()
    assert answer.status_code == 302 and seated.judge(1).status_code == 200
    assert study.participations.count() == 1


def test_a_proof_is_of_one_challenge_only():
    number = solve("one")

    assert is_proved("one", number)
    assert not any(is_proved("one", wrong) for wrong in ("", "x", "1" * 30, "²", f"-{number}"))
    assert sum(is_proved(f"other {n}", number) for n in range(50)) == 0


def test_votes_of_the_arena_weigh_nothing_on_the_judges_board_until_they_are_merged():
    run = make_drawn_run(checks=0)
    seat_with_votes(run, votes=6)
    study = make_arena(run)
    fill(study, 5)
    before = fit_run(run)
    crowd = run.seats.filter(panel="arena")

    assert before.votes == 6
    assert before.result["run"]["arena"] == {"judges": 5, "votes": 30, "merged": False, "reason": ""}
    labels = [(group["label"], group["votes"]) for group in before.result["run"]["groups"][0]["groups"]]
    assert ("Judges", 6) in labels
    assert set(crowd.values_list("weight", flat=True)) == {0.0}
    assert sum(row["withdrawn"] for row in vote_records(run)) == 30

    with pytest.raises(RunError, match="close or pause it first"):
        merge_arena(run=run, by=None, reason="They agree.")
    set_study_state(study=study, verb="close", by=None)
    with pytest.raises(RunError, match="Say why"):
        merge_arena(run=run, by=None, reason=" ")
    merge_arena(run=run, by=None, reason="They agree with the judges.")
    merged = fit_run(run)
    page = _curator().get(f"/runs/{run.code}/leaderboard/").content.decode()

    assert merged.result["run"]["arena"]["merged"] and "They agree with the judges." in page
    counted = crowd.filter(weight__gt=0).count()
    assert merged.votes == 6 + 6 * counted and counted > 0

    part_arena(run=run, by=None)
    assert fit_run(run).votes == 6
    assert [event.verb for event in run.events.order_by("-id")[:2]] == ["part arena", "merge arena"]


def _curator():
    client = Client()
    client.force_login(make_curator("boss"))
    return client


def test_the_groups_page_has_both_boards_beside_each_other_and_the_curators_decision():
    run = make_drawn_run(checks=0)
    seat_with_votes(run, votes=6)
    study = make_arena(run)
    fill(study, 5)
    fit_run(run)
    boss = _curator()

    page = boss.get(f"/runs/{run.code}/leaderboard/groups/").content.decode()
    answer = boss.post(f"/runs/{run.code}/leaderboard/arena/merge/", {"reason": "Close enough."}, follow=True)
    set_study_state(study=study, verb="pause", by=None)
    merged = boss.post(f"/runs/{run.code}/leaderboard/arena/merge/", {"reason": "Close enough."}, follow=True)
    document = boss.get(f"/runs/{run.code}/leaderboard/groups/?format=json").json()

    assert "Open arena" in page and "no part of" in page and "Merge the open" in page
    assert "close or pause it first" in answer.content.decode()
    assert "count now" in merged.content.decode()
    assert [group["label"] for group in document["groupings"][0]["groups"]] == ["Judges", "Open arena"]
    assert Study.objects.get(pk=study.pk).merged_reason == "Close enough."


def test_pairs_of_the_arena_are_balanced_among_themselves_and_go_on_behind_the_judges_target():
    run = make_drawn_run(checks=0, target=1)
    seat_with_votes(run, votes=6)
    study = make_arena(run, pairs=3)

    fill(study, 4)

    assert set(run.seats.filter(panel="arena").values_list("voted", flat=True)) == {3}
    assert sum(counting_votes(run, panel="arena").values()) == 12
    pairs = Counter(
        frozenset(pair)
        for pair in Matchup.objects.filter(seat__panel="arena", kind="regular").values_list("left", "right")
    )
    assert set(pairs.values()) == {4}
    assert sum(counting_votes(run).values()) == run.seats.get(panel="").voted


def test_who_fails_the_checks_weighs_nothing_in_the_arena():
    run = make_drawn_run(checks=0)
    study = make_arena(run)
    fill(study, 6)
    clicker = run.seats.filter(panel="arena").first()
    Seat.objects.filter(pk=clicker.pk).update(gold_passed=0, gold_failed=4, gold_answered=4, gold_shown=4)

    board = fit_run(run).result["run"]["groups"][0]["groups"][-1]

    assert (board["label"], board["judges"]) == ("Open arena", 5)


def test_an_open_arena_leaves_public_states_alone_and_a_merged_one_ends_them(settings):
    settings.PUBLIC_STATE_VOTES = 4
    run = make_drawn_run(checks=0)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    for name in ("alice", "bob", "eve"):
        seat_with_votes(run, name, votes=4)
    study = make_arena(run)
    fill(study, 1)

    assert take_public_states() == 1
    assert PublicState.objects.get().votes == 12

    PublicState.objects.all().delete()
    set_study_state(study=study, verb="pause", by=None)
    merge_arena(run=run, by=None, reason="Enough.")
    assert take_public_states() == 0


def test_a_curator_can_take_somebody_out_of_the_arena_and_let_them_back_in():
    study = make_arena()
    guest, _ = come(study)
    guest.judge(2)
    seat = guest.participation().seat

    weigh_judge(seat=seat, weight=0, by=None, reason="A script.")
    out = Seat.objects.get(pk=seat.pk).excluded_reason
    weigh_judge(seat=seat, weight=1, by=None, reason="")

    assert (out, Seat.objects.get(pk=seat.pk).weight, seat.excluded_reason) == ("A script.", 0, Seat.APART)
    with pytest.raises(RunError, match="open arena"):
        weigh_judge(seat=seat, weight=0.5, by=None, reason="half")


def test_who_withdraws_from_the_arena_counts_on_no_board():
    run = make_drawn_run(checks=0)
    study = make_arena(run)
    fill(study, 6)

    withdraw_participation(study.participations.first())

    assert fit_run(run).result["run"]["groups"][0]["groups"][-1]["judges"] == 5


def test_what_an_arena_lacks_is_named_before_it_opens():
    faults = Content(name="a", arena=True).faults()
    run = make_drawn_run(checks=0)
    make_arena(run)

    assert any("attention checks" in fault for fault in faults)
    with pytest.raises(RunError, match="open arena already"):
        write_study(run=run, source=source(name="Other", arena=True, gold=GOLD), by=None)


def test_the_arena_of_the_docs_can_open():
    text = (Path(settings.BASE_DIR) / "docs/studies.md").read_text()
    example = text.split("## The open arena")[1].split("```yaml\n")[1].split("```")[0]

    content = parse_study(example)

    assert content.arena and content.faults() == []


def test_too_many_from_one_address_are_asked_to_come_later_and_others_are_not(settings):
    settings.ARENA_ENTRIES_AN_HOUR = 3
    study = make_arena()
    entered = [come(study, "192.0.2.7")[0] for _ in range(3)]
    again = entered[0].client.get(entered[0].door)
    late, _ = come(study, "192.0.2.7")
    page = late.client.get(late.door)
    _, elsewhere = come(study, "192.0.2.8")

    assert again.status_code == 302
    assert page.status_code == 429 and "come back later" in page.content.decode()
    assert elsewhere.status_code == 302
    assert Participation.objects.count() == 4


def test_made_up_ids_from_one_address_cannot_fill_a_study():
    study = make_study(platform="prolific", places=40, minutes=30, per_address=5)

    answers = [Guest(study, f"?PROLIFIC_PID=made{n}").enter().status_code for n in range(8)]

    assert answers == [302] * 5 + [429] * 3


def test_an_address_is_kept_as_a_hash_that_the_next_hours_do_not_share():
    one = hashed_address("2001:db8::1")

    assert one == hashed_address("2001:db8::ffff") != hashed_address("2001:db8:0:1::1")
    assert hashed_address("2001:db8::1", hours_ago=2) != one and "2001" not in one
    assert hashed_address("::ffff:192.0.2.1") == hashed_address("::ffff:192.0.2.1") and hashed_address("") == ""


def test_an_arena_closes_with_judging_and_leads_home():
    study = make_arena()
    set_judging(run=study.run, verb="close", by=None)

    closed = Client().get(f"/study/{study.code}/")

    assert closed.status_code == 410
    assert '<a href="/">Go home.</a>' in closed.text
