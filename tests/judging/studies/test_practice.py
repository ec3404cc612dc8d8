"""Practice before judging: the same pairs on every reload, the answer after each, nothing counted, no step left out."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from judging.models import GoldAnswer, Seat, Vote
from judging.rules import rules_of
from judging.studies.practice.pairs import own_pair
from judging.studies.writing import study_faults
from tests.judging.gold.make import make_drawn_run
from tests.judging.gold.test_pages import SVG
from tests.judging.make import make_run
from tests.judging.studies.make import Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def make_guest(**blocks):
    study = make_study(blocks.pop("run", None) or make_drawn_run(checks=0), practice={"pairs": 2}, **blocks)
    guest = Guest(study)
    guest.enter()
    return guest


def answer(guest, number, outcome):
    return guest.client.post(guest.here, {"step": "practice", "number": number, "outcome": outcome})


def pair_of(guest, number):
    return own_pair(guest.study.run, guest.participation(), number)


def shown(page):
    return re.findall(r"<pre.*?</pre>", page, re.DOTALL)


def test_the_answer_follows_each_pair_and_judging_follows_the_last():
    guest = make_guest()
    first = pair_of(guest, 1)

    assert "Practice: pair 1 of 2" in guest.page()
    answer(guest, 1, first.better)
    assert "Right." in guest.page()
    assert f"The {first.better} drawing is the better one." in guest.page()
    answer(guest, 2, "tie")
    assert "Not quite." in guest.page()
    moved = guest.client.post(guest.here, {"step": "practice", "finish": "yes"})

    assert moved.url == f"/judge/{guest.study.run.code}/"
    answers = dict(guest.participation().answers.values_list("question", "value"))
    assert answers == {"practice_1": "better", "practice_2": "tie"}
    assert (Vote.objects.count(), GoldAnswer.objects.count()) == (0, 0)


def test_a_reload_deals_no_new_pair_and_another_browser_would_meet_the_same():
    guest = make_guest()

    once, again = shown(guest.page()), shown(guest.page())

    assert once == again
    assert len(once) == 6  # both drawings in three fonts
    other = make_guest(name="Others", run=guest.study.run)
    assert shown(other.page()) != once


@pytest.mark.parametrize(
    "form",
    [{"number": "2", "outcome": "left"}, {"number": "1", "outcome": "nonsense"}, {"finish": "yes"}, {"number": "x"}],
)
def test_no_form_skips_a_pair_or_the_step(form):
    guest = make_guest()

    guest.client.post(guest.here, {"step": "practice", **form})
    guest.client.get(f"{guest.here}?pair=2")

    assert "Practice: pair 1 of 2" in guest.page()
    assert not Seat.objects.exists()


def test_a_stale_tab_overwrites_no_answer():
    guest = make_guest()
    right = pair_of(guest, 1).better
    answer(guest, 1, right)

    answer(guest, 1, "left" if right == "right" else "right")

    assert list(guest.participation().answers.values_list("value", flat=True)) == ["better"]


def test_pictures_are_for_the_participant_whose_pair_it_is(client):
    run = make_run(format="svg")
    run.samples.update(drawing=SVG.format(3))
    study = make_study(run, practice={"pairs": 2})
    guest = Guest(study)
    guest.enter()

    def status(browser, number):
        return browser.get(reverse("judging:practice_picture", args=[study.code, number, "left"])).status_code

    assert "Practice: pair 1 of 2" in guest.page()
    assert [status(guest.client, 1), status(guest.client, 2), status(client, 1)] == [200, 404, 404]


def test_practice_looks_like_judging():
    page = make_guest().page()

    assert [f'class="art font-{number}"' in page for number in (1, 2, 3)] == [True] * 3
    assert 'data-stacked="Top"' in page and 'data-stacked="Bottom"' in page
    assert page.count('class="reached"') == 1


def test_an_exclusion_changes_the_pair_of_nobody_else_and_no_side():
    guest = make_guest()
    before = pair_of(guest, 1)
    stored = guest.participation().practice["1"]
    others = guest.study.run.samples.exclude(pk__in=[stored["intact"], stored["spoiled"]])

    others.filter(prompt__position__gt=0).update(excluded_reason="broken")
    assert pair_of(guest, 1) == before
    guest.study.run.samples.filter(pk=stored["spoiled"]).update(excluded_reason="broken")
    others.update(excluded_reason="")
    after = pair_of(guest, 1)

    assert guest.participation().practice["1"]["spoiled"] != stored["spoiled"]
    assert (after.better, pair_of(guest, 1)) == (before.better, after)


def test_drawings_that_cannot_be_damaged_any_more_end_the_practice(monkeypatch):
    guest = make_guest()
    answer(guest, 1, "left")

    def fail(*_, **__):
        raise RecursionError("too deep")

    monkeypatch.setattr(type(guest.study.run.drawing_format), "damage", fail)
    moved = guest.client.get(f"{guest.here}?pair=2", follow=True)

    assert moved.redirect_chain[0][0] == guest.here
    assert "Compare drawings" in moved.text
    assert study_faults(guest.study) == [
        "No drawing of this run can be damaged, so there is nothing to practise on: leave practice out."
    ]


def test_the_prompt_is_in_the_language_of_the_page_which_links_to_the_others():
    run = make_drawn_run(checks=0)
    for prompt in run.prompts.all():
        prompt.facts = {"texts": {"de": "Eine Katze"}}
        prompt.save(update_fields=["facts"])
    rules_of.cache_clear()
    guest = make_guest(run=run, languages=["en", "de"])

    page = guest.client.get(f"{guest.here}?lang=de").text

    assert "Eine Katze" in page
    assert 'href="?lang=en"' in page


def test_a_curator_previews_the_first_pair(client, curator):
    study = make_study(make_drawn_run(checks=0), practice={"pairs": 2})

    page = client.get(reverse("judging:preview_study", args=[study.run.code, study.code, "practice"]))

    assert "Practice: pair 1 of 2" in page.text
