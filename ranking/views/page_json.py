"""What the pages around a leaderboard show, as JSON documents; each is made from the page's own context."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

from django.urls import reverse

from generation.models import Entrant, Prompt, Run, Sample

Context = dict[str, Any]
REPORT = (
    *("votes", "reliability", "reliability_low", "reliability_high", "left_share", "tie_share"),
    *("repeats", "repeat_agreement", "median_ms"),
)


def plain(value: Any) -> Any:
    """The same in what JSON knows: dataclasses as objects, tuples as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


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
        "says": line["sentence"],
        "state": line["state_key"],
        "rests_on": fit.votes if fit else None,
        "as_of": fit.read_at.isoformat() if fit else None,
        "top": [{"label": row.label, "rank": row.rank, "score": row.score} for row in line["top"]],
        "drawings": [sample_line(sample) for sample in line["drawings"]],
        "page": reverse("ranking:protocol", args=[line["run"].code, line["protocol"]]),
    }


def public_state(context: Context) -> dict[str, Any]:
    """All that is shown of a run while people judge it."""
    state = context["state"]
    return {
        **about_run(context["run"]),
        "protocol": context["protocol"],
        "judging": "open",
        "says": context["sentence"],
        "votes": state.votes if state else None,
        "simulated_judges": state.simulated if state else 0,
        "imported": state.imported if state else 0,
        "as_of": state.read_at.isoformat() if state else None,
        "overall": state.standings if state else [],
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
        "gap": context["gap"],
        "answers_gap": context["answers_gap"],
        "by_category": [{key: n for key, n in line.items() if key != "bar"} for line in context["by_category"]],
        "drawings": drawings_of_both(context),
    }


def drawings_of_both(context: Context) -> list[dict[str, Any]]:
    return [
        {"prompt": pair["prompt"].text} | {side: about_sample(pair[side]) for side in ("one", "other")}
        for pair in context["drawings"]
    ]


def differences(context: Context) -> dict[str, Any]:
    return {
        **about_run(context["run"]),
        "protocol": context["protocol"],
        "one": about_entrant(context["one"]),
        "other": about_entrant(context["other"]),
        **{name: context[name] for name in ("sentence", "pair", "pairs")},
        "by_category": [{key: n for key, n in line.items() if key != "picture"} for line in context["by_category"]],
        "drawings": drawings_of_both(context),
    }


def frontier(context: Context) -> dict[str, Any]:
    rows = [
        {
            "entrant": row.entrant.name,
            context["by"]: row.value,
            "quality": row.quality,
            "low": row.low,
            "high": row.high,
            "on_frontier": row.on,
            "chance_on_frontier": row.chance,
        }
        for row in context["rows"]
    ]
    return {**about_run(context["run"]), "protocol": context["protocol"], "by": context["by"], "points": rows}


def votes(context: Context) -> dict[str, Any]:
    page = context.get("page")
    lines = [
        {
            "prompt": line["prompt"].text if line["prompt"] else None,
            "outcome": line["vote"].outcome,
            "judge": line["judge"],
            "at": line["vote"].voted_at.isoformat(),
            **{
                side: about_entrant(shown["entrant"]) | {"drawing": shown["sample"].code if shown["sample"] else None}
                for side, shown in zip(("left", "right"), line["sides"], strict=True)
            },
        }
        for line in context.get("lines", [])
    ]
    places = {"page": page.number, "pages": page.paginator.num_pages, "count": page.paginator.count} if page else {}
    return {**about_run(context["run"]), **places, "votes": lines}


def prompts(context: Context) -> dict[str, Any]:
    rows = [{**about_prompt(line["prompt"]), "code": line["prompt"].code} for line in context["lines"]]
    return {**about_run(context["run"]), "prompts": rows}


def prompt(context: Context) -> dict[str, Any]:
    cells = [
        {
            **about_entrant(cell["entrant"]),
            "points": cell["points"],
            "votes": cell["votes"],
            "drawings": [about_sample(one["sample"]) for one in cell["attempts"]],
        }
        for cell in context["cells"]
    ]
    return {**about_run(context["run"]), "prompt": about_prompt(context["prompt"]), "entrants": cells}


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
    shown: Sample = context["sample"]
    return {
        **about_run(context["run"]),
        **about_sample(shown),
        "entrant": shown.entrant.name,
        "model": shown.model.model_id,
        "prompt": about_prompt(shown.prompt),
        "detail": shown.detail,
        "flags": shown.flags,
        "facts": shown.facts,
        "why": plain(dict(context["why"].data)) if context["why"] else {},
        "drawing": shown.drawing,
        "answer": context["answer"],
    }


def judges(context: Context) -> dict[str, Any]:
    """Judges as the page calls them: by number, or for curators by name."""
    measures = {name: value for name, value in context["measures"].items() if name != "cohen"}
    return {
        **about_run(context["run"]),
        "votes": context["full"].votes,
        "as_of": context["full"].read_at.isoformat(),
        "agreement": measures,
        "side_bias": context["full"].result["side_bias"],
        "judges": [
            {"judge": line["label"], "simulated": line["simulated"], "remarks": line["flags"]}
            | {name: line["report"][name] for name in REPORT}
            for line in context["judges"]
        ],
        "not_counted_fully": [{"judge": one["label"], "weight": one["weight"]} for one in context["aside"]],
        "own_rankings": [
            {"judge": judge, "ranking": [_place(label, cells[place]) for label, cells in context["rankings"]["rows"]]}
            for place, judge in enumerate(context["rankings"]["heads"])
        ],
        "cohen": [
            {"judges": [one, other], "kappa": cell["kappa"], "items": cell["units"]}
            for row, (one, cells) in enumerate(context["matrix"]["rows"])
            for other, cell in list(zip(context["matrix"]["heads"], cells, strict=True))[row + 1 :]
            if cell
        ],
    }


def _place(label: str, cell: Context | None) -> dict[str, Any]:
    return {"entrant": label, "rank": cell and cell["rank"], "votes": cell and cell["votes"]}


def program(context: Context) -> dict[str, Any]:
    shown: Entrant = context["entrant"]
    details = {"team": shown.team, "baseline": shown.baseline, "disqualified": shown.disqualified, "turns": shown.turns}
    details |= {"source": shown.source} if shown.source else {}
    details |= {"python": shown.python} if shown.python else {}
    levels = [
        {"letter": prompt.subject or prompt.key, **about_sample(trial["sample"]), "says": trial["words"]}
        for prompt, trials in context["levels"]
        for trial in trials
    ]
    return {
        **about_run(context["run"]),
        "program": about_entrant(shown) | details,
        "model": context["model"] and context["model"].model_id,
        "standing": context["standing"],
        "levels": levels,
    }
