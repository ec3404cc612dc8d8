"""Ten seconds of gravity for a level, in Box2D with the parameters of the original evaluator.

Box2D computes in single precision with a fixed step and a fixed order of bodies, so a level settles the same way
every time. The import is lazy: everything but the fall works without Box2D.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from generation.formats.science_birds.level import CELL, ORIGIN_Y, Block

SECONDS = 10.0
STEP = 0.02
ITERATIONS = 100  # velocity and position iterations a step
GRAVITY, GRAVITY_SCALE = -9.81, 0.5
LINEAR_DAMPING, ANGULAR_DAMPING = 1.0, 0.05
DENSITY, FRICTION, RESTITUTION = 1.0, 4.0, 0.0
# Box2D keeps a skin of 0.01 on every side of a polygon; colliders smaller by the two skins touch without settling.
SKIN = 0.01
MOVED = 0.1  # a block displaced by this much or more has moved, as the competition's scene is set; rotation is ignored
FRAME_STEPS = 5  # replay frames every 0.1 s, thinned out where a straight line says the same
FRAME_TOLERANCE = 0.004


class PhysicsMissing(RuntimeError):
    """Box2D is not installed."""


@dataclass(frozen=True)
class Pose:
    """Where a block is: centre in game units, angle in radians (0 is as dropped)."""

    x: float
    y: float
    angle: float = 0.0


@dataclass(frozen=True)
class SettledLevel:
    """A level after the ten seconds: final poses, and the (time, pose) path of each block."""

    blocks: tuple[Block, ...]
    final: tuple[Pose, ...]
    paths: tuple[tuple[tuple[float, Pose], ...], ...]

    @property
    def frames(self) -> tuple[tuple[tuple[float, Pose], ...], ...]:
        """The few frames of each path that a replay needs."""
        return tuple(thin(path) for path in self.paths)

    @property
    def moved(self) -> int:
        return sum(
            math.hypot(pose.x - block.x, pose.y - block.y) >= MOVED
            for block, pose in zip(self.blocks, self.final, strict=True)
        )

    @property
    def stability(self) -> float:
        """`(total − moved) / total`, 0 for an empty level (seed 003)."""
        total = len(self.blocks)
        return (total - self.moved) / total if total else 0.0


@lru_cache(maxsize=64)
def settle(blocks: tuple[Block, ...]) -> SettledLevel:
    """Let a level stand for ten seconds. The cache lets a page draw what it has just measured."""
    world, bodies = build_world(blocks)
    history = [[(0.0, Pose(block.x, block.y))] for block in blocks]
    steps = round(SECONDS / STEP)
    for step in range(1, steps + 1):
        world.Step(STEP, ITERATIONS, ITERATIONS)
        if step % FRAME_STEPS == 0:
            record(bodies, history, step * STEP)
            if not any(body.awake for body in bodies):  # sleeping bodies stay where they are until touched
                break
    return SettledLevel(blocks, tuple(path[-1][1] for path in history), tuple(map(tuple, history)))


def build_world(blocks: Sequence[Block]) -> tuple[Any, list[Any]]:
    box2d = load_box2d()
    world = box2d.b2World(gravity=(0, GRAVITY), doSleep=True)
    ground = world.CreateStaticBody(position=(0, ORIGIN_Y - SKIN - 1))
    ground.CreatePolygonFixture(box=(1000, 1), friction=FRICTION, restitution=RESTITUTION)
    return world, [add_body(world, block) for block in blocks]


def add_body(world: Any, block: Block) -> Any:
    body = world.CreateDynamicBody(
        position=(block.x, block.y),
        linearDamping=LINEAR_DAMPING,
        angularDamping=ANGULAR_DAMPING,
        gravityScale=GRAVITY_SCALE,
    )
    half = [cells * CELL / 2 - SKIN for cells in block.size]
    body.CreatePolygonFixture(box=tuple(half), density=DENSITY, friction=FRICTION, restitution=RESTITUTION)
    return body


def load_box2d() -> Any:
    try:
        with warnings.catch_warnings():
            # Its C module crashes the process when one of its own deprecation warnings is turned into an error.
            warnings.simplefilter("ignore")
            import Box2D
    except ImportError as error:
        raise PhysicsMissing("Stability needs the physics engine: install it with `pip install Box2D`.") from error
    return Box2D


def record(bodies: Sequence[Any], history: list[list[tuple[float, Pose]]], time: float) -> None:
    for body, frames in zip(bodies, history, strict=True):
        x, y = body.position
        frames.append((round(time, 2), Pose(x, y, body.angle)))


def thin(frames: Sequence[tuple[float, Pose]]) -> tuple[tuple[float, Pose], ...]:
    """Keep the frames that a straight line between their neighbours would miss (Ramer, Douglas, Peucker)."""
    keep = {0, len(frames) - 1}
    spans = [(0, len(frames) - 1)]
    while spans:
        first, last = spans.pop()
        worst, error = worst_frame(frames, first, last)
        if error > FRAME_TOLERANCE:
            keep.add(worst)
            spans += [(first, worst), (worst, last)]
    return tuple(frames[index] for index in sorted(keep))


def worst_frame(frames: Sequence[tuple[float, Pose]], first: int, last: int) -> tuple[int, float]:
    (start, a), (end, b) = frames[first], frames[last]
    worst, error = first, 0.0
    for index in range(first + 1, last):
        time, pose = frames[index]
        part = (time - start) / (end - start)
        off = max(
            abs(a.x + part * (b.x - a.x) - pose.x),
            abs(a.y + part * (b.y - a.y) - pose.y),
            # An angle moves a corner by at most half a long block.
            abs(a.angle + part * (b.angle - a.angle) - pose.angle) * 1.5 * CELL,
        )
        if off > error:
            worst, error = index, off
    return worst, error
