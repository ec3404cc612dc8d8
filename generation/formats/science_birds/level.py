"""A Science Birds level: drops fall on a grid of 20 × 16, the structure moves to the left edge, cells become units.

The rules are the competition's: any illegal drop loses the whole level, not only that block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from generation.formats.science_birds.extraction import Drop

COLUMNS, ROWS = 20, 16
CELL = 0.2401
ORIGIN_X, ORIGIN_Y = 2.0, -3.5
SIZES = {"b11": (1, 1), "b31": (3, 1), "b13": (1, 3)}  # width and height in cells
GAME_TYPES = {"b11": ("SquareTiny", 0), "b31": ("RectSmall", 0), "b13": ("RectSmall", 90)}


class IllegalDrop(ValueError):
    """A drop that loses the level: `reason` is a stable code, the message a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Block:
    """One block at rest on the grid; `column` and `row` are its lower left cell."""

    kind: str
    column: int
    row: int

    @property
    def size(self) -> tuple[int, int]:
        return SIZES[self.kind]

    @property
    def x(self) -> float:
        """Centre in game units: `(x − shift)·c + w·c/2 + 2 − (c if w > 1)`, with x − shift − (w > 1) = column."""
        return round(self.column * CELL + self.size[0] * CELL / 2 + ORIGIN_X, 5)

    @property
    def y(self) -> float:
        return round(self.row * CELL + self.size[1] * CELL / 2 + ORIGIN_Y, 5)

    def cells(self) -> Iterable[tuple[int, int]]:
        width, height = self.size
        return [(self.column + i, self.row + j) for i in range(width) for j in range(height)]


def build_level(drops: Iterable[Drop]) -> tuple[Block, ...]:
    """Blocks in the order they were dropped, shifted so that the leftmost is in column 0; raises `IllegalDrop`."""
    tops = [0] * COLUMNS
    blocks = [place(drop, tops, number) for number, drop in enumerate(drops, start=1)]
    shift = min((block.column for block in blocks), default=0)
    return tuple(Block(block.kind, block.column - shift, block.row) for block in blocks)


def place(drop: Drop, tops: list[int], number: int) -> Block:
    """Let one block fall on the columns' tops, and raise them."""
    if drop.kind not in SIZES:
        raise IllegalDrop("unknown_block", f"Call {number} drops {drop.kind!r}; only b11, b31 and b13 exist.")
    width, height = SIZES[drop.kind]
    half = width // 2
    if drop.x is None or drop.x - half < 0 or drop.x + half >= COLUMNS:
        where = "no column" if drop.x is None else f"column {drop.x}"
        raise IllegalDrop("bad_position", f"Call {number} drops {drop.kind} at {where}, outside the 20 columns.")
    left = drop.x - half
    row = max(tops[left : left + width])
    if row + height > ROWS:
        raise IllegalDrop("too_high", f"Call {number} drops {drop.kind} at column {drop.x}, above the 16 rows.")
    tops[left : left + width] = [row + height] * width
    return Block(drop.kind, left, row)


def camera_width(blocks: Iterable[Block]) -> float:
    """minWidth: `max(2·max(1.6·(3.5 + h·c), 2 + m·c), 17)`; h = top row + 1, m = most occupied cells in one row."""
    occupied = [0] * ROWS
    for block in blocks:
        for _, row in block.cells():
            occupied[row] += 1
    height = max((row + 1 for row in range(ROWS) if occupied[row]), default=0)
    return max(2 * max(1.6 * (3.5 + height * CELL), 2 + max(occupied) * CELL), 17)


def level_xml(blocks: Iterable[Block]) -> str:
    blocks = tuple(blocks)
    width = camera_width(blocks)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<Level width="3">',
        f'  <Camera x="2" y="0" minWidth="{round(width, 5)}" maxWidth="{round(width + 5, 5)}" />',
        '  <Birds>\n    <Bird type="BirdRed" />\n  </Birds>',
        '  <Slingshot x="-9" y="-2.5" />',
        "  <GameObjects>",
        *(f"    {block_xml(block)}" for block in blocks),
        "  </GameObjects>",
        "</Level>",
    ]
    return "\n".join(lines) + "\n"


def block_xml(block: Block) -> str:
    name, rotation = GAME_TYPES[block.kind]
    return f'<Block type={quoteattr(name)} material="wood" x="{block.x:.5f}" y="{block.y:.5f}" rotation="{rotation}" />'
