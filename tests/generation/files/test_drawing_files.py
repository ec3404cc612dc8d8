"""A zip of drawings: as a folder of them, and never unpacked beyond what is asked."""

from __future__ import annotations

import io
import random
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from benchsite.lib.file_errors import BadLines
from generation.files.drawing_files import LARGEST_FILE, LARGEST_ZIP, read_zip
from generation.files.import_samples import import_file
from generation.models import LanguageModel
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import make_suite
from tests.pages import collapsed

pytestmark = pytest.mark.django_db
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M1 1L8 8"/></svg>'


@pytest.fixture
def run():
    return start_run(make_suite(format="svg"), models=[], draw=False)


def packed(*names: str, text: str = SVG) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, text)
    return whole.getvalue()


def write(path, body: bytes):
    path.write_bytes(body)
    return path


def refusal(path, run) -> list[str]:
    with pytest.raises(BadLines) as refused:
        import_file(path, run=run)
    return [str(line) for line in refused.value.bad]


@pytest.mark.parametrize("around", ["", "drawings/"])
def test_a_zip_goes_by_model_and_subject(tmp_path, run, around):
    names = ("lab/hand/cat.svg", "lab/hand/Cat-2.svg", "other/house-1.svg", "notes.txt")
    others = ("__MACOSX/other/._cat.svg",)
    path = write(tmp_path / "drawings.zip", packed(*(around + name for name in names), *others))

    done = import_file(path, run=run)

    assert (done.added, done.joined) == (3, ["lab/hand", "other"])
    rows = run.samples.order_by("model__model_id", "attempt").values_list(
        "model__model_id", "prompt__subject", "attempt", "verdict"
    )
    assert list(rows) == [
        ("lab/hand", "cat", 1, "valid"),
        ("lab/hand", "cat", 2, "valid"),
        ("other", "house", 1, "valid"),
    ]
    again = import_file(path, run=run)
    assert (again.added, again.same, again.joined) == (0, 3, [])


def test_a_curator_sends_a_zip_and_reads_who_joined(client, curator, run):
    file = SimpleUploadedFile("mine.zip", packed("lab/cat.svg", "lab/tree.svg"))

    page = client.post(f"/runs/{run.code}/import/", {"file": file}, follow=True).text

    assert "2 imported, 0 were there already. New in this run: lab." in page
    assert run.events.get(verb="import_samples").facts["source"] == "mine.zip"


def test_every_bad_file_of_a_zip_is_named_and_nothing_is_imported(client, curator, run):
    file = SimpleUploadedFile("mine.zip", packed("lab/cat.svg", "lab/dragon.svg", "nobody.svg", "../lab/cat.svg"))

    page = collapsed(client.post(f"/runs/{run.code}/import/", {"file": file}))

    for sentence in (
        "../lab/cat.svg: this is not a plain file.",
        "lab/dragon.svg: no prompt of this run is about &#x27;dragon&#x27;.",
        "nobody.svg: the name does not say model and subject, as in MODEL/SUBJECT-1.svg.",
    ):
        assert sentence in page
    assert "3 lines or files could not be imported." in page
    assert not LanguageModel.objects.exists()


def test_a_link_in_a_zip_is_not_a_drawing(tmp_path, run):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        link = zipfile.ZipInfo("lab/cat.svg")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")

    assert refusal(tmp_path / "a.zip", run) == ["lab/cat.svg: this is not a plain file."]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, run):
    text, names = " " * (LARGEST_FILE + 1), [f"{number}/cat.svg" for number in range(LARGEST_ZIP // LARGEST_FILE)]

    one = refusal(write(tmp_path / "one.zip", packed("lab/cat.svg", text=text)), run)
    many = refusal(write(tmp_path / "many.zip", packed(*names, text=text)), run)

    assert one == [f"lab/cat.svg: the file is over {LARGEST_FILE} bytes."]
    assert many == [f"many.zip: its drawings would unpack to {LARGEST_ZIP + len(names)} bytes, over {LARGEST_ZIP}."]


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("a.zip", b"PK", "a.zip: this is not a whole zip without a password; it may be cut short."),
        ("a.zip", packed("README.md"), "a.zip: there is no .svg file in this zip."),
        ("a.jsonl", packed("lab/cat.svg")[:-9], "a.jsonl:1: the line is not UTF-8 text; save the file as UTF-8."),
    ],
)
def test_a_zip_that_holds_nothing_says_so(tmp_path, run, name, body, sentence):
    assert refusal(write(tmp_path / name, body), run)[0] == sentence


def test_a_damaged_zip_is_refused_in_words(tmp_path, run):
    whole, luck = packed("lab/cat.svg", "lab/é/tree.svg"), random.Random(8)
    for _ in range(150):
        body = bytearray(whole)
        for _ in range(luck.randint(1, 6)):
            body[luck.randrange(len(body))] = luck.randrange(256)
        lines, bad = read_zip(write(tmp_path / "a.zip", bytes(body[: luck.randint(20, len(body))])), run)
        assert lines or bad


def test_the_command_takes_a_zip_too(tmp_path, run, capsys):
    call_command("import_samples", write(tmp_path / "a.zip", packed("lab/cat.svg")), run=run.code)

    assert "1 samples imported" in capsys.readouterr().out
