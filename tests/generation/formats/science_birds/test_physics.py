"""Ten seconds of gravity: what must stand stands, what must fall falls, and always in the same way."""

from __future__ import annotations

import builtins
import math
from itertools import pairwise

import pytest

from generation.formats.science_birds import physics
from generation.formats.science_birds.physics import PhysicsMissing, settle
from tests.generation.formats.science_birds.birds import STANDING, level

# The reasons are statics. Lengths are in cells; a post is one cell wide, so its half width is 0.5.
STANDS = {
    "a tower of 16: every centre is above its support": "16*b11 4",
    "upright planks on each other": "5*b13 4",
    "a beam centred on a post: the centre of mass is above the post": "b13 4, b31 4",
    "a beam across two posts: each end is held": "b13 4, b13 6, b31 5",
    "a beam one cell off a beam: the centre is 1.0 off, the support reaches 1.5": "b31 4, b31 5",
    "a beam with equal loads on both ends: the loads balance at the post": "b11 4, b31 4, b13 3, b13 5",
    "a counterweight: (3 · 0 + 1 · 1 + 1 · −1) / 5 = 0": "b13 4, b31 4, b11 5, b11 3",
}
FALLS = {
    "a beam hanging off a tower: its centre is 1.0 off, the support reaches 0.5": "5*b11 4, b31 5",
    "a beam on the edge of a post on one side only": "b13 4, b31 5",
    "a top-heavy beam: (3 · 0 + 6 · 1) / 9 = 0.67 off the post, the support reaches 0.5": "b11 4, b31 4, 2*b13 5",
    "a stack leaning a cell a layer: the upper five are 3.0 off on average, the support reaches 1.5": (
        "b31 4, b31 5, b31 6, b31 7, b31 8, b31 9"
    ),
    "a T with its load outside: (3 · 0 + 3 · 1 + 3 · 1) / 9 off the post": "2*b13 4, b31 4, b13 5, b13 5",
}


@pytest.mark.parametrize("reason", STANDS)
def test_it_stands(reason):
    settled = settle(level(STANDS[reason]))

    assert (settled.stability, settled.moved) == (1.0, 0)


@pytest.mark.parametrize("reason", FALLS)
def test_it_falls(reason):
    blocks = level(FALLS[reason])
    settled = settle(blocks)

    last = len(blocks) - 1
    assert settled.stability < 1
    assert settled.final[last].y < blocks[last].y - physics.MOVED


@pytest.mark.parametrize("letter", STANDING)
def test_plain_letters_stand(letter):
    assert settle(level(STANDING[letter])).stability == 1.0


def test_stability_is_the_share_that_did_not_move():
    settled = settle(level("b11 0, b11 2, 5*b11 10, b31 11"))

    assert (len(settled.blocks), settled.moved, settled.stability) == (8, 1, 7 / 8)


def test_fall_is_the_same_every_time():
    blocks = level(
        FALLS["a stack leaning a cell a layer: the upper five are 3.0 off on average, the support reaches 1.5"]
    )

    first = settle(blocks)
    settle.cache_clear()
    settle(level("9*b11 3, b31 4"))

    assert settle(blocks) == first


def test_nothing_leaves_the_ground_or_the_numbers():
    settled = settle(level("b31 4, b31 5, b31 6, b31 7, b31 8, b31 9"))

    assert all(math.isfinite(pose.x + pose.y + pose.angle) for pose in settled.final)
    assert all(pose.y > -3.5 for pose in settled.final)


def test_replay_frames_are_few_and_end_where_the_level_ends():
    settled = settle(level("5*b11 4, b31 5"))

    for block, frames, final in zip(settled.blocks, settled.frames, settled.final, strict=True):
        times = [time for time, _ in frames]
        assert times == sorted(set(times))
        assert times[0] == 0.0
        assert (frames[0][1].x, frames[0][1].y) == (block.x, block.y)
        assert frames[-1][1] == final
    assert 3 < len(settled.frames[-1]) < 60
    assert len(settled.frames[0]) <= 4  # the foot of the tower hardly moves


def test_thinned_frames_stay_within_tolerance_of_the_whole_path():
    path = [(step / 10, physics.Pose(math.sin(step / 7), -step / 50, step / 30)) for step in range(100)]
    kept = physics.thin(path)

    assert len(kept) < len(path)
    for (start, a), (end, b) in pairwise(kept):
        for time, pose in path:
            if start <= time <= end:
                part = (time - start) / (end - start)
                assert abs(a.x + part * (b.x - a.x) - pose.x) <= physics.FRAME_TOLERANCE


def test_without_box2d_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "Box2D":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    settle.cache_clear()

    with pytest.raises(PhysicsMissing, match="pip install Box2D"):
        settle(level("b11 1"))
