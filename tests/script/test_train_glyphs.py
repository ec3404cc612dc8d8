"""The training script without fonts: its gradient, its calibration numbers, and how letters become blocks."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest

from generation.formats.science_birds.extraction import Drop
from generation.formats.science_birds.level import build_level
from generation.formats.science_birds.similarity import logits_of, softmax
from script import glyph_letters, glyph_levels

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def training():
    loader = SourceFileLoader("train_glyphs", str(ROOT / "script" / "train_glyphs"))
    module = module_from_spec(spec_from_loader("train_glyphs", loader))
    loader.exec_module(module)
    return module


def test_gradient_equals_the_slope_of_the_loss(training):
    rng = np.random.default_rng(1)
    weights = {name: array.astype(np.float64) for name, array in training.start_weights(rng).items()}
    images, labels = rng.random((3, 32, 32)), np.array([0, 7, 25])
    wanted = np.full((3, 26), training.SMOOTHING / 26)
    wanted[np.arange(3), labels] += 1 - training.SMOOTHING

    def loss() -> float:
        chances = softmax(logits_of(images, weights | {"temperature": np.float64(1)}))
        return float(-(wanted * np.log(chances)).sum() / 3)

    slopes = training.gradients(images, labels, weights, rng, dropout=0.0)

    for name, slope in slopes.items():
        place = np.unravel_index(np.abs(slope).argmax(), slope.shape)
        kept, step = weights[name][place], 1e-6
        weights[name][place] = kept + step
        above = loss()
        weights[name][place] = kept - step
        below = loss()
        weights[name][place] = kept
        assert slope[place] == pytest.approx((above - below) / (2 * step), rel=1e-3), name


def test_where_it_goes_on_from_arrays_only_the_last_two_layers_learn(training):
    rng = np.random.default_rng(3)
    start = training.start_weights(rng)
    images, labels = rng.integers(0, 10, (256, 32, 32)).astype(np.uint8), rng.integers(0, 26, 256)
    before = {name: array.copy() for name, array in start.items()}

    after = training.train(images, labels, 2, 1, rate=0.01, start=start)

    same = {name for name, array in after.items() if (array == before[name]).all()}
    assert same == {"conv1", "conv1_bias", "conv2", "conv2_bias"}
    assert training.accuracy(images, labels, after) > training.accuracy(images, labels, before)


def test_calibration_error_worked_by_hand(training):
    chances = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4]])

    # Sure at 0.9 and right half the time, sure at 0.6 and always right: (0.4 + 0.4) / 2.
    assert training.calibration_error(chances, np.array([0, 1, 0, 0])) == pytest.approx(0.4)


def test_temperature_undoes_overconfidence(training):
    rng = np.random.default_rng(2)
    honest = rng.normal(0, 2, (4000, 5))
    labels = np.array([rng.choice(5, p=row) for row in softmax(honest)])

    assert training.fit_temperature(3 * honest, labels) == pytest.approx(3, rel=0.1)


def test_blocks_cover_the_grid_exactly():
    rng = np.random.default_rng(3)
    for _ in range(20):
        grid = rng.random((7, 9)) < 0.6
        covered = np.zeros(grid.shape, int)
        for x, y, width, height, _ in glyph_letters.tile(grid, rng):
            assert (width, height) in {(1, 1), (3, 1), (1, 3)}
            row, column = round(-y - height / 2), round(x - width / 2)
            covered[row : row + height, column : column + width] += 1
        assert (covered == grid).all()


LETTER_T = np.array([[1, 1, 1], [0, 1, 0], [0, 1, 0]], bool)
LETTER_F = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]], bool)


def built(grid, habit, seed=5):
    """The cells of a grid's level, as rows from the top."""
    rng = np.random.default_rng(seed)
    cells = [cell for block in build_level(glyph_levels.drops_of(squares(grid), habit, rng)) for cell in block.cells()]
    rows = max(row for _, row in cells) + 1
    picture = np.zeros((rows, max(column for column, _ in cells) + 1), bool)
    for column, row in cells:
        picture[rows - 1 - row, column] = True
    return picture


def squares(grid):
    """The grid in single blocks, as `tile` gives them."""
    return [(column + 0.5, -(row + 0.5), 1, 1, 0.0) for row, column in zip(*np.nonzero(grid), strict=True)]


def test_a_builder_supports_what_would_fall_leaves_it_out_or_lets_it_fall():
    assert built(LETTER_F, "support").tolist() == [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    assert built(LETTER_F, "leave out").tolist() == [[1], [1], [1], [1]]
    assert built(LETTER_F, "fall").tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_a_slip_forgets_moves_or_swaps_blocks_and_none_without_slips():
    drops = [Drop("b11", 9)] * 400

    assert glyph_levels.slip(drops, 0.0, np.random.default_rng(1)) == drops
    slipped = glyph_levels.slip(drops, 0.2, np.random.default_rng(1))
    assert 350 < len(slipped) < 390
    assert {drop.x for drop in slipped} == {8, 9, 10}
    assert {drop.kind for drop in slipped} == {"b11", "b31", "b13"}


def test_levels_are_settled_pictures_of_their_letters_and_the_same_for_a_seed():
    block = np.kron(LETTER_T, np.ones((32, 32), bool))
    faces = [[block] * 26]

    images, labels, moved = glyph_levels.make_part(faces, 6, (1, 0))

    assert images.shape == (6, 32, 32)
    assert labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert ((moved >= 0) & (moved <= 1)).all()
    assert (images == glyph_levels.make_part(faces, 6, (1, 0))[0]).all()


@pytest.mark.parametrize("letter", glyph_letters.LETTERS)
def test_smallest_letters_keep_their_pieces_and_holes_when_rows_and_columns_repeat(letter):
    plain = [np.array([[mark == "#" for mark in row] for row in one.split()]) for one in glyph_letters.MATRIX[letter]]
    shapes = {glyph_letters.pieces_and_holes(grid) for grid in plain}
    rng = np.random.default_rng(5)

    grids = [glyph_letters.on_matrix(letter, rng) for _ in range(10)]

    assert {glyph_letters.pieces_and_holes(grid) for grid in grids} <= shapes
    assert all(grid.shape[0] <= 10 and grid.shape[1] <= 10 for grid in grids)


def test_grid_too_coarse_for_a_letter_is_thrown_away():
    ring = np.ones((96, 80), bool)
    ring[12:84, 12:68] = False
    assert glyph_letters.pieces_and_holes(ring) == (1, 1)

    rng = np.random.default_rng(4)
    grids = [glyph_letters.on_grid(ring, rng) for _ in range(40)]
    assert all(glyph_letters.pieces_and_holes(grid) == (1, 1) for grid in grids if grid is not None)

    assert all(glyph_letters.on_grid(ring, rng, least=2, most=2) is None for _ in range(10))


def test_no_family_is_on_two_sides_of_the_split():
    sides = [set(glyph_letters.TRAIN), set(glyph_letters.CALIBRATE), set(glyph_letters.TEST)]

    assert len(set.union(*sides)) == sum(map(len, sides))


def test_missing_fonts_are_named(tmp_path):
    with pytest.raises(SystemExit, match="fonts-inter"):
        glyph_letters.find_masks(tmp_path, ["inter"])
