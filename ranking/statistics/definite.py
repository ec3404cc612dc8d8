"""Solving and inverting many symmetric positive definite matrices: by Cholesky's factors where that is quicker."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dpotrf, dpotri

Array = NDArray[Any]
LARGE = 32  # rows from which a call for each matrix costs less than the general way for all


def solve(matrices: Array, vectors: Array) -> Array:
    """x [..., K] of A x = b, for A [..., K, K] and b [..., K]."""
    if matrices.shape[-1] < LARGE:
        return np.asarray(np.linalg.solve(matrices, vectors[..., None])[..., 0])
    result = np.empty(vectors.shape)
    for at in np.ndindex(vectors.shape[:-1]):
        _, result[at], failed = dposv(
            matrices[at].T, vectors[at]
        )  # its own transpose, which needs no copy in another order
        if failed:  # not definite to working precision
            result[at] = np.linalg.solve(matrices[at], vectors[at])
    return result


def inverse(matrices: Array) -> Array:
    """Of A [..., K, K]."""
    if matrices.shape[-1] < LARGE:
        return np.asarray(np.linalg.inv(matrices))
    result = np.empty(matrices.shape)
    each = np.arange(matrices.shape[-1])
    for at in np.ndindex(matrices.shape[:-2]):
        factor, failed = dpotrf(matrices[at].T, lower=1)
        half, unsolved = dpotri(factor, lower=1, overwrite_c=1) if not failed else (factor, 1)
        if failed or unsolved:
            result[at] = np.linalg.inv(matrices[at])
            continue
        whole = result[at]
        np.add(half, half.T, out=whole)  # above its diagonal it is 0
        whole[each, each] = half[each, each]
    return result
