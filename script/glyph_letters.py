"""Capitals of free fonts as block letters on the grid of 20 × 16: what `script/train_glyphs` learns from."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from generation.formats.science_birds.similarity import Rectangle, draw_ink

LETTERS = string.ascii_uppercase
MASK = 96  # pixels of a glyph's height before it is put on the grid
FACES = 4  # per family, so that no family outweighs the others
MIN_ROWS, MAX_ROWS, MAX_COLUMNS = 5, 16, 20
# Derived faces stay on one side of the split: Carlito comes from Lato, Hack and Verana from DejaVu (Vera), FreeFont
# from URW, croscore from Liberation.
TRAIN = [
    "3270",
    "adf-gillius",
    "adf-tribun",
    "adf-universalis",
    "adf-verana",
    "agave",
    "allerta",
    "amiga",
    "anonymous-pro",
    "arkpandora",
    "atarismall",
    "bebas-neue",
    "beteckna",
    "clear-sans",
    "comfortaa",
    "comic-neue",
    "croscore",
    "crosextra-caladea",
    "crosextra-carlito",
    "dejavu-core",
    "dejavu-extra",
    "dosis",
    "fantasque-sans",
    "firacode",
    "freefont-ttf",
    "hack",
    "hermit",
    "inconsolata",
    "junction",
    "jura",
    "lato",
    "league-mono",
    "league-spartan",
    "liberation",
    "linuxlibertine",
    "manrope",
    "monofur",
    "mononoki",
    "ocr-a",
    "opendin",
    "opendyslexic",
    "osifont",
    "pc",
    "roadgeek",
    "roboto-unhinted",
    "sil-andika",
    "sil-charis",
    "sil-gentium",
    "sixtyfour",
    "tuffy",
    "urw-base35",
    "yanone-kaffeesatz",
]
CALIBRATE = ["cantarell", "ebgaramond", "go", "karla", "play", "proggy"]
TEST = [
    "b612",
    "cabin",
    "courier-prime",
    "inter",
    "jetbrains-mono",
    "ocr-b",
    "open-sans",
    "paratype",
    "quicksand",
    "vollkorn",
]
# Letters as people and models put them on the smallest grids: of our own hand, one or more for each capital.
MATRIX = {
    "A": ["### #.# ### #.# #.#", ".#. #.# ### #.# #.#", ".###. #...# ##### #...# #...#"],
    "B": ["##. #.# ##. #.# ##.", "### #.# ### #.# ###", "####. #...# ####. #...# ####."],
    "C": ["### #.. #.. #.. ###", ".## #.. #.. #.. .##", ".#### #.... #.... #.... .####"],
    "D": ["##. #.# #.# #.# ##.", "###. #..# #..# #..# ###."],
    "E": ["### #.. ### #.. ###", "### #.. ##. #.. ###", "#### #... ###. #... ####"],
    "F": ["### #.. ### #.. #..", "### #.. ##. #.. #..", "#### #... ###. #... #..."],
    "G": ["### #.. #.# #.# ###", "#### #... #.## #..# ####", ".### #... #.## #..# .###"],
    "H": ["#.# #.# ### #.# #.#", "#..# #..# #### #..# #..#"],
    "I": ["### .#. .#. .#. ###", "# # # # #", "##### ..#.. ..#.. ..#.. #####"],
    "J": ["..# ..# ..# #.# ###", "### .#. .#. .#. ##.", "..## ...# ...# #..# ####"],
    "K": ["#.# #.# ##. #.# #.#", "#..# #.#. ##.. #.#. #..#"],
    "L": ["#.. #.. #.. #.. ###", "#... #... #... #... ####"],
    "M": ["##### #.#.# #.#.# #.#.# #.#.#", "#...# ##.## #.#.# #...# #...#", "#.# ### ### #.# #.#"],
    "N": ["### #.# #.# #.# #.#", "#..# ##.# #.## #..# #..#", "#...# ##..# #.#.# #..## #...#"],
    "O": ["### #.# #.# #.# ###", ".#. #.# #.# #.# .#.", ".##. #..# #..# #..# .##."],
    "P": ["### #.# ### #.. #..", "##. #.# ##. #.. #..", "#### #..# #### #... #..."],
    "Q": ["### #.# #.# ### ..#", "###. #.#. #.#. ####", ".##. #..# #..# #.## .###"],
    "R": ["### #.# ##. #.# #.#", "##. #.# ##. #.# #.#", "#### #..# #### #.#. #..#"],
    "S": ["### #.. ### ..# ###", ".## #.. .#. ..# ##.", "#### #... #### ...# ####"],
    "T": ["### .#. .#. .#. .#.", "##### ..#.. ..#.. ..#.. ..#.."],
    "U": ["#.# #.# #.# #.# ###", "#..# #..# #..# #..# ####", "#..# #..# #..# #..# .##."],
    "V": ["#.# #.# #.# #.# .#.", "#...# #...# .#.#. .#.#. ..#.."],
    "W": ["#.#.# #.#.# #.#.# #.#.# #####", "#...# #...# #.#.# #.#.# .#.#.", "#.# #.# ### ### #.#"],
    "X": ["#.# #.# .#. #.# #.#", "#...# .#.#. ..#.. .#.#. #...#"],
    "Y": ["#.# #.# .#. .#. .#.", "#.# #.# ### .#. .#.", "#...# .#.#. ..#.. ..#.. ..#.."],
    "Z": ["### ..# .#. #.. ###", "### ..# ### #.. ###", "#### ...# .##. #... ####"],
}
NOT_LETTERS = (
    "italic",
    "oblique",
    "symbol",
    "d050000l",
    "z003",
    "outline",
    "sketch",
    "initials",
    "dingbat",
    "variable",
)


def find_masks(root: Path, packages: list[str]) -> list[list[np.ndarray]]:
    """One list of 26 boolean glyph masks for each upright face of the packages `fonts-<name>` under the root."""
    faces = []
    for package in packages:
        files = sorted(
            path for path in root.glob(f"**/fonts-{package}/**/*") if path.suffix.lower() in (".ttf", ".otf")
        )
        upright = [path for path in files if not any(word in path.name.lower() for word in NOT_LETTERS)]
        if not upright:
            raise SystemExit(f"No font of the Debian package fonts-{package} under {root}; see --help.")
        step = max(1, len(upright) // FACES)
        faces += [masks for path in upright[::step][:FACES] if (masks := masks_of(path))]
    return faces


def masks_of(path: Path) -> list[np.ndarray] | None:
    with TTFont(path, fontNumber=0, lazy=True) as font:
        if not set(map(ord, LETTERS)) <= set(font.getBestCmap() or {}):
            return None
    face = ImageFont.truetype(str(path), MASK)
    return [mask_of(face, letter) for letter in LETTERS]


def mask_of(face: ImageFont.FreeTypeFont, letter: str) -> np.ndarray:
    image = Image.new("L", (4 * MASK, 4 * MASK))
    ImageDraw.Draw(image).text((MASK, MASK), letter, fill=255, font=face)
    ink = np.asarray(image) > 127
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def pieces_and_holes(grid: np.ndarray) -> tuple[int, int]:
    """Pieces of ink (touching corners count) and holes in it."""
    pieces = ndimage.label(grid, structure=np.ones((3, 3)))[1]
    return pieces, ndimage.label(~np.pad(grid, 1))[1] - 1


def on_grid(
    mask: np.ndarray, rng: np.random.Generator, *, least: int = MIN_ROWS, most: int = MAX_ROWS
) -> np.ndarray | None:
    """The glyph on a random grid, or None where the grid is too coarse to keep its pieces, holes and shape."""
    rows = int(rng.integers(least, most + 1))
    columns = round(rows * mask.shape[1] / mask.shape[0] * rng.uniform(0.75, 1.4))
    columns = int(np.clip(columns, 1 if mask.shape[1] * 3 < mask.shape[0] else 3, MAX_COLUMNS))
    thick = int(rng.integers(-3, 7))
    shape = ndimage.grey_dilation(mask, size=(thick + 1,) * 2) if thick > 0 else mask
    if thick < 0:
        shape = ndimage.grey_erosion(mask, size=(1 - thick,) * 2)
    ink = np.asarray(Image.fromarray(shape.astype(np.uint8) * 255).resize((columns, rows), Image.Resampling.BOX)) / 255
    grid = ink > rng.uniform(0.3, 0.55)
    if not (grid.any(axis=1).all() and grid.any(axis=0).all()) or pieces_and_holes(grid) != pieces_and_holes(mask):
        return None
    large = np.asarray(Image.fromarray(grid).resize(mask.shape[::-1], Image.Resampling.NEAREST))
    return grid if (large & mask).sum() / (large | mask).sum() >= 0.45 else None


def on_matrix(letter: str, rng: np.random.Generator) -> np.ndarray:
    """A letter of `MATRIX`, some of its rows and columns repeated."""
    rows = rng.choice(MATRIX[letter]).split()
    grid = np.array([[mark == "#" for mark in row] for row in rows])
    tall, wide = (rng.choice(odds, size=side) for odds, side in zip(([1, 1, 2], [1, 1, 1, 2]), grid.shape, strict=True))
    return np.repeat(np.repeat(grid, tall, axis=0), wide, axis=1)


def tile(grid: np.ndarray, rng: np.random.Generator) -> list[Rectangle]:
    """Cover a grid by b31, b13 and b11, in a random order of preference; rows count from the top."""
    free = grid.copy()
    shapes: list[Rectangle] = []
    sizes = [[(3, 1), (1, 3)], [(1, 3), (3, 1)], [(3, 1)], [(1, 3)], []][rng.integers(5)]
    for width, height in [*sizes, (1, 1)]:
        for row in range(grid.shape[0] - height + 1):
            for column in range(grid.shape[1] - width + 1):
                cells = free[row : row + height, column : column + width]
                if cells.all():
                    cells[:] = False
                    shapes.append((column + width / 2, -(row + height / 2), width, height, 0.0))
    return shapes


def disturb(shapes: list[Rectangle], rng: np.random.Generator) -> list[Rectangle]:
    """As after a fall that was mostly held: small shifts and turns, in some letters a lean or a few blocks gone."""
    shift, turn = rng.choice([0, 0.03, 0.1], size=2)
    lost = rng.choice([0, 0, 0.04])
    lean = rng.normal(0, 0.06) if rng.random() < 0.3 else 0.0
    kept = [shape for shape in shapes if rng.random() >= lost] or shapes
    moves = rng.normal(0, 1, size=(len(kept), 3)) * (shift, shift, turn)
    return [
        (x + dx + lean * y, y + dy, width, height, angle + da)
        for (x, y, width, height, angle), (dx, dy, da) in zip(kept, moves, strict=True)
    ]


def make_letters(faces: list[list[np.ndarray]], count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`count` pictures (count, 32, 32) as uint8 ninths of ink, their labels 0–25, and their heights in rows."""
    rng = np.random.default_rng(seed)
    images, labels, heights = [], [], []
    while len(images) < count:
        label = len(images) % len(LETTERS)
        grid = on_grid(faces[rng.integers(len(faces))][label], rng)
        if grid is None:
            continue
        images.append(np.round(draw_ink(disturb(tile(grid, rng), rng)) * 9).astype(np.uint8))
        labels.append(label)
        heights.append(grid.shape[0])
    return np.array(images), np.array(labels), np.array(heights)
