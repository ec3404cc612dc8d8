"""Arms of a study: everybody is in one, they stay even, and each meets its own instructions and quota."""

from __future__ import annotations

from collections import Counter

import pytest

from judging.studies.records import participant_records
from judging.studies.walking import return_participants
from judging.studies.writing import content_of, newest_version
from tests.judging.gold.make import make_drawn_run
from tests.judging.make import make_run
from tests.judging.studies.make import Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
ARMS = [
    {"name": "plain", "instructions": "Choose the better one."},
    {"name": "strict", "instructions": {"en": "Look at the lines.", "de": "Achten Sie auf die Linien."}, "pairs": 1},
    {"name": "none"},
]


def come(study, person):
    guest = Guest(study, f"?PROLIFIC_PID={person}")
    guest.enter()
    return guest


def test_arms_stay_even_and_a_returned_place_is_filled_in_its_arm():
    study = make_study(platform="prolific", arms=ARMS)
    for number in range(7):
        come(study, f"p{number}")
    arms = Counter(study.participations.values_list("arm", flat=True))
    gone = study.participations.filter(arm="strict").values_list("external_id", flat=True)

    return_participants(study=study, ids=list(gone), by=None)
    late = come(study, "late")

    assert sorted(arms.values()) == [2, 2, 3] and set(arms) == {"plain", "strict", "none"}
    assert late.participation().arm == "strict"


def test_each_arm_has_its_own_instructions_and_quota_and_is_exported():
    study = make_study(make_run(), languages=["en", "de"], instructions="As usual.", arms=ARMS)
    guests = [Guest(study) for _ in range(3)]
    for guest in guests:
        guest.enter()
    pages = {guest.participation().arm: guest.page() for guest in guests}
    strict = next(guest for guest in guests if guest.participation().arm == "strict")

    german = strict.client.get(f"{strict.here}?lang=de").text
    strict.pass_step("instructions")
    strict.judge(1)

    assert "Choose the better one." in pages["plain"] and "Look at the lines." in pages["strict"]
    assert "As usual." in pages["none"] and "Achten Sie auf die Linien." in german
    assert "You ended: done." in strict.page() and strict.participation().seat.quota == 1
    assert sorted(record["arm"] for record in participant_records(study)) == ["none", "plain", "strict"]


def test_a_study_without_arms_puts_nobody_into_one():
    study = make_study(make_run(), arms=None)
    guest = Guest(study)
    guest.enter()

    assert guest.participation().arm == ""
    assert content_of(newest_version(study)).in_arm("unknown") == content_of(newest_version(study))


def test_the_welcome_names_the_fewest_and_the_most_pairs_of_any_arm():
    study = make_study(make_drawn_run(checks=0), arms=ARMS, gold={"every": 2})

    page = Guest(study).client.get(f"/study/{study.code}/").content.decode()

    assert "1 to 4" in " ".join(page.split())
