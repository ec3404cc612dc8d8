"""A run that a crew is drawing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from generation.drawing.questions import Ended, Question
from generation.runs.loaded import LoadedRun


@dataclass(eq=False)
class ActiveRun:
    """A run's rows, what the crew remembers of it between turns, what is in flight and what has come back."""

    loaded: LoadedRun
    worker: str = ""  # who asks
    due: list[dict[str, Any]] = field(default_factory=list)  # samples found due a moment ago, to be claimed next
    due_at: float = 0.0
    failing: set[int] = field(default_factory=set)  # models whose last calls failed, as far as this crew knows
    unpriced: set[int] = field(default_factory=set)  # models not asked before their price is known
    flying: dict[asyncio.Task[None], Question] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)
    look_at: float = 0.0  # when to look for due samples again

    def reload(self, loaded: LoadedRun) -> None:
        """Today's rows; what was looked up among the old ones is forgotten."""
        self.loaded, self.due, self.unpriced = loaded, [], set()
