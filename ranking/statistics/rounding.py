"""Numbers as documents hold them: plain Python, six digits, null where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

DIGITS = 6  # beyond this digits are noise of the processor


def rounded(value: Any) -> Any:
    """Floats to six digits, numpy to plain Python, NaN and infinity to null."""
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(item) for item in value]
    if isinstance(value, float | np.floating):
        return round(float(value), DIGITS) + 0.0 if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
