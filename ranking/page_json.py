"""What the pages around a leaderboard show, as JSON documents; each is made from the page's own context."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from generation.models import Entrant, Prompt, Run, Sample

Context = dict[str, Any]


def about_run(run: Run) -> dict[str, Any]:
    return {"run": run.code, "suite": run.suite, "title": str(run), "demo": run.is_demo}


def about_entrant(entrant: Entrant) -> dict[str, Any]:
    return {"code": entrant.code, "name": entrant.name, "label": entrant.label, "note": entrant.note}


def about_prompt(prompt: Prompt) -> dict[str, Any]:
    return {"text": prompt.text, "subject": prompt.subject, "category": prompt.category}


def about_sample(sample: Sample) -> dict[str, Any]:
    return {
        "code": sample.code,
        "attempt": sample.attempt,
        "verdict": sample.verdict,
        "reason": sample.reason,
        "page": reverse("gallery:sample", args=[sample.code]),
    }


def sample_line(sample: Sample) -> dict[str, Any]:
    """A drawing away from its own run's pages."""
    whose = {"run": sample.run.code, "entrant": sample.entrant.name, "prompt": about_prompt(sample.prompt)}
    return whose | about_sample(sample)


def boards(context: Context) -> dict[str, Any]:
    """What each leaderboard says first; nothing of one that is hidden from the visitor."""
    return {"leaderboards": [board(line) for line in context["lines"]]}


def board(line: Context) -> dict[str, Any]:
    fit = None if line["hidden"] else line["fit"]
    return {
        **about_run(line["run"]),
        "protocol": line["protocol"],
        "says": line["said"],
        "rests_on": fit.votes if fit else None,
        "as_of": fit.read_at.isoformat() if fit else None,
        "page": reverse("ranking:protocol", args=[line["run"].code, line["protocol"]]),
    }


def entrant(context: Context) -> dict[str, Any]:
    return {
        **about_run(context["run"]),
        "entrant": about_entrant(context["entrant"]) | {"disqualified": context["entrant"].disqualified},
        "standing": context.get("standing"),
        "scopes": {label: row for label, row, _ in context.get("scopes", [])},
        "scores": {score["protocol"]: score["row"] for score in context["scores"]},
        "valid": context.get("rate"),
        "cost": context.get("cost"),
        "consistency": context.get("consistency"),
        "best": [_drawing(item) for item in context.get("best", [])],
        "worst": [_drawing(item) for item in context.get("worst", [])],
        "against": [line["cell"] | about_entrant(line["entrant"]) for line in context.get("others", [])],
        "prompts": [
            {"prompt": text, "votes": votes, "strength": strength}
            for text, votes, strength in context.get("prompts", [])
        ],
    }


def _drawing(item: Context) -> dict[str, Any]:
    sample = item["sample"]
    numbers = {name: item[name] for name in ("points", "votes", "strength")}
    return about_sample(sample) | numbers | {"prompt": sample.prompt.text}


def versus(context: Context) -> dict[str, Any]:
    return {
        **about_run(context["run"]),
        "one": about_entrant(context["one"]),
        "other": about_entrant(context["other"]),
        "standings": context["standings"],
        "direct": context["cell"],
        "by_category": context["by_category"],
        "drawings": [
            {"prompt": pair["prompt"].text} | {side: about_sample(pair[side]) for side in ("one", "other")}
            for pair in context["drawings"]
        ],
    }


def history(context: Context) -> dict[str, Any]:
    points = [point | {"at": point["at"].isoformat()} for point in context["points"]]
    return {**about_run(context["run"]), "entrants": context["heads"], "points": points}


def gallery(context: Context) -> dict[str, Any]:
    page = context["page"]
    rows = [
        {"prompt": about_prompt(prompt), "drawings": [_cell(who, cell) for who, cell in cells if cell]}
        for prompt, cells in context["rows"]
    ]
    chosen = {name: context[name] for name in ("attempt", "model", "category")}
    return {**about_run(context["run"]), **chosen, "page": page.number, "pages": page.paginator.num_pages, "rows": rows}


def _cell(who: Entrant, cell: Context) -> dict[str, Any]:
    return {"entrant": who.name, "says": cell["words"], **about_sample(cell["sample"])}


def sample(context: Context) -> dict[str, Any]:
    found: Sample = context["sample"]
    return {
        **about_run(context["run"]),
        **about_sample(found),
        "entrant": found.entrant.name,
        "model": found.model.model_id,
        "prompt": about_prompt(found.prompt),
        "detail": found.detail,
        "flags": found.flags,
        "facts": found.facts,
        "why": context["why"],
        "drawing": found.drawing,
        "answer": context["answer"],
    }
