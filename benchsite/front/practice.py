"""A pair that any visitor can vote on at once: from finished runs, else from a small set that comes with the site.

Nothing is stored: the vote is part of the address, and the answer shows names and what the judges of the run chose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from django.templatetags.static import static
from django.urls import reverse

from benchsite.templatetags.wording import percent, thousands
from generation.models import Run, Sample
from generation.protocols import load, protocols_of
from ranking.best import PracticePair
from ranking.models import Fit, Standing
from ranking.words import rank_words

RUNS, PAIRS = 2, 5  # finished runs that are asked for pairs, and pairs in a round
CHOICES = {"left": "left", "right": "right", "tie": "both good", "fail": "both bad"}
SHIPPED = (
    ("walrus", "a walrus on a unicycle reading a map"),
    ("lighthouse", "a lighthouse on a bicycle"),
    ("hedgehog", "a hedgehog with balloons"),
)
PLAYERS = (("apprentice", "Demo Apprentice"), ("master", "Demo Master"))


@dataclass(frozen=True)
class Side:
    """One drawing: a text, or a picture at an address."""

    name: str  # left, right
    drawn_by: str
    text: str | None = None
    picture: str = ""
    page: str = ""
    entrant: int | None = None


@dataclass(frozen=True)
class Pair:
    code: str
    prompt: str
    sides: tuple[Side, Side]
    run: Run | None = None  # None for the set that comes with the site
    protocol: str = ""  # by which the votes on it count
    votes: Counter[str] = field(default_factory=Counter)
    simulated: bool = False


@dataclass(frozen=True)
class Practice:
    """A pair on the page, before or after the visitor's vote."""

    pair: Pair
    number: int
    total: int
    next_code: str
    choice: str = ""
    sentence: str = ""
    ranks: str = ""

    @property
    def choice_words(self) -> str:
        return CHOICES.get(self.choice, "")


def practice_of(asked: Mapping[str, str]) -> Practice:
    """The pair that an address asks for, else the first; with the answer where it has a choice."""
    pairs = _pairs_of_runs() or _shipped_pairs()
    number = next((place for place, pair in enumerate(pairs) if pair.code == asked.get("pair")), 0)
    pair, following = pairs[number], pairs[(number + 1) % len(pairs)]
    choice = asked.get("choice", "") if asked.get("choice") in CHOICES and asked.get("pair") == pair.code else ""
    revealed = {"sentence": crowd_sentence(pair, choice), "ranks": _ranks(pair)} if choice else {}
    return Practice(pair, number + 1, len(pairs), following.code, choice, **revealed)


def crowd_sentence(pair: Pair, choice: str) -> str:
    """How many judges chose as the visitor did."""
    total, same = pair.votes.total(), pair.votes[choice]
    if not total:
        return "These drawings come with the site, so there are no votes to compare with."
    judges = "simulated judges" if pair.simulated else "judges" if total > 1 else "judge"
    if total < 5:
        return f"{same} of {total} {judges} chose the same."
    return f"{percent(same / total)} of {thousands(total)} {judges} chose the same."


def _pairs_of_runs() -> list[Pair]:
    closed = Run.objects.filter(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    by_run = []
    for run in closed.defer("config")[:RUNS]:
        paths = {name: entry.practice for name, entry in protocols_of(run).items() if entry.practice}
        by_run.append([_pair(one, name) for name, path in paths.items() for one in load(path)(run, most=PAIRS)])
    turns = chain.from_iterable(zip_longest(*by_run))
    return [pair for pair in turns if pair is not None][:PAIRS]


def _pair(one: PracticePair, protocol: str) -> Pair:
    left, right = one.left, one.right
    prompt, code = left.prompt.subject or left.prompt.text, f"{left.code}-{right.code}"
    sides = _side("left", left), _side("right", right)
    return Pair(code, prompt, sides, left.run, protocol, one.votes, one.simulated)


def _side(name: str, sample: Sample) -> Side:
    as_text = sample.run.drawing_format.shown_as == "text"
    return Side(
        name=name,
        drawn_by=sample.entrant.label,
        text=sample.drawing if as_text else None,
        picture="" if as_text else reverse("gallery:picture", args=[sample.code, sample.picture_key]),
        page=reverse("gallery:sample", args=[sample.code]),
        entrant=sample.entrant_id,
    )


def _shipped_pairs() -> list[Pair]:
    pairs = []
    for place, (name, prompt) in enumerate(SHIPPED):
        players = PLAYERS[::-1] if place % 2 else PLAYERS
        sides = [
            Side(side, label, picture=static(f"practice/{name}-{player}.svg"))
            for side, (player, label) in zip(("left", "right"), players, strict=True)
        ]
        pairs.append(Pair(name, prompt, (sides[0], sides[1])))
    return pairs


def _ranks(pair: Pair) -> str:
    """Where the two stand in their run, by the votes on such pairs and not by another score."""
    if pair.run is None:
        return ""
    fit = Fit.objects.only("pk").newest(pair.run, pair.protocol)
    places = (
        Standing.objects.filter(fit=fit, scope="overall", rank_low__isnull=False) if fit else Standing.objects.none()
    )
    by_entrant = {row.entrant_id: row for row in places.only("entrant_id", "rank_low", "rank_high")}
    words = [
        f"{side.drawn_by} ranks {rank_words(row.rank_low, row.rank_high)} of {len(by_entrant)}"
        for side in pair.sides
        if side.entrant and (row := by_entrant.get(side.entrant))
    ]
    return f"{'; '.join(words)}." if words else ""
