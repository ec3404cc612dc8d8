"""A protocol that the site has never heard of works everywhere once it has two rooms, an entry and a table."""

from __future__ import annotations

import json
import zipfile
from dataclasses import fields, replace
from importlib import reload
from io import StringIO

import pytest
from django.conf import settings as settings_of_django
from django.contrib import admin
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.urls import clear_url_caches, reverse

import benchsite.urls
import benchsite.wsgi
import judging.urls
import ranking.urls
from benchsite.operations.demo_runs import show_demo_run
from generation.checks import protocol_faults
from generation.models import Run
from generation.protocols import PROTOCOLS, judging_modules
from generation.suites.loading import load_suite
from judging.curating.invitations import create_invitations
from judging.disclosure import drawings_are_open
from judging.pairs.voting import mark_missed
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from ranking.fitting import fit_run, stale_fits
from ranking.tokens import create_token
from tests.best_of_four.entry import BEST_OF_FOUR
from tests.best_of_four.judging import NAME
from tests.best_of_four.judging.models import Pick
from tests.best_of_four.judging.picking import drawings_of, next_prompt, pick_best
from tests.judging.make import make_curator, make_judge, make_run, make_seat
from tests.pages import collapsed

pytestmark = pytest.mark.django_db


def load_addresses():
    """What a start does: addresses are made from the list of protocols."""
    for module in (judging.urls, ranking.urls, benchsite.urls):
        reload(module)
    clear_url_caches()


@pytest.fixture(autouse=True)
def registered():
    PROTOCOLS[NAME] = BEST_OF_FOUR
    room = judging_modules("admin")[-1]  # registers the table when it is first loaded
    if not admin.site.is_registered(Pick):
        admin.site.register(Pick, room.PickAdmin)
    load_addresses()
    yield
    del PROTOCOLS[NAME]
    admin.site.unregister(Pick)
    load_addresses()


@pytest.fixture
def run():
    """Four entrants; Alice has picked the drawing of the first for every prompt but the last."""
    run = make_run(entrants=4, prompts=4)
    Run.objects.filter(pk=run.pk).update(protocols=[NAME], visibility=Run.Visibility.PUBLISHED)
    run.refresh_from_db()
    seat = make_seat(run)
    first = run.entrants.first()
    for _ in range(3):
        shown = drawings_of(seat, next_prompt(seat))
        pick_best(seat=seat, code=next(sample.code for sample in shown if sample.entrant == first))
    fit_run(run)
    return run


def page(client, name, *args, status=200):
    response = client.get(reverse(name, args=args))
    assert response.status_code == status, name
    return response.content.decode() if not response.streaming else b"".join(response.streaming_content)


def close(run):
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.CLOSED)


def test_the_entry_is_whole():
    assert protocol_faults() == []


NEEDED = ["analyse", "template", "ranking_room", "judge_page", "curator_page", "judged_at", "home"]


@pytest.mark.parametrize(
    "field", [*NEEDED, "home_runs", "home_help", "invitation", "judging_room", "label", "rests_on"]
)
def test_a_forgotten_field_is_named_at_start_up(field):
    PROTOCOLS[NAME] = replace(BEST_OF_FOUR, **{field: ""})

    faults = [fault for fault in protocol_faults() if f"field {field} is empty" in fault]

    assert len(faults) == 1 and faults[0].startswith(f"Protocol {NAME}:")


WRONG = {
    "analyse": ("tests.best_of_four.ranking.run.nothing", "cannot be loaded"),
    "sentence": ("tests.nowhere.at_all", "cannot be loaded"),
    "template": ("best_of_four/none.html", "no such template"),
    "judge_page": ("judging:nowhere", "no page of that name"),
    "judging_room": ("judging.nowhere", "no such package"),
    "judged_at": ("seats__nowhere", "leads nowhere"),
    "import_page": ("judging:import_votes", "import_label is empty"),
    "ranking_room": ("ranking.automatic", "MEMBERS"),
}


@pytest.mark.parametrize("field", WRONG)
def test_what_a_field_names_must_be_there(field):
    value, words = WRONG[field]
    PROTOCOLS[NAME] = replace(BEST_OF_FOUR, **{field: value})

    assert any(NAME in fault and words in fault for fault in protocol_faults())


def test_a_long_name_is_refused():
    PROTOCOLS["a_name_of_more_than_twenty"] = BEST_OF_FOUR
    try:
        assert any("1 to 20" in fault for fault in protocol_faults())
    finally:
        del PROTOCOLS["a_name_of_more_than_twenty"]


def test_no_server_starts_without_a_field_that_is_needed():
    PROTOCOLS[NAME] = replace(BEST_OF_FOUR, judge_page="")

    with pytest.raises(ImproperlyConfigured, match=f"Protocol {NAME}: the field judge_page is empty"):
        reload(benchsite.wsgi)
    with pytest.raises(SystemCheckError, match=f"Protocol {NAME}: the field judge_page is empty"):
        call_command("check")


def test_an_unknown_field_is_refused():
    with pytest.raises(TypeError, match="judge_pgae"):
        replace(BEST_OF_FOUR, judge_pgae="judging:four")


def test_every_field_is_documented():
    section = (settings_of_django.BASE_DIR / "docs/leaderboards.md").read_text().split("## Another way of scoring")[1]
    named = {name for line in section.splitlines() if line.startswith("| `") for name in line.split("|")[1].split(", ")}

    documented = {name.strip(" `") for name in named} - {"judging/NAME/", "ranking/NAME/"}

    assert documented == {field.name for field in fields(BEST_OF_FOUR)}


def test_a_suite_may_name_it(tmp_path, settings):
    source = settings.SUITES_DIR / "ascii"
    folder = tmp_path / "ascii"
    folder.mkdir()
    for path in source.glob("*.yaml"):
        text = path.read_text()
        (folder / path.name).write_text(text.replace("protocols: [pairwise]", f"protocols: [{NAME}]"))

    assert load_suite(folder, providers=settings.SUITES_DIR / "providers.yaml").protocols == (NAME,)


def test_the_home_page_and_the_list_of_leaderboards_tell_of_it(run, client):
    assert "picked most often" not in page(client, "home")
    client.force_login(make_curator())

    for name in ("home", "ranking:leaderboards"):
        text = page(client, name)
        assert "acme/alpha-1 label is picked most often." in text
        assert "3 picks" in text and "Judging open" in text


def test_the_home_page_shows_its_drawings_once_judging_is_closed(run, client):
    assert "See drawings" not in page(client, "home")

    close(run)

    assert "See drawings" in page(client, "home")


def test_curators_see_it_on_runs_and_on_the_runs_page(run, client):
    client.force_login(make_curator())

    assert "measured, no judging needed" not in page(client, "generation:runs")
    assert reverse("judging:overview", args=[run.code]) in page(client, "generation:run", run.code)
    assert client.get(reverse("judging:overview", args=[run.code])).url == reverse(
        "judging:four_overview", args=[run.code]
    )
    assert "3 picks" in page(client, "judging:four_overview", run.code)


def test_a_judge_is_led_to_its_page_and_picks(run, client):
    client.force_login(make_judge())
    address = reverse("judging:four", args=[run.code])
    home = page(client, "judging:home")
    assert "3 picks." in home and "pick the best" in home
    assert client.get(reverse("judging:judge", args=[run.code])).url == address
    text = page(client, "judging:four", run.code)
    assert "Draw thing 3" in text and "acme" not in text

    code = drawings_of(run.seats.get(), run.prompts.last())[0].code
    client.post(address, {"code": code})

    assert run.picks.count() == 4
    assert "nothing to pick" in page(client, "judging:four", run.code)


def test_an_invitation_says_what_to_expect_and_leads_there(run, client):
    (invitation,) = create_invitations(run=run, by=make_curator(), count=1, days=1)
    client.force_login(make_judge("bob"))
    address = reverse("join", args=[invitation.token])
    assert "pick the best" in client.get(address).content.decode()

    response = client.post(address, follow=True)

    assert response.redirect_chain[-1][0] == reverse("judging:four", args=[run.code])


def test_its_leaderboard_is_shown_downloaded_frozen_and_drawn(run, client):
    close(run)
    fit = run.fits.get()
    text = page(client, "ranking:leaderboard", run.code)
    assert "acme/alpha-1" in text and "100" in text
    assert "acme/alpha-1" in page(client, "ranking:protocol", run.code, NAME)
    assert page(client, "ranking:download", run.code, "csv").startswith("entrant,picks\nacme/alpha-1,3\n")
    assert json.loads(page(client, "ranking:download", run.code, "json"))["votes"] == 3
    assert client.get(reverse("ranking:share_picture", args=[run.code]))["Content-Type"] == "image/png"

    client.force_login(make_curator())
    assert "How ties and fails count" not in page(client, "ranking:leaderboard", run.code)
    frozen = client.post(reverse("ranking:publish", args=[run.code]), {"title": "Final", "fit": fit.code}, follow=True)
    assert "Final" in frozen.content.decode()


def test_an_entrants_page_shows_its_score(run, client):
    close(run)
    text = collapsed(client.get(reverse("ranking:entrant", args=[run.code, run.entrants.first().code])))

    assert "Picks" in text and "1.00" in text and "rank 1 of 4" in text


def test_drawings_are_hidden_until_judging_is_closed(run, client):
    sample = run.samples.first()
    page(client, "gallery:gallery", run.code, status=403)
    page(client, "gallery:sample", sample.code, status=404)
    client.force_login(run.seats.get().judge)
    page(client, "ranking:leaderboard", run.code, status=403)

    close(run)

    assert "Draw thing 0" in page(client, "gallery:gallery", run.code)
    page(client, "gallery:sample", sample.code)
    page(client, "ranking:leaderboard", run.code)


@pytest.mark.parametrize("state", Run.Judging.values)
def test_a_run_by_an_unknown_protocol_shows_drawings_to_curators_alone(run, client, state):
    Run.objects.filter(pk=run.pk).update(protocols=["unheard_of"], judging_state=state)
    run.refresh_from_db()

    assert not drawings_are_open(run)
    page(client, "gallery:gallery", run.code, status=403)
    page(client, "home")
    page(client, "judging:home", status=302)
    client.force_login(make_curator())
    page(client, "gallery:gallery", run.code)
    page(client, "generation:runs")


def test_an_archive_has_its_rows_and_brings_them_back(run, tmp_path):
    file = tmp_path / "run.zip"
    write_archive(run, file)
    with zipfile.ZipFile(file) as archive:
        rows = [json.loads(line) for line in archive.read("picks.jsonl").splitlines()]
        assert [set(row) for row in rows] == [{"judge", "sample", "picked_at"}] * 3
        assert "## picks.jsonl" in archive.read("README.md").decode()

    copy = import_run(file, copy=True, reason="a test")

    assert list(copy.picks.values_list("sample__entrant__name", "picked_at")) == list(
        run.picks.values_list("sample__entrant__name", "picked_at")
    )
    assert fit_run(copy).result["overall"] == run.fits.get().result["overall"]


def test_an_archive_of_several_protocols_comes_back_too(run, tmp_path):
    Run.objects.filter(pk=run.pk).update(protocols=["pairwise", NAME])
    run.refresh_from_db()
    write_archive(run, tmp_path / "run.zip")

    copy = import_run(tmp_path / "run.zip", copy=True, reason="a test")

    assert (copy.protocols, copy.picks.count()) == (["pairwise", NAME], 3)


def test_an_archive_without_its_rows_is_refused_and_other_runs_have_none(run, tmp_path):
    file, other = tmp_path / "run.zip", tmp_path / "other.zip"
    write_archive(make_run(), other)
    with zipfile.ZipFile(other) as archive:
        assert "picks.jsonl" not in archive.namelist()
    write_archive(run, file)
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(tmp_path / "less.zip", "w") as less:
        manifest = json.loads(archive.read("manifest.json"))
        del manifest["members"]["picks.jsonl"]
        for name in archive.namelist():
            if name not in ("picks.jsonl", "manifest.json"):
                less.writestr(name, archive.read(name))
        less.writestr("manifest.json", json.dumps(manifest))

    with pytest.raises(ValueError, match=r"does not list picks\.jsonl"):
        import_run(tmp_path / "less.zip", copy=True, reason="a test")


def test_commands_export_it(run, tmp_path, capsys):
    call_command("export", "picks", run.code, stdout=StringIO(), out=tmp_path / "picks.jsonl")
    call_command("export", "picks", run.code, format="csv", out=tmp_path / "picks.csv")
    call_command("export", "all", run.code, out=tmp_path / "all.zip")

    assert len((tmp_path / "picks.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "picks.csv").read_text().startswith("judge,sample,picked_at")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert len(archive.read("picks.jsonl").splitlines()) == 3


def test_the_api_counts_and_lists_it(run, client):
    close(run)
    token = create_token(label="a class", by=None)[1]
    headers = {"Authorization": f"Bearer {token}"}

    counts = client.get(reverse("ranking:api_run", args=[run.code]), headers=headers).json()["counts"]
    rows = client.get(reverse("ranking:api_picks", args=[run.code]), headers=headers).json()["data"]
    standings = client.get(reverse("ranking:api_standings", args=[run.code]), headers=headers).json()

    assert counts["picks"] == 3
    assert [row["judge"] for row in rows] == ["judge alice"] * 3
    assert standings["fit"]["protocol"] == NAME and standings["data"][0]["score"] == 1.0


def test_the_admin_lists_it(run, admin_client):
    assert "judge alice" in page(admin_client, "admin:best_of_four_pick_changelist")
    assert "best_of_four/pick/?run" in page(admin_client, "admin:generation_run_changelist")


def test_a_pick_whose_mark_was_lost_is_found(run):
    Run.objects.filter(pk=run.pk).update(scores_changed_at=None)

    assert mark_missed() == 1
    assert [(stale.pk, name) for stale, name in stale_fits("fast")] == [(run.pk, NAME)]


def test_a_demo_run_is_judged_and_published(run):
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PRIVATE)
    run.refresh_from_db()

    show_demo_run(run)

    assert run.picks.filter(seat__is_simulated=True).count() == 4
    assert Run.objects.get(pk=run.pk).visibility == Run.Visibility.PUBLISHED
