"""A suite that a curator sends: started as one on the server is, refused by line, and never a way to a key or a file."""

from __future__ import annotations

import io
import json
import random
import zipfile

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from generation.models import LanguageModel, Run
from generation.runs.errors import RunError
from generation.runs.extending import extend_run
from generation.runs.lifecycle import resume_run, start_run
from generation.suites.loading import load_suite
from generation.suites.uploads import read_more_models, read_suite, seal, unseal
from generation.suites.yaml_source import SuiteError
from generation.views.forms import MOST_SAMPLES
from tests.generation.suites.suite_files import FILES, PROVIDERS, write_suite
from tests.pages import collapsed

pytestmark = pytest.mark.django_db
PAID = "models: [{id: lab/big, price_in: 1, price_out: 2}, {id: lab/small, price_in: 0, price_out: 0}]\n"


@pytest.fixture(autouse=True)
def providers(settings, tmp_path):
    settings.SUITES_DIR = tmp_path / "config"
    settings.SUITES_DIR.mkdir()
    (settings.SUITES_DIR / "providers.yaml").write_text(PROVIDERS)


def files(**changed: str | None) -> list[SimpleUploadedFile]:
    texts = {name: changed.get(name.removesuffix(".yaml"), text) for name, text in FILES.items()}
    return [SimpleUploadedFile(name, text.encode()) for name, text in texts.items() if text is not None]


def zipped(members: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return packed.getvalue()


def refusal(sent) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        read_suite(sent, name="mine")
    return caught.value


def send(client, sent, name="mine"):
    return client.post("/runs/start/upload/", {"name": name, "files": sent})


def choices(page, **changed) -> dict:
    form = page.context["form"]
    models = [model.id for model in page.context["suite"].models]
    return {"sealed": form["sealed"].value(), "key": "abc", "models": models, "attempts": 2, "budget": "3"} | changed


@pytest.mark.parametrize("folder", ["", "letters/", "a/b/"])
def test_files_or_a_zip_of_them_are_the_suite_on_a_server(tmp_path, folder):
    expected = load_suite(write_suite(tmp_path / "there", "mine"))
    whole = {f"{folder}{name}": text for name, text in FILES.items()}
    shadows = {f"__MACOSX/{folder}._config.yaml": b"\0", f"{folder}README.md": "Hello."}

    packed = read_suite([SimpleUploadedFile("x.ZIP", zipped(whole | shadows))], name="mine")

    assert packed == read_suite(files(), name="mine") == expected


def test_a_curator_sees_the_cost_and_starts_it(client, curator, settings):
    page = send(client, files(models=PAID))
    assert page.status_code == 200 and not Run.objects.exists()
    assert "the maximum cost is US$" in collapsed(page) and 'value="2.5"' in page.text
    assert "OPENROUTER_API_KEY is not set" in page.text

    first = client.post("/runs/start/uploaded/", choices(page, models=["lab/big"], label="first"))
    second = client.post("/runs/start/uploaded/", choices(page, models=["lab/big"], label="first"))

    run = Run.objects.get()
    assert first["Location"] == second["Location"] == f"/runs/{run.code}/"
    assert (run.suite, run.label, run.budget_nano, run.created_by) == ("mine", "first", 3 * 10**9, curator)
    assert list(run.models.values_list("model_id", flat=True)) == ["lab/big"]
    assert sorted(path.name for path in settings.SUITES_DIR.iterdir()) == ["providers.yaml"]


def test_its_models_and_keys_can_be_checked_first(client, curator, monkeypatch):
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    page = send(client, files(models=PAID))

    page = client.post("/runs/start/uploaded/", choices(page, check="yes"))

    assert "set OPENROUTER_API_KEY" in page.text and "a whole run costs at most" in page.text
    assert not Run.objects.exists()
    assert client.post("/runs/start/uploaded/", choices(page)).status_code == 302


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"config": "suite: ["}, "config.yaml, line 1: not YAML"),
        ({"models": "models: [{id: x, provider: evil}]"}, "models.yaml, line 1, models[0].provider: unknown provider"),
        ({"models": "models: [{id: x, base_url: https://evil.example/v1}]"}, "unknown key &#x27;base_url&#x27;"),
        ({"models": "models: [{id: x, key_env: SECRET_KEY}]"}, "unknown key &#x27;key_env&#x27;"),
        ({"prompts": None}, "prompts.yaml: there is no such file"),
        ({"prompts": "prompts: &a [*a]"}, "prompts.yaml, line 1"),
        (
            {"models": "models:\n  - id: x\n    parameters:\n      plugins: [{id: web}]\n"},
            "models.yaml, line 4, models[0].parameters.plugins: the parameter &#x27;plugins&#x27; is not taken",
        ),
        (
            {"config": FILES["config.yaml"].replace("{top_p: 0.9}", "{tools: []}")},
            "config.yaml, line 7, generation.parameters.tools",
        ),
        ({"config": FILES["config.yaml"] + "x" * 600_000}, "config.yaml, line 1: the file is over 512 KiB"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(client, curator, changed, sentence):
    page = send(client, files(**changed)).text

    assert f"Nothing was started. {sentence}" in page or sentence in page
    assert "/tmp" not in page
    assert not Run.objects.exists()


def test_providers_are_never_taken_from_an_upload():
    listed = str(refusal([*files(), SimpleUploadedFile("providers.yaml", PROVIDERS.encode())]))
    zipped_too = refusal([SimpleUploadedFile("a.zip", zipped({**FILES, "providers.yaml": PROVIDERS}))])

    assert listed == str(zipped_too)
    assert listed.startswith("providers.yaml: providers are not uploaded; leave it out")


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ([SimpleUploadedFile("a.zip", b"PK\x05")], "a.zip: this is not a whole zip without a password"),
        ([SimpleUploadedFile("a.zip", b"K" + zipped({"config.yaml": ""})[2:])], "a.zip: this is not a whole zip"),
        ([SimpleUploadedFile("a.zip", zipped({"a/config.yaml": "", "b/config.yaml": ""}))], "config.yaml: this file is"),
        ([SimpleUploadedFile("a.zip", zipped({"README": ""}))], "config.yaml: there is no such file; send it with"),
        ([SimpleUploadedFile("prompt.yaml", b"x")], "prompt.yaml: a suite has no such file; did you mean 'prompts.yaml'"),
        ([SimpleUploadedFile("a.zip", zipped({"config.yaml": b"\0" * 50_000_000}))], "config.yaml, line 1: the file is over"),
        ([SimpleUploadedFile("a.zip", zipped({"../../config.yaml": "x"}))], "config.yaml, line 1: is text"),
    ],
)  # fmt: skip
def test_odd_files_are_named(sent, sentence):
    assert str(refusal(sent)).startswith(sentence)


def test_a_damaged_zip_is_refused_in_words():
    whole, luck = zipped(FILES), random.Random(8)
    for _ in range(150):
        body = bytearray(whole)
        for _ in range(luck.randint(1, 6)):
            body[luck.randrange(len(body))] = luck.randrange(256)
        try:
            read_suite([SimpleUploadedFile("a.zip", bytes(body[: luck.randint(20, len(body))]))], name="mine")
        except SuiteError as refused:
            assert str(refused)


@pytest.mark.parametrize("name", ["ascii", "../x", "Up", "a" * 51, "a/b", ""])
def test_a_name_is_new_and_plain(client, curator, settings, name):
    (settings.SUITES_DIR / "ascii").mkdir()

    page = send(client, files(), name=name)

    assert page.context["form"].errors["name"]
    assert "sealed" not in page.context["form"].fields
    if name != "ascii":
        with pytest.raises(SuiteError, match="is not a suite's name"):
            read_suite(files(), name=name)


def test_files_are_asked_for_and_have_a_limit(client, curator):
    assert "This field is required." in client.post("/runs/start/upload/", {"name": "mine"}).text
    large = [SimpleUploadedFile("config.yaml", b"x" * 2_100_000)]
    assert "more than 2 MiB" in send(client, large).text


def test_an_uploaded_suite_needs_a_budget_and_a_reasonable_size(client, curator):
    prompts = "prompts:\n" + "".join(f"  - {{text: Draw {n}, category: s1}}\n" for n in range(1200))
    page = send(client, files(models=PAID, prompts=prompts, programs=None))

    poor = client.post("/runs/start/uploaded/", choices(page, budget="")).text
    vast = client.post("/runs/start/uploaded/", choices(page, attempts=100)).text

    assert "This field is required." in poor
    assert f"That is 240000 drawings; a run of an uploaded suite has at most {MOST_SAMPLES}." in vast
    assert not Run.objects.exists()


def test_a_suite_too_large_for_a_form_is_refused(curator):
    prompts = f"category: s1\ntemplate: 'Draw {{{{subject}}}}. {'x' * 19000}'\nsubjects: {list(map(str, range(100)))}\n"
    suite = read_suite(files(prompts=prompts, programs=None), name="mine")

    with pytest.raises(SuiteError, match="too large to be uploaded"):
        seal(suite, curator)


def test_a_seal_is_for_one_curator_and_cannot_be_made_elsewhere(client, curator):
    suite = read_suite(files(), name="mine")
    other = User.objects.create_user("dave", is_staff=True)
    forged = signing.dumps(suite.to_dict(), key="guessed", salt=f"generation.suite_uploads.{curator.pk}")

    assert unseal(seal(suite, curator), curator) == suite
    assert unseal(seal(suite, curator), other) is None
    for sealed in (seal(suite, other), forged, "", "x", json.dumps(suite.to_dict())):
        page = client.post("/runs/start/uploaded/", {"sealed": sealed, "key": "abc"}, follow=True)
        assert "an upload expires after a day" in page.text
    assert not Run.objects.exists()


def test_a_run_of_an_uploaded_suite_is_extended_from_a_file(client, curator):
    suite = read_suite(files(models="models: [lab/big]", programs=None), name="mine")
    run = start_run(suite, budget=1)
    page = client.get(f"/runs/{run.code}/extend/").text
    assert "send a file below" in page

    sent = SimpleUploadedFile("models.yaml", PAID.encode())
    client.post(f"/runs/{run.code}/extend/", {"file": sent, "reason": "a rival"})

    assert list(run.models.values_list("model_id", "price_in_nano")) == [("lab/big", 10**9), ("lab/small", 0)]
    event = run.events.get(verb="extend_run")
    assert (event.facts["models"], event.facts["priced"], event.facts["samples"]) == (["lab/small"], ["lab/big"], 4)


def test_models_that_join_are_held_to_the_same_rules(client, curator):
    run = start_run(read_suite(files(programs=None), name="mine"))
    before = LanguageModel.objects.count()

    for text in ("models: [{id: new, key_env: HOME}]", "models: [{id: new, parameters: {tools: []}}]", "models: 3"):
        sent = SimpleUploadedFile("mine.yaml", text.encode())
        page = client.post(f"/runs/{run.code}/extend/", {"file": sent}).text
        assert "Nothing was added. mine.yaml, line 1" in page

    assert LanguageModel.objects.count() == before
    with pytest.raises(SuiteError, match=r"models\.yaml"):
        read_more_models(SimpleUploadedFile("models.yaml", b"\xff"), most_tokens=10)


def test_the_budget_of_an_uploaded_suite_cannot_be_taken_away(client, curator):
    run = start_run(read_suite(files(), name="mine"), budget=5, uploaded=True, by=curator, draw=False)

    page = client.get(f"/runs/{run.code}/extend/").text
    client.post(f"/runs/{run.code}/extend/", {"no_budget": "on"})
    for take_away in (
        lambda: extend_run(run, budget=None),
        lambda: resume_run(run, budget=None),
        lambda: call_command("extend_run", run.code, "--budget", "none"),
        lambda: call_command("resume_run", run.code, "--budget", "none"),
    ):
        with pytest.raises((RunError, CommandError), match="needs a budget"):
            take_away()
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(budget_nano=None)

    assert "no_budget" not in page
    assert Run.objects.get().budget_nano == 5_000_000_000
    assert extend_run(run, budget=9) == 0


def test_models_from_a_file_join_only_a_run_with_a_budget(client, curator):
    run = start_run(read_suite(files(), name="mine"), budget=None, draw=False)
    address = f"/runs/{run.code}/extend/"

    refused = client.post(address, {"file": SimpleUploadedFile("models.yaml", PAID.encode())}).text
    taken = client.post(address, {"file": SimpleUploadedFile("models.yaml", PAID.encode()), "budget": "3"})

    run.refresh_from_db()
    assert "needs a budget" in refused
    assert (taken.status_code, run.uploaded, run.budget_nano) == (302, True, 3_000_000_000)
