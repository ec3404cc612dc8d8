"""Nothing a judge can fetch may tell who drew what: the same pages with entrants swapped differ in art and codes only."""

from __future__ import annotations

import json
import re
from pathlib import Path
from uuid import uuid4

import pytest
import time_machine
from django.contrib.staticfiles import finders
from django.urls import reverse
from django.utils.timezone import now

from benchsite.lib.languages import LANGUAGES
from generation.formats import get_format
from generation.models import Entrant, LanguageModel, ProviderCall, Run, Sample
from judging.models import Matchup
from judging.pairs.serving import take_seat
from judging.pairs.urls import judge_urls
from tests.judging.make import make_run, make_seat
from tests.site.url_roles import ADDRESSES
from tests.site.url_world import address, admin_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
JSON = {"accept": "application/json"}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="{}" height="9"/></svg>'
TOKEN = re.compile(r"""name="csrfmiddlewaretoken" value="\w+|name="entry" value="[^"]+|X-Request-I[Dd]': '\w+""")
DRAW = {  # a drawing of each format, another for every number
    "ascii_art": lambda number: f"/{number}{number}\\\n\\__/",
    "svg": SVG.format,
    "pixel_art": lambda number: json.dumps(
        {"grid": [[int(24 * y + x < number) for x in range(24)] for y in range(24)], "palette": ["#000000", "#ff0000"]}
    ),
}


def walk(client, seat):
    """Every response a judge can fetch about the pairs on the screen and behind it, with headers."""
    run, differences = seat.run, []

    def get(name, *args, **options):
        differences.append((name, client.get(reverse(name, args=args), **options)))

    def post(name, data, *args, **options):
        differences.append((name, client.post(reverse(name, args=args), data, **options)))

    for name, *args in [("judging:home",), ("judging:judge", run.code), ("judging:history", run.code)]:
        get(name, *args)
    get("judging:done", run.code)
    get("judging:card", run.code)
    post("judging:start", {}, run.code, headers=JSON)
    code = Matchup.objects.get(seat=seat, state="open").code
    queued = Matchup.objects.get(seat=seat, state="queued").code
    for one in (code, queued):
        get("judging:picture", one, "left")
        get("judging:picture", one, "right")
    get("judging:picture", "222222222222", "left")
    post("judging:vote", {"code": code, "outcome": "nonsense"}, headers=JSON)
    post("judging:vote", {"code": queued, "outcome": "left"}, headers=JSON)
    post("judging:vote", {"code": code, "outcome": "left"}, headers=JSON)
    post("judging:vote", {"code": code, "outcome": "right"}, headers=JSON)
    post("judging:vote", {"code": code, "outcome": "right"}, follow=True)
    get("judging:history", run.code)
    post("judging:undo", {"code": code}, headers=JSON)
    post("judging:skip", {"code": code}, headers=JSON)
    get("judging:history", run.code)
    post("judging:undo", {"code": code}, headers=JSON)
    post("judging:report", {"code": code, "side": "left", "reason": "signed"}, headers=JSON)
    post("judging:vote", {"code": code, "outcome": "left"}, headers=JSON)

    # A drawing taken out while the judge looks; judging paused and closed; no token; logged out.
    code = Matchup.objects.get(seat=seat, state="open").code
    post("judging:vote", {"code": code, "outcome": "tie"}, headers=JSON)
    gone = Sample.objects.filter(pk=Matchup.objects.get(seat=seat, state="open").left_sample_id)
    gone.update(excluded_reason="offensive")
    post("judging:vote", {"code": Matchup.objects.get(seat=seat, state="open").code, "outcome": "tie"}, headers=JSON)
    post("judging:undo", {"code": code}, follow=True)
    gone.update(excluded_reason="")
    for state in ("paused", "closed"):
        Run.objects.filter(pk=run.pk).update(judging_state=state)
        for name in ("judging:vote", "judging:undo"):
            post(name, {"code": code, "outcome": "left"}, headers=JSON)
        get("judging:judge", run.code)
        get("judging:history", run.code)
        post("judging:start", {}, run.code, headers=JSON)
    Run.objects.filter(pk=run.pk).update(judging_state="open")
    client.handler.enforce_csrf_checks = True
    post("judging:vote", {"code": code, "outcome": "left"})
    client.handler.enforce_csrf_checks = False
    client.logout()
    post("judging:vote", {"code": code, "outcome": "left"}, headers=JSON)
    get("judging:judge", run.code)
    get("judging:picture", code, "left")
    return differences


def plain(response, art):
    """A response as text, with headers, and with drawings and random codes taken out."""
    body = response.text
    if response["Content-Type"] == "application/json":
        body = (
            json.dumps(response.json(), ensure_ascii=False)
            .replace("\\n", "\n")
            .replace('\\"', '"')
            .replace("\\\\", "\\")
        )
    headers = sorted((name, value) for name, value in response.headers.items() if name.lower() != "x-request-id")
    text = f"{response.status_code}\n{headers}\n{body}"
    for drawing in art:
        text = text.replace(drawing, "ART")
    text = TOKEN.sub("TOKEN", text)
    text = re.sub(r"\b[2-9a-hjkmnp-z]{12}\b", "CODE", text)
    return re.sub(r"'Content-Length', '\d+'", "LENGTH", text)


def what_is_told(response, own):
    """All that a response says, in small letters, less what is drawn by chance and may spell a word: tokens, own codes."""
    return re.sub("|".join(own), "", TOKEN.sub("", f"{response.headers}{response.text}")).lower()


def own_codes(seat):
    return [seat.run.code, *seat.matchups.values_list("code", flat=True)]


def swap_entrants(run):
    """Exchange the owners of all drawings of the first two entrants, as if each had drawn the other's."""
    one, two = run.entrants.all()[:2]
    mine, theirs = (list(Sample.objects.filter(entrant=e).values_list("pk", "drawing")) for e in (one, two))
    for (pk, _), (_, other) in [*zip(mine, theirs, strict=True), *zip(theirs, mine, strict=True)]:
        Sample.objects.filter(pk=pk).update(drawing=other)


def sit_down(client, run, name):
    seat = make_seat(run, name)
    client.force_login(seat.judge)
    take_seat(seat.pk)
    return seat


@pytest.mark.parametrize(
    ("format", "language"),
    [*((format, "en") for format in DRAW), *(("svg", code) for code in LANGUAGES if code != "en")],
)
def test_with_entrants_swapped_only_art_and_codes_differ_in_any_language(client, format, language):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    run = make_run(
        entrants=2, prompts=1, attempts=4, categories=("animal",), format=format, overlap=0, repeats=0, reveal="never"
    )
    for number, sample in enumerate(Sample.objects.all()):
        Sample.objects.filter(pk=sample.pk).update(drawing=DRAW[format](number + 1))
    art = list(Sample.objects.values_list("drawing", flat=True))
    pictures = [get_format(format).render(drawing) for drawing in art]
    art += [picture.body.decode() for picture in pictures if picture]

    with time_machine.travel(now(), tick=False):
        before = [(name, plain(answer, art)) for name, answer in walk(client, sit_down(client, run, "alice"))]
        swap_entrants(run)
        after = [(name, plain(answer, art)) for name, answer in walk(client, sit_down(client, run, "bobby"))]

    assert len(before) == 40
    assert {name for name, text in before if f"('Content-Language', '{language}" in text} >= {"judging:judge"}
    assert {text[:3] for _, text in before} == {"200", "302", "400", "403", "404", "409"}
    assert {name for name, _ in before} == {"judging:home", *(f"judging:{address.name}" for address in judge_urls)}
    assert before == [(name, text.replace("bobby", "alice")) for name, text in after]


def everything(client, world):
    """What each address of the site answers, codes taken out, whether it is one for judges or not."""
    answers_by_name = {}
    for name, row in {**ADDRESSES, **admin_rows()}.items():
        if "(" not in name and name != "readyz":  # the world's other runs
            answer = client.get(address(name, row, world))
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
            headers = sorted((key, value) for key, value in answer.headers.items() if key.lower() != "x-request-id")
            answers_by_name[name] = re.sub(
                TOKEN, "TOKEN", f"{answer.status_code}\n{headers}\n{body.decode(errors='replace')}"
            )
    return answers_by_name


@pytest.mark.long
@pytest.mark.parametrize("role", ["anonymous", "judge", "other judge"])
def test_no_address_of_the_site_tells_who_drew_what_while_judging_is_open(client, world, role):
    """A published run that is being judged, by its judge, by another, and by one who logged out to look."""
    run = Run.objects.get(code=world["published"])
    for block, sample in zip(("b11", "b31"), run.samples.all(), strict=True):
        Sample.objects.filter(pk=sample.pk).update(drawing=f"drop_block('{block}', 4)")
    bob = run.seats.get()
    parts = {name: world[f"published_{name}"] for name in ("fit", "program", "sample")}
    parts |= {"run": run.code, "entrant": run.entrants.first().code, "voted": bob.matchups.get().code}
    world |= parts | {"matchup": parts["voted"]}
    if world["users"][role]:
        client.force_login(world["users"][role])

    with time_machine.travel(now(), tick=False):
        before = everything(client, world)
        swap_entrants(run)
        after = everything(client, world)

    own = {"judging:picture"} if role == "other judge" else set()  # the art itself
    assert len(before) > 150
    assert {name for name in before if before[name] != after[name]} == own
    assert not any("drop_block" in text for text in before.values())


def test_no_name_label_alias_or_provider_is_anywhere(client):
    """With names present in every column that could leak."""
    run = make_run(entrants=3, reveal="never")
    LanguageModel.objects.update(note="secret-note", provider="secret-provider")
    Entrant.objects.update(note="secret-note", team="secret-team")
    for sample in Sample.objects.all():
        ProviderCall.objects.create(
            sample=sample,
            run=run,
            token=uuid4(),
            lease_until=sample.drawn_at,
            served_model="secret-served",
            served_by="secret-server",
            cost_nano=987654321,
            latency_ms=31337,
        )
        answer = f"secret-answer {sample.entrant.name}"
        Sample.objects.filter(pk=sample.pk).update(answer=answer, finish_reason="secret-stop", completion_tokens=31338)
    hidden = ["secret", "987654321", "31337", "31338"]
    for entrant in run.entrants.all():
        hidden += [entrant.name, entrant.label, entrant.code, entrant.name.split("/")[0], entrant.name.split("/")[1]]
    hidden += list(Sample.objects.values_list("code", flat=True))

    seat = sit_down(client, run, "alice")
    for name, answer in walk(client, seat):
        words = what_is_told(answer, own_codes(seat))
        assert [word for word in hidden if word.lower() in words] == [], name


def test_no_primary_key_of_samples_or_entrants_is_on_the_page(client):
    run = make_run(entrants=2, prompts=1, attempts=1, categories=("animal",), overlap=0, repeats=0)
    Sample.objects.update(drawing="same art")
    base = 7_654_321
    old = Sample.objects.order_by("pk").first()
    Sample.objects.filter(pk=old.pk).delete()
    old.pk = base
    old.save(force_insert=True)
    seat = sit_down(client, run, "alice")

    assert Matchup.objects.filter(seat=seat, left_sample=base).exists() or Matchup.objects.filter(right_sample=base)
    page = client.get(reverse("judging:judge", args=[run.code]))

    assert str(base) not in what_is_told(page, own_codes(seat))


def test_scripts_and_styles_name_no_model():
    scripts = sorted(Path(finders.find("js")).glob("judge*.js"))
    assert len(scripts) == 6
    for path in (*scripts, Path(finders.find("css/judge.css"))):
        assert "model" not in path.read_text()


def test_a_picture_of_another_judge_or_of_nothing_is_not_found(client):
    run = make_run(format="svg")
    Sample.objects.update(drawing=SVG.format(3))
    alice = sit_down(client, run, "alice")
    code = Matchup.objects.get(seat=alice, state="open").code
    mine = client.get(reverse("judging:picture", args=[code, "left"]))
    sit_down(client, run, "bob")

    theirs = client.get(reverse("judging:picture", args=[code, "left"]))

    assert mine.status_code == 200
    assert mine["Content-Type"] == "image/svg+xml"
    assert "sandbox" in mine["Content-Security-Policy"]
    assert "ETag" not in mine and "Last-Modified" not in mine
    assert theirs.status_code == 404
