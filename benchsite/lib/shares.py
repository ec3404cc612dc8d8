"""How sure a share is."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)


def wilson(successes: float, trials: float) -> tuple[float, float] | tuple[None, None]:
    """Wilson's 95% interval for a share; (None, None) without trials."""
    if trials <= 0:
        return None, None
    z, share = Z95, successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return max(0.0, centre - half), min(1.0, centre + half)
