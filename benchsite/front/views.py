"""The public front: home, suites, about the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from benchsite.front.practice import practice_of
from benchsite.front.published import live_numbers, shown_runs
from benchsite.lib.json_pages import page_or_json
from generation.models import Run, Sample
from generation.protocols import protocols_of
from generation.runs.publishing import coming_demo_runs
from generation.suites.loading import load_suites
from generation.suites.suite import Category, PromptEntry, Suite, without_pictures
from judging.disclosure import may_see_drawings
from judging.studies.arena.panel import open_arenas
from ranking.pairwise.judges_page import FLAGS
from ranking.people import hidden_from
from ranking.views import page_json
from ranking.views.overview import overview
from ranking.words import ALPHA_WORDS

ARENAS = 3  # that the home page invites to
SHOWN = 6  # runs on the home page; the rest are under Leaderboards
LEDE = "Language models draw, people compare the drawings blind, and every ranking says how sure it is."
BROWSED, TILES = 12, 12  # runs on the page of drawings, and drawings of each


def good_suites() -> list[Suite]:
    return [suite for suite in load_suites(settings.SUITES_DIR) if isinstance(suite, Suite)]


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    runs = list(shown_runs(request.user)[:SHOWN])
    context = {
        "practice": practice_of(request.GET),
        "lines": overview(runs, request.user),
        "demo_runs": not runs and coming_demo_runs().exists(),
        "numbers": live_numbers(),
        "arenas": open_arenas()[:ARENAS],
        "share": {"title": "Which model draws best? You be the judge.", "description": LEDE},
    }
    return page_or_json(request, "site/home.html", context, _home_document)


def _home_document(context: dict[str, Any]) -> dict[str, Any]:
    return {"numbers": asdict(context["numbers"]), **page_json.boards(context)}


@require_safe
def drawings(request: HttpRequest) -> HttpResponse:
    """Drawings of the leaders, from runs that nobody judges blind any more."""
    runs = [run for run in shown_runs(request.user)[: 4 * BROWSED] if may_see_drawings(run, request.user)][:BROWSED]
    lines = {line["run"].pk: line for line in reversed(overview(runs, request.user, drawings=TILES))}
    shown = [lines[run.pk] for run in runs if run.pk in lines and lines[run.pk]["drawings"]]
    about = "Drawings by the leading models, from runs whose judging is closed or automatic."
    share = {"title": "Drawings by language models", "description": about}
    return page_or_json(request, "site/drawings.html", {"lines": shown, "share": share}, _drawings_document)


def _drawings_document(context: dict[str, Any]) -> dict[str, Any]:
    return {"drawings": [page_json.sample_line(sample) for line in context["lines"] for sample in line["drawings"]]}


@require_safe
def suites(request: HttpRequest) -> HttpResponse:
    about = "What models are asked to draw, and how their drawings are scored."
    listed = good_suites()
    runs = list(shown_runs(request.user)[:BROWSED])
    drawn = _first_drawings(request, runs)
    pictured_first = sorted(listed, key=lambda suite: suite.slug not in drawn)
    context = {
        "suites": listed,
        "scored": [(s, _scored_by(s), drawn.get(s.slug, []), _last_prompts(s)) for s in pictured_first],
        "judged": {run.suite for run in runs if run.judging_state not in (Run.Judging.NOT_OPEN, Run.Judging.CLOSED)},
        "share": {"title": "Suites of drawing prompts", "description": about},
    }
    return page_or_json(request, "site/suites.html", context, _suites_document)


def _last_prompts(suite: Suite) -> list[str]:
    """Two that stand for the rest where no drawing may be shown."""
    return [prompt.subject or prompt.text for prompt in suite.prompts[:-3:-1]]


def _scored_by(suite: Suite) -> list[str]:
    return [entry.label.lower() for entry in protocols_of(suite).values()]


def _first_drawings(request: HttpRequest, runs: Iterable[Run], *, most: int = 3) -> dict[str, list[Sample]]:
    """A few drawings of each suite, by its slug, from the newest of these runs whose drawings the visitor may see."""
    open_runs = [run for run in runs if may_see_drawings(run, request.user)]
    lines = overview(open_runs, request.user, drawings=most) if open_runs else []
    return {line["run"].suite: line["drawings"] for line in reversed(lines) if line["drawings"]}


def _suites_document(context: dict[str, Any]) -> dict[str, Any]:
    fields = ("slug", "title", "description")
    return {"suites": [{name: getattr(suite, name) for name in fields} for suite in context["suites"]]}


@require_safe
def suite(request: HttpRequest, slug: str) -> HttpResponse:
    suite = next((suite for suite in good_suites() if suite.slug == slug), None)
    if suite is None:
        raise Http404
    return _suite_page(request, suite, shown_runs(request.user).filter(suite=slug))


@require_safe
def run_suite(request: HttpRequest, code: str) -> HttpResponse:
    """The run's own copy of its suite, which works even if the server has no such suite."""
    run = get_object_or_404(Run.objects.visible_to(request.user), code=code)
    return _suite_page(request, Suite.from_dict(run.config), shown_runs(request.user).filter(pk=run.pk))


def _suite_page(request: HttpRequest, suite: Suite, runs: QuerySet[Run]) -> HttpResponse:
    prompts = {category.key: [p for p in suite.prompts if p.category == category.key] for category in suite.categories}
    hidden = hidden_from(request.user, runs)
    drawn = _first_drawings(request, runs[:BROWSED], most=SHOWN)
    groups: list[tuple[Category | None, Sequence[PromptEntry]]]
    groups = [(category, prompts[category.key]) for category in suite.categories]
    context = {
        "suite": suite,
        "groups": groups or [(None, suite.prompts)],
        "scored_by": _scored_by(suite),
        "drawings": next(iter(drawn.values()), []),
        "runs": [(run, run.pk in hidden) for run in runs],
        "share": {"title": suite.title, "description": suite.description},
    }
    return page_or_json(request, "site/suite.html", context, _suite_document)


def _suite_document(context: dict[str, Any]) -> dict[str, Any]:
    """The suite as its page shows it; models belong to runs."""
    whole = context["suite"].to_dict()
    fields = ("slug", "title", "description", "method", "format", "protocols", "categories", "rubric")
    asked = ("attempts_per_prompt", "temperature", "max_tokens", "system_prompt")
    return {
        **{name: whole.get(name) for name in fields},
        "prompts": without_pictures(whole)["prompts"],
        **{name: whole["generation"].get(name) for name in asked},
        "runs": [page_json.about_run(run) for run, _ in context["runs"]],
    }


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    share = {
        "title": "About the numbers",
        "description": "What ratings, intervals and ranks mean, and how they are made.",
    }
    return page_or_json(request, "site/numbers.html", {"share": share}, _numbers_document)


def _numbers_document(context: dict[str, Any]) -> dict[str, Any]:
    """The constants behind the page's words, from the code that uses them (imported here because it loads scipy)."""
    from ranking.statistics.ratings.bradley_terry import ELO, MEAN_RATING, RIDGE
    from ranking.statistics.ratings.scopes import Settings

    unless_set = Settings()
    return {
        "rating": {"mean": MEAN_RATING, "points_a_logit": float(ELO), "ridge": RIDGE},
        "preferred": {str(gap): round(1 / (1 + 10 ** (-gap / 400)), 4) for gap in (100, 200, 400)},
        "interval": unless_set.level,
        "tied_within": unless_set.margin,
        "ties_count": unless_set.ties,
        "fails_count": unless_set.fails,
        "own_ranking_from_votes": unless_set.judge_minimum,
        "agreement_words": [{"alpha_from": limit, "says": words} for limit, words in ALPHA_WORDS],
        "remarks_on_judges": FLAGS,
    }
