"""Drawings made outside: the round trip, idempotence, and every bad line named."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.utils.timezone import now

from benchsite.lib.file_errors import BadLines
from generation.files.export_samples import write_samples
from generation.files.import_samples import import_folder, import_samples
from generation.files.sample_lines import slug
from generation.models import Entrant, LanguageModel, Measurement, Run, Sample
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import draw_some, make_program, make_suite

pytestmark = pytest.mark.django_db
CAT = "```\n /\\_/\\\n( o.o )\n```"
PROMPT = "Draw a cat number 0 in ASCII art"


def line(**changes) -> dict:
    return {
        "model_id": "lab/hand",
        "prompt_text": PROMPT,
        "category": "Single Object",
        "attempt_number": 1,
        "raw_output": CAT,
        "sanitized_output": "ignored: we read raw_output ourselves",
        **changes,
    }


def file_of(*lines) -> list[bytes]:
    return [(entry if isinstance(entry, bytes) else json.dumps(entry).encode()) + b"\n" for entry in lines]


def empty_run(**changes):
    return start_run(make_suite(**changes), models=[], draw=False)


def test_import_samples_works():
    run = empty_run()

    done = import_samples(file_of(line(), line(attempt_number=2, raw_output="no fence")), run=run, source="a.jsonl")

    assert (done.added, done.same, done.bad) == (2, 0, [])
    first, second = run.samples.order_by("attempt")
    assert (first.state, first.verdict, first.imported) == ("drawn", "valid", True)
    assert first.drawing == " /\\_/\\\n( o.o )"
    assert (second.verdict, second.reason) == ("invalid", "no_code_block")
    assert Measurement.objects.filter(sample=first).exists()
    assert LanguageModel.objects.get().provider == "import"
    assert Entrant.objects.get().name == "lab/hand"
    assert run.events.get(verb="import_samples").facts == {"source": "a.jsonl", "added": 2, "bad": 0}


def test_importing_again_changes_nothing():
    run = empty_run()
    import_samples(file_of(line()), run=run)
    before = list(Sample.objects.values())

    done = import_samples(file_of(line(), line()), run=run)

    assert (done.added, done.same) == (0, 2)
    assert list(Sample.objects.values()) == before


def test_import_fills_samples_that_wait_for_an_answer():
    run = start_run(make_suite())

    done = import_samples(file_of(line(model_id="demo/master")), run=run)

    assert done.added == 1
    assert run.samples.count() == 12
    assert run.samples.get(state="drawn").model.model_id == "demo/master"


def test_dump_and_import_are_a_round_trip(demo):
    demo()
    run, copy = start_run(make_suite()), empty_run()
    draw_some(run)

    first, second = io.StringIO(), io.StringIO()
    assert write_samples(run, first) == 12
    import_samples(io.BytesIO(first.getvalue().encode()), run=copy)
    write_samples(copy, second)

    assert without_run(second) == without_run(first)
    output = json.loads(first.getvalue().splitlines()[0])
    assert list(output)[:6] == [
        "model_id",
        "prompt_text",
        "category",
        "attempt_number",
        "raw_output",
        "sanitized_output",
    ]
    assert (output["run"], output["suite"], output["demo"]) == (run.code, "tiny", True)


def test_a_model_without_an_api_keeps_its_label_its_note_and_how_it_was_made():
    run = start_run(make_suite(prompts=1, attempts=1), models=[], draw=False)
    prompt = run.prompts.get()
    line = {"model_id": "composer-2", "prompt_text": prompt.text, "attempt_number": 1, "raw_output": "```\no\n```"}
    details = {"label": "Composer 2", "note": "tools disabled", "made": "by subagents in Cursor"}
    other = {**line, "model_id": "other"}

    import_samples(io.BytesIO(b"\n".join(json.dumps(row).encode() for row in (line | details, other))), run=run)

    entrants = {row.name: row for row in run.entrants.all()}
    assert entrants["composer-2"].label == "Composer 2"
    assert entrants["composer-2"].note == "by subagents in Cursor; tools disabled"
    assert entrants["other"].note == "drawn elsewhere and imported"
    dump = io.StringIO()
    write_samples(run, dump)
    rows = {row["model_id"]: row for row in map(json.loads, dump.getvalue().splitlines())}
    assert (rows["composer-2"]["label"], rows["composer-2"]["imported"]) == ("Composer 2", True)
    assert rows["other"]["note"] == "drawn elsewhere and imported"


def without_run(dump: io.StringIO) -> list[dict]:
    """The order of models may differ: an imported run met them in another order. Imported is not demo-made."""
    lines = [
        {**json.loads(row), "run": "", "demo": "", "note": "", "imported": ""} for row in dump.getvalue().splitlines()
    ]
    return sorted(lines, key=lambda row: (row["prompt_text"], row["model_id"], row["attempt_number"]))


def test_programs_make_the_round_trip_too(demo):
    demo()
    suite = make_suite(prompts=1, attempts=1, programs=[make_program(), make_program("other", turns=("{{target}}",))])
    run, copy = start_run(suite), start_run(suite, models=[], draw=False)
    while draw_some(run):
        pass

    first, second = io.StringIO(), io.StringIO()
    assert write_samples(run, first) == 4
    import_samples(io.BytesIO(first.getvalue().encode()), run=copy)
    write_samples(copy, second)

    def key(row):
        return (row["program"], row["model_id"])

    assert sorted(without_run(second), key=key) == sorted(without_run(first), key=key)


BAD = [
    (b"{", "f.jsonl:2: the line is not JSON (Expecting property name enclosed in double quotes at character 2)."),
    (b"[" * 100_000, "f.jsonl:2: the line is not JSON that can be read (it nests too deep)."),
    (b'{"a": ' + b"9" * 9999 + b"}", "f.jsonl:2: the line is not JSON that can be read (a number is too long)."),
    (b"\xff{}", "f.jsonl:2: the line is not UTF-8 text; save the file as UTF-8."),
    (b"[]", "f.jsonl:2: the line is a list, not a JSON object."),
    (b'{"a": NaN}', "f.jsonl:2: the line is not JSON (NaN is not a number)."),
    (b'{"model_id": "a", "model_id": "b"}', "f.jsonl:2: the line names the same field twice."),
    (line(model_id=7), "f.jsonl:2: model_id is a number, not text."),
    (line(model_id="a\x1b[31m"), "f.jsonl:2: model_id is not a model's name of 1 to 200 printable characters."),
    ({"model_id": "a"}, "f.jsonl:2: prompt_text is missing."),
    (line(prompt_text="Draw \x1b[2J"), "f.jsonl:2: prompt_text is not a prompt of this run."),
    (line(category="Animals"), "f.jsonl:2: category is not 'Single Object', as in this run."),
    (line(attempt_number=True), "f.jsonl:2: attempt_number is not a whole number from 1 to 1000."),
    (line(attempt_number=0), "f.jsonl:2: attempt_number is not a whole number from 1 to 1000."),
    (line(raw_output=None), "f.jsonl:2: raw_output is null, not text."),
    (line(raw_output="other"), "f.jsonl:2: raw_output differs from the answer to it in an earlier line."),
]


@pytest.mark.parametrize(("bad", "sentence"), BAD)
def test_a_bad_line_is_named_and_nothing_is_imported(bad, sentence):
    run = empty_run()

    with pytest.raises(BadLines) as refused:
        import_samples(file_of(line(), bad), run=run, source="f.jsonl")

    assert [str(entry) for entry in refused.value.bad] == [sentence]
    assert not Sample.objects.exists()
    assert not LanguageModel.objects.exists()
    done = import_samples(file_of(line(), bad), run=run, source="f.jsonl", skip_bad=True)
    assert (done.added, [str(entry) for entry in done.bad]) == (1, [sentence])


def test_a_program_that_is_not_in_the_run_is_named():
    run = empty_run(programs=[make_program()])

    with pytest.raises(BadLines, match=r"file:1: program is not a program of this run\."):
        import_samples(file_of(line()), run=run)


def test_text_no_database_can_hold_is_stored_all_the_same():
    run = empty_run()

    import_samples(file_of(line(raw_output="```\n\x00\ud800/\\\n```")), run=run)

    sample = run.samples.get()
    assert "\x00" not in sample.answer
    assert {"nul_replaced", "surrogate_replaced"} <= set(sample.flags)


@pytest.mark.parametrize(
    ("message", "stored"), [("\x00", "\ufffd"), ("st\ud800op", "st\ufffdop"), ("\x00" * 99, "\ufffd" * 40), (None, "")]
)
def test_a_finish_reason_no_database_can_hold_is_stored_clean(message, stored):
    run = empty_run()

    import_samples(file_of(line(finish_reason=message)), run=run)

    assert run.samples.get().finish_reason == stored


def test_import_folder_goes_by_model_and_subject(tmp_path):
    run = empty_run(format="svg")
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M1 1L8 8"/></svg>'
    for name in ("lab/hand/cat.svg", "lab/hand/Cat-2.svg", "other__house__1.svg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(svg)

    done = import_folder(tmp_path, run=run)

    assert done.added == 3
    assert list(
        run.samples.order_by("model__model_id", "attempt").values_list("model__model_id", "prompt__subject", "attempt")
    ) == [("lab/hand", "cat", 1), ("lab/hand", "cat", 2), ("other", "house", 1)]
    assert set(run.samples.values_list("verdict", flat=True)) == {"valid"}


def test_import_folder_names_bad_files(tmp_path):
    run = empty_run(format="svg")
    (tmp_path / "nobody.svg").write_text("<svg/>")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "dragon.svg").write_text("<svg/>")
    (tmp_path / "lab" / "cat.svg").symlink_to("/etc/passwd")

    with pytest.raises(BadLines) as refused:
        import_folder(tmp_path, run=run)

    assert [str(entry) for entry in refused.value.bad] == [
        "lab/cat.svg: this is not a plain file.",
        "lab/dragon.svg: no prompt of this run is about 'dragon'.",
        "nobody.svg: the name does not say model and subject, as in MODEL/SUBJECT-1.svg.",
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x" * 201 + "__cat.svg", "'xxx"),
        ("/".join(["y" * 120] * 2) + "/cat.svg", "'yyy"),
        ("a\x1b[31m__cat.svg", r"'a\x1b[31m' is not a model's name of 1 to 200 printable characters."),
        (b"a\xff__cat.svg".decode("utf-8", "surrogateescape"), r"'a\udcff' is not a model's name"),
        (" a__cat.svg", "' a' is not a model's name of 1 to 200 printable characters."),
        ("a__cat__0.svg", "the attempt is not a whole number from 1 to 1000."),
    ],
)
def test_import_folder_names_a_file_whose_name_no_line_could_have(tmp_path, name, sentence):
    run = empty_run(format="svg")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("<svg/>")

    with pytest.raises(BadLines) as refused:
        import_folder(tmp_path, run=run)

    assert sentence in str(refused.value)
    assert not LanguageModel.objects.exists()


@pytest.mark.parametrize(
    ("name", "expected"), [("Mr. Mime", "mr-mime"), ("Flabébé", "flabebe"), ("Nidoran♀", "nidoranf")]
)
def test_slug_is_how_files_are_named(name, expected):
    assert slug(name) == expected


def test_the_command_says_what_it_did(tmp_path, capsys):
    run = empty_run()
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(file_of(line(suite="tiny"), line(model_id=1))))

    with pytest.raises(CommandError, match=r"Nothing was imported\. a\.jsonl:2: model_id is a number, not text\."):
        call_command("import_samples", path, run=run.code)
    call_command("import_samples", path, skip_bad=True)

    assert capsys.readouterr().out == f"Run {run.code}: 1 samples imported, 0 were there already, 1 left out.\n"


@pytest.mark.parametrize("first", [b"[" * 100_000, b"\xff", b"[]", b"{}", b""])
def test_the_command_asks_where_drawings_belong_if_the_file_does_not_say(tmp_path, first):
    path = tmp_path / "a.jsonl"
    path.write_bytes(first)

    with pytest.raises(CommandError, match="Say where the drawings belong"):
        call_command("import_samples", path)


def test_a_frozen_run_takes_no_drawings():
    run = empty_run()
    Run.objects.filter(pk=run.pk).update(frozen_at=now())
    run.refresh_from_db()

    with pytest.raises(RunError, match="is frozen"):
        import_samples(file_of(line()), run=run)

    assert not run.samples.exists()


def test_a_run_that_is_frozen_while_the_file_is_read_takes_no_drawings():
    run = empty_run()

    def freeze(done, total):
        Run.objects.filter(pk=run.pk).update(frozen_at=now())

    with pytest.raises(RunError, match="is frozen"):
        import_samples(file_of(line()), run=run, progress=freeze)

    assert not run.samples.exists()


def test_a_refused_file_leaves_no_new_run(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(file_of(line(prompt_text="nobody asked this"))))

    with pytest.raises(CommandError, match=r"a\.jsonl:1: prompt_text is not a prompt of this run"):
        call_command("import_samples", path, suite="ascii")

    assert not Run.objects.exists()
