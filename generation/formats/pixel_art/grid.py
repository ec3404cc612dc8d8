"""A pixel-art grid as found in an answer: its scores, its window of 24 × 24, its colours. Formulas: docs/suites/pixel-art-lite.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from generation.formats.pixel_art.colours import FALLBACK, read_colour

SIDE = 24
LARGE = 10_000  # cells beyond which a grid is flagged; drawing is capped to the window anyway
SOFT_CAP = 8
WEIGHTS = {"json": 0.4, "render": 0.3, "quality": 0.3}  # of the three parts in the score
_INT = {int}
_DIGITS = frozenset(range(10))


@dataclass(frozen=True)
class Grid:
    """Rows read leniently: lists as they are, digit strings as rows of ints, anything else as rows without cells.

    - `lengths` of all rows; `cells`, `valid` count over all of them; `values` are the distinct valid ones.
    - `window` is what is drawn: at most 24 × 24, None where a cell is not valid.
    """

    lengths: list[int]
    valid: int
    values: frozenset[int]
    window: list[list[int | None]]
    digit_rows: bool

    @property
    def cells(self) -> int:
        return sum(self.lengths)

    @property
    def drawn(self) -> int:
        """Valid cells inside the window."""
        return sum(len(row) - row.count(None) for row in self.window)


def _row(row: Any) -> list[Any]:
    if isinstance(row, list):
        return row
    if isinstance(row, str) and row.isascii() and row.isdigit():
        return [int(digit) for digit in row]
    return []


def is_valid(cell: Any) -> bool:
    """An int from 0 to 9; True and 1.0 are not ints here."""
    return type(cell) is int and 0 <= cell <= 9


def read_grid(grid: Any) -> Grid:
    source = grid if isinstance(grid, list) else []
    valid = 0
    values: set[int] = set()
    lengths: list[int] = []
    window: list[list[int | None]] = []
    for row in map(_row, source):
        lengths.append(len(row))
        # Nearly every row is all right; then sets, which C code fills, say so without a look at each cell.
        if set(map(type, row)) == _INT and (distinct := set(row)) <= _DIGITS:
            valid += len(row)
            values |= distinct
            cells = row[:SIDE]
        else:
            good = [cell for cell in row if is_valid(cell)]
            valid += len(good)
            values.update(good)
            cells = [cell if is_valid(cell) else None for cell in row[:SIDE]]
        if len(window) < SIDE:
            window.append(cells)
    digit_rows = any(isinstance(row, str) and length for row, length in zip(source, lengths, strict=True))
    return Grid(lengths, valid, frozenset(values), window, digit_rows)


def _closeness(length: int) -> float:
    return max(0.0, 1 - abs(length - SIDE) / SIDE)


def score_grid(grid: Grid | None, *, parsed: bool = True) -> dict[str, float]:
    """Every score in [0, 1] of one answer: json, render and its parts, quality and its parts, and the aggregate.

    json is 1 if an object was read. render = (height + width + type) / 3, quality = 0.7 diversity + 0.3 density and
    score = 0.4 json + 0.3 render + 0.3 quality are the benchmark's own; how each part is graded is ours.
    """
    lengths = grid.lengths if grid else []
    height = _closeness(len(lengths))
    width = sum(map(_closeness, lengths)) / len(lengths) if lengths else 0.0
    kind = grid.valid / grid.cells if grid and grid.cells else 0.0
    diversity = min(len(grid.values) / SOFT_CAP, 1.0) if grid else 0.0
    density = grid.drawn / SIDE**2 if grid else 0.0
    render = (height + width + kind) / 3
    quality = 0.7 * diversity + 0.3 * density
    scores = {"json": float(parsed), "height": height, "width": width, "type": kind, "render": render}
    scores |= {"diversity": diversity, "density": density, "quality": quality}
    scores["score"] = sum(weight * scores[part] for part, weight in WEIGHTS.items())
    return {name: round(min(value, 1.0), 9) for name, value in scores.items()}


def grid_flags(grid: Grid) -> list[str]:
    shape = grid.lengths == [SIDE] * SIDE
    flags = {
        "too_large": grid.cells > LARGE,
        "wrong_shape": not shape,
        "invalid_cell": grid.valid < grid.cells,
        "digit_rows": grid.digit_rows,
    }
    return [flag for flag, there in flags.items() if there]


def read_palette(palette: Any, used: frozenset[int]) -> tuple[list[str], list[str]]:
    """Ten colours by cell value, and flags: no_palette, invalid_colour, palette_index (a value without a colour)."""
    given = palette[:10] if isinstance(palette, list) else []
    read = [read_colour(value) for value in given]
    colours = [colour or FALLBACK[i] for i, colour in enumerate([*read, *[None] * 10][:10])]
    flags = {
        "no_palette": not given,
        "invalid_colour": None in read,
        "palette_index": bool(given) and any(value >= len(given) for value in used),
    }
    return colours, [flag for flag, there in flags.items() if there]
