"""How often an entrant drew anything valid, and how well its drawings hold up in every font."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ranking.statistics.ratings.intervals import wilson

ByPrompt = Mapping[tuple[str, str], tuple[int, int]]


@dataclass(frozen=True)
class SampleRate:
    """One entrant's samples: valid ones with Wilson's interval, and the mean visual robustness of the valid ones.

    `robustness` is how much a drawing looks in its worst font as in the others, `similarity` the same of each font; `coverage` is
    the share of its cells that its worst font can show, `fonts` the share in each font. All are means over the same `measured`
    drawings. `by_prompt` has answers and valid ones by category and prompt.
    """

    samples: int
    valid: int
    valid_rate: float | None
    low: float | None
    high: float | None
    robustness: float | None
    measured: int
    fonts: dict[str, float]
    coverage: float | None = None
    similarity: dict[str, float] = field(default_factory=dict)
    by_prompt: ByPrompt = field(default_factory=dict)

    def in_category(self, category: str) -> SampleRate:
        """The same of one category; fonts are known for the whole only."""
        counts = {key: pair for key, pair in self.by_prompt.items() if key[0] == category}
        answers, valid = (sum(pair[n] for pair in counts.values()) for n in (0, 1))
        return sample_rate(samples=answers, valid=valid, measures=(), by_prompt=counts)


def sample_rate(
    *, samples: int, valid: int, measures: Iterable[Mapping[str, Any]], by_prompt: ByPrompt | None = None
) -> SampleRate:
    """From counts and from what was measured of the valid drawings; what is no share is passed over."""
    low, high = wilson(valid, samples)
    known = [values for values in measures if is_share(values.get("robustness"))]
    # What was measured before pictures were compared has coverage alone, under the name of robustness.
    compared = [values for values in known if "similarity" in values]
    used = compared or known
    rate = valid / samples if samples else None
    return SampleRate(
        samples,
        valid,
        rate,
        low,
        high,
        robustness=mean([values["robustness"] for values in compared]),
        measured=len(used),
        fonts=means_by_font(used, "fonts"),
        coverage=mean([values.get("coverage", values["robustness"]) for values in used]),
        similarity=means_by_font(compared, "similarity"),
        by_prompt=by_prompt or {},
    )


def rates_by_entrant(
    by_prompt: Mapping[str, ByPrompt], measures: Mapping[str, Iterable[Mapping[str, Any]]]
) -> dict[str, SampleRate]:
    """Each entrant's, from its answers and valid ones by prompt, and from what was measured of its valid drawings."""
    return {
        name: sample_rate(
            samples=sum(count for count, _ in counts.values()),
            valid=sum(good for _, good in counts.values()),
            measures=measures.get(name, ()),
            by_prompt=counts,
        )
        for name, counts in sorted(by_prompt.items())
    }


def means_by_font(measures: Iterable[Mapping[str, Any]], key: str) -> dict[str, float]:
    shares: dict[str, list[float]] = {}
    for values in measures:
        by_font = values.get(key)
        for font, share in by_font.items() if isinstance(by_font, Mapping) else ():
            if is_share(share):
                shares.setdefault(font, []).append(share)
    return {font: sum(each) / len(each) for font, each in sorted(shares.items())}


def is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


def mean(shares: list[float]) -> float | None:
    return sum(shares) / len(shares) if shares else None
