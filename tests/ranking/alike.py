"""Comparing nested results: numbers to a small tolerance, the rest exactly."""

from __future__ import annotations

import pytest


def assert_alike(one, other, *, path="", tolerance=2e-6):
    assert type(one) is type(other) or {type(one), type(other)} <= {int, float}, path
    if isinstance(one, dict):
        assert set(one) == set(other), path
        for key in one:
            assert_alike(one[key], other[key], path=f"{path}.{key}", tolerance=tolerance)
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_alike(a, b, path=f"{path}[{number}]", tolerance=tolerance)
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=tolerance), path
    else:
        assert one == other, path
