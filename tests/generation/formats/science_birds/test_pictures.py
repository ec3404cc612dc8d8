"""What a level looks like: to the classifier, to a judge, and while it falls; and what is measured from it."""

from __future__ import annotations

import json
import math
import sys
import types
from xml.etree import ElementTree

import numpy as np
import pytest

from generation.formats import get_format
from generation.formats.base import Extraction
from generation.formats.science_birds import similarity
from generation.formats.science_birds.drawing import draw_replay
from generation.formats.science_birds.physics import Pose, settle
from generation.formats.science_birds.similarity import LETTERS, BackendMissing, classify, draw_ink
from tests.generation.formats.science_birds.birds import STANDING, answer, code, level

FORMAT = get_format("science_birds")
SVG = "{http://www.w3.org/2000/svg}"
FALLING = "5*b11 4, b31 5"

# Five by seven, our own hand: what anybody would read as these letters.
PIXELS = {
    "A": ".###. #...# #...# ##### #...# #...# #...#",
    "B": "####. #...# #...# ####. #...# #...# ####.",
    "C": ".#### #.... #.... #.... #.... #.... .####",
    "E": "##### #.... #.... ####. #.... #.... #####",
    "F": "##### #.... #.... ####. #.... #.... #....",
    "H": "#...# #...# #...# ##### #...# #...# #...#",
    "J": "..### ....# ....# ....# ....# #...# .###.",
    "K": "#...# #..#. #.#.. ##... #.#.. #..#. #...#",
    "L": "#.... #.... #.... #.... #.... #.... #####",
    "M": "#...# ##.## #.#.# #.#.# #...# #...# #...#",
    "N": "#...# ##..# #.#.# #.#.# #..## #...# #...#",
    "P": "####. #...# #...# ####. #.... #.... #....",
    "R": "####. #...# #...# ####. #.#.. #..#. #...#",
    "S": ".#### #.... #.... .###. ....# ....# ####.",
    "T": "##### ..#.. ..#.. ..#.. ..#.. ..#.. ..#..",
    "U": "#...# #...# #...# #...# #...# #...# .###.",
    "V": "#...# #...# #...# #...# .#.#. .#.#. ..#..",
    "X": "#...# #...# .#.#. ..#.. .#.#. #...# #...#",
    "Y": "#...# #...# .#.#. ..#.. ..#.. ..#.. ..#..",
    "Z": "##### ....# ...#. ..#.. .#... #.... #####",
}


def shapes(rows: str):
    return [
        (column + 0.5, -row - 0.5, 1.0, 1.0, 0.0)
        for row, line in enumerate(rows.split())
        for column, mark in enumerate(line)
        if mark == "#"
    ]


def test_classifier_reads_letters_of_another_hand():
    read = {letter: LETTERS[similarity.classify_glyphs(shapes(rows)).argmax()] for letter, rows in PIXELS.items()}

    wrong = {letter: other for letter, other in read.items() if letter != other}
    assert len(wrong) <= 1, wrong


def test_shipped_classifier_is_small_and_plain_arrays():
    assert similarity.WEIGHTS.stat().st_size < 500_000
    weights = similarity.load_glyphs()
    assert sum(array.size for array in weights.values()) < 120_000
    assert weights["out"].shape == (96, 26)


def test_vector_is_a_distribution_and_always_the_same():
    settled = settle(level(FALLING))

    vector = classify(settled.blocks, settled.final)

    assert vector.shape == (26,)
    assert vector.sum() == pytest.approx(1, abs=1e-7)
    assert (vector >= 0).all()
    assert (vector == classify(settled.blocks, settled.final)).all()


def test_picture_keeps_the_aspect_and_a_margin():
    ink = draw_ink([(5.0, 5.0, 4.0, 2.0, 0.0)], side=124)

    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    assert (columns[0], columns[-1]) == (12, 111)  # 12 of 124 pixels on each side: a margin of 0.12 of 100
    assert len(columns) == 100
    assert len(rows) == 50
    assert rows[0] + rows[-1] == 123  # centred


def test_picture_shows_up_as_up_and_turns_the_right_way():
    post_on_the_left = draw_ink([(0.5, 0.5, 3.0, 1.0, 0.0), (-0.5, 2.5, 1.0, 3.0, 0.0)])
    assert post_on_the_left[:16, :16].sum() > 2 * post_on_the_left[:16, 16:].sum()

    rising = draw_ink([(0.0, 0.0, 3.0, 0.5, math.pi / 4)])  # counter-clockwise: the right end is up
    assert rising[:16, 16:].sum() > 10 * rising[:16, :16].sum()


def test_picture_does_not_depend_on_place_or_unit():
    near = draw_ink([(0.0, 0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 3.0, 0.2)])
    far = draw_ink([(64.0, 32.0, 2.0, 2.0, 0.0), (66.0, 32.0, 2.0, 6.0, 0.2)])

    assert np.abs(near - far).mean() < 0.005


def test_measure_says_what_the_competition_needs():
    asked = answer(code(STANDING["T"]), "T")
    measured = FORMAT.measure(FORMAT.extract(asked).drawing, asked, backend="glyphs")

    assert measured["stability"] == 1.0
    assert (measured["total_blocks"], measured["moved_blocks"], measured["backend"]) == (4, 0, "glyphs")
    assert measured["similarity"] == measured["vector"][LETTERS.index("T")] > 0.8
    assert measured["top3"][0][0] == "T"
    assert len(measured["top3"]) == 3
    assert json.loads(json.dumps(measured, allow_nan=False)) == measured


def test_measure_counts_what_moved():
    asked = answer(code(FALLING), "T")
    measured = FORMAT.measure(FORMAT.extract(asked).drawing, asked, backend="glyphs")

    assert (measured["total_blocks"], measured["moved_blocks"]) == (6, 1)
    assert measured["stability"] == 5 / 6


def test_lost_level_measures_zero_without_a_vector():
    measured = FORMAT.measure_invalid(answer(""), Extraction(None, "no_code"), backend="glyphs")

    assert (measured["stability"], measured["similarity"], measured["vector"]) == (0.0, 0.0, None)
    assert set(measured) == set(FORMAT.measure(code("b11 1"), answer(""), backend="glyphs"))


@pytest.mark.parametrize("target", ["", "a", "AB", "1"])
def test_target_must_be_a_capital(target):
    with pytest.raises(ValueError, match="one capital letter"):
        FORMAT.measure(code("b11 1"), answer("", target), backend="glyphs")


def picture(plan: str, variant: str = ""):
    shown = FORMAT.render(code(plan), variant=variant)
    assert shown.media_type == "image/svg+xml"
    return ElementTree.fromstring(shown.body)


@pytest.mark.parametrize("variant", ["", "after", "replay"])
def test_picture_has_every_block_and_no_script(variant):
    root = picture(FALLING, variant)

    assert len(root.findall(f"{SVG}g//{SVG}rect")) == 6
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= {"svg", "g", "rect", "path", "animateTransform"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]


def test_picture_before_and_after_differ_only_when_something_moved():
    assert ("rotate" in FORMAT.render(code(FALLING), variant="after").body.decode()) is True
    assert "rotate" not in FORMAT.render(code(FALLING)).body.decode()
    assert "rotate" not in FORMAT.render(code(STANDING["I"]), variant="after").body.decode()


def test_picture_frames_all_blocks():
    root = picture("b31 1, b13 18")
    left, top, width, height = map(float, root.get("viewBox").split())

    for rect in root.findall(f"{SVG}g/{SVG}rect"):
        x, y = map(float, rect.get("transform").removeprefix("translate(").rstrip(")").split())
        half_width, half_height = float(rect.get("width")) / 2, float(rect.get("height")) / 2
        assert left < x - half_width
        assert x + half_width < left + width
        assert top < y - half_height
        assert y + half_height < top + height


def test_replay_keeps_one_clock_and_ends_where_the_level_ends():
    settled = settle(level(FALLING))
    root = ElementTree.fromstring(draw_replay(settled))
    moves = root.findall(f".//{SVG}animateTransform")

    assert len({move.get("dur") for move in moves}) == 1
    for move in moves:
        times = [float(part) for part in move.get("keyTimes").split(";")]
        assert len(times) == len(move.get("values").split(";"))
        assert times == sorted(times)
        assert (times[0], times[-1]) == (0, 1)
    last = root.findall(f"{SVG}g/{SVG}g")[-1].find(f"{SVG}animateTransform").get("values").split(";")[-1]
    assert last == f"{100 * settled.final[-1].x:.2f} {-100 * settled.final[-1].y:.2f}"


def test_unknown_backend_is_named():
    with pytest.raises(BackendMissing, match="'guess'; known are glyphs, vit"):
        classify(level("b11 1"), [Pose(0, 0)], backend="guess")


def test_vit_without_weights_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv(similarity.VIT_DIR, raising=False)
    with pytest.raises(BackendMissing, match="set BENCHSITE_VIT_DIR to a local directory"):
        FORMAT.measure(code("b11 1"), answer(""), backend="vit")

    monkeypatch.setenv(similarity.VIT_DIR, str(tmp_path / "gone"))
    with pytest.raises(BackendMissing, match="local directory"):
        FORMAT.measure(code("b11 1"), answer(""), backend="vit")


def test_vit_without_transformers_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv(similarity.VIT_DIR, str(tmp_path))
    monkeypatch.setitem(sys.modules, "transformers", None)

    with pytest.raises(BackendMissing, match="pip install torch transformers"):
        FORMAT.measure(code("b11 1"), answer(""), backend="vit")


class Logits:
    """What torch would hand back, as far as it is used."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def numpy(self):
        return np.array([self.values], dtype=np.float32)


def stand_in(labels, seen):
    """A `transformers` whose model is sure of the letter Q, whatever the order of its labels."""

    class Processor:
        @staticmethod
        def from_pretrained(folder, *, local_files_only):
            assert local_files_only
            return lambda images, return_tensors: seen.append(images) or {"pixels": images}

    class Model:
        config = types.SimpleNamespace(id2label=dict(enumerate(labels)))

        @staticmethod
        def from_pretrained(folder, *, local_files_only):
            assert local_files_only
            return Model()

        def eval(self):
            return self

        def __call__(self, pixels):
            return types.SimpleNamespace(logits=Logits([8.0 if label == "Q" else 0.0 for label in labels]))

    module = types.ModuleType("transformers")
    module.AutoImageProcessor, module.AutoModelForImageClassification = Processor, Model
    return module


def test_vit_vector_is_in_the_order_of_the_alphabet(monkeypatch, tmp_path):
    seen = []
    similarity.load_vit.cache_clear()
    monkeypatch.setenv(similarity.VIT_DIR, str(tmp_path))
    monkeypatch.setitem(sys.modules, "transformers", stand_in(LETTERS[::-1], seen))

    measured = FORMAT.measure(code("b11 1"), answer("", "Q"), backend="vit")

    similarity.load_vit.cache_clear()
    assert measured["similarity"] == pytest.approx(math.exp(8) / (math.exp(8) + 25), abs=1e-6)
    assert measured["backend"] == "vit"
    assert seen[0].shape == (224, 224, 3)
    assert (seen[0][0, 0, 0], seen[0][112, 112, 0]) == (255, 0)  # black on white


def test_vit_with_other_labels_is_refused(monkeypatch, tmp_path):
    similarity.load_vit.cache_clear()
    monkeypatch.setenv(similarity.VIT_DIR, str(tmp_path))
    monkeypatch.setitem(sys.modules, "transformers", stand_in(["cat", "dog"], []))

    with pytest.raises(BackendMissing, match="26 capital letters"):
        FORMAT.measure(code("b11 1"), answer(""), backend="vit")
