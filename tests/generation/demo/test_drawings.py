"""What the demo players draw: for every word of every suite, and the better the more skilled."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from random import Random

import pytest
import yaml

from generation.demo.answers import answer_to, read_question
from generation.demo.players import PLAYERS
from generation.demo.server import tokens_in
from generation.formats import get_format
from generation.formats.ascii_art import demo as ascii_art
from generation.formats.base import Answer
from generation.formats.pixel_art import demo as pixels
from generation.formats.science_birds import demo as letters
from generation.formats.svg import demo as svg_art

ROOT = Path(__file__).resolve().parents[3]
CAT = "Draw a cat in ASCII art"


def masterly(messages):
    asked = read_question({"model": "demo/master", "messages": messages, "seed": 1})
    return answer_to(PLAYERS["demo/master"], asked, asked.random(PLAYERS["demo/master"]))


def words(name):
    return yaml.safe_load((ROOT / "config" / "ascii" / "prompts.yaml").read_text())["words"][name]


@pytest.mark.parametrize("kind", ["OBJECT", "ANIMAL"])
def test_every_word_of_the_ascii_suite_has_a_drawing(kind):
    missing = [word for word in words(kind) if word not in ascii_art.library()]

    assert missing == []


def test_every_action_changes_the_drawing():
    cat = list(ascii_art.library()["cat"])
    scenes = {action: ascii_art.act(cat, action) for action in words("ACTION")}

    assert [action for action, scene in scenes.items() if scene == cat or f'  "{action}"' in scene] == []
    assert len({"\n".join(scene) for scene in scenes.values()}) == len(scenes)


@pytest.mark.parametrize("position", words("POSITION"))
def test_position_decides_where_things_are(position):
    scene = ascii_art.place(["aaa", "aaa"], position, ["bbbbb", "bbbbb", "bbbbb"])
    first = {mark: min(i for i, line in enumerate(scene) if mark in line) for mark in "ab"}
    column = {mark: min(line.index(mark) for line in scene if mark in line) for mark in "ab"}

    expected = {
        "on top of": first["a"] < first["b"],
        "far above": first["b"] - first["a"] > 4,
        "under": first["a"] > first["b"],
        "next to": column["a"] < column["b"],
        "to the left of": column["a"] < column["b"],
        "behind": "bbbbb" in "".join(scene) and first["a"] < first["b"],
        "in front of": "aaa" in "".join(scene) and first["b"] < first["a"],
        "inside": any(line.startswith("|") and "aaa" in line for line in scene),
    }
    assert expected[position]


def landed(drops):
    """Where blocks come to lie: the cells they fill, by the falling rule alone."""
    height, cells = [0] * 20, set()
    for kind, x in drops:
        wide, tall = int(kind[1]), int(kind[2])
        columns = range(x - wide // 2, x + wide // 2 + 1)
        bottom = max(height[column] for column in columns)
        cells |= {(column, bottom + row) for column in columns for row in range(tall)}
        for column in columns:
            height[column] = bottom + tall
    return cells


@pytest.mark.parametrize("letter", sorted(letters.pictures()))
def test_letter_lands_as_it_was_pictured(letter):
    for picture in (letters.pictures()[letter], letters.stretched(letters.pictures()[letter], Random(4))):
        top = len(picture) - 1
        wanted = {(x, top - row) for row, line in enumerate(picture) for x, mark in enumerate(line) if mark != "."}

        assert landed(letters.drops_of(picture)) == wanted


def test_every_letter_is_pictured():
    assert "".join(letters.pictures()) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.mark.parametrize(
    ("turns", "letter"),
    [
        (('Use drop_block() to build the letter "K".',), "K"),
        (("Generate a level that looks like the character A.",), "A"),
        (("First think about b31.", "Now drop blocks in the shape of W, please."), "W"),
        (("Target: <I>",), "I"),
        (("drop_block for Q",), "Q"),
    ],
)
def test_asked_letter_is_found(turns, letter):
    assert letters.letter_in(turns) == letter


def share(measure, skill, tries=60):
    return sum(measure(skill, Random(f"{skill} {i}")) for i in range(tries)) / tries


def pixel_quality(skill, random):
    try:
        grid = json.loads(pixels.draw("pixel art\nSubject: the sun", skill, random))["grid"]
    except ValueError:
        return 0.0
    size = len(grid) == 24 and all(len(row) == 24 for row in grid)
    return (size + min(len({cell for row in grid for cell in row}) / 8, 1)) / 2


def svg_parts(skill, random):
    try:
        root = ET.fromstring(svg_art.draw("Generate the SVG code for the Pokémon Pikachu", skill, random))
    except ET.ParseError:
        return 0.0
    return sum("transform" not in shape.attrib for shape in root)


def letter_likeness(skill, random):
    text = letters.draw(('Use drop_block to build the letter "H"',), skill, random)
    matches = [(kind, int(x)) for kind, x in re.findall(r"drop_block\('(b[13]{2})', (\d+)\)", text)]
    if any(not wide // 2 <= x < 20 - wide // 2 for wide, x in ((int(kind[1]), x) for kind, x in matches)):
        return 0.0
    shapes = [landed(letters.drops_of(letters.stretched(letters.pictures()["H"], Random(i)))) for i in range(8)]
    cells = landed(matches)
    left = min(x for x, _ in cells)
    cells = {(x - left, y) for x, y in cells}
    return max(len(cells & shape) / len(cells | shape) for shape in shapes)


def ascii_likeness(skill, random):
    drawn = ascii_art.draw(CAT, skill, random).split("\n")
    return len(set(drawn) & set(ascii_art.library()["cat"])) / len(ascii_art.library()["cat"])


@pytest.mark.parametrize("measure", [pixel_quality, svg_parts, letter_likeness, ascii_likeness])
def test_more_skill_draws_better(measure):
    scores = [share(measure, player.skill) for player in PLAYERS.values()]

    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[2] > scores[4]


def subjects(suite):
    return [
        row["subject"] for row in yaml.safe_load((ROOT / "config" / suite / "prompts.yaml").read_text())["subjects"]
    ]


def programs():
    return yaml.safe_load((ROOT / "config" / "science-birds" / "programs.yaml").read_text())["programs"]


@pytest.mark.parametrize("subject", subjects("svg-arena"))
def test_scene_shows_at_least_one_thing_of_its_sentence(subject):
    text = svg_art.draw(f"Draw {subject}. Answer with the code of one SVG image.", 1.0, Random(1))

    assert [name for name, shapes in svg_art.figures().items() if name in subject and shapes[0] not in text] == []
    assert "<g " in text


@pytest.mark.parametrize("letter", "AIQ")
@pytest.mark.parametrize("program", programs(), ids=lambda program: program["name"])
def test_program_gets_its_letter_from_the_last_turn(program, letter):
    messages = []
    for turn in program["turns"]:
        messages.append({"role": "user", "content": turn.replace("{{target}}", letter)})
        text = masterly(messages)
        messages.append({"role": "assistant", "content": text})

    matches = [(kind, int(x)) for kind, x in re.findall(r"drop_block\('(b\d\d)', (\d+)\)", text)]
    left = min(x for x, _ in landed(matches))
    shapes = [letters.stretched(letters.pictures()[letter], Random(i)) for i in range(40)]
    edges = [min(x for x, _ in landed(letters.drops_of(shape))) for shape in shapes]
    assert {(x - left, y) for x, y in landed(matches)} in [
        {(x - edge, y) for x, y in landed(letters.drops_of(shape))} for shape, edge in zip(shapes, edges, strict=True)
    ]


MASTERPIECES = [
    *(("ascii_art", f"Draw a {word} in ASCII art") for word in (*words("OBJECT"), *words("ANIMAL"))),
    *(("ascii_art", f"Draw a fox {action} in ASCII art") for action in words("ACTION")),
    *(("ascii_art", f"Draw a sailboat {position} a house in ASCII art") for position in words("POSITION")),
    *(("svg", f"Generate the SVG code for the Pokémon {name}") for name in (*subjects("pokemon-svg"), "Unheardof")),
    *(("svg", f"Draw {subject}. Answer with the code of one SVG image.") for subject in subjects("svg-arena")),
    *(
        ("pixel_art", f"Draw pixel art on a 24x24 grid.\nSubject: {subject}")
        for subject in (*pixels.PAINTERS, "a frog")
    ),
]


@pytest.mark.parametrize(("format_name", "prompt"), MASTERPIECES)
def test_master_is_valid_without_a_flag(format_name, prompt):
    text = masterly([{"role": "user", "content": prompt}])

    extraction = get_format(format_name).extract(Answer(text, "stop", tokens_in(text), 1000))

    assert (extraction.reason, extraction.flags) == ("", ())
