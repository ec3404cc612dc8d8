"""What every kind of leaderboard shares: its tabs, what is known of each entrant, and which rows a visitor asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Min, OuterRef, Subquery
from django.http import QueryDict
from django.urls import reverse

from generation.models import Entrant, Run, Sample
from generation.protocols import Protocol, protocols_of
from ranking.charts.markers import marker_sign
from ranking.charts.svg import Svg
from ranking.models import Fit
from ranking.results import EffortResult

PRICES = {"1": 1, "5": 5, "20": 20}  # US$ per million tokens out, at most
SORTS = {
    "": "rank",
    "name": "name",
    "released": "newest first",
    "seconds": "fastest first",
    "cost": "cheapest answers first",
    "price": "lowest list price first",
}


@dataclass(frozen=True)
class About:
    """What is known of an entrant besides its score; hangs on the entrant as `about`."""

    number: int  # its place in the order of entry, from 0
    facts: Mapping[str, Any]
    price_in: float | None  # US$ per million tokens
    price_out: float | None
    effort: EffortResult | None
    thumb: Sample | None = None

    @property
    def sign(self) -> Svg:
        return marker_sign(self.number)

    @property
    def initials(self) -> str:
        words = str(self.facts.get("organisation", "")).split()
        return "".join(word[0] for word in words[:2]).upper() if len(words) > 1 else "".join(words)[:2].upper()


def describe_entrants(run: Run, entrants: Iterable[Entrant], *, fit: Fit | None, thumbs: bool = False) -> None:
    """Puts `about` on each of these entrants; thumbnails only where names may stand beside drawings.

    Without a fit that the visitor may see nothing is said of what answers take: lengths would tell drawings apart.
    """
    effort = fit.result.get("run", {}).get("effort", {}) if fit else {}
    numbers = {pk: place for place, pk in enumerate(run.entrants.order_by("id").values_list("id", flat=True))}
    models = {model.pk: model for model in run.models.all()}
    drawings = first_drawings(run) if thumbs else {}
    for entrant in entrants:
        model = models.get(entrant.model_id) if entrant.model_id else None
        about = About(
            number=numbers[entrant.pk],
            facts=model.facts if model else {},
            price_in=_usd(model.price_in_nano) if model else None,
            price_out=_usd(model.price_out_nano) if model else None,
            effort=effort.get(entrant.name),
            thumb=drawings.get(entrant.pk),
        )
        setattr(entrant, "about", about)  # noqa: B010 - rows hold entrants, templates read it from there


def _usd(nano: int | None) -> float | None:
    return None if nano is None else nano / 1e9


def first_drawings(run: Run) -> dict[int, Sample]:
    """The first valid drawing of each entrant: of the same prompt wherever all have one.

    By the index that keeps a sample from being there twice: the cost grows with the entrants, not with the drawings.
    """
    own = Sample.objects.judgeable().filter(run=run, entrant=OuterRef("pk"))
    first = Subquery(own.order_by("model_id", "prompt_id", "attempt").values("pk")[:1])
    firsts = [pk for pk in run.entrants.annotate(first=first).values_list("first", flat=True) if pk is not None]
    samples = Sample.objects.filter(pk__in=firsts).defer("raw", "answer", "earlier_answers")
    return {
        sample.entrant_id: sample for sample in samples.select_related("prompt", "run", "entrant").defer("run__config")
    }


def first_of_prompts(run: Run, prompts: Iterable[int], *, most: int = 4) -> dict[int, list[Sample]]:
    """A few first drawings of each of these prompts, one an entrant, in the order of entry."""
    firsts = run.samples.judgeable().filter(prompt__in=list(prompts)).order_by()
    ids = [row["first"] for row in firsts.values("prompt_id", "entrant_id").annotate(first=Min("id"))]
    samples: dict[int, list[Sample]] = {}
    drawn = Sample.objects.filter(pk__in=ids).defer("raw", "answer", "earlier_answers").order_by("entrant_id")
    for sample in drawn.select_related("prompt", "run", "entrant").defer("run__config"):
        samples.setdefault(sample.prompt_id, []).append(sample)
    return {prompt: group[:most] for prompt, group in samples.items()}


def entrant_of(row: Any) -> Entrant | None:
    entrant: Entrant | None = row["entrant"] if isinstance(row, dict) else row.entrant
    return entrant


@dataclass(frozen=True)
class Filters:
    """What a visitor chose above the table; the same words as in the address."""

    q: str = ""
    organisation: str = ""
    weights: str = ""
    price: str = ""
    sort: str = ""

    @property
    def narrowing(self) -> bool:
        return replace(self, sort="") != Filters()

    def shows(self, entrant: Entrant) -> bool:
        about: About = entrant.about  # type: ignore[attr-defined]
        words = f"{entrant.label} {entrant.name} {about.facts.get('organisation', '')}".lower()
        return (
            self.q.lower() in words
            and self.organisation in ("", about.facts.get("organisation"))
            and self.weights in ("", about.facts.get("weights"))
            and (not self.price or (about.price_out is not None and about.price_out <= PRICES[self.price]))
        )


def filters_of(query: QueryDict) -> Filters:
    """Unknown values ask for nothing."""
    weights, price, sort = (query.get(name, "") for name in ("weights", "price", "sort"))
    return Filters(
        q=query.get("q", "").strip()[:80],
        organisation=query.get("organisation", "")[:80],
        weights=weights if weights in ("open", "closed") else "",
        price=price if price in PRICES else "",
        sort=sort if sort in SORTS else "",
    )


def _missing_last(value: float | None) -> tuple[bool, float]:
    return (value is None, value or 0)


KEYS: dict[str, Callable[[Entrant, About], Any]] = {
    "name": lambda entrant, about: entrant.label.lower(),
    "released": lambda entrant, about: [-ord(c) for c in about.facts.get("released", "")] or [1],
    "seconds": lambda entrant, about: _missing_last(about.effort and about.effort["seconds"]),
    "cost": lambda entrant, about: _missing_last(about.effort and about.effort["cost_nano"]),
    "price": lambda entrant, about: _missing_last(about.price_out),
}


def choose_rows(rows: list[Any], filters: Filters) -> list[Any]:
    """The rows that a visitor asked for, in the order asked for; rows whose entrant is gone stay out of a narrower choice."""
    known = [(row, entrant) for row in rows if (entrant := entrant_of(row)) is not None]
    if filters.narrowing:
        known = [(row, entrant) for row, entrant in known if filters.shows(entrant)]
        rows = [row for row, _ in known]
    if not filters.sort:
        return rows
    key = KEYS[filters.sort]
    ordered = sorted(known, key=lambda pair: key(pair[1], pair[1].about))  # type: ignore[attr-defined]
    return [row for row, _ in ordered]


def board_context(
    fit: Fit, rows: list[Any], query: QueryDict, *, drawings_open: bool, listed: list[Any] | None = None
) -> dict[str, Any]:
    """Rows as asked for, and the choices above them; choices that would change nothing are left out.

    `listed` are the rows of the table where they are not the board's own.
    """
    listed = listed or rows
    entrants = [entrant for row in listed if (entrant := entrant_of(row)) is not None]
    describe_entrants(fit.run, entrants, fit=fit, thumbs=drawings_open)
    abouts: list[About] = [entrant.about for entrant in entrants]  # type: ignore[attr-defined]
    filters = filters_of(query)
    organisations = sorted({about.facts["organisation"] for about in abouts if "organisation" in about.facts})
    return {
        "rows": choose_rows(listed, filters),
        "listed": listed,
        "all_rows": rows,
        "filters": filters,
        "ranked": not filters.sort and not filters.narrowing,
        "organisations": organisations if len(organisations) > 1 else [],
        "has_weights": len({about.facts["weights"] for about in abouts if "weights" in about.facts}) > 1,
        "prices": list(PRICES) if any(about.price_out is not None for about in abouts) else [],
        "has_facts": any(about.facts for about in abouts),
        "has_prices": any(about.price_out is not None for about in abouts),
        "has_effort": any(about.effort for about in abouts),
        "has_thumbs": any(about.thumb for about in abouts),
        "sorts": SORTS,
    }


@dataclass(frozen=True)
class Tab:
    label: str
    address: str
    current: bool


def tabs_for(fit: Fit, *, here: str, drawings_open: bool) -> list[Tab]:
    """One set of tabs for every kind of board; those without content are left out. `here` is the current page's name."""
    run = fit.run
    entry = protocols_of(run).get(fit.protocol)
    board = reverse("ranking:protocol", args=[run.code, fit.protocol])
    pages = [("Ranking", "board", board)]
    if drawings_open:
        pages += [(label, name, reverse(name, args=[run.code])) for label, name in DRAWING_TABS]
    if len(fit.result.get("run", {}).get("effort", {})) > 1:
        pages.append(("Cost and speed", "frontier", reverse("ranking:frontier", args=[run.code, fit.protocol])))
    own = {name: label for name, label in _own_pages(entry).items() if name not in EMPTY_UNLESS or _has(fit, name)}
    if HEAD_TO_HEAD not in own.values() and fit.result.get("verdicts", {}).get("pairs"):
        pages.append((HEAD_TO_HEAD, "differences", reverse("ranking:differences", args=[run.code, fit.protocol])))
    pages += [(label, name, reverse(name, args=[run.code])) for name, label in own.items()]
    here = HEAD_TO_HEAD if here == "differences" else here  # a board of votes has a page of its own under that tab
    return [Tab(label, address, here in (name, label)) for label, name, address in pages]


# Pages that most boards have nothing for, and the fact of a fit that says otherwise.
EMPTY_UNLESS = {
    "ranking:model_judges": "model_judges",
    "ranking:model_graders": "model_judges",
    "ranking:groups": "studies",
}
HEAD_TO_HEAD = "Head to head"
DRAWING_TABS = (("Drawings", "gallery:gallery"), ("Prompts", "gallery:prompts"))


def _has(fit: Fit, name: str) -> bool:
    return bool(fit.result.get("run", {}).get(EMPTY_UNLESS[name]))


def _own_pages(entry: Protocol | None) -> Mapping[str, str]:
    return entry.board_pages if entry else {}
