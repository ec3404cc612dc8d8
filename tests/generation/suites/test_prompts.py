from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.suites.programs import check_program, fill_turns
from generation.suites.prompts import TemplateError, expand_template, fill_placeholders, placeholders
from generation.suites.suite import ProgramEntry, ProgramRules, PromptEntry

WORDS = {"OBJECT": ["cup", "key", "tree"], "POSITION": ["under", "behind"]}
SPATIAL = "Draw a [OBJECT_A] [POSITION] a [OBJECT_B] in ASCII art"


def test_template_works():
    filled = expand_template("Draw a [OBJECT] in ASCII art", WORDS, count=3, seed=1)

    assert sorted(item.text for item in filled) == [
        "Draw a cup in ASCII art",
        "Draw a key in ASCII art",
        "Draw a tree in ASCII art",
    ]
    assert {item.subject for item in filled} == {"cup", "key", "tree"}


def test_subject_runs_from_first_slot_to_last():
    (item,) = expand_template(SPATIAL, {"OBJECT": ["cup"], "OBJECT_B": ["key"], "POSITION": ["under"]}, count=1, seed=1)

    assert item.subject == "cup under a key"
    assert item.words == {"OBJECT_A": "cup", "POSITION": "under", "OBJECT_B": "key"}


def test_twin_slots_never_get_the_same_word():
    filled = expand_template(SPATIAL, WORDS, count=12, seed=1)

    assert len({item.text for item in filled}) == 12
    assert all(item.words["OBJECT_A"] != item.words["OBJECT_B"] for item in filled)


def test_twin_slots_leave_no_thirteenth_prompt():
    with pytest.raises(TemplateError, match="gives only 12 distinct prompts, 13 are needed") as caught:
        expand_template(SPATIAL, WORDS, count=13, seed=1)

    assert caught.value.reason == "too_few_prompts"


def test_a_slot_used_twice_gets_one_word():
    filled = expand_template("[OBJECT] and [OBJECT]", WORDS, count=3, seed=1)

    assert {item.text for item in filled} == {"cup and cup", "key and key", "tree and tree"}


def test_same_seed_same_prompts_whatever_the_order_of_words():
    backwards = {name: words[::-1] for name, words in WORDS.items()}

    assert expand_template(SPATIAL, WORDS, count=5, seed=3) == expand_template(SPATIAL, backwards, count=5, seed=3)


def test_choice_is_the_same_on_every_machine():
    words = {"LETTER": list(string.ascii_lowercase)}

    chosen = [item.text for item in expand_template("[LETTER]", words, count=6, seed=1)]

    # Worked out apart from this code: letters by SHA-256 of "1\n" and the letter.
    assert chosen == ["d", "x", "m", "w", "b", "t"]


def test_other_seed_other_prompts():
    words = {"LETTER": list(string.ascii_lowercase)}

    picks = {tuple(item.text for item in expand_template("[LETTER]", words, count=6, seed=seed)) for seed in range(20)}

    assert len(picks) == 20


def test_words_are_used_evenly():
    words = {"ANIMAL": ["cat", "dog", "fox", "hen"], "ACTION": ["sits", "runs", "naps", "hops"]}

    filled = expand_template("[ANIMAL] [ACTION]", words, count=4, seed=9)

    assert {item.words["ANIMAL"] for item in filled} == set(words["ANIMAL"])


def test_taken_texts_are_not_given_again():
    filled = expand_template("[OBJECT]", WORDS, count=2, seed=1, taken=frozenset({"key"}))

    assert {item.text for item in filled} == {"cup", "tree"}


@pytest.mark.parametrize(
    "template", ["a [THING]", "a [object]", "a []", "a [OBJECT", "a OBJECT]", "a [OBJECT_AB]", "[[OBJECT]]"]
)
def test_unknown_slot_is_refused(template):
    with pytest.raises(TemplateError) as caught:
        expand_template(template, WORDS, count=1, seed=1)

    assert caught.value.reason == "unknown_slot"


def test_too_many_combinations_are_refused_before_they_are_made():
    words = {name: [str(number) for number in range(1000)] for name in "ABCDEF"}

    with pytest.raises(TemplateError, match="over 20000 combinations"):
        expand_template("[A][B][C][D][E][F]", words, count=1, seed=1)


def test_braces_and_percent_signs_are_plain_text():
    template = "{0.__class__} %s {obj.__init__.__globals__} \\1 [OBJECT]"

    (item,) = expand_template(template, {"OBJECT": ["\\g<0> {x}"]}, count=1, seed=1)

    assert item.text == "{0.__class__} %s {obj.__init__.__globals__} \\1 \\g<0> {x}"


LISTS = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=4), min_size=1, max_size=6, unique=True)


@settings(max_examples=150, deadline=None)
@given(LISTS, LISTS, st.integers(1, 40), st.integers(0, 2**31 - 1))
def test_expansion_is_distinct_and_repeatable_or_refused(objects, positions, count, seed):
    words = {"OBJECT": objects, "POSITION": positions}
    possible = len({f"{a} {p} {b}" for a in objects for b in objects for p in positions if a != b})

    try:
        filled = expand_template("[OBJECT_A] [POSITION] [OBJECT_B]", words, count=count, seed=seed)
    except TemplateError as error:
        assert error.reason == "too_few_prompts"
        assert possible < count
    else:
        assert len({item.text for item in filled}) == count
        assert filled == expand_template("[OBJECT_A] [POSITION] [OBJECT_B]", words, count=count, seed=seed)


def test_placeholders_are_filled_once():
    text = fill_placeholders("{{a}} {{ b }} {{a}} {a} {{}", {"a": "{{b}}", "b": "2"})

    assert text == "{{b}} 2 {{b}} {a} {{}"
    assert placeholders("{{a}} {{ b }} {{a}}") == ["a", "b"]


def test_unknown_placeholder_is_refused():
    with pytest.raises(TemplateError, match=r"nothing to fill \{\{b\}\} with; use \{\{a\}\}"):
        fill_placeholders("{{b}}", {"a": "1"})


@settings(max_examples=100)
@given(st.text())
def test_text_without_placeholders_stays_as_it_is(text):
    if not placeholders(text):
        assert fill_placeholders(text, {}) == text


def program(*turns: str) -> ProgramEntry:
    return ProgramEntry("p", "", turns)


def test_program_qualifies():
    assert check_program(program("Think about {{ target }}.\n\tSlowly.", "Now: é – 漢"), ProgramRules()) == []


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (("Build it.",), "No turn has the placeholder {{target}}."),
        (("{{target}} {{size}}",), "The placeholder {{size}} is unknown."),
        (("{{target}}", " "), "There is a blank turn, or no turn at all."),
        (("{{target}}" + "x" * 41,), "Its turns have 51 characters; at most 50 are allowed."),
        (("{{target}}", "b", "c"), "It has 3 turns; at most 2 are allowed."),
        (("{{target}}\u202e",), "Characters that are not allowed: U+202E."),
        (("{{target}}\x00\U000e0041",), "Characters that are not allowed: U+0000, U+E0041."),
    ],
)
def test_program_does_not_qualify(turns, reason):
    assert check_program(program(*turns), ProgramRules(max_characters=50, max_turns=2)) == [reason]


def test_program_without_turns_does_not_qualify():
    assert len(check_program(program(), ProgramRules())) == 2


def test_length_is_that_of_all_turns():
    assert program("abc", "de").length == 5


def test_turns_are_filled_with_the_target():
    two = program("Draw {{target}}.", "Sure of {{target}}?")

    assert fill_turns(two, PromptEntry("a", "", subject="A")) == ("Draw A.", "Sure of A?")
    assert (
        fill_turns(two, PromptEntry("a", "", subject="A", facts={"target": "the letter A"}))[0] == "Draw the letter A."
    )
