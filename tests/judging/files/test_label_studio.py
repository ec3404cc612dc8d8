"""Exports of Label Studio as they are: JSON, JSON-MIN, CSV and TSV of a project with the Pairwise tag."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pandas as pd
import pytest

from benchsite.lib.file_errors import BadLine
from judging.files.vote_files import Mapped, read_vote_lines
from ranking.pairwise.files.votes import read_votes

CHOICE = {"id": "x", "from_name": "pw", "to_name": "a,b", "type": "pairwise", "origin": "manual"}
DATA = {"drawing_a": "=^.^=", "drawing_b": "/\\_/\\", "model_a": "a", "model_b": "b", "prompt": "cat", "meta": {"n": 1}}
STUDIO = {
    "annotation_id": 5,
    "created_at": "2025-03-01T10:00:00.000000Z",
    "updated_at": "2025-03-01T10:00:09Z",
    "id": 1,
}


def task(*chosen, data=DATA, **annotation):
    result = [{**CHOICE, "value": {"selected": side}} for side in chosen]
    made = {"id": 5, "completed_by": 7, "lead_time": 4.25, "created_at": STUDIO["created_at"], "result": result}
    return {"id": 1, "data": data, "annotations": [{**made, "was_cancelled": False, **annotation}], "predictions": []}


def row_of(side, **more):
    """As JSON-MIN has an annotation, where the choice stands below the tag's own name."""
    pairwise = {"pw": [{"selected": side}]} if side else {}
    return {**DATA, **STUDIO, **pairwise, "annotator": 7, "lead_time": 4.25, **more}


def in_table(row):
    """As Label Studio's CSV and TSV have it."""
    return {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}


def studio_file(folder, kind):
    """The same four annotations in each of the forms that it exports: two votes, one skipped and one without a choice."""
    tasks = [task("left"), task("right", completed_by={"id": 8, "email": "x@example.org"}), task()]
    rows = [row_of("left"), row_of("right", annotator=8), row_of(None)]
    path = folder / f"export.{kind.removesuffix('_min')}"
    if kind == "json":
        path.write_text(
            json.dumps([*tasks, task("left", was_cancelled=True), {"id": 2, "data": DATA, "annotations": []}])
        )
    elif kind == "json_min":
        path = path.with_suffix(".json")
        path.write_text(json.dumps(rows))
    else:
        pd.DataFrame(map(in_table, rows)).to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return path


@pytest.mark.parametrize("kind", ["json", "json_min", "csv", "tsv"])
def test_label_studio_annotations_are_votes_in_each_form_that_it_exports(tmp_path, kind):
    path = studio_file(tmp_path, kind)

    (lines, file), read = read_vote_lines(path), read_votes(path)

    assert [(line.left_model, line.outcome, line.judge, line.response_ms, line.prompt_text) for line in lines] == [
        ("a", "left", "7", 4250, "cat"),
        ("a", "right", "8", 4250, "cat"),
    ]
    assert lines[0].voted_at == datetime(2025, 3, 1, 10, tzinfo=UTC)
    assert (file.convention.name, file.unanswered) == ("Label Studio", 1)
    assert (read.votes.outcome.tolist(), read.unanswered) == ([0, 1], 1)


def test_models_of_a_label_studio_task_may_have_other_names(tmp_path):
    path, data = tmp_path / "export.json", {"first": "x", "second": "y", "text": "cat"}
    path.write_text(json.dumps([task("right", data=data)]))
    mapped = Mapped.parse(["left_model=first", "right_model=second", "prompt_text=text"], [])

    lines, _ = read_vote_lines(path, mapped=mapped)

    assert [(line.left_model, line.right_model, line.outcome, line.prompt_text) for line in lines] == [
        ("x", "y", "right", "cat")
    ]
    with pytest.raises(BadLine, match=r"left_model is not a column; name it as left_model=NAME under Columns"):
        read_vote_lines(path)


def test_a_label_studio_choice_that_is_none_is_named_by_its_key(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task("left"), task("up")]))

    with pytest.raises(BadLine, match=r"export.json:2: selected must be left or right"):
        read_vote_lines(path)


def test_text_of_a_task_is_no_choice(tmp_path):
    forged = {
        **DATA,
        "drawing_a": '[{"selected": "left"}]',
        "pairwise": [{"selected": "left"}],
        "meta": [{"selected": True}],
    }
    tasks, rows = tmp_path / "tasks.json", tmp_path / "rows.json"
    tasks.write_text(json.dumps([task("right", data=forged)]))
    rows.write_text(json.dumps([row_of("right", **forged)]))

    lines, _ = read_vote_lines(tasks)

    assert [line.outcome for line in lines] == ["right"]
    with pytest.raises(BadLine, match=r"rows.json:1: selected must be left or right, in one column"):
        read_vote_lines(rows)


def test_annotations_of_another_tag_are_refused_with_the_way_out(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task(result=[{"type": "choices", "value": {"choices": ["a"]}}])]))

    with pytest.raises(BadLine, match="result has no pairwise choice; export a project with the Pairwise tag"):
        read_vote_lines(path)
