"""Levels as SVG: before, after the ten seconds, and a short replay of the fall that needs no script."""

from __future__ import annotations

import math
from collections.abc import Sequence

from generation.formats.science_birds.level import CELL, ORIGIN_Y, Block
from generation.formats.science_birds.physics import Pose, SettledLevel
from generation.formats.science_birds.similarity import bounds, rectangles

UNIT = 100  # SVG units in one game unit: two decimals are then finer than any screen
PAUSE = 1.0  # seconds the replay rests before it starts again
SQUARE, BEAM = "#3d3a36", "#b98a4b"  # for eyes only: the classifier sees blocks drawn black
TURN = 0.001  # radians below which a turn is not worth writing


def draw_still(blocks: Sequence[Block], poses: Sequence[Pose], *, title: str) -> str:
    parts = [shape(block, pose) for block, pose in zip(blocks, poses, strict=True)]
    return document(frame(blocks, poses), parts, title)


def draw_replay(settled: SettledLevel) -> str:
    """Every block moves along its own few frames; all share one clock, so the fall stays in step."""
    blocks = settled.blocks
    start = [Pose(block.x, block.y) for block in blocks]
    seconds = max((path[-1][0] for path in settled.paths), default=0.0) + PAUSE
    parts = [
        moving(block, frames, seconds) if len(frames) > 1 else shape(block, pose)
        for block, frames, pose in zip(blocks, settled.frames, start, strict=True)
    ]
    return document(frame(blocks * 2, [*start, *settled.final]), parts, "The level falling for ten seconds")


def frame(blocks: Sequence[Block], poses: Sequence[Pose]) -> tuple[float, float, float, float]:
    """Left, bottom, right, top of a view that shows all blocks and the ground, with one cell of air around."""
    left, bottom, right, top = bounds(rectangles(blocks, poses))
    return left - CELL, min(bottom, ORIGIN_Y) - CELL, right + CELL, top + CELL


def document(view: tuple[float, float, float, float], parts: Sequence[str], title: str) -> str:
    left, bottom, right, top = (UNIT * edge for edge in view)
    box = f"{left:.2f} {-top:.2f} {right - left:.2f} {top - bottom:.2f}"
    ground = -UNIT * ORIGIN_Y
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" aria-label="{title}">',
            f'<rect x="{left:.2f}" y="{-top:.2f}" width="{right - left:.2f}" height="{top - bottom:.2f}" fill="#fff"/>',
            f'<path d="M{left:.2f} {ground:.2f}H{right:.2f}" stroke="#6f9e58" stroke-width="3"/>',
            f'<g fill="{BEAM}" stroke="#fff" stroke-width="0.8">',
            *parts,
            "</g>",
            "</svg>",
            "",
        ]
    )


def rectangle(block: Block) -> str:
    width, height = (UNIT * CELL * cells for cells in block.size)
    fill = f' fill="{SQUARE}"' if width == height else ""
    return f'x="{-width / 2:.2f}" y="{-height / 2:.2f}" width="{width:.2f}" height="{height:.2f}"{fill}'


def shape(block: Block, pose: Pose) -> str:
    turn = f" rotate({degrees(pose)})" if abs(pose.angle) > TURN else ""
    return f'<rect {rectangle(block)} transform="translate({place(pose)}){turn}"/>'


def moving(block: Block, frames: Sequence[tuple[float, Pose]], seconds: float) -> str:
    times = ";".join(f"{time / seconds:.4f}".rstrip("0").rstrip(".") for time, _ in [*frames, (seconds, frames[-1][1])])
    poses = [pose for _, pose in [*frames, frames[-1]]]
    path = animation("translate", [place(pose) for pose in poses], times, seconds)
    turned = any(abs(pose.angle) > TURN for pose in poses)
    turn = animation("rotate", [degrees(pose) for pose in poses], times, seconds) if turned else ""
    return f'<g transform="translate({place(poses[0])})">{path}<rect {rectangle(block)}>{turn}</rect></g>'


def animation(kind: str, values: Sequence[str], times: str, seconds: float) -> str:
    return (
        f'<animateTransform attributeName="transform" type="{kind}" values="{";".join(values)}" '
        f'keyTimes="{times}" dur="{seconds:.2f}s" repeatCount="indefinite"/>'
    )


def place(pose: Pose) -> str:
    return f"{UNIT * pose.x:.2f} {-UNIT * pose.y:.2f}"


def degrees(pose: Pose) -> str:
    return f"{-math.degrees(pose.angle):.2f}"
