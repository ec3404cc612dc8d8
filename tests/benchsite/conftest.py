"""A demo server for each test that asks, as for the tests of drawing."""

from __future__ import annotations

from tests.generation.conftest import demo

__all__ = ["demo"]
