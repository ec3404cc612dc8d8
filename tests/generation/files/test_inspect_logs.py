"""Logs of inspect_ai become samples of a run."""

from __future__ import annotations

import json
import zipfile
import zlib

import pyarrow as pa
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchsite.lib.file_errors import BadLine, BadLines
from generation.files.import_samples import import_file
from generation.files.inspect_logs import read_log
from tests.judging.make import make_curator, make_run


def sample(prompt, epoch, text, **more):
    message = {"role": "assistant", "content": text}
    output = {"choices": [{"message": message, "stop_reason": "max_tokens"}], "usage": {"output_tokens": 12}}
    return {"id": 1, "epoch": epoch, "input": prompt, "output": output, **more}


def write_json(path, *samples):
    path.write_text(json.dumps({"version": 2, "eval": {"model": "acme/new"}, "samples": list(samples)}))
    return path


def write_eval(path, *samples):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"model": "acme/new"}}))
        for number, each in enumerate(samples, start=1):
            archive.writestr(f"samples/{number}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


def write_zstandard(path, *samples, size=len, checksum=zlib.crc32):
    """As inspect_ai writes a log since 2026: its files packed with Zstandard, which Python's zipfile cannot make."""
    texts = {"header.json": {"version": 2, "eval": {"model": "acme/new"}}}
    texts |= {f"samples/{number}_epoch_{each['epoch']}.json": each for number, each in enumerate(samples, start=1)}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in texts.items():
            text = json.dumps(value).encode()
            archive.writestr(name, pa.Codec("zstd").compress(text, asbytes=True))
            info = archive.getinfo(name)
            info.compress_type, info.file_size, info.CRC = 93, size(text), checksum(text)
    return path


WRITERS = [(write_json, "log.json"), (write_eval, "log.eval"), (write_zstandard, "log.eval")]


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_each_epoch_is_an_attempt(tmp_path, write, name):
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Draw a cat"}]
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "/\\_/\\"}]

    lines, bad = read_log(write(tmp_path / name, sample("Draw a cat", 1, "=^.^="), sample(asked, 2, parts)))

    assert bad == []
    assert [(line.model_id, line.prompt_text, line.attempt, line.text) for line in lines] == [
        ("acme/new", "Draw a cat", 1, "=^.^="),
        ("acme/new", "Draw a cat", 2, "/\\_/\\"),
    ]
    assert (lines[0].finish_reason, lines[0].completion_tokens) == ("length", 12)


@pytest.mark.django_db
def test_a_log_is_imported_once(tmp_path):
    run = make_run(entrants=1, prompts=2, attempts=1)
    path = write_json(tmp_path / "log.json", *(sample(f"Draw thing {n}", 1, "```\n/\\_/\\\n```") for n in range(2)))

    first, again = import_file(path, run=run), import_file(path, run=run)

    assert (first.added, first.joined, again.added, again.same) == (2, ["acme/new"], 0, 2)
    assert "inspect_ai" in run.models.get(model_id="acme/new").note


@pytest.mark.django_db
def test_nothing_is_imported_from_a_log_with_a_bad_sample(tmp_path):
    run = make_run(entrants=1, prompts=1, attempts=1)
    failed = {**sample("Draw thing 0", 1, ""), "output": {"choices": []}}
    path = write_json(tmp_path / "log.json", sample("Draw thing 0", 2, "x"), failed, sample("Another", 1, "x"))

    with pytest.raises(BadLines) as refused:
        import_file(path, run=run)

    assert "log.json:2: output has no answer" in str(refused.value) and "log.json:3: prompt_text" in str(refused.value)
    assert run.models.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "words"), [("log.eval", "is not a zip"), ("log.json", "is not JSON")])
def test_the_page_says_that_a_file_is_no_log(client, name, words):
    run = make_run(entrants=1, prompts=1, attempts=1)
    client.force_login(make_curator())

    page = client.post(f"/runs/{run.code}/import/", {"file": SimpleUploadedFile(name, b"hello")})

    assert page.status_code == 200 and f"{name}: {words}" in page.content.decode()
    assert run.models.count() == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"[]", "is a list"), (b"{}", "no log of inspect_ai"), (b'{"eval": {"model": ""}}', "eval.model is not a model")],
)
def test_what_is_no_log_is_refused_in_words(tmp_path, data, words):
    (tmp_path / "log.json").write_bytes(data)

    with pytest.raises(BadLine, match=words):
        read_log(tmp_path / "log.json")


@pytest.mark.parametrize(
    "broken",
    [{"size": lambda text: 20}, {"size": lambda text: len(text) + 1}, {"checksum": lambda text: 1}],
    ids=["longer than it says", "shorter than it says", "changed"],
)
def test_a_packed_file_that_is_not_what_the_zip_says_is_refused(tmp_path, broken):
    with pytest.raises(BadLine, match="is not a zip that can be read"):
        read_log(write_zstandard(tmp_path / "log.eval", sample("Draw a cat", 1, "x"), **broken))


@pytest.mark.parametrize("cut", range(1, 400, 7))
def test_a_log_that_was_cut_or_overwritten_is_refused_in_words(tmp_path, cut):
    path = write_zstandard(tmp_path / "log.eval", sample("Draw a cat", 1, "x" * 50))
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    with pytest.raises(BadLine, match=r"^log\.eval"):
        read_log(path)

    path.write_bytes(data[:cut] + b"?" * 40 + data[cut + 40 :])
    try:
        lines, _ = read_log(path)
    except BadLine:
        return
    assert [line.text for line in lines] == ["x" * 50]


@pytest.mark.parametrize(
    ("sizes", "words"), [([33 << 20], "samples/1_epoch_1.json would unpack"), ([27 << 20] * 5, "split the log")]
)
def test_a_log_that_would_fill_the_memory_is_refused_before_it_is_unpacked(tmp_path, sizes, words):
    path = write_eval(tmp_path / "log.eval", *(sample("Draw a cat", 1, " " * size) for size in sizes))

    with pytest.raises(BadLine, match=words):
        read_log(path)


def test_a_large_plain_log_is_refused_unread_with_the_way_out(tmp_path):
    path = tmp_path / "log.json"
    with path.open("wb") as file:
        file.truncate((32 << 20) + 1)

    with pytest.raises(BadLine, match="is over 33554432 bytes; convert it by `inspect log convert --to eval`"):
        read_log(path)
