"""Reference pictures of prompts: read from files, refused with their line, sent to every kind of provider."""

from __future__ import annotations

import base64
from io import BytesIO

import pytest
from PIL import Image

from generation.images import image_parts
from generation.money import TOKENS_OF_AN_IMAGE, prompt_size
from generation.providers import ollama
from generation.providers.requests import Request, payload_of
from generation.suites.profiles import Profile
from generation.suites.prompt_files import read_prompts
from generation.suites.suite import PromptEntry, Suite
from generation.suites.yaml_source import SuiteError
from tests.generation.drawing_room import make_suite


def picture(size=(8, 6), kind="PNG", colour="red") -> bytes:
    stream = BytesIO()
    Image.new("RGB", size, colour).save(stream, kind)
    return stream.getvalue()


def read(folder, *, name="cat.png", body: bytes | None = None):
    (folder / "prompts.yaml").write_text(f"prompts:\n  - text: Draw this\n    image: {name}\n")
    if body is not None:
        (folder / name).write_bytes(body)
    return read_prompts(folder / "prompts.yaml", seed=1)[0]


@pytest.mark.parametrize(("name", "kind", "media_type"), [("a.png", "PNG", "png"), ("b.jpg", "JPEG", "jpeg")])
def test_picture_is_kept_with_the_prompt_and_survives_json(tmp_path, name, kind, media_type):
    body = picture(kind=kind)

    prompt = read(tmp_path, name=name, body=body)

    assert image_parts(prompt.image) == (f"image/{media_type}", body)
    suite = make_suite()
    frozen = Suite.from_dict({**suite.to_dict(), "prompts": [prompt.__dict__]})
    assert frozen.prompts == (prompt,)


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("cat.png", None, "missing_file"),
        ("cat.svg", b"<svg/>", "bad_image"),
        ("cat.png", b"GIF89a not a picture", "bad_image"),
        ("cat.png", b"\x89PNG\r\n\x1a\n" + b"\0" * (600 * 1024), "oversize"),
        ("cat.png", picture((3000, 2)), "oversize"),
    ],
)
def test_bad_picture_is_refused_with_its_line(tmp_path, name, body, reason):
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, name=name, body=body)

    assert (caught.value.reason, caught.value.line) == (reason, 3)


def test_picture_outside_the_folder_is_refused(tmp_path):
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, name="../cat.png")

    assert caught.value.reason == "bad_identifier"


def test_every_kind_of_provider_is_sent_the_picture_in_its_own_way(tmp_path):
    address = read(tmp_path, body=picture()).image
    request = Request("m", ({"role": "user", "content": "Draw this", "images": (address,)},), 0.0, 100)

    parts = payload_of(Profile("p", "https://host.example/v1"), request)["messages"][0]["content"]
    native = ollama.payload_of(request)["messages"][0]

    assert parts == [{"type": "text", "text": "Draw this"}, {"type": "image_url", "image_url": {"url": address}}]
    assert base64.b64decode(native["images"][0]) == picture()
    assert native["content"] == "Draw this"
    assert prompt_size(request.messages) > TOKENS_OF_AN_IMAGE


def test_text_alone_stays_a_plain_string():
    request = Request("m", ({"role": "user", "content": "Draw"},), 0.0, 100)

    assert payload_of(Profile("p", "https://host.example/v1"), request)["messages"] == [
        {"role": "user", "content": "Draw"}
    ]


def test_damaged_address_is_no_picture():
    assert image_parts("data:image/png;base64,???") is None
    assert image_parts("data:text/html;base64,PGI+") is None
    assert image_parts(PromptEntry("k", "t").image) is None
