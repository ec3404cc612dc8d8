"""Signatures found in drawings, and everyday words left alone."""

from __future__ import annotations

import pytest

from generation.formats.identity import find_signature

NAMES = [
    "openai/gpt-4o",
    "anthropic/claude-3.5-sonnet",
    "meta-llama/llama-3.1-70b-instruct",
    "demo/steady-hand",
    "Tuesday",
]

SIGNED = [
    "   -- GPT-4o (OpenAI)",
    "  c l a u d e ",
    " by 4nthr0p1c",
    "ｇｅｍｉｎｉ",
    "C.L.A.U.D.E",
    "c\u200bl\u200bau\u200dde",
    "claudé",
    "сlаudе",  # Cyrillic с, а, е
    "𝓒𝓵𝓪𝓾𝓭𝓮",
    "Claude3",
    "drawnByAnthropic",
    "art by llama",
    "~ nova",
    "(c) o1",
    "steady hand",
    "5teady_hand",
    "TUESDAY",
    "qwen2.5",
    "d e e p s e e k",
    "cl4ud3",
    "clau|de",
]
# Known misses: kept here so that the recall below is an honest number.
MISSED = ["C\nL\nA\nU\nD\nE", "edualc", " ___ _    __\n|   |   |__|", "ClaudeDrewThis"]

CLEAN = [
    '<path d="M41 21 L4 121"/> <circle cx="41" cy="21"/>',
    " /\\_/\\\n( o.o )\n > ^ <",
    "a nova in the sky",
    "falcon",
    "a llama eating grass",
    "o1 o3 0 1 |o|1|",
    "--o3--",
    "meta",
    "metaphor",
    "g p t",
    "clouded",
    "phi",
    "HAPPY BIRTHDAY",
    "opera by the sea",
    "OPEN  24h  AIR",
    "grokking",
    "@@@@@@\n@ $ @",
    "germinating",
    "pro mini large",
]


@pytest.mark.parametrize("text", SIGNED)
def test_find_signature_sees_through_disguise(text):
    assert find_signature(text, NAMES) != []


@pytest.mark.parametrize("text", CLEAN)
def test_find_signature_leaves_everyday_words_alone(text):
    assert find_signature(text, NAMES) == []


def test_find_signature_recall_over_the_hostile_list():
    signatures = sum(bool(find_signature(text, NAMES)) for text in SIGNED + MISSED)

    # 21 of 25 disguises. Better is welcome: move the case from MISSED to SIGNED and raise the number here.
    assert signatures == len(SIGNED) == 21
    assert len(MISSED) == 4


def test_find_signature_names_the_entry_that_was_given():
    assert find_signature("claude 3.5 sonnet", ["anthropic/claude-3.5-sonnet"]) == [
        "anthropic/claude-3.5-sonnet",
        "Claude",
    ]


def test_find_signature_without_the_run_names_does_not_know_them():
    assert find_signature("steady hand") == []
