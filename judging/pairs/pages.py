"""A matchup as a judge sees it: the prompt and two drawings, and nothing that tells whose they are."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from statistics import median
from typing import Any

from django.db.models import Window
from django.db.models.functions import RowNumber
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from generation.models import Run
from judging.gold.placing import shown_done, shown_total
from judging.models import GoldAnswer, Matchup, Seat, Vote
from judging.pairs.matchups import load_drawings, samples_of
from judging.pairs.own.answers import LastAnswer, last_answer
from judging.pairs.planning import plan_of
from judging.pairs.serving import Screen
from judging.rules import rules_of
from judging.seats import StaleSeatError

FONTS = ((1, "Courier"), (2, "DejaVu"), (3, "Fira"))
ONE_FONT = ((2, ""),)  # for text that looks the same in all
WIDEST, TALLEST = 240, 120
RECENT = 21  # answers that the pace is the median of


@dataclass(frozen=True)
class Side:
    name: str
    text: str | None  # None where the format is shown as a picture

    @property
    def label(self) -> str:
        return _("Left drawing") if self.name == "left" else _("Right drawing")

    @property
    def place(self) -> str:
        """Where it stands on a phone."""
        return _("Top") if self.name == "left" else _("Bottom")


@dataclass(frozen=True)
class Shown:
    """One matchup on a page: text in each of `fonts`, by number and name. Both sides get the scale of the larger drawing."""

    code: str
    prompt: str
    category: str
    sides: tuple[Side, Side]
    columns: int
    rows: int
    fonts: tuple[tuple[int, str], ...]
    faces: str = "stack"
    reference: str = ""  # the code of the prompt, where it has a reference picture


def fonts_of(run: Run) -> tuple[tuple[int, str], ...]:
    """The fonts that a judge can mark; none where the format does not ask for them."""
    return FONTS if run.drawing_format.shown_in_fonts else ()


def shown(matchup: Matchup) -> Shown:
    run, rules = matchup.run, rules_of(matchup.run.code)
    as_text, fonts = run.drawing_format.shown_as == "text", fonts_of(run)
    load_drawings(matchup)
    left, right = (sample.drawing if as_text else "" for sample in samples_of(matchup))
    columns, rows = scale_of(left, right)
    return Shown(
        code=matchup.code,
        prompt=rules.prompt_text(matchup.prompt) if matchup.prompt else "",
        category=rules.label(matchup.category),
        sides=(Side("left", left if as_text else None), Side("right", right if as_text else None)),
        columns=columns,
        rows=rows,
        fonts=fonts or ONE_FONT,
        faces=rules.judging.faces if fonts else "one",
        reference=rules.pictured.get(matchup.prompt_id or 0, ""),
    )


def scale_of(*drawings: str) -> tuple[int, int]:
    """Columns and rows that hold each of these texts, in steps that the stylesheet has classes for."""
    lines = [line for drawing in drawings for line in drawing.expandtabs().splitlines()]
    rows = max(len(drawing.splitlines()) for drawing in drawings)
    return _step(max((len(line) for line in lines), default=0), 4, WIDEST), _step(rows, 2, TALLEST)


def _step(value: int, step: int, most: int) -> int:
    """Rounded up to a step that the stylesheet has a class for."""
    return min(max(-(-value // step) * step, step), most)


# Places in a rendered pair, in letters that an address may have too.
PLACES = {name: f"place{name}".ljust(12, "z")[:12] for name in ("code", "prompt", "category", "left", "right")}
SIZES = {"columns": 987_654_321, "rows": 987_654_322}
_PLACE = re.compile("|".join([*PLACES.values(), *map(str, SIZES.values())]))


def pair_html(matchup: Matchup) -> str:
    """The template, rendered once for each layout, with this pair's own values in its places."""
    pair = shown(matchup)
    left, right = (side.text for side in pair.sides)
    layout = (left is not None, bool(pair.category), pair.fonts, pair.faces, pair.reference)
    pieces, places = _pieces(*layout, get_language() or "")
    values = {
        "code": pair.code,
        "prompt": pair.prompt,
        "category": pair.category,
        "left": left or "",
        "right": right or "",
    }
    texts: dict[str, str] = {PLACES[name]: escape(value) for name, value in values.items()}
    texts |= {str(SIZES["columns"]): str(pair.columns), str(SIZES["rows"]): str(pair.rows)}
    return "".join([*chain.from_iterable(zip(pieces, [texts[place] for place in places], strict=False)), pieces[-1]])


@lru_cache(maxsize=256)
def _pieces(
    as_text: bool, has_category: bool, fonts: tuple[tuple[int, str], ...], faces: str, reference: str, language: str
) -> tuple[list[str], list[str]]:
    """What stands between the places of a layout in the present language, and the places in their order."""
    layout = Shown(
        code=PLACES["code"],
        prompt=PLACES["prompt"],
        category=PLACES["category"] if has_category else "",
        sides=(Side("left", PLACES["left"] if as_text else None), Side("right", PLACES["right"] if as_text else None)),
        columns=SIZES["columns"],
        rows=SIZES["rows"],
        fonts=fonts,
        faces=faces,
        reference=reference,
    )
    html = render_to_string("judging/_pair.html", {"pair": layout})
    return _PLACE.split(html), _PLACE.findall(html)


def progress(seat: Seat) -> dict[str, int | None]:
    done, total = shown_done(seat), shown_total(seat)
    left = max(total - done, 0) if total else None
    percent = min(100 * done // total, 100) if total else None
    return {"done": done, "left": left, "total": total, "percent": percent}


def bar(seat: Seat) -> dict[str, int | str]:
    """How far the judge is, in words and as a bar: of the quota, or of a round, as many votes as there are pairs of entrants.

    A round counts votes, not places in the plan: a bar that stood still would announce a repeat, or a check.
    """
    done = shown_done(seat)
    if total := shown_total(seat):
        return {"words": _("%(done)s of %(total)s") % {"done": done, "total": total}, "value": done, "max": total}
    try:
        size = plan_of(seat).cycle
    except StaleSeatError:  # drawn anew by another request; the next page knows it
        size = 0
    if size < 2:
        return {"words": _("%(done)s judged") % {"done": done}}
    rounds, place = divmod(done, size)
    figures = {"done": done, "round": rounds + 1, "place": place, "size": size}
    words = _("%(done)s judged · round %(round)s: %(place)s of %(size)s") % figures
    return {"words": words, "value": place, "max": size}


def paces(seats: list[Seat]) -> dict[int, float]:
    """Seconds a pair by seat, the median of its last answers, checks among them; not of a seat with fewer than five."""
    recent: dict[int, list[tuple[datetime, int]]] = defaultdict(list)
    place = Window(RowNumber(), partition_by="seat_id", order_by="-id")
    for answers, at in ((Vote.objects.all(), "voted_at"), (GoldAnswer.objects.all(), "answered_at")):
        timed = answers.filter(seat__in=seats).exclude(response_ms=None).annotate(place=place).filter(place__lte=RECENT)
        for seat, answered_at, taken in timed.values_list("seat_id", at, "response_ms"):
            recent[seat].append((answered_at, taken))
    newest = {seat: [taken for _at, taken in sorted(own, reverse=True)[:RECENT]] for seat, own in recent.items()}
    return {seat: median(taken) / 1000 for seat, taken in newest.items() if len(taken) >= 5}


def time_left(seat: Seat, pace: float | None) -> float | None:
    """Seconds that the rest of the judge's quota will take at that pace; None where there is nothing to tell by."""
    left = progress(seat)["left"]
    return left * pace if left and pace else None


def can_undo(run: Run) -> bool:
    return run.judging_state == Run.Judging.OPEN and rules_of(run.code).judging.reveal != "after_vote"


def names_shown(run: Run) -> bool:
    """Whether a judge may see who drew what in the history of own votes."""
    reveal = rules_of(run.code).judging.reveal
    return reveal == "after_vote" or (reveal == "closed" and run.judging_state == Run.Judging.CLOSED)


def revealed(matchup: Matchup) -> dict[str, str] | None:
    """Who drew the two sides, once voted on, in a run that tells."""
    if rules_of(matchup.run.code).judging.reveal != "after_vote":
        return None
    left, right = samples_of(matchup)
    return {"left": left.entrant.label, "right": right.entrant.label}


def screen_json(screen: Screen, *, have: str = "", undo: str = "") -> dict[str, Any]:
    """The screen for the page's script; a pair that the page already has (`have`) is named, not sent again."""

    def packed(matchup: Matchup | None) -> dict[str, str] | None:
        if matchup is None:
            return None
        return {"code": matchup.code} | ({} if matchup.code == have else {"html": pair_html(matchup)})

    return {
        "current": packed(screen.current),
        "next": packed(screen.upcoming),
        "undo": undo or None,
        "progress": progress(screen.seat) | bar(screen.seat),
    }


def newest_answer(seat: Seat, current: Matchup | None) -> LastAnswer:
    """Nothing can be undone while judging is not open."""
    return last_answer(seat, current) if seat.run.judging_state == Run.Judging.OPEN else LastAnswer()


def home_part(seats: list[Seat]) -> dict[str, Any]:
    """What a judge's first page shows of runs that are judged by pairs."""
    took = paces(seats)
    rows = [
        (seat, rules_of(seat.run.code).judging, progress(seat), took.get(seat.pk), time_left(seat, took.get(seat.pk)))
        for seat in seats
    ]
    return {"rows": rows, "fonts": any(fonts_of(seat.run) for seat in seats)}
