"""A prompt's reference picture goes to the model, and to those who may see the prompt."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from generation.models import Run
from generation.money import BILLED_FOR_AN_IMAGE, prompt_size
from generation.runs.errors import RunError
from generation.runs.extending import extend_run
from generation.runs.lifecycle import start_run
from generation.runs.loaded import whole_suite
from generation.suites.suite import ModelEntry
from generation.suites.uploads import read_suite
from judging.rules import rules_of
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from tests.generation.drawing_room import claim, draw_some, make_suite
from tests.generation.providers.fakes import Ollama, serving
from tests.generation.suites.suite_files import write_suite
from tests.generation.suites.test_prompt_images import picture

pytestmark = pytest.mark.django_db
RED = "data:image/png;base64,"


@pytest.fixture
def suite():
    made = make_suite(prompts=2, attempts=1)
    first, second = made.prompts
    return replace(made, prompts=(replace(first, image=RED + base64.b64encode(picture()).decode()), second))


@pytest.fixture
def run(suite, demo):
    demo()
    return start_run(suite)


def test_model_is_shown_the_picture_of_its_prompt_only(run):
    questions = claim(run, wanted=10)

    shown = {bool(question.request.messages[-1].get("images")): question.prompt_pk for question in questions}
    assert shown[True] == run.prompts.get(key="p0").pk
    assert shown[False] == run.prompts.get(key="p1").pk


def test_what_a_request_and_its_picture_cost_is_reserved_before_it_is_asked(run):
    run.models.update(price_in_nano=10**9, price_out_nano=0, price_request_nano=5_000_000, price_image_nano=1_000_000)

    questions = claim(run, wanted=10)

    held = {bool(question.request.messages[-1].get("images")): question.reserved_nano for question in questions}
    words = max(prompt_size([{"content": "Draw in a code block."}, {"content": text}]) for text in texts_of(run))
    assert 5_000_000 < held[False] <= 5_000_000 + words * 1000
    assert held[True] - held[False] >= 1_000_000 + BILLED_FOR_AN_IMAGE * 1000 - words * 1000


def texts_of(run):
    return run.prompts.values_list("text", flat=True)


def test_demo_players_draw_for_prompts_with_pictures(run):
    assert draw_some(run).drawn == 4


def test_picture_is_for_those_who_may_see_the_prompt(client, run, curator):
    prompt = run.prompts.get(key="p0")
    address = f"/judge/reference/{prompt.code}/"

    answer = client.get(address)
    assert (answer.status_code, answer["Content-Type"], answer.content) == (200, "image/png", picture())
    assert client.get(f"/judge/reference/{run.prompts.get(key='p1').code}/").status_code == 404
    client.force_login(User.objects.create_user("stranger"))
    assert client.get(address).status_code == 404
    Run.objects.update(visibility=Run.Visibility.PUBLISHED)
    assert client.get(address).status_code == 200


def test_pictures_are_apart_from_the_suite_and_come_back_with_it(run, suite, tmp_path):
    write_archive(run, tmp_path / "run.zip")
    copy = import_run(tmp_path / "run.zip", copy=True, reason="a test")

    for one in (run, copy):
        assert RED not in json.dumps(one.config)
        assert whole_suite(one) == suite
    assert run.digest == suite.digest()


def test_extending_keeps_the_pictures(run, suite):
    extend_run(run, attempts=2)

    assert whole_suite(run).prompts == suite.prompts
    assert RED not in json.dumps(run.config)


def test_lists_read_no_suites_and_no_page_reads_pictures(client, run):
    draw_some(run)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    lists = ["/", "/leaderboards/", "/drawings/", "/suites/", f"/embed/{run.code}/"]
    own = [f"/runs/{run.code}/{name}/" for name in ("leaderboard", "gallery", "prompts")]
    rules_of(run.code)  # read once by each process
    read = {}

    for page in (*lists, *own):
        with CaptureQueriesContext(connection) as asked:
            assert client.get(page).status_code == 200
        read[page] = tuple(sum(f'"{column}"' in query["sql"] for query in asked) for column in ("config", "address"))

    assert read == dict.fromkeys(lists, (0, 0)) | dict.fromkeys(own, (1, 0))


def test_a_picture_is_had_without_reading_the_suite(client, run, curator):
    prompt = run.prompts.get(key="p0")

    with CaptureQueriesContext(connection) as asked:
        answer = client.get(f"/judge/reference/{prompt.code}/")

    assert answer.content == picture()
    assert not [query["sql"] for query in asked if '"config"' in query["sql"]]


def test_judges_page_has_the_picture(run):
    prompt = run.prompts.get(key="p0")

    assert rules_of(run.code).pictured == {prompt.pk: prompt.code}


def test_curator_sees_the_picture_beside_the_drawing(client, run, curator):
    draw_some(run)
    prompt = run.prompts.get(key="p0")

    page = client.get(f"/samples/{prompt.samples.first().code}/").text

    assert f'src="/judge/reference/{prompt.code}/"' in page


def test_model_that_cannot_see_is_refused_by_name(suite, monkeypatch):
    with serving(Ollama()) as fake:
        monkeypatch.setenv("OLLAMA_URL", fake.url)
        blind = replace(suite, models=(ModelEntry("drawer", "Drawer", provider="ollama"),))

        with pytest.raises(RunError, match="drawer does not take images"):
            start_run(blind)
        fake.capabilities = ["completion", "vision"]
        start_run(blind)


def test_upload_takes_the_pictures_with_the_yaml(tmp_path):
    folder = write_suite(tmp_path, prompts="prompts:\n  - {key: a, text: Draw this, category: s1, image: cat.png}\n")
    files = [SimpleUploadedFile(path.name, path.read_bytes()) for path in folder.glob("*.yaml")]

    suite = read_suite([*files, SimpleUploadedFile("cat.png", picture())], name="pictured")

    assert suite.prompts[0].image.startswith(RED)
