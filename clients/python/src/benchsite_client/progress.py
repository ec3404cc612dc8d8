"""A bar where tqdm is installed, in a notebook or a terminal; nothing otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(label: str, total: int | None, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """Gives what is to be called with the number of rows that were sent."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets a notebook shows the terminal's bar
            from tqdm.auto import tqdm
    except ImportError:
        shown = False
    if not shown:
        yield lambda count: None
        return
    with tqdm(total=total, desc=label, unit="row") as drawn:
        yield drawn.update
