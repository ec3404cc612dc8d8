"""What the demo provider charged, request by request, so that a ledger can be compared with it."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Charge:
    """One request as the provider saw it."""

    id: str
    model: str
    question: str  # a digest of model and messages: equal questions are equal here
    status: int
    cost_nano: int
    authorization: bool


@dataclass
class Bill:
    """All lines so far, and how many requests were open at once."""

    lines: list[Charge] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    requests: int = 0
    connections: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def open(self) -> int:
        """Count a request in; its number, from 0."""
        with self._lock:
            self.requests += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            return self.requests - 1

    def connect(self) -> None:
        with self._lock:
            self.connections += 1

    def close(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def charge(self, line: Charge) -> None:
        with self._lock:
            self.lines.append(line)

    @property
    def total_nano(self) -> int:
        with self._lock:
            return sum(line.cost_nano for line in self.lines)

    def find(self, generation_id: str) -> Charge | None:
        with self._lock:
            return next((line for line in reversed(self.lines) if line.id == generation_id), None)

    def to_dict(self, *, log: bool = True) -> dict[str, object]:
        summary: dict[str, object] = {
            "total_nano": self.total_nano,
            "requests": self.requests,
            "connections": self.connections,
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
        }
        with self._lock:
            return {**summary, "log": [asdict(line) for line in self.lines]} if log else summary
