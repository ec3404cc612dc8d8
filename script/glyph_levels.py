"""Capitals as levels: dropped block by block, with slips, and left to gravity for ten seconds.

A model that builds a letter works on a few rows, drops blocks from above, and makes mistakes: whatever has nothing
below it lands lower, gaps close, towers fall. `script/train_glyphs` learns from such levels beside clean letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

import numpy as np

from generation.formats.science_birds.extraction import Drop
from generation.formats.science_birds.level import COLUMNS, ROWS, SIZES, Block, IllegalDrop, build_level
from generation.formats.science_birds.physics import settle
from generation.formats.science_birds.similarity import Rectangle, draw_ink, rectangles
from script.glyph_letters import LETTERS, on_grid, on_matrix, tile

LEAST_ROWS, MOST_ROWS = 4, 12
NAMES = {size: name for name, size in SIZES.items()}
SLIPS = (0.0, 0.0, 0.03, 0.08, 0.15)  # share of blocks that are forgotten, misplaced or of another kind
HABITS = ("fall", "leave out", "leave out", "support", "support")  # for a block with nothing below it
PART = 2600  # levels made with one seed, so that processes share the work and the result stays the same

Faces = list[list[np.ndarray]] | None
Pictures = tuple[np.ndarray, np.ndarray, np.ndarray]


def drops_of(shapes: Sequence[Rectangle], habit: str, rng: np.random.Generator) -> list[Drop]:
    """Blocks of a tiled grid as they are dropped: from the ground up, a row in either direction."""
    way, ground = rng.choice((-1, 1)), min(y - height / 2 for _, y, _, height, _ in shapes)
    drops, tops = [], [0] * COLUMNS
    for x, y, width, height, _ in sorted(shapes, key=lambda shape: (shape[1] - shape[3] / 2, way * shape[0])):
        left, row = round(x - width / 2), round(y - height / 2 - ground)
        under = slice(left, left + int(width))
        if max(tops[under]) < row and habit == "leave out":
            continue
        while max(tops[under]) < row and habit == "support":
            drops.append(Drop("b11", int(x)))
            tops[int(x)] += 1
        drops.append(Drop(NAMES[int(width), int(height)], int(x)))
        tops[under] = [max(tops[under]) + int(height)] * int(width)
    return drops


def slip(drops: Sequence[Drop], share: float, rng: np.random.Generator) -> list[Drop]:
    slipped = []
    for drop in drops:
        luck = rng.random() / share if share else 1.0
        kind, x = drop.kind, drop.x or 0
        if luck < 0.35:
            continue
        if luck < 0.75:
            x += int(rng.choice((-1, 1)))
        elif luck < 1:
            kind = str(rng.choice(list(SIZES)))
        slipped.append(Drop(kind, x))
    return slipped


def level_of(mask: np.ndarray, rng: np.random.Generator) -> tuple[Block, ...] | None:
    """A level that was meant to be this glyph, or None where the grid is too coarse or a drop is illegal."""
    grid = on_grid(mask, rng, least=LEAST_ROWS, most=min(MOST_ROWS, ROWS))
    return None if grid is None else built(grid, rng)


def built(grid: np.ndarray, rng: np.random.Generator) -> tuple[Block, ...] | None:
    drops = drops_of(tile(grid, rng), str(rng.choice(HABITS)), rng)
    by = (COLUMNS - grid.shape[1]) // 2
    moved = [Drop(drop.kind, (drop.x or 0) + by) for drop in drops]
    try:
        return build_level(slip(moved, float(rng.choice(SLIPS)), rng)) or None
    except IllegalDrop:
        return None


def make_part(faces: Faces, count: int, seed: tuple[int, int]) -> Pictures:
    rng = np.random.default_rng(seed)
    images, labels, moved = [], [], []
    while len(images) < count:
        label = len(images) % len(LETTERS)
        blocks = (
            level_of(faces[rng.integers(len(faces))][label], rng)
            if faces
            else built(on_matrix(LETTERS[label], rng), rng)
        )
        if blocks is None:
            continue
        settled = settle(blocks)
        images.append(np.round(draw_ink(rectangles(settled.blocks, settled.final)) * 9).astype(np.uint8))
        labels.append(label)
        moved.append(settled.moved / len(blocks))
    return np.array(images), np.array(labels), np.array(moved)


def make_levels(faces: Faces, count: int, seed: int) -> Pictures:
    """As `make_letters`: pictures of settled levels, their labels, and the share of blocks that moved.

    Without faces they are of letters as the smallest grids have them.
    """
    seeds = [(seed, part) for part in range(-(-count // PART))]
    with ProcessPoolExecutor() as pool:
        parts = list(pool.map(make_part, repeat(faces), repeat(min(count, PART)), seeds))
    images, labels, moved = (np.concatenate(column)[:count] for column in zip(*parts, strict=True))
    return images, labels, moved
