"""How much a settled level looks like each capital letter: 26 softmax probabilities from one of two backends.

- `glyphs`: a small convolutional network trained by `script/train_glyphs`, shipped as arrays, run by NumPy alone.
- `vit`: the competition's own classifier, from a local folder of weights that `manage.py fetch_vit` fills, or the user.
"""

from __future__ import annotations

import math
import os
import string
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.formats.base import BackendMissing
from generation.formats.science_birds.level import CELL, Block
from generation.formats.science_birds.physics import Pose

LETTERS = string.ascii_uppercase
SIDE = 32  # pixels of the picture the shipped classifier reads
VIT_SIDE = 224
FINE = 3  # each pixel is the mean of FINE × FINE points
MARGIN = 0.12  # of the content's longer side, on every side
WEIGHTS = Path(__file__).with_name("glyphs.npz")
VIT_DIR = "BENCHSITE_VIT_DIR"
VIT_PACKAGES = ("torch", "transformers")
FETCHED = "fetched.json"  # in the folder of weights that were fetched and verified
DIGITS = 9  # rounding hides the last bits in which processors may differ

Array = NDArray[np.floating[Any]]
Rectangle = tuple[float, float, float, float, float]  # centre x, centre y, width, height, angle


def classify(blocks: Sequence[Block], poses: Sequence[Pose], *, backend: str = "glyphs") -> Array:
    """Softmax probabilities of A–Z, shape (26,), for blocks drawn black on white where they came to rest."""
    if backend not in BACKENDS:
        raise BackendMissing(f"There is no classifier called {backend!r}; known are {', '.join(BACKENDS)}.")
    return np.round(BACKENDS[backend](rectangles(blocks, poses)), DIGITS)


def rectangles(blocks: Sequence[Block], poses: Sequence[Pose]) -> list[Rectangle]:
    return [
        (pose.x, pose.y, block.size[0] * CELL, block.size[1] * CELL, pose.angle)
        for block, pose in zip(blocks, poses, strict=True)
    ]


def draw_ink(shapes: Sequence[Rectangle], side: int = SIDE) -> Array:
    """Ink between 0 and 1, shape (side, side), first row on top: the content centred in a square, its aspect kept."""
    points = side * FINE
    ink = np.zeros((points, points), dtype=bool)
    left, bottom, right, top = bounds(shapes)
    scale = points / (max(right - left, top - bottom) * (1 + 2 * MARGIN))
    for x, y, width, height, angle in shapes:
        across = (x - (left + right) / 2) * scale + points / 2
        down = ((bottom + top) / 2 - y) * scale + points / 2
        fill(ink, across, down, width * scale / 2, height * scale / 2, angle)
    shares: Array = ink.reshape(side, FINE, side, FINE).mean(axis=(1, 3))
    return shares


def bounds(shapes: Sequence[Rectangle]) -> tuple[float, float, float, float]:
    boxes = []
    for x, y, width, height, angle in shapes:
        c, s = abs(math.cos(angle)), abs(math.sin(angle))
        half_x, half_y = (width * c + height * s) / 2, (width * s + height * c) / 2
        boxes.append((x - half_x, y - half_y, x + half_x, y + half_y))
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def fill(ink: NDArray[np.bool_], x: float, y: float, half_width: float, half_height: float, angle: float) -> None:
    """Blacken the points inside one turned rectangle; y grows downwards, so the angle turns the other way."""
    c, s = math.cos(angle), math.sin(angle)
    reach_x = half_width * abs(c) + half_height * abs(s)
    reach_y = half_width * abs(s) + half_height * abs(c)
    first_x, last_x = max(int(x - reach_x), 0), min(int(x + reach_x) + 2, ink.shape[1])
    first_y, last_y = max(int(y - reach_y), 0), min(int(y + reach_y) + 2, ink.shape[0])
    dx = np.arange(first_x, last_x)[None, :] + 0.5 - x
    dy = np.arange(first_y, last_y)[:, None] + 0.5 - y
    inside = (np.abs(dx * c - dy * s) <= half_width) & (np.abs(dx * s + dy * c) <= half_height)
    ink[first_y:last_y, first_x:last_x] |= inside


def softmax(logits: Array) -> Array:
    exponents = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Array = exponents / exponents.sum(axis=-1, keepdims=True)
    return shares


def convolve(images: Array, kernel: Array, bias: Array) -> Array:
    """A 5 × 5 convolution with step 2 and a ReLU: (n, h, w, c) and (25·c, k) to (n, h', w', k)."""
    return np.maximum(patches(images) @ kernel + bias, 0)


def patches(images: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(images, (5, 5), axis=(1, 2))[:, ::2, ::2]
    return windows.reshape(*windows.shape[:3], -1)


def logits_of(images: Array, weights: Mapping[str, Array]) -> Array:
    """(n, 32, 32) ink to (n, 26) logits: two convolutions, one hidden layer, divided by the fitted temperature."""
    first = convolve(images[..., None], weights["conv1"], weights["conv1_bias"])
    second = convolve(first, weights["conv2"], weights["conv2_bias"])
    hidden = np.maximum(second.reshape(len(images), -1) @ weights["hidden"] + weights["hidden_bias"], 0)
    return (hidden @ weights["out"] + weights["out_bias"]) / weights["temperature"]


@lru_cache(maxsize=1)
def load_glyphs() -> dict[str, Array]:
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        return {name: arrays[name].astype(np.float64) for name in arrays.files}


def classify_glyphs(shapes: Sequence[Rectangle]) -> Array:
    chances: Array = softmax(logits_of(draw_ink(shapes)[None], load_glyphs()))[0]
    return chances


def classify_vit(shapes: Sequence[Rectangle]) -> Array:
    processor, model, order = load_vit(os.environ.get(VIT_DIR, ""))
    white = np.round(255 * (1 - draw_ink(shapes, VIT_SIDE))).astype(np.uint8)
    pixels = processor(images=np.repeat(white[..., None], 3, axis=2), return_tensors="pt")
    logits = model(**pixels).logits.detach().numpy()[0].astype(np.float64)
    return softmax(logits[order])


@lru_cache(maxsize=1)
def load_vit(folder: str) -> tuple[Any, Any, list[int]]:
    """Processor, model and the index of each letter among its labels; nothing is ever downloaded."""
    if not folder or not Path(folder).is_dir():
        raise BackendMissing(
            f"The `vit` backend needs its weights: run `manage.py fetch_vit`, or set {VIT_DIR} to a local directory that has them."
        )
    try:
        from transformers import AutoImageProcessor, AutoModelForImageClassification
    except ImportError as error:
        raise BackendMissing("The `vit` backend needs `pip install torch transformers`.") from error
    processor = AutoImageProcessor.from_pretrained(folder, local_files_only=True)
    model = AutoModelForImageClassification.from_pretrained(folder, local_files_only=True).eval()
    index = {str(label).upper()[-1:]: int(number) for number, label in model.config.id2label.items()}
    if len(model.config.id2label) != len(LETTERS) or set(index) != set(LETTERS):
        raise BackendMissing(f"The classifier in {VIT_DIR} does not have the 26 capital letters as its labels.")
    return processor, model, [index[letter] for letter in LETTERS]


def missing_packages() -> list[str]:
    return [name for name in VIT_PACKAGES if find_spec(name) is None]


def vit_is_ready() -> bool:
    """Whether verified weights and what runs them are here."""
    return Path(os.environ.get(VIT_DIR, ""), FETCHED).is_file() and not missing_packages()


BACKENDS: dict[str, Callable[[Sequence[Rectangle]], Array]] = {"glyphs": classify_glyphs, "vit": classify_vit}
