"""A judge's own figures at the end: nothing that tells who drew what, or how others voted, before judging is closed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from html import escape
from statistics import median

from django.conf import settings

from generation.models import Entrant, Run
from judging.gold.placing import shown_done, shown_total
from judging.models import JudgeTally, Seat
from judging.pairs.own.agreement import Agreement, Repeats, agreement_with_others, own_repeats
from judging.pairs.own.answers import SKIP
from judging.pairs.own.history import counts_by_choice
from judging.pairs.pages import names_shown

LEAST = 5  # comparisons of an entrant, before it can be a favourite
CARD_DRAWINGS = ("practice/walrus-master", "practice/lighthouse-master", "practice/hedgehog-master")


@dataclass(frozen=True)
class Figures:
    """How much, how fast, and how evenly a judge voted; the favourite only once names may be seen."""

    votes: int
    is_done: bool
    skipped: int
    left: int
    right: int
    neither: int
    minutes: int
    pace: float | None
    favourite: str
    won: int
    compared: int
    agreement: Agreement | None
    repeats: Repeats | None


def own_figures(seat: Seat) -> Figures:
    counts, total = counts_by_choice(seat), shown_total(seat)
    times = _times(seat)
    favourite, won, compared = _favourite(seat) if names_shown(seat.run) else ("", 0, 0)
    over = seat.run.judging_state == Run.Judging.CLOSED
    return Figures(
        votes=shown_done(seat),
        is_done=total is not None and shown_done(seat) >= total,
        skipped=counts[SKIP],
        left=counts["left"],
        right=counts["right"],
        neither=counts["tie"] + counts["fail"],
        minutes=round(sum(times) / 60_000),
        pace=median(times) / 1000 if times else None,
        favourite=favourite,
        won=won,
        compared=compared,
        agreement=agreement_with_others(seat) if over else None,
        repeats=own_repeats(seat) if over else None,
    )


def _times(seat: Seat) -> list[int]:
    """Of votes and checks alike, or the minutes would tell a check from a pair."""
    votes, checks = seat.votes.standing().order_by(), seat.gold_answers.standing().order_by()
    times = votes.values_list("response_ms", flat=True).union(checks.values_list("response_ms", flat=True), all=True)
    return [ms for ms in times if ms is not None]


def _favourite(seat: Seat) -> tuple[str, int, int]:
    """Whose drawings the judge chose the largest share of times, repeats apart; nobody where two share that place."""
    won: Counter[int] = Counter()
    met: Counter[int] = Counter()
    rows = JudgeTally.objects.filter(seat=seat, is_repeat=False)
    for left, right, outcome, votes in rows.values_list("left", "right", "outcome", "votes"):
        met.update({left: votes, right: votes})
        won.update({left: votes * (outcome == "left"), right: votes * (outcome == "right")})
    shares = sorted(((won[pk] / met[pk], pk) for pk in met if met[pk] >= LEAST), reverse=True)
    if not shares or not shares[0][0] or (len(shares) > 1 and shares[0][0] == shares[1][0]):
        return "", 0, 0
    best = shares[0][1]
    return Entrant.objects.values_list("label", flat=True).get(pk=best), won[best], met[best]


def card(title: str, votes: int) -> str:
    """A picture to share, 1200 × 630: how much was judged, and where; its drawings come with the site, and no name is on it."""
    pairs = f"{votes:,} pair{'' if votes == 1 else 's'}"
    face = 'font-family="system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif" fill="#1d1c1a"'
    tiles = (
        f'<rect x="{80 + 356 * place}" y="268" width="328" height="220" rx="4" fill="#ffffff" stroke="#d9d5cc"/>'
        f'<svg x="{142 + 356 * place}" y="276" width="204" height="204" viewBox="0 0 200 200">{_inside(name)}</svg>'
        for place, name in enumerate(CARD_DRAWINGS)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" width="1200" height="630">'
        '<rect width="1200" height="630" fill="#fbfaf7"/>'
        f'<svg x="80" y="56" width="44" height="44" viewBox="0 0 32 32">{_inside("icon")}</svg>'
        f'<text x="140" y="90" font-size="34" font-weight="600" {face}>Benchsite</text>'
        f'<text x="80" y="204" font-size="62" font-weight="700" {face}>I judged {pairs}, blind.</text>{"".join(tiles)}'
        f'<text x="80" y="552" font-size="32" {face}>{escape(title[:60])}</text>'
        f'<text x="80" y="594" font-size="24" {face}>Drawings by language models, judged by people.</text></svg>'
    )


@cache
def _inside(name: str) -> str:
    """What stands between the tags of one of the site's own pictures."""
    text = (settings.BASE_DIR / "static" / f"{name}.svg").read_text(encoding="utf-8")
    return text.partition(">")[2].rpartition("</svg>")[0]
