"""The pictures that links to leaderboards and drawings bring along (Open Graph): 1200 × 630, always light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from ranking.charts.markers import CORNERS, look_of

WIDTH, HEIGHT = SIZE = (1200, 630)
MARGIN, TOP, STEP, MOST = 60, 262, 54, 6
TILE, GAP = 300, 40  # of the drawing
LINES = 3  # of the sentence
LEFT, RIGHT = 480, 1040
PAPER, INK, SOFT, LINE, ACCENT, WARN = "#fbfaf7", "#1d1c1a", "#5d5a54", "#d9d5cc", "#0b5cad", "#8a5300"
FONT = Path(__file__).resolve().parents[2] / "generation" / "formats" / "raster" / "fonts" / "dejavu-sans.ttf"


@dataclass(frozen=True)
class SharedRow:
    """One entrant: its name and score, and its interval where it has one."""

    name: str
    score: float
    low: float | None
    high: float | None
    number: int = 0  # its place in the order of entry, which gives its colour and marker


def draw_share_picture(
    title: str, sentence: str, rows: Sequence[SharedRow], *, label: str = "", drawing: bytes | None = None
) -> bytes:
    """A PNG of the title, what the page says first, and the first rows as markers with their intervals.

    `drawing`, a square PNG, stands beside the rows where there is one. `label` marks demo or simulated data; it stands in the picture, because a picture travels without its page.
    """
    picture = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN, 50), _fitted(title, 48, 1060), fill=INK, font=_font(48), stroke_width=1, stroke_fill=INK)
    size, colour = (28, SOFT) if rows else (40, INK)  # it has the picture to itself
    for number, line in enumerate(_shortened(_wrapped(sentence, size, 1080), LINES)):
        pen.text((MARGIN, 122 + (6 if rows else 60) + (size + 8) * number), line, fill=colour, font=_font(size))
    right = RIGHT
    if drawing is not None:
        right = RIGHT - TILE - GAP
        corner = SIZE[0] - MARGIN - TILE, TOP - 20
        pen.rectangle([corner, (corner[0] + TILE, corner[1] + TILE)], fill="#ffffff", outline=LINE)
        inner = Image.open(BytesIO(drawing)).convert("RGB").resize((TILE - 20, TILE - 20))
        picture.paste(inner, (corner[0] + 10, corner[1] + 10))
    _draw_rows(pen, rows[:MOST], right=right)
    first = f" · the first {MOST} of {len(rows)}" if len(rows) > MOST else ""
    pen.text((MARGIN, 582), f"Benchsite{' · 95% intervals' if rows else ''}{first}", fill=SOFT, font=_font(22))
    if label:
        pen.text((SIZE[0] - MARGIN, 582), label, fill=WARN, font=_font(22), anchor="ra")
    return _png(picture)


def draw_drawing_picture(prompt: str, drawn_by: str, about: str, drawing: bytes | None, *, label: str = "") -> bytes:
    """A PNG of the prompt and who drew it; the drawing, a square PNG, stands beside it where there is one."""
    picture = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(picture)
    left = MARGIN
    if drawing is not None:
        picture.paste(Image.open(BytesIO(drawing)).convert("RGB").resize((HEIGHT, HEIGHT)), (0, 0))
        pen.line([(HEIGHT, 0), (HEIGHT, HEIGHT)], fill=LINE)
        left = HEIGHT + 44
    width = SIZE[0] - left - 44
    pen.rounded_rectangle([(left, 42), (left + 30, 72)], radius=6, fill=ACCENT)
    pen.text((left + 44, 57), "Benchsite", fill=INK, font=_font(22), anchor="lm")
    lines = _shortened(_wrapped(f"“{prompt[:1].upper()}{prompt[1:]}”", 42, width), 5)
    for number, line in enumerate(lines):
        pen.text((left, 120 + 54 * number), line, fill=INK, font=_font(42), stroke_width=1, stroke_fill=INK)
    below = 150 + 54 * len(lines)
    pen.text((left, below), _fitted(drawn_by, 32, width), fill=INK, font=_font(32))
    pen.text((left, below + 48), _fitted(about, 22, width), fill=SOFT, font=_font(22))
    pen.line([(left, 540), (SIZE[0] - 44, 540)], fill=LINE)
    if label:
        pen.text((left, 582), label, fill=WARN, font=_font(22))
    return _png(picture)


def _png(picture: Image.Image) -> bytes:
    body = BytesIO()
    picture.save(body, "PNG", optimize=True)
    return body.getvalue()


def _draw_rows(pen: ImageDraw.ImageDraw, rows: Sequence[SharedRow], *, right: int) -> None:
    if not rows:
        return
    lows = [row.score if row.low is None else row.low for row in rows]
    highs = [row.score if row.high is None else row.high for row in rows]
    low, span = min(lows), max(highs) - min(lows) or 1.0

    left = LEFT if right == RIGHT else LEFT - 100

    def across(value: float) -> float:
        return left + (right - left) * (value - low) / span

    for number, row in enumerate(rows):
        y = TOP + STEP * number
        pen.text((MARGIN, y), _fitted(row.name, 26, left - MARGIN - 20), fill=INK, font=_font(26), anchor="lm")
        pen.line([(left, y), (right, y)], fill=LINE)
        pen.line([(across(lows[number]), y), (across(highs[number]), y)], fill=INK, width=3)
        _draw_marker(pen, row.number, across(row.score), y)
        score = f"{row.score:,.{0 if abs(row.score) >= 100 else 1 if abs(row.score) >= 10 else 2}f}"
        pen.text((right + 100, y), score, fill=INK, font=_font(26), anchor="rm")


def _draw_marker(pen: ImageDraw.ImageDraw, number: int, x: float, y: float, *, size: float = 10) -> None:
    colour, shape, filled = look_of(number)
    paint: dict[str, Any] = {"fill": colour} if filled else {"fill": "#ffffff", "outline": colour, "width": 3}
    if shape == "circle":
        pen.ellipse([x - size, y - size, x + size, y + size], **paint)
    else:
        pen.polygon([(x + size * a, y + size * b) for a, b in CORNERS[shape]], **paint)


def _shortened(lines: Sequence[str], most: int) -> list[str]:
    """The first lines; an ellipsis says that there were more."""
    return [*lines] if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1].rstrip('.,;')} …"]


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONT), size)


def _fitted(text: str, size: int, width: int) -> str:
    """The text, cut with an ellipsis where it is too wide."""
    font = _font(size)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


def _wrapped(text: str, size: int, width: int) -> list[str]:
    font, lines = _font(size), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(_fitted(word, size, width))
    return lines
