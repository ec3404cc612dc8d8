"""What accepted drawings cost a browser: families of adversarial shapes, each as large as the gate lets in.

Processor time of Chromium's processes, less that of an empty drawing, so that other work on the machine counts little.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from tests.services import find_chromium

SIDE = 800  # pixels
# Without partial raster, a frame does not depend on what was painted before it.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-partial-raster",
)
TICK = os.sysconf("SC_CLK_TCK")
MOST = 20_000  # copies that are tried
FRAMES = 4
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"/>'

FREEZE = """at => {
  const svg = document.documentElement;
  svg.pauseAnimations(); svg.setCurrentTime(at / 1000);
  for (const animation of document.getAnimations()) { animation.pause(); animation.currentTime = at }
  return new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}"""

Family = Callable[[int], str]


def svg(inside: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{inside}</svg>'


def filtered(primitives: str, attributes: str = "") -> Family:
    shape = '<rect width="100" height="100" fill="red" opacity=".9" filter="url(#f)"/>'
    return lambda n: svg(f'<filter id="f" {attributes}>{primitives}</filter>{shape * n}')


def repeated(shape: str, before: str = "") -> Family:
    return lambda n: svg(before + shape * n)


def stops(kind: str, count: int) -> str:
    colours = (f'<stop offset="{i / count:.3f}" stop-color="#{i % 10}{i % 7}{i % 5}"/>' for i in range(count))
    return f'<{kind}Gradient id="g">{"".join(colours)}</{kind}Gradient>'


def doubled(n: int) -> str:
    """Each step takes the one before twice: a browser that forgets would work for ever."""
    steps = "".join(f'<feBlend in="r{i}" in2="r{i}" result="r{i + 1}"/>' for i in range(n))
    return svg(
        f'<filter id="f"><feOffset result="r0"/>{steps}</filter><rect width="100" height="100" filter="url(#f)"/>'
    )


def zigzag(n: int, paint: str) -> str:
    return svg(f'<path {paint} d="M0 0{"".join(f"L{i * 37 % 100} {i * 61 % 100}" for i in range(n))}"/>')


RECT = '<rect width="100" height="100" {}/>'
GREY = RECT.format('fill="#888"')
BIG = '<circle cx="50" cy="50" r="60" {}/>'
FAMILIES: dict[str, Family] = {
    "blurs": filtered('<feGaussianBlur stdDeviation="2"/>'),
    "wide blurs": filtered('<feGaussianBlur stdDeviation="40"/>'),
    "blurs of boxes": filtered('<feGaussianBlur stdDeviation=".3"/>', 'primitiveUnits="objectBoundingBox"'),
    "large regions": filtered('<feGaussianBlur stdDeviation="5"/>', 'x="-20" y="-20" width="49" height="49"'),
    "fixed regions": filtered(
        '<feGaussianBlur stdDeviation="5"/>',
        'filterUnits="userSpaceOnUse" x="-900" y="-900" width="2000" height="2000"',
    ),
    "lighting": filtered(
        '<feSpecularLighting specularExponent="20"><feSpotLight x="50" y="50" z="30"/></feSpecularLighting>'
    ),
    "noise": filtered('<feTurbulence baseFrequency=".05" numOctaves="12"/>'),
    "kernels": filtered(f'<feConvolveMatrix order="15" kernelMatrix="{"1 " * 225}"/>'),
    "morphology": filtered('<feMorphology radius="20" operator="dilate"/>'),
    "tiles": filtered('<feOffset dx="1"/><feTile/>'),
    "displacement": filtered('<feTurbulence/><feDisplacementMap in="SourceGraphic" scale="50"/>'),
    "doubling": doubled,
    "css blurs": repeated(RECT.format('style="filter:blur(3px)"')),
    "css shadows": repeated(RECT.format('style="filter:drop-shadow(1px 1px 3px)"')),
    "css filters by class": repeated(RECT.format('class="a"'), "<style>.a{filter:blur(4px) saturate(2)}</style>"),
    "css masks": repeated(RECT.format('style="mask-image:linear-gradient(#000,transparent)"')),
    "many css masks": lambda n: svg(RECT.format(f'style="mask:{",".join(["linear-gradient(#000,transparent)"] * n)}"')),
    "masks": repeated(RECT.format('mask="url(#m)"'), f'<mask id="m">{GREY}</mask>'),
    "clips": repeated(
        RECT.format('clip-path="url(#c)"'), '<clipPath id="c"><text y="50" font-size="50">abc</text></clipPath>'
    ),
    "groups": repeated(f'<g opacity=".5">{GREY}<circle cx="50" cy="50" r="60" fill="red"/></g>'),
    "blending": repeated(RECT.format('fill="red" style="mix-blend-mode:hue"')),
    "fills": repeated(BIG.format('fill="red" fill-opacity=".1"')),
    "gradients": repeated(RECT.format('fill="url(#g)"'), stops("radial", 2)),
    "stops": repeated(RECT.format('fill="url(#g)"'), stops("radial", 400)),
    "gradients by class": repeated(RECT.format('class="a"'), "<style>.a{fill:url(#g)}</style>" + stops("radial", 9)),
    "patterns": repeated(
        RECT.format('fill="url(#p)"'),
        '<pattern id="p" width=".01" height=".01" patternUnits="userSpaceOnUse"><rect width=".005" height=".005"/></pattern>',
    ),
    "scaled uses": lambda n: svg(
        '<filter id="f"><feGaussianBlur stdDeviation=".2"/></filter><defs><rect id="u" width="1" height="1" '
        'filter="url(#f)"/></defs>' + '<use href="#u" transform="scale(100)"/>' * n
    ),
    "scaled groups": repeated(
        '<g transform="scale(100)"><rect width="1" height="1" filter="url(#f)"/></g>',
        '<filter id="f"><feGaussianBlur stdDeviation=".2"/></filter>',
    ),
    "scaled by css": repeated(
        '<rect class="a" width="1" height="1" filter="url(#f)"/>',
        '<style>.a{transform:scale(100)}</style><filter id="f"><feGaussianBlur stdDeviation=".2"/></filter>',
    ),
    "dashes": repeated('<circle cx="50" cy="50" r="48" fill="none" stroke="red" stroke-dasharray=".05 .05"/>'),
    "wide dashes": repeated(
        '<circle cx="50" cy="50" r="48" fill="none" stroke="red" stroke-width="40" stroke-dasharray=".1 .1"/>'
    ),
    "round dashes": repeated(
        '<path d="M0 0C99 0 0 99 99 99" fill="none" stroke="red" stroke-width="9" stroke-linecap="round" '
        'stroke-dasharray=".02 .05"/>'
    ),
    "zigzags": lambda n: zigzag(n, 'fill="red"'),
    "wide zigzags": lambda n: zigzag(n, 'fill="none" stroke="red" stroke-width="20" stroke-opacity=".5"'),
    "text shadows": repeated('<text y="50" font-size="40" style="text-shadow:1px 1px 9px red">abcdef</text>'),
}


def address_of(drawing: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"


def largest_accepted(family: Family) -> tuple[int, str]:
    """How many copies the gate lets in, and the drawing as it would be shown; within one in twenty."""
    low, high, drawing = 0, 1, ""
    while high <= MOST and (read := FORMAT.extract(Answer(family(high)))).drawing:
        low, high, drawing = high, high * 2, read.drawing
    high = min(high, MOST)
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        read = FORMAT.extract(Answer(family(middle)))
        low, high, drawing = (middle, high, read.drawing) if read.drawing else (low, middle, drawing)
    return low, drawing


def processes(pid: int) -> list[int]:
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()
    ]
    return [pid, *(below for child in children for below in processes(child))]


def processor_time(pid: int) -> float:
    seconds = 0.0
    for process in processes(pid):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        seconds += (int(fields[11]) + int(fields[12])) / TICK
    return seconds


class Painter:
    """A page of Chromium, and what its processes have cost."""

    def __init__(self, page: Page) -> None:
        self.page = page
        running = (process for process in processes(os.getpid()) if self._is_browser(process))
        self.browser = next(running)
        self.idle = 0.0
        self.idle = min(self.seconds(EMPTY) for _ in range(4))

    @staticmethod
    def _is_browser(process: int) -> bool:
        return "--user-data-dir" in Path(f"/proc/{process}/cmdline").read_text()

    def seconds(self, drawing: str) -> float:
        """Processor time to show a drawing as judges see it, from its bytes to its pixels."""
        self.page.goto("about:blank")
        before = processor_time(self.browser)
        self.show(drawing)
        return processor_time(self.browser) - before - self.idle

    def frame_seconds(self, drawing: str) -> float:
        """Processor time of one frame of a drawing that moves: its clock is set, and what it shows then is painted."""
        self.page.goto(address_of(drawing))
        self._frame(0)
        before = processor_time(self.browser)
        for number in range(1, FRAMES + 1):
            self._frame(150 * number)
        return (processor_time(self.browser) - before) / FRAMES - self.idle

    def _frame(self, moment: int) -> None:
        self.page.evaluate(FREEZE, moment)
        self.page.screenshot(timeout=0)

    def show(self, drawing: str) -> bytes:
        picture = f'<img width="{SIDE}" height="{SIDE}" src="{address_of(drawing)}">'
        self.page.set_content(f'<body style="margin:0">{picture}', timeout=0)
        self.page.evaluate("document.images[0].decode().catch(() => 0)")
        return self.page.screenshot(timeout=0)


@contextmanager
def painter() -> Iterator[Painter]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield Painter(browser.new_page(viewport={"width": SIDE, "height": SIDE}))
        browser.close()


def family_table(families: Mapping[str, Family], measure: Callable[[Painter, str], float]) -> list[dict[str, Any]]:
    """Each family at its largest, and the seconds that it takes; a family that the gate lets in nothing of is left out."""
    rows = []
    with painter() as chromium:
        for name, family in families.items():
            copies, drawing = largest_accepted(family)
            if drawing:
                rows.append({"shapes": name, "copies": copies, "seconds": round(measure(chromium, drawing), 2)})
    return rows
