"""Text as pixels: each character in its cell, in one of the three vendored faces."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from itertools import groupby
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from generation.formats.raster.cells import TAB, covered, is_blank, is_combining, width_of

FONTS = Path(__file__).parent / "fonts"
FALLBACK = "dejavu"
INK = 28
SMALLEST, LARGEST = 6, 40  # pixels of type; what needs a smaller one is drawn larger and shrunk
FINE = 10  # pixels of type below which strokes are drawn thicker: a hair's breadth would be grey
LEADING = 1.2
MARGIN = 0.04  # of the side
MOST_LINES, MOST_COLUMNS = 500, 500


@cache
def font_of(face: str, size: float) -> ImageFont.FreeTypeFont:
    """Plain layout: no ligature may join cells, and no library of the system takes part."""
    return ImageFont.truetype(FONTS / f"{face}.ttf", size, layout_engine=ImageFont.Layout.BASIC)


def draw_text(text: str, *, side: int, face: str = FALLBACK) -> Image.Image:
    """A square of white with the text as large as it fits; a character that the face lacks is drawn in another."""
    lines = [line.expandtabs(TAB) for line in text.split("\n")[:MOST_LINES]]
    columns = min(max(map(width_of, lines), default=1), MOST_COLUMNS) or 1
    room = round(side * (1 - 2 * MARGIN))
    size = int(min(room / (0.6 * columns), room / (LEADING * len(lines)), LARGEST))
    sheet = _sheet(lines, columns, face, max(size, SMALLEST))
    if size < FINE:
        sheet = sheet.filter(ImageFilter.MinFilter(3))
    if max(sheet.size) > room:
        scale = room / max(sheet.size)
        width, height = (max(1, round(edge * scale)) for edge in sheet.size)
        sheet = sheet.resize((width, height), Image.Resampling.BOX)
    square = Image.new("L", (side, side), 255)
    square.paste(sheet, ((side - sheet.width) // 2, (side - sheet.height) // 2))
    return square


def _sheet(lines: list[str], columns: int, face: str, size: int) -> Image.Image:
    advance, step = font_of(face, size).getlength("M"), round(LEADING * size)
    sheet = Image.new("L", (max(1, round(advance * columns)), step * len(lines)), 255)
    pen = ImageDraw.Draw(sheet)
    for number, line in enumerate(lines):
        column = 0
        for shown, run in groupby(line, key=lambda character: _face_for(character, face)):
            words = "".join(run)
            if shown:
                _draw_run(pen, words, (advance * column, step * number), font_of(shown, size), advance)
            column += width_of(words)
            if column >= MOST_COLUMNS:
                break
    return sheet


def _draw_run(
    pen: ImageDraw.ImageDraw, words: str, at: tuple[float, float], font: ImageFont.FreeTypeFont, advance: float
) -> None:
    """In one stroke where the font's advance is the grid's; else cell by cell."""
    if words.isascii() and font.getlength("M") == advance:
        pen.text(at, words, fill=INK, font=font)
        return
    column = 0
    for character in words:
        pen.text((at[0] + advance * column, at[1]), character, fill=INK, font=font)
        column += width_of(character)


def _face_for(character: str, face: str) -> str:
    """Empty for what is not drawn: blanks, and marks that ride on another character."""
    if is_blank(character) or is_combining(character):
        return ""
    return face if character in covered(face) else FALLBACK


def png_of(picture: Image.Image) -> bytes:
    body = BytesIO()
    picture.save(body, "PNG", compress_level=6)
    return body.getvalue()
