"""A study in several languages: what is read, asked and stored, from the link to the export."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from generation.models import Prompt
from judging.models import Participation
from judging.studies.records import participant_records
from judging.studies.writing import content_of, newest_version, source_of
from tests.benchsite.test_languages import words_in, words_of
from tests.judging.gold.test_pages import SVG
from tests.judging.make import make_run
from tests.judging.studies.make import TEXTS, Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
JSON = {"accept": "application/json"}
# Arabic first: where a page has a Latin word then, it was forgotten.
ARABIC = {
    "languages": ["ar", "en"],
    "title": {"ar": "مقارنة", "en": "Compare"},
    "consent": {
        "version": "2",
        "text": {"ar": "نحفظ اختياراتك.", "en": "We store your choices."},
        "statements": {"ar": ["أوافق."], "en": ["I agree."]},
    },
    "profile": [
        {
            "key": "age",
            "text": {"ar": "كم عمرك؟", "en": "How old are you?"},
            "options": {"ar": ["أقل من 18", "18 أو أكثر"], "en": ["under 18", "18 or older"]},
            "screen_out": ["أقل من 18"],
        }
    ],
    "instructions": {"ar": "اختر الأفضل.", "en": "Choose the better one."},
    "check": {
        "questions": [
            {
                "key": "task",
                "text": {"ar": "ماذا تفعل؟", "en": "What do you do?"},
                "options": {"ar": ["أقارن", "أرسم"], "en": ["compare", "draw"]},
                "answers": ["أقارن"],
            }
        ]
    },
    "outcomes": {name: {"text": {"ar": "انتهت الدراسة.", "en": f"You ended: {name}."}} for name in TEXTS},
}


def guest_in(study, code, query=""):
    guest = Guest(study, query)
    guest.client.defaults["HTTP_ACCEPT_LANGUAGE"] = code
    return guest


def body_of(page):
    return page.text.partition("<body>")[2]


def test_an_arabic_participant_meets_no_word_of_another_language():
    run = make_run(format="svg", entrants=3, prompts=4)
    Prompt.objects.update(text="قطة")
    run.title = "رسومات"
    run.save(update_fields=["title"])
    run.samples.update(drawing=SVG.format(3))
    study = make_study(run, practice={"pairs": 1}, **ARABIC)
    guest = guest_in(study, "ar")
    pages, sentences = [guest.client.get(guest.door)], []

    guest.enter()
    pages.append(guest.client.get(guest.here))
    pages.append(guest.pass_step("consent"))
    guest.pass_step("consent", statement_0="on")
    pages += [guest.client.get(guest.here), guest.pass_step("profile")]
    guest.pass_step("profile", age="18 أو أكثر")
    pages.append(guest.client.get(guest.here))
    guest.pass_step("instructions")
    pages.append(guest.client.get(guest.here))
    guest.client.post(guest.here, {"step": "practice", "number": "1", "outcome": "tie"})
    pages.append(guest.client.get(guest.here))
    guest.client.post(guest.here, {"step": "practice", "finish": "yes"})
    pages += [guest.client.get(guest.here), guest.pass_step("check", task="أرسم")]
    guest.pass_step("check", task="أقارن")
    pages.append(guest.client.get(f"/judge/{run.code}/"))
    for action in ("nonsense", "left", "skip", "undo", "report"):
        line = guest.client.post(f"/judge/{run.code}/start/", headers=JSON).json()
        fields = {"code": line["undo"] if action == "undo" else line["current"]["code"], "outcome": action}
        fields |= {"side": "left", "reason": "broken"}
        verb = "vote" if action in ("left", "nonsense") else action
        answer = guest.client.post(f"/judge/{verb}/", fields, headers=JSON).json()
        sentences += [answer.get(name) or "" for name in ("said", "stacked", "sentence")]
        sentences.append(answer.get("progress", {}).get("words", ""))
    guest.judge(3)
    pages.append(guest.client.get(guest.here))
    receipt = guest.participation().receipt
    pages.append(guest.client.post(f"/study/{study.code}/data/", {"receipt": receipt, "withdraw": "yes"}))
    pages += [guest.client.get("/study/none/"), Guest(study).client.get(guest.here, headers={"accept-language": "ar"})]

    own_words = {receipt, guest.participation().completion_code, "age", "task", "Object", "Animal", "Scene", "English"}
    for page in pages:
        assert '<html lang="ar" dir="rtl">' in page.text
        own = body_of(page)
        for word in filter(None, own_words):  # codes, keys, and labels of the suite's categories
            own = own.replace(word, "")
        assert words_of(own) == []
    assert any(sentences) and [word for sentence in sentences for word in words_in(sentence)] == []


def test_what_is_stored_is_the_option_of_the_first_language():
    study = make_study(make_run(), **ARABIC)
    guest = guest_in(study, "en")
    guest.enter()
    guest.pass_step("consent", statement_0="on")
    page = guest.page()

    guest.pass_step("profile", age="أقل من 18")

    assert "How old are you?" in page and "under 18" in page
    assert "You ended: screened_out." in guest.page()
    (record,) = participant_records(study)
    assert (record["language"], record["answers"]) == ("en", {"age": "أقل من 18"})


def test_a_link_chooses_the_language_and_it_stays_through_the_pairs():
    study = make_study(make_run(), languages=["en", "de"], title={"en": "Compare", "de": "Vergleichen"})
    guest = guest_in(study, "en", "?lang=de")

    guest.enter()
    judge = guest.client.get(f"/judge/{study.run.code}/").text
    code = guest.client.post(f"/judge/{study.run.code}/start/", headers=JSON).json()["current"]["code"]
    answer = guest.client.post("/judge/vote/", {"code": code, "outcome": "left"}, headers=JSON).json()

    assert '<html lang="de" dir="ltr">' in judge and "Links ist besser" in judge
    assert (answer["said"], answer["stacked"]) == (
        "Beim letzten Paar links gewählt.",
        "Beim letzten Paar oben gewählt.",
    )
    assert "Linke Zeichnung" in answer["next"]["html"]
    assert Participation.objects.get().language == "de"


def test_whoever_opens_the_link_after_the_end_changes_no_language():
    study = make_study(make_run(), languages=["en", "de"], pairs=1, platform="prolific")
    guest = guest_in(study, "en", "?PROLIFIC_PID=p1&lang=de")
    guest.enter()
    guest.judge(1)
    guest.page()

    guest_in(study, "en", "?PROLIFIC_PID=p1").enter()

    assert [(row.outcome, row.language) for row in study.participations.all()] == [("done", "de")]


def test_a_language_that_the_study_lacks_is_not_chosen():
    study = make_study(make_run(), languages=["de"])

    page = guest_in(study, "fr", "?lang=fr")

    assert '<html lang="de"' in page.client.get(page.door).text


def test_a_study_in_languages_is_written_as_it_was_read(tmp_path):
    study = make_study(make_run(), is_open=False, **ARABIC)
    content = content_of(newest_version(study))
    path = tmp_path / "study.yaml"
    path.write_text(
        source_of(content).replace("    en: Choose the better one.\n", "").replace("  en: Choose the better one.\n", "")
    )
    out = StringIO()

    call_command("check_study", path, stdout=out)

    assert "instructions (en) has no text of its own and is shown in العربية." in out.getvalue()
    assert json.loads(json.dumps(content.to_dict())) == content.to_dict()


def test_the_last_page_and_a_refusal_link_to_the_other_languages():
    study = make_study(languages=["en", "de"], pairs=1)
    guest = Guest(study)
    stranger = Client().get(guest.here)
    guest.enter()
    guest.judge(1)

    last = guest.client.get(f"{guest.here}?lang=de")

    assert stranger.status_code == 403
    assert all('href="?lang=en"' in page.text and 'href="?lang=de"' in page.text for page in (stranger, last))
    assert "Vielen Dank" in last.text
