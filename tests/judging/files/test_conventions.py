"""Files of votes as others write them: arenas of today and before, comparIA, and columns named by flags."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from benchsite.lib.file_errors import BadLine, FileError
from judging.files.import_votes import import_votes
from judging.files.vote_files import Mapped, read_vote_lines
from ranking.pairwise.files.votes import read_votes


def message(role, text):
    return {"role": role, "content": [{"type": "text", "text": text, "image": None, "mimeType": None}]}


TALK = [message("user", "Draw a cat"), message("assistant", "=^.^=")]
STYLE = {
    f"{name}_{side}": value
    for side in "ab"
    for name, value in {
        "sum_assistant": 9, "context": 5, "header_count": {f"h{n}": 0 for n in range(1, 7)},
        "list_count": {"ordered": 0, "unordered": 1}, "bold_count": {"**": 0, "__": 0},
    }.items()
}  # fmt: skip
TODAY = {
    "evaluation_order": 1, "conversation_a": TALK, "conversation_b": TALK, "language": "en", "is_code": False,
    "full_conversation": [{"user": TALK[0], "model_side_a": TALK[1], "model_side_b": TALK[1]}], "conv_metadata": STYLE,
    "category_tag": {"creative_writing_v0.1": {"creative_writing": True, "score": "yes"}, "math_v0.1": {"math": False}},
}  # fmt: skip
ARENA = [  # lmarena-ai/arena-human-preference-140k
    {"id": "1", "model_a": "a", "model_b": "b", "winner": "model_a", "evaluation_session_id": "s1",
     "timestamp": datetime(2025, 6, 1, 12, tzinfo=UTC), **TODAY},
    {"id": "2", "model_a": "b", "model_b": "c", "winner": "both_bad", "evaluation_session_id": "s2",
     "timestamp": datetime(2025, 6, 1, 13, tzinfo=UTC), **TODAY},
]  # fmt: skip
SPOKEN = [{"content": "Draw a cat", "role": "user"}, {"content": "=^.^=", "role": "assistant"}]
BEFORE = {
    "turn": 1, "anony": True, "language": "English", "conversation_a": SPOKEN, "conversation_b": SPOKEN,
    "openai_moderation": {"flagged": False, "categories": {"hate": False}, "category_scores": {"hate": 1e-6}},
    "toxic_chat_tag": {"roberta-large": {"flagged": False, "probability": 0.01}},
}  # fmt: skip
OLDER = [  # lmsys/chatbot_arena_conversations
    {"question_id": "q1", "model_a": "a", "model_b": "b", "winner": "model_b", "judge": "arena_user_1",
     "tstamp": 1682351654.5, **BEFORE},
    {"question_id": "q2", "model_a": "c", "model_b": "a", "winner": "tie (bothbad)", "judge": "arena_user_2",
     "tstamp": 1682351700.0, **BEFORE},
]  # fmt: skip
EXPLORER = [  # lmarena-ai/arena-human-preference-100k, whose conversations are JSON
    {"question_id": "q1", "model_a": "a", "model_b": "b", "winner": "tie", "conversation_a": json.dumps(SPOKEN),
     "conversation_b": json.dumps(SPOKEN), "turn": 1, "anony": True, "language": "English", "tstamp": 1719900000.5,
     "conv_metadata": "{}", "is_code": False, "is_refusal": False, "dedup_tag": "{}", "category_tag": "{}",
     "judge_hash": "5d41"},
]  # fmt: skip
KAGGLE = [
    {"id": 1, "model_a": "a", "model_b": "b", "prompt": '["Draw a cat", "And now a dog"]', "response_a": "[]",
     "response_b": "[]", "winner_model_a": 0, "winner_model_b": 1, "winner_tie": 0},
    {"id": 2, "model_a": "b", "model_b": "c", "prompt": '["Draw a cat"]', "response_a": "[]", "response_b": "[]",
     "winner_model_a": 0, "winner_model_b": 0, "winner_tie": 1},
]  # fmt: skip
ABOUT_BOTH = {
    f"conv_{name}_{side}": None
    for name in ("comments", "useful", "complete", "creative", "clear_formatting", "incorrect", "superficial",
                 "instructions_not_followed")
    for side in "ab"
}  # fmt: skip
ASKED = {
    "model_a_name": "a", "model_b_name": "b", "model_pair_name": ["a", "b"], "opening_msg": "Dessine un chat",
    "conversation_a": SPOKEN, "conversation_b": SPOKEN, "conv_turns": 1, "selected_category": "ideas",
    "is_unedited_prompt": False, "session_hash": "h1", "system_prompt_a": None, "system_prompt_b": None, **ABOUT_BOTH,
}  # fmt: skip
COMPARIA = [  # ministere-culture/comparia-votes
    {"id": 1, "chosen_model_name": "b", "both_equal": False, "visitor_id": "v1", "timestamp": "2025-01-02T03:04:05",
     "conversation_pair_id": "p1", **ASKED},
    {"id": 2, "chosen_model_name": None, "both_equal": True, "visitor_id": "v2", "timestamp": "2025-01-02T03:05:05",
     "conversation_pair_id": "p2", **ASKED},
]  # fmt: skip
TURN = {
    "model_a": "a", "model_b": "b", "timestamp": datetime(2026, 2, 1, 12, tzinfo=UTC), "response_a": SPOKEN,
    "response_b": SPOKEN, "full_conversation_a": [{"role": "system", "content": "Sois bref."}, *SPOKEN],
    "full_conversation_b": SPOKEN, "metadata": {"mode": "random", "categories": ["ideas"], "languages": ["fr"]},
}  # fmt: skip
TURNS = [  # comparIA/comparia-fr-arena: a row is a turn, with a choice or without
    {"comparison_id": f"c{n}", "response_id": f"r{n}", "turn": 0, "choice": choice, **TURN}
    for n, choice in enumerate(["a_better", None, "b_better", "both_good", "idk", "both_bad"])
]


def written(path, rows):
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row, default=datetime.isoformat) + "\n" for row in rows))
    return path


def facts(votes):
    names = [(votes.entrants[a], votes.entrants[b]) for a, b in zip(votes.left, votes.right, strict=True)]
    judges = [votes.judges[j] if j >= 0 else None for j in votes.judge]
    return names, votes.outcome.tolist(), judges, votes.time.tolist(), votes.prompts


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_an_arenas_file_is_read_as_it_is(tmp_path, kind):
    votes = read_votes(written(tmp_path / f"votes.{kind}", ARENA)).votes

    times = [row["timestamp"].timestamp() for row in ARENA]
    assert facts(votes) == ([("a", "b"), ("b", "c")], [0, 3], ["s1", "s2"], times, ("Draw a cat",))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_the_older_dumps_names_are_read(tmp_path, kind):
    votes = read_votes(written(tmp_path / f"votes.{kind}", OLDER)).votes

    judges, times = ["arena_user_1", "arena_user_2"], [1682351654.5, 1682351700.0]
    assert facts(votes)[:4] == ([("a", "b"), ("c", "a")], [1, 3], judges, times)
    assert kind == "csv" or votes.prompts == ("Draw a cat",)  # a CSV has Python's words for a list


def test_conversations_of_json_are_read(tmp_path):
    votes = read_votes(written(tmp_path / "votes.parquet", EXPLORER)).votes

    assert facts(votes) == ([("a", "b")], [2], ["5d41"], [1719900000.5], ("Draw a cat",))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_turns_on_which_nobody_chose_are_no_votes(tmp_path, kind):
    path = written(tmp_path / f"votes.{kind}", TURNS)

    read, (lines, file) = read_votes(path), read_vote_lines(path)

    assert (read.votes.outcome.tolist(), read.unanswered, read.votes.prompts) == ([0, 1, 2, 3], 2, ("Draw a cat",))
    assert [(line.outcome, line.judge) for line in lines] == [
        ("left", "c0"), ("right", "c2"), ("tie", "c3"), ("fail", "c5"),
    ]  # fmt: skip
    assert (file.unanswered, file.convention.name) == (2, "comparIA")


def test_reactions_to_single_answers_are_refused_with_the_way_out(tmp_path):
    reaction = {
        "id": 1,
        "model_a_name": "a",
        "model_b_name": "b",
        "refers_to_model": "a",
        "liked": True,
        "disliked": False,
    }

    with pytest.raises(
        BadLine, match=r"refers_to_model is a column of comparIA.s reactions.*comparia-votes or comparia-fr-arena"
    ):
        read_vote_lines(written(tmp_path / "reactions.jsonl", [reaction]))


def test_half_a_surrogate_pair_in_a_prompt_of_json_is_replaced(tmp_path):
    row = {**KAGGLE[0], "prompt": '["cat \\ud83d", null]'}

    assert read_votes(written(tmp_path / "votes.csv", [row])).votes.prompts == ("cat ?",)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_column_for_each_answer_is_read(tmp_path, kind):
    votes = read_votes(written(tmp_path / f"votes.{kind}", KAGGLE)).votes

    names, outcomes, _, _, prompts = facts(votes)
    assert (names, outcomes, prompts) == ([("a", "b"), ("b", "c")], [1, 2], ("Draw a cat",))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**KAGGLE[0], "winner_tie": 1}, "winner_model_a: of winner_model_a, winner_model_b, winner_tie exactly one"),
        ({**COMPARIA[0], "chosen_model_name": "z"}, "chosen_model_name: must be model_a_name or model_b_name"),
    ],
)
def test_an_answer_that_is_none_is_named_by_its_own_column(tmp_path, row, words):
    with pytest.raises(FileError, match=words):
        read_votes(written(tmp_path / "votes.jsonl", [row]))


def test_a_conversation_may_be_text(tmp_path):
    rows = [{**ARENA[0], "conversation_a": json.dumps(TALK)}, {**ARENA[1], "conversation_a": "[not JSON"}]

    assert read_votes(written(tmp_path / "votes.parquet", rows)).votes.prompts == ("Draw a cat", "[not JSON")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_comparia_names_the_chosen_model(tmp_path, kind):
    votes = read_votes(written(tmp_path / f"votes.{kind}", COMPARIA)).votes

    names, outcomes, judges, _, prompts = facts(votes)
    assert (names, outcomes) == ([("a", "b"), ("a", "b")], [1, 2])
    assert (judges, prompts, votes.categories) == (["v1", "v2"], ("Dessine un chat",), ("ideas",))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_conversations_that_nobody_decided_are_no_votes(tmp_path, kind):
    undecided = {**COMPARIA[0], "chosen_model_name": None}
    path = written(tmp_path / f"votes.{kind}", [undecided, *COMPARIA, undecided])

    read, (lines, file) = read_votes(path), read_vote_lines(path)

    assert (read.votes.outcome.tolist(), read.unanswered) == ([1, 2], 2)
    assert ([line.outcome for line in lines], file.unanswered) == (["right", "tie"], 2)


def test_a_choice_that_is_neither_model_names_its_row_after_undecided_ones(tmp_path):
    rows = [{**COMPARIA[0], "chosen_model_name": None}, {**COMPARIA[0], "chosen_model_name": "c"}]

    with pytest.raises(BadLine, match=r"votes.jsonl:2: chosen_model_name must be model_a_name"):
        read_vote_lines(written(tmp_path / "votes.jsonl", rows))


@pytest.mark.parametrize("divider", [";", "\t", "|"])
def test_a_table_may_be_divided_as_spreadsheets_do_where_the_comma_is_in_numbers(tmp_path, divider):
    path = tmp_path / "votes.csv"
    pd.DataFrame(OLDER).drop(columns=[*BEFORE]).to_csv(path, index=False, sep=divider)

    assert read_votes(path).votes.outcome.tolist() == [1, 3]


def test_a_strangers_large_json_is_refused_unread_with_the_way_out(tmp_path):
    path = tmp_path / "export.json"
    with path.open("wb") as file:
        file.truncate((32 << 20) + 1)

    with pytest.raises(BadLine, match="is over 33554432 bytes; convert it to JSON Lines"):
        read_vote_lines(path)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_other_columns_are_named_by_the_caller(tmp_path, kind):
    path = written(tmp_path / f"votes.{kind}", [{"first": "x", "second": "y", "better": "2", "who": "me"}])
    mapped = Mapped.parse(
        ["left_model=first", "right_model=second", "outcome=better", "judge=who"], ["left=1", "right=2"]
    )

    assert facts(read_votes(path, mapped=mapped).votes)[:3] == ([("x", "y")], [1], ["me"])


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"winner": "nobody"},
            "winner: must be one of model_a, model_b, tie, both_bad, tie (bothbad), bothbad, not 'nobody'; say what it means",
        ),
        ({"model_b": "c"}, "model_b: 'c' cannot be compared with itself"),
        ({"model_a": None}, "model_a: "),
        ({"tstamp": -1e30}, "tstamp: must be a time"),
    ],
)
def test_a_bad_row_is_named_by_file_row_and_its_own_column(tmp_path, kind, change, words):
    path = written(tmp_path / f"votes.{kind}", [OLDER[0], {**OLDER[1], **change}])

    with pytest.raises(FileError) as refused:
        read_votes(path)

    assert refused.value.line == (3 if kind == "csv" else 2)  # a CSV's first line is its header
    assert words in str(refused.value) and str(path) in str(refused.value)


def test_unknown_columns_are_refused_with_the_way_out(tmp_path):
    path = written(tmp_path / "votes.csv", [{"first": "x", "second": "y", "better": "2"}])

    with pytest.raises(FileError, match=r"name others as left_model=NAME and so on, under Columns \(--column\)"):
        read_votes(path)
    with pytest.raises(FileError, match=r"is not a column; name it as right_model=NAME under Columns \(--column\)"):
        read_votes(path, mapped=Mapped({"left_model": "first", "outcome": "better"}))
    with pytest.raises(ValueError, match="such as left_model=first"):
        Mapped.parse(["left_model"], [])


def test_a_damaged_parquet_file_is_refused_in_words(tmp_path):
    path = written(tmp_path / "votes.parquet", OLDER)
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(FileError, match="is not a whole Parquet file"):
        read_votes(path)


def test_parquet_and_json_lines_of_the_same_votes_read_alike(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        {"model_a": f"m{a}", "model_b": f"m{b}", "winner": str(rng.choice(["model_a", "model_b", "tie", "both_bad"])),
         "judge": f"j{rng.integers(9)}" if rng.random() < 0.9 else None, "prompt": f"p{rng.integers(30)}",
         "category": f"c{rng.integers(3)}", "attempt_a": int(rng.integers(4)), "attempt_b": int(rng.integers(4)),
         "tstamp": float(rng.integers(10**9)), "response_ms": int(rng.integers(9000)), "kind": "regular"}
        for a, b in (rng.choice(12, 2, replace=False) for _ in range(600))
    ]  # fmt: skip

    one, two = (read_votes(written(tmp_path / f"votes.{kind}", rows)).votes for kind in ("jsonl", "parquet"))

    assert repr(one) == repr(two) and len(one) == 600


@pytest.mark.django_db
def test_an_arenas_file_becomes_a_run_with_its_provenance(tmp_path):
    run, count = import_votes(
        path=written(tmp_path / "arena.parquet", ARENA), reason="public arena dump", title="Arena"
    )

    event = run.events.get()
    assert (count, run.title, run.judging_state) == (2, "Arena", "closed")
    assert event.facts["columns"] == "arena" and event.reason == "public arena dump"
    assert {seat.pseudonym for seat in run.seats.all()} == {"s1", "s2"}
    assert run.votes.filter(imported=True).count() == 2


def test_a_header_that_is_no_text_is_refused_without_showing_it(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(b"\xaa\x93\x06[6#,G\xf2\n1,2\n")

    with pytest.raises(BadLine, match=r"^votes.csv:1: is not UTF-8 text; save the file as UTF-8\.$"):
        read_vote_lines(path)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("model_a", [["a"], ["b"]], "model_a: must be text, not a list"),
        ("model_b", [1, 2], "model_b: must be text, not a number"),
    ],
)
def test_a_parquet_column_of_another_type_is_named(tmp_path, column, values, words):
    rows = [
        {**{name: row[name] for name in ("model_a", "model_b", "winner")}, column: value}
        for row, value in zip(OLDER, values, strict=True)
    ]
    path = written(tmp_path / "votes.parquet", rows)

    with pytest.raises(FileError, match=f"votes.parquet, line 1, {words}"):
        read_votes(path)
    with pytest.raises(BadLine, match=f"votes.parquet:1: {words.replace(':', '', 1)}"):
        read_vote_lines(path)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("votes.xlsx", b"PK", "votes.xlsx: is a spreadsheet; save it as CSV"),
        ("votes.csv", b'model_a,model_b,winner\n"a,b,tie\n', r"is not CSV \(unexpected end of data\)"),
    ],
)
def test_what_is_no_table_is_refused_with_the_way_out(tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(BadLine, match=words):
        read_vote_lines(tmp_path / name)
