"""The pages of grading: they work as plain forms, refuse clearly, and never tell who drew what."""

from __future__ import annotations

import re

import pytest
import time_machine
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Entrant, LanguageModel, Run, Sample
from judging.grades.grading import report_item, standing_values
from judging.grades.sheets import next_item
from judging.grades.urls import judge_urls
from judging.models import Epoch, Grade, GradeItem, Matchup
from tests.judging.graded import dimensions, grade, make_rubric_run, seat_with_list
from tests.judging.make import make_curator, make_run, make_seat
from tests.judging.pairs.test_blindness import what_is_told
from tests.pages import collapsed

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


def enter(client, run, name="alice"):
    seat = seat_with_list(run, name)
    client.force_login(seat.judge)
    return seat


def form(item, value="7.5", **more):
    return {f"value-{key}": value for key in dimensions(item)} | more


def url(name, *args):
    return reverse(f"judging:{name}", args=args)


def test_a_judge_starts_from_home_and_grades_by_plain_forms(client):
    run = make_rubric_run()
    seat = make_seat(run)
    client.force_login(seat.judge)
    assert "Start grading" in client.get(url("home")).text

    page = client.post(url("start_grading", run.code), follow=True)
    item = next_item(seat)
    assert page.redirect_chain[-1][0] == url("drawing", item.code)
    page = client.post(url("save_grades", item.code), form(item, note="good", go="next"), follow=True)

    assert page.redirect_chain[-1][0] == url("drawing", next_item(seat).code)
    assert set(standing_values(item).values()) == {7.5}
    assert "1 of 24" in page.text
    again = client.get(url("drawing", item.code)).text
    assert 'value="7.5"' in again and "good" in again


def test_a_run_that_is_graded_sends_no_judge_to_pairs(client):
    run = make_rubric_run()
    seat = enter(client, run)

    assert client.get(url("judge", run.code)).url == url("grades", run.code)
    assert client.post(url("start", run.code)).url == url("grades", run.code)
    assert Matchup.objects.count() == Epoch.objects.count() == 0
    assert seat.grade_items.count() == 24


def test_saving_as_you_go_answers_in_json(client):
    seat = enter(client, make_rubric_run())
    item = next_item(seat)

    first = client.post(url("save_grades", item.code), {f"value-{dimensions(item)[0]}": "3"}, headers=JSON)
    whole = client.post(url("save_grades", item.code), form(item, "4"), headers=JSON)

    assert first.json()["done"] == 0
    assert whole.json() | {"step": 0} == {"done": 1, "total": 24, "step": 0}


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"value-geometry": "11"}, "Geometry: 11.0 is not a number from 0 to 10."),
        ({"value-geometry": "-1"}, "from 0 to 10"),
        ({"value-geometry": "7.2"}, "steps of 0.5"),
        ({"value-geometry": "nan"}, "from 0 to 10"),
        ({"value-geometry": "<b>"}, "from 0 to 10"),
        ({"value-detail": "5"}, "graded on Geometry, Colour, Impression"),
    ],
)
def test_bad_grades_are_refused_in_words(client, fields, message):
    seat = enter(client, make_rubric_run())
    item = next_item(seat)

    answer = client.post(url("save_grades", item.code), fields, headers=JSON)
    page = client.post(url("save_grades", item.code), fields, follow=True)

    assert answer.status_code == 409
    assert message in answer.json()["sentence"]
    assert '<li class="notice warn">' in page.text
    assert Grade.objects.count() == 0


def test_a_run_closed_in_between_refuses_and_says_so(client):
    seat = enter(client, make_rubric_run())
    item = next_item(seat)
    Run.objects.update(judging_state=Run.Judging.CLOSED)

    answer = client.post(url("save_grades", item.code), form(item), headers=JSON)
    page = client.post(url("save_grades", item.code), form(item), follow=True)

    assert (answer.status_code, answer.json()["error"]) == (409, "closed")
    assert "Judging of this run is closed." in page.text
    assert client.get(url("align", seat.run.code, "s1")).status_code == 302


def test_another_judges_drawing_is_not_found_by_any_door(client):
    run = make_rubric_run()
    theirs = next_item(seat_with_list(run, "bob"))
    enter(client, run)

    for name, method in [
        ("drawing", "get"),
        ("drawing_picture", "get"),
        ("save_grades", "post"),
        ("report_drawing", "post"),
    ]:
        assert getattr(client, method)(url(name, theirs.code)).status_code == 404, name
    assert client.get(url("drawing", "222222222222")).status_code == 404


def test_strangers_log_in_and_curators_without_a_seat_find_nothing(client):
    run = make_rubric_run()
    item = next_item(seat_with_list(run))

    assert "/login/" in client.get(url("drawing", item.code)).url
    assert client.post(url("save_grades", item.code), headers=JSON).status_code == 403
    client.force_login(make_curator())
    assert client.get(url("drawing", item.code)).status_code == 404
    assert client.get(url("grades", run.code)).status_code == 404


def test_a_judge_who_was_deactivated_is_logged_out(client):
    seat = enter(client, make_rubric_run())
    seat.judge.is_active = False
    seat.judge.save()

    assert client.post(url("save_grades", next_item(seat).code), {}, headers=JSON).status_code == 403


def test_undo_takes_the_last_change_back_and_shows_its_drawing(client):
    seat = enter(client, make_rubric_run())
    item = next_item(seat)
    grade(seat, item)
    page = client.get(url("drawing", next_item(seat).code)).text
    step = re.search(r'name="step" value="(\d+)"', page)[1]

    back = client.post(url("undo_grade", seat.run.code), {"step": step})
    client.post(url("undo_grade", seat.run.code), {"step": step})

    assert back.url == url("drawing", item.code)
    assert standing_values(item) == {}


def test_align_shows_one_stage_best_first_and_regrades_with_history(client):
    seat = enter(client, make_rubric_run())
    low = next_item(seat)
    grade(seat, low, 2.0)
    high = next_item(seat)
    grade(seat, high, 9.0)

    page = client.get(url("align", seat.run.code, "s1")).text
    assert 0 < page.index(f'id="{high.code}"') < page.index(f'id="{low.code}"')
    answer = client.post(url("save_grades", low.code), form(low, "9.5", go="align"))

    assert answer.url == f"{url('align', seat.run.code, 's1')}#{low.code}"
    assert set(standing_values(low).values()) == {9.5}
    assert Grade.objects.filter(sample=low.sample).exclude(withdrawn_at=None).count() == 3
    assert client.get(url("align", seat.run.code, "nothing")).status_code == 404


def test_a_list_with_a_drawing_withheld_later_can_still_be_finished(client):
    seat = enter(client, make_rubric_run(entrants=1, subjects=1, attempts=1))
    grade(seat, next_item(seat))
    grade(seat, next_item(seat))
    Sample.objects.filter(pk=next_item(seat).sample_id).update(excluded_reason="signed")

    page = collapsed(client.get(url("grades", seat.run.code)))

    assert "You have graded all 2 of your drawings." in page


def test_the_curators_page_shows_progress_and_decides_on_reports(client):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat), 8.0)
    item = next_item(seat)
    report_item(judge=seat.judge, code=item.code, reason="broken", note="nothing to see")
    client.force_login(make_curator())

    page = client.get(url("overview", run.code), follow=True)
    assert page.redirect_chain[-1][0] == url("grade_overview", run.code)
    for words in ("1 of 23", "8.00", "nothing to see", "Pause"):
        assert words in page.text
    client.post(url("decide_item", run.code, item.code), {"decision": "exclude"})
    client.post(url("set_state", run.code, "pause"))

    assert Sample.objects.get(pk=item.sample_id).excluded_reason
    assert Run.objects.get().judging_state == "paused"


def test_a_report_that_was_decided_before_is_not_announced_again(client):
    run = make_rubric_run()
    seat = seat_with_list(run)
    item = next_item(seat)
    report_item(judge=seat.judge, code=item.code, reason="broken")
    client.force_login(make_curator())
    decide = url("decide_item", run.code, item.code)

    first = client.post(decide, {"decision": "dismiss"}, follow=True).text
    second = client.post(decide, {"decision": "exclude"}, follow=True).text

    assert "The report is dismissed." in first and "Nothing changed." not in first
    assert "Nothing changed." in second and "The drawing is out of judging." not in second


@pytest.mark.parametrize(("typed", "message"), [("a copy", "a copy"), ("", "broken")])
def test_a_report_on_a_graded_drawing_is_decided_with_a_reason(client, typed, message):
    run = make_rubric_run()
    seat = seat_with_list(run)
    item = next_item(seat)
    report_item(judge=seat.judge, code=item.code, reason="broken")
    client.force_login(make_curator())

    client.post(url("decide_item", run.code, item.code), {"decision": "exclude", "reason": typed})

    assert Sample.objects.get(pk=item.sample_id).excluded_reason == (typed or "reported by a judge: broken")
    event = run.events.get(verb="report excluded")
    assert (event.actor.username, event.reason) == ("carol", message)


def test_figures_of_grading_come_alone(client):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat))
    client.force_login(make_curator())

    page = collapsed(client.get(url("grade_figures", run.code)))

    assert page.startswith(f'<section data-live="{url("grade_figures", run.code)}" data-done="false">')
    assert '<span class="big">1</span> judgement by 1 judge.' in page and "<html" not in page
    assert client.get(url("grade_figures", make_run().code)).status_code == 404


def test_the_curators_page_lists_a_judge_who_has_not_begun(client):
    run = make_rubric_run()
    make_seat(run, name="newcomer")
    client.force_login(make_curator())

    page = client.get(url("grade_overview", run.code))

    assert page.status_code == 200
    assert "newcomer" in page.text and "never" in page.text


def test_judges_do_not_see_the_curators_page(client):
    run = make_rubric_run()
    enter(client, run)

    assert client.get(url("grade_overview", run.code)).status_code == 403
    assert client.post(url("decide_item", run.code, "222222222222")).status_code == 403


def walk(client, seat):
    """Every response a judge can fetch about drawings, with headers."""
    run, differences = seat.run, []

    def get(name, *args):
        differences.append((name, client.get(url(name, *args))))

    def post(name, data, *args, **options):
        differences.append((name, client.post(url(name, *args), data, **options)))

    get("home")
    post("start_grading", {}, run.code, follow=True)
    items = list(seat.grade_items.all())
    for item in items:
        get("drawing", item.code)
        get("drawing_picture", item.code)
        post("save_grades", form(item, "77"), item.code, headers=JSON)
        post("save_grades", form(item, "5"), item.code, headers=JSON)
        post("save_grades", form(item, "5.5", go="next"), item.code, follow=True)
    get("grades", run.code)
    for stage in ("s1", "s2", "s3"):
        get("align", run.code, stage)
    post("undo_grade", {"step": seat.sheet.steps}, run.code, follow=True)
    post("report_drawing", {"reason": "signed"}, items[0].code, follow=True)
    get("drawing_picture", items[0].code)
    return differences


def plain(response, art):
    headers = sorted((name, value) for name, value in response.headers.items() if name.lower() != "x-request-id")
    text = f"{response.status_code}\n{headers}\n{response.text}"
    for drawing in art:
        text = text.replace(drawing, "ART")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+', "TOKEN", text)
    text = re.sub(r"\b[2-9a-hjkmnp-z]{12}\b", "CODE", text)
    return re.sub(r"'Content-Length', '\d+'", "LENGTH", text)


def test_with_entrants_swapped_only_art_and_codes_differ(client):
    run = make_rubric_run(entrants=2, subjects=1, attempts=1)
    art = list(Sample.objects.values_list("drawing", flat=True))

    with time_machine.travel(now(), tick=False):
        before = [(name, plain(answer, art)) for name, answer in walk(client, seat_in_order(client, run, "alice"))]
        one, two = run.entrants.all()
        mine, theirs = (
            list(Sample.objects.filter(entrant=e).order_by("prompt").values_list("pk", "drawing")) for e in (one, two)
        )
        for (a, left), (b, right) in zip(mine, theirs, strict=True):
            Sample.objects.filter(pk=a).update(drawing=right)
            Sample.objects.filter(pk=b).update(drawing=left)
        after = [(name, plain(answer, art)) for name, answer in walk(client, seat_in_order(client, run, "bobby"))]

    assert len(before) == 39
    assert {name for name, _ in before} == {"home", *(address.name for address in judge_urls)}
    assert before == [(name, text.replace("bobby", "alice")) for name, text in after]


def seat_in_order(client, run, name):
    """A judge with the same list as any other: the order is random, and not what is compared here."""
    seat = seat_with_list(run, name)
    for order, item in enumerate(seat.grade_items.order_by("sample")):
        GradeItem.objects.filter(pk=item.pk).update(order=order + 1000)
    client.force_login(seat.judge)
    return seat


def test_no_name_label_note_or_code_is_anywhere(client):
    run = make_rubric_run()
    LanguageModel.objects.update(note="secret-note", provider="secret-provider", extra_prompt="secret-extra")
    Entrant.objects.update(note="secret-note", team="secret-team")
    Sample.objects.update(answer="secret-answer", flags=["secret-flag"], facts={"x": "secret-fact"})
    hidden = ["secret", *Sample.objects.values_list("code", flat=True)]
    for entrant in run.entrants.all():
        hidden += [entrant.name, entrant.label, entrant.code, *entrant.name.split("/")]

    seat = enter(client, run)
    own = [run.code, *seat.grade_items.values_list("code", flat=True)]

    for name, answer in walk(client, seat):
        words = what_is_told(answer, own)
        assert [word for word in hidden if word.lower() in words] == [], name


def test_a_picture_cannot_act_and_is_not_cached(client):
    seat = enter(client, make_rubric_run())

    picture = client.get(url("drawing_picture", next_item(seat).code))

    assert picture["Content-Type"] == "image/svg+xml"
    assert "sandbox" in picture["Content-Security-Policy"]
    assert "no-store" in picture["Cache-Control"]
    assert "ETag" not in picture and "Last-Modified" not in picture


def test_an_ascii_run_can_be_graded_too(client):
    run = make_rubric_run()
    Run.objects.update(format="ascii_art")
    Sample.objects.update(drawing="/\\_<b>")
    seat = enter(client, Run.objects.get(pk=run.pk))

    page = client.get(url("drawing", next_item(seat).code)).text

    assert '<pre class="drawing" dir="ltr">/\\_&lt;b&gt;</pre>' in page


def test_save_and_next_with_nothing_graded_stays_and_says_so(client):
    item = next_item(enter(client, make_rubric_run()))

    page = client.post(url("save_grades", item.code), {"go": "next", "note": ""}, follow=True)

    assert page.redirect_chain[-1][0] == url("drawing", item.code)
    assert "Nothing is graded yet" in page.text
    assert Grade.objects.count() == 0


def test_only_judges_who_graded_are_counted(client):
    run = make_rubric_run()
    seat = seat_with_list(run, "alice")
    seat_with_list(run, "bob")
    grade(seat, next_item(seat))
    client.force_login(make_curator())

    page = collapsed(client.get(url("grade_overview", run.code)))

    assert "</span> judgement by 1 of 2 judges." in page
