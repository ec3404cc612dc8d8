"""All targets, in the order of the proof's page."""

from __future__ import annotations

from benchmarks.figures.promises import numbers, site

PROMISES = (*site.PROMISES, *numbers.PROMISES)
