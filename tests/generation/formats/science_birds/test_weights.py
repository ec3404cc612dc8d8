"""Fetching the competition's classifier from a local server that speaks the hub's protocol."""

from __future__ import annotations

import hashlib
import json
import sys
import types
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.formats import get_format
from generation.formats.science_birds import similarity, weights
from generation.formats.science_birds.similarity import LETTERS, VIT_DIR
from generation.formats.science_birds.weights import MODEL, FetchError, fetch_weights
from generation.runs.lifecycle import start_run
from generation.suites.loading import load_suite
from tests.listening import Listening

COMMIT = "4f1d0c" + "0" * 34
CONFIG = json.dumps({"id2label": {str(n): letter for n, letter in enumerate(LETTERS)}}).encode()
FILES = {
    "config.json": CONFIG,
    "preprocessor_config.json": b'{"size": 224}',
    "pytorch_model.bin": b"pickled" * 100,
    "model.safetensors": b"weights" * 300_000,
    "README.md": b"# A model",
}


class Hub:
    """The two addresses of the hub that are used; `files` is what it lists, `served` what it sends instead."""

    def __init__(self) -> None:
        self.files, self.served, self.asked = dict(FILES), {}, []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.asked.append(self.path)
                status, headers, body = hub.reply(self.path)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args) -> None:
                pass

        self.server = Listening(Handler)
        self.url = self.server.url

    def reply(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if path.startswith(f"/api/models/{MODEL}/revision/main?blobs=true"):
            return 200, {}, json.dumps({"sha": COMMIT, "siblings": [*map(self.entry, self.files)]}).encode()
        name = path.rpartition("/")[2]
        if path.startswith("/cdn/"):
            return 200, {}, self.served.get(name, self.files[name])
        if path == f"/{MODEL}/resolve/{COMMIT}/{name}" and name in self.files:
            if name in weights.WEIGHTS:  # large files are elsewhere
                return 302, {"Location": f"/cdn/{name}"}, b""
            return 200, {}, self.served.get(name, self.files[name])
        return 404, {}, b"Entry not found"

    def entry(self, name: str) -> dict:
        body = self.files[name]
        blob = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
        entry = {"rfilename": name, "size": len(body), "blobId": blob}
        if name in weights.WEIGHTS:
            entry["lfs"] = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 134}
        return entry


@pytest.fixture
def hub(monkeypatch):
    server = Hub()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    yield server
    server.server.stop()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(VIT_DIR, str(tmp_path / "var" / "vit"))
    return tmp_path / "var" / "vit"


def test_it_fetches_what_is_needed_and_prefers_weights_without_code(hub, folder):
    steps = []

    fetched = fetch_weights(folder, progress=lambda done, total: steps.append((done, total)))

    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "fetched.json",
        "model.safetensors",
        "preprocessor_config.json",
    ]
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert fetched == json.loads((folder / "fetched.json").read_text())
    assert fetched["revision"] == COMMIT
    assert steps[-1][0] == steps[-1][1]


def test_pickled_weights_are_taken_where_there_are_no_others(hub, folder):
    del hub.files["model.safetensors"]

    fetch_weights(folder)

    assert (folder / "pytorch_model.bin").exists()


def spoil(body: bytes) -> bytes:
    return body[:-1] + b"!"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"served": {"model.safetensors": spoil(FILES["model.safetensors"])}}, "has another digest than the hub says"),
        ({"served": {"config.json": spoil(CONFIG)}}, "config.json has another digest"),
        ({"served": {"model.safetensors": b"short"}}, "has 5 bytes instead of 2,100,000"),
        ({"served": {"model.safetensors": FILES["model.safetensors"] * 2}}, "larger than the hub says"),
        ({"files": {**FILES, "config.json": b'{"id2label": {"0": "cat"}}'}}, "not the 26 capital letters"),
        ({"files": {"config.json": CONFIG}}, "has no preprocessor_config.json and no model.safetensors"),
    ],
)
def test_what_is_not_as_the_hub_says_is_not_installed(hub, folder, change, why):
    for name, value in change.items():
        setattr(hub, name, value)

    with pytest.raises(FetchError, match=why):
        fetch_weights(folder)

    assert not list(folder.parent.iterdir())


def test_a_failed_fetch_keeps_the_weights_that_were_there(hub, folder):
    fetch_weights(folder)
    hub.served["config.json"] = b"{}"

    with pytest.raises(FetchError):
        fetch_weights(folder)

    assert similarity.Path(folder, "fetched.json").is_file()


def test_a_hub_that_cannot_be_reached_is_named_with_the_way_out(folder, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(CommandError, match=r"The hub cannot be reached: .* name a mirror in HF_ENDPOINT"):
        call_command("fetch_vit")


def test_a_revision_that_does_not_exist_is_named(hub, folder):
    with pytest.raises(CommandError, match="answered 404"):
        call_command("fetch_vit", "--revision", "v9")


@pytest.mark.parametrize("address", ["http://hub.example.org", "ftp://127.0.0.1"])
def test_only_https_is_asked(folder, monkeypatch, address):
    monkeypatch.setenv("HF_ENDPOINT", address)

    with pytest.raises(FetchError, match="not an https address"):
        fetch_weights(folder)


def test_the_command_says_what_is_still_to_install(hub, folder, monkeypatch, capsys):
    monkeypatch.setattr(similarity, "VIT_PACKAGES", ("no_such_torch",))

    call_command("fetch_vit")

    out = capsys.readouterr().out
    assert f"{MODEL} at 4f1d0c000000, verified, is in {folder}." in out
    assert "pip install no_such_torch. Until then new runs are measured by glyphs." in out


@pytest.mark.django_db
def test_it_becomes_the_default_of_new_runs_once_it_can_be_run(hub, folder, monkeypatch, settings):
    for name in similarity.VIT_PACKAGES:
        module = types.ModuleType(name)
        module.__spec__ = types.SimpleNamespace(name=name)
        monkeypatch.setitem(sys.modules, name, module)
    suite = load_suite(settings.SUITES_DIR / "science-birds")
    before = start_run(suite, demo=True, draw=False, prompts=["A"], label="before")

    fetch_weights(folder)
    after = start_run(suite, demo=True, draw=False, prompts=["A"], label="after")

    assert (before.measure_backend, after.measure_backend) == ("glyphs", "vit")
    assert get_format("ascii_art").default_backend() == "builtin"
