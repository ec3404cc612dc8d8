"""Which animations flash. WCAG 2.3.1 draws the line at three flashes a second; a flash is a change and a change back."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import islice

from lxml import etree

from generation.formats.svg.names import ANIMATION
from generation.formats.svg.parsing import SVG, XLINK, local

PAINT = frozenset(
    [
        "fill",
        "stroke",
        "color",
        "opacity",
        "fill-opacity",
        "stroke-opacity",
        "stop-color",
        "stop-opacity",
        "flood-color",
        "flood-opacity",
        "lighting-color",
        "visibility",
        "display",
        "filter",
        "background",
        "background-color",
    ]
)
PAINT_CHANGES = 6  # a second: three flashes
OTHER_CHANGES = 20  # a second: motion this fast flickers too
CLOCK = re.compile(r"(?:(\d++):)?(?:(\d++):)?(\d++(?:\.\d++)?|\.\d++)(h|min|ms|s)?")
UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001, None: 1.0}
MANY = 400  # more events than this in the two seconds looked at need no further count


def find_strobes(root: etree._Element) -> set[etree._Element]:
    """The SMIL animations that make their target flash, alone or together."""
    targets: dict[object, list[tuple[etree._Element, list[float], bool]]] = defaultdict(list)
    for element in root.iter(*(f"{{{SVG}}}{name}" for name in ANIMATION)):
        paints = element.get("attributeName", "").strip() in PAINT
        target = (element.get("href") or element.get(f"{{{XLINK}}}href") or element.getparent(), paints)
        targets[target].append((element, _change_times(element), paints))
    return {
        element
        for group in targets.values()
        if _most_in_a_second([time for _, times, _ in group for time in times])
        > (PAINT_CHANGES if group[0][2] else OTHER_CHANGES)
        for element, _, _ in group
    }


def parse_clock(text: str) -> float | None:
    """Seconds of a SMIL clock value such as `0.5s`, `50ms` or `00:01:02.5`; None for anything else."""
    match = CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    first, second, last, unit = match.groups()
    clock = [float(part) for part in (first, second, last) if part is not None]
    seconds = math.fsum(part * 60**place for place, part in enumerate(reversed(clock)))
    return seconds * UNITS[unit] if math.isfinite(seconds) else None


def _change_times(element: etree._Element) -> list[float]:
    """When the animated value changes, over at most two seconds of each start."""
    duration = parse_clock(element.get("dur", ""))
    begins = element.get("begin", "0s").split(";")
    starts = [start for start in map(parse_clock, begins) if start is not None][:MANY]
    if any("." in begin and parse_clock(begin) is None for begin in begins):
        # Begins when another one ends or repeats: two such can chase each other for ever.
        starts += [step * duration for step in range(MANY)] if duration and duration < 1 else [0.0]
    cycle = _cycle(element, duration)
    repeats = _repeats(element)
    if not cycle or not duration or repeats <= 1:
        return list(islice((start + time for start in starts for time in cycle or [0.0]), MANY))
    rounds = int(min(repeats, 2 / duration + 1, MANY))
    laps = (start + lap * duration for start in starts or [0.0] for lap in range(rounds))
    return list(islice((lap + time for lap in laps for time in cycle), MANY))


def _cycle(element: etree._Element, duration: float | None) -> list[float]:
    """Times of the changes within one run; a jump back to the first value counts."""
    if local(element) == "set" or not duration:
        return []
    values = [value.strip() for value in element.get("values", "").split(";") if value.strip()] or ["from", "to"]
    last = max(1, len(values) - 1)
    keys = [parse_clock(key) for key in element.get("keyTimes", "").split(";")]
    times = [key for key in keys if key is not None]
    if len(times) != len(values) or len(keys) != len(values):
        times = [step / last for step in range(len(values))]
    changes = [times[step] * duration for step in range(1, len(values)) if values[step] != values[step - 1]]
    return changes + ([duration] if values[0] != values[-1] and _repeats(element) > 1 else [])


def _repeats(element: etree._Element) -> float:
    if element.get("repeatDur"):
        return math.inf
    count = element.get("repeatCount", "1").strip()
    try:
        return math.inf if count == "indefinite" else max(1.0, float(count))
    except ValueError:
        return 1.0


def _most_in_a_second(times: list[float]) -> int:
    times = sorted(times)
    most = first = 0
    for last, time in enumerate(times):
        while time - times[first] >= 1:
            first += 1
        most = max(most, last - first + 1)
    return most
