"""A prompt's reference picture goes to the model, and to those who may see the prompt."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from generation.models import Run
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run
from generation.suites.suite import ModelEntry
from generation.suites.uploads import read_suite
from judging.rules import rules_of
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
