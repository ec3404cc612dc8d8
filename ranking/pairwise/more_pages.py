"""What the pages around a pairwise leaderboard show: judges, history, two entrants, one entrant; and chart files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from benchsite.lib.text import csv_cell
from generation.models import Entrant, Run, Sample
from generation.protocols import load, protocols_of
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.models import Fit, Publication
from ranking.pairwise.columns import counts_of_pair
from ranking.pairwise.page import (
    as_interval,
    category_tabs,
    cost_points,
    cost_svg,
    full_of,
    history_of,
    history_svg,
    interval_svg,
    safe,
    scale_of,
    scope_rows,
    win_cell,
    win_table,
    wins_svg,
)
from ranking.pairwise.sentences import agreement_sentence, rank_words, side_sentence
from ranking.people import hidden_from

FLAGS = {
    "unreliable": "votes hardly follow the other judges'",
    "doubtful": "votes follow the other judges' less than those of 99 in 100 honest judges",
    "one_entrant": "always for or against one entrant",
    "one_side": "one side is chosen far more often",
    "few_decisions": "nearly always undecided",
    "same_key": "a long run of one key",
    "fast": "much faster than the others",
}
PAIRS_SHOWN = 8


def overview(runs: Iterable[Run], user: Any) -> list[dict[str, Any]]:
    """A line for each run and protocol: what its newest leaderboard says first."""
    fits = Fit.objects.newest_of(runs)
    labels: dict[int, dict[str, str]] = {}
    for run_id, name, label in Entrant.objects.filter(run__in=runs).values_list("run_id", "name", "label"):
        labels.setdefault(run_id, {})[name] = label
    hidden, lines = hidden_from(user, runs), []
    for run in runs:
        for name, entry in protocols_of(run).items():
            fit = fits.get((run.pk, name))
            tells = fit is not None and entry.sentence and run.pk not in hidden
            said = load(entry.sentence)(fit.result, labels[run.pk]) if tells else ""
            line = {"run": run, "protocol": name, "entry": entry, "fit": fit, "said": said, "hidden": run.pk in hidden}
            lines.append(line | {"state": state_words(run, name)})
    return lines


def state_words(run: Run, protocol: str) -> str:
    """Whether more is to come; empty where the run says nothing of it."""
    if run.frozen_at:
        return "final"
    if run.judging_state == Run.Judging.OPEN and protocol != "automatic":
        return "judges are grading" if protocol == "rubric" else "judges are voting"
    if run.drawing_state == Run.Drawing.OPEN and run.finished_at is None:
        return "drawing"
    return "closed" if run.judging_state == Run.Judging.CLOSED else ""


def judges_context(fit: Fit, *, labels: dict[str, str]) -> dict[str, Any]:
    full = full_of(fit) or fit
    reports = full.result["judges"]
    ordered = [name for name in labels if name in reports]
    simulated = set(fit.run.seats.filter(is_simulated=True).values_list("pseudonym", flat=True))
    slopes = {name: reliability_interval(reports[name]) for name in ordered}
    scale = interval_scale([*slopes.values(), Interval("", 0, 0, 1.5)])
    entrants = [row["entrant"] for row in full.result["overall"]]
    names = dict(fit.run.entrants.values_list("name", "label"))
    lines = [
        {
            "label": labels.get(name, "a judge"),
            "report": reports[name],
            "simulated": name in simulated,
            "flags": [FLAGS.get(flag, flag) for flag in reports[name]["flags"]],
            "reliability": safe(interval_row(slopes[name], scale)),
        }
        for name in ordered
    ]
    return {
        "full": full,
        "judges": lines,
        "axis": safe(interval_axis(scale)),
        "agreement": agreement_sentence(full.result["agreement"]),
        "measures": full.result["agreement"],
        "side": side_sentence(full.result["side_bias"]),
        "matrix": cohen_matrix(full.result["agreement"].get("cohen", []), ordered, labels),
        "rankings": own_rankings(
            entrants, names, [name for name in ordered if reports[name]["shown"]], reports, labels
        ),
        "aside": [
            {"label": labels.get(seat.pseudonym, "a judge"), "weight": seat.weight, "reason": seat.excluded_reason}
            for seat in fit.run.seats.filter(weight__lt=1).defer("plan")
        ],
    }


def reliability_interval(report: dict[str, Any]) -> Interval:
    low, value, high = (report[name] for name in ("reliability_low", "reliability", "reliability_high"))
    return Interval("", value, low, high, said=f"{value:.2f} ({low:.2f} to {high:.2f})")


def cohen_matrix(cohen: list[dict[str, Any]], ordered: list[str], labels: dict[str, str]) -> dict[str, Any]:
    """Kappa and shared items of each two judges, as a square table; None where they share nothing."""
    found = {frozenset(row["judges"]): row for row in cohen}
    seen = [name for name in ordered if any(name in pair for pair in found)]
    rows = [(labels.get(a, "a judge"), [None if a == b else found.get(frozenset((a, b))) for b in seen]) for a in seen]
    return {"heads": [labels.get(name, "a judge") for name in seen], "rows": rows}


def own_rankings(
    entrants: list[str], names: dict[str, str], judges: list[str], reports: dict[str, Any], labels: dict[str, str]
) -> dict[str, Any]:
    """Each judge's own ranking beside the others', entrants in the pooled order."""
    places = {j: {row["entrant"]: row for row in reports[j]["standings"]} for j in judges}
    rows = [(names.get(entrant, entrant), [places[j].get(entrant) for j in judges]) for entrant in entrants]
    return {"heads": [labels.get(j, "a judge") for j in judges], "rows": rows}


def history_context(fit: Fit) -> dict[str, Any]:
    labels = dict(fit.run.entrants.values_list("name", "label"))
    points = history_of(fit)
    return {
        "chart": safe(history_svg(fit, labels)) if points else "",
        "heads": [labels.get(row["entrant"], row["entrant"]) for row in fit.result["overall"]],
        "points": [
            {
                "votes": point["votes"],
                "at": datetime.fromtimestamp(point["at"], UTC),
                "ratings": [point["ratings"].get(row["entrant"]) for row in fit.result["overall"]],
            }
            for point in points[::-1]
        ],
        "past": Fit.objects.filter(run=fit.run, protocol=fit.protocol).exclude(until=None).defer("result")[:20],
        "publications": Publication.objects.filter(fit__run=fit.run).order_by("-fit", "-at"),
    }


def versus_context(fit: Fit, first: str, second: str) -> dict[str, Any] | None:
    """Two entrants by their codes; by default the two at the top."""
    entrants = {entrant.code: entrant for entrant in fit.run.entrants.all()}
    by_name = {entrant.name: entrant for entrant in entrants.values()}
    top = [by_name[row["entrant"]] for row in fit.result["overall"] if row["entrant"] in by_name]
    if len(top) < 2 or first not in {"", *entrants} or second not in {"", *entrants}:
        return None
    one = entrants.get(first) or next(e for e in top if e.code != second)
    other = entrants.get(second) or next(e for e in top if e != one)
    rows = {row["entrant"]: row for row in fit.result["overall"]}
    pairs = fit.result["run"]["pairs"]
    number = {name: i for i, name in enumerate(pairs["entrants"])}
    cell = None
    if one != other and one.name in rows and other.name in rows:
        i, j = number[one.name], number[other.name]
        cell = win_cell(rows[one.name], rows[other.name], pairs, number)
        cell |= {"ties": pairs["ties"][i][j], "fails": pairs["fails"][i][j]}
    return {
        "one": one,
        "other": other,
        "entrants": sorted(entrants.values(), key=lambda entrant: entrant.label),
        "standings": [rows.get(one.name), rows.get(other.name)],
        "cell": cell,
        "by_category": category_records(fit, one, other),
        "drawings": drawings_of_both(fit.run, one, other),
    }


def category_records(fit: Fit, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """Wins of each, ties and fails in each category, from the tallies of the judges who count."""
    found: dict[str, dict[str, int]] = {}
    for (category, left, _, outcome), votes in counts_of_pair(fit.run, one, other).items():
        record = found.setdefault(category, dict.fromkeys(("one", "other", "tie", "fail"), 0))
        if outcome in ("left", "right"):
            record["one" if (left == one.pk) == (outcome == "left") else "other"] += votes
        else:
            record[outcome] += votes
    labels = {key: label for key, label, _ in category_tabs(fit)}
    return [
        {"label": labels.get(key, key) or "none", **found[key], "votes": sum(found[key].values())}
        for key in sorted(found)
    ]


def drawings_of_both(run: Run, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """The first drawing of each on the first prompts that both have one for."""
    samples = run.samples.judgeable().filter(entrant__in=[one, other]).select_related("prompt", "run")
    by_prompt: dict[int, dict[int, Sample]] = {}
    for sample in samples.order_by("prompt__position", "attempt").defer("raw", "answer"):
        by_prompt.setdefault(sample.prompt_id, {}).setdefault(sample.entrant_id, sample)
    both = [found for found in by_prompt.values() if len(found) == 2]
    return [{"prompt": s[one.pk].prompt, "one": s[one.pk], "other": s[other.pk]} for s in both[:PAIRS_SHOWN]]


def entrant_context(fit: Fit, entrant: Entrant) -> dict[str, Any]:
    full = full_of(fit)
    facts = full.result["run"].get("entrants", {}).get(entrant.name, {}) if full else {}
    standing = next((row for row in fit.result["overall"] if row["entrant"] == entrant.name), None)
    scopes = [("Overall", standing)] + [(label, find(fit, key, entrant)) for key, label, _ in category_tabs(fit)]
    known = [(label, row) for label, row in scopes if row]
    scale = scale_of([row for _, row in known])
    return {
        "standing": standing,
        "ranks": rank_words(standing) if standing else "",
        "scopes": [(label, row, safe(interval_row(as_interval(row, label), scale))) for label, row in known],
        "axis": safe(interval_axis(scale)),
        "rate": fit.result["samples"].get(entrant.name),
        "cost": fit.result["run"]["costs"].get(entrant.name),
        "consistency": full.result["consistency"].get(entrant.name) if full else None,
        "best": with_samples(fit.run, entrant, facts.get("best", [])),
        "worst": with_samples(fit.run, entrant, facts.get("worst", [])),
        "prompts": facts.get("prompts", []),
        "others": others_of(fit, entrant),
    }


def others_of(fit: Fit, entrant: Entrant) -> list[dict[str, Any]]:
    """Every other entrant, best first, with the chance against it and the votes between the two."""
    others = {other.name: other for other in fit.run.entrants.all()}
    line = next((row for row in win_table(fit.result) if row["entrant"] == entrant.name), {"cells": []})
    return [{"entrant": others[cell["other"]], "cell": cell} for cell in line["cells"] if cell]


def find(fit: Fit, category: str, entrant: Entrant) -> dict[str, Any] | None:
    return next((row for row in scope_rows(fit.result, category) if row["entrant"] == entrant.name), None)


def with_samples(run: Run, entrant: Entrant, rows: Iterable[list[Any]]) -> list[dict[str, Any]]:
    """The drawings that votes speak of, still to be shown."""
    rows = list(rows)
    wanted = run.samples.judgeable().filter(entrant=entrant, prompt__text__in={row[0] for row in rows})
    found = {(s.prompt.text, s.attempt): s for s in wanted.select_related("prompt", "run").defer("raw", "answer")}
    return [
        {"sample": found[row[0], row[1]], "points": row[2], "votes": row[3], "strength": row[4]}
        for row in rows
        if (row[0], row[1]) in found
    ]


def chart_file(fit: Fit, name: str, form: str, *, scope: str = "") -> str | None:
    """A chart as SVG, or its numbers as CSV; None where there is no such chart."""
    labels = dict(fit.run.entrants.values_list("name", "label"))
    if scope and scope not in fit.result["categories"]:
        return None
    drawn = {
        "ratings": lambda: interval_svg(fit, labels, scope=scope),
        "wins": lambda: wins_svg(fit, labels),
        "cost": lambda: cost_svg(cost_points(fit, labels)),
        "history": lambda: history_svg(fit, labels),
    }
    listed = {"ratings": lambda: ratings_rows(fit, scope), "wins": lambda: wins_rows(fit)}
    listed |= {"cost": lambda: cost_rows(fit), "history": lambda: history_rows(fit)}
    if form == "svg" and name in drawn:
        return drawn[name]()
    return as_csv(listed[name]()) if form == "csv" and name in listed else None


def as_csv(rows: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([csv_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def ratings_rows(fit: Fit, scope: str) -> Iterable[list[Any]]:
    names = ["entrant", "rating", "low", "high", "iid_low", "iid_high", "rank_low", "rank_high", "votes"]
    yield names
    yield from ([row[name] for name in names] for row in scope_rows(fit.result, scope))


def wins_rows(fit: Fit) -> Iterable[list[Any]]:
    yield ["entrant", "against", "win_probability", "votes", "wins", "losses"]
    for row in win_table(fit.result):
        for cell in filter(None, row["cells"]):
            share = round(cell["share"], 4)
            yield [row["entrant"], cell["other"], share, cell["votes"], cell["wins"], cell["losses"]]


def cost_rows(fit: Fit) -> Iterable[list[Any]]:
    yield ["entrant", "cost_usd", "answers", "cost_per_answer_usd", "calls_of_unknown_cost", "rating", "low", "high"]
    for row in fit.result["overall"]:
        cost = fit.result["run"]["costs"].get(row["entrant"], {"nano": None, "answers": 0, "each_nano": None})
        usd = [None if cost[key] is None else cost[key] / 1e9 for key in ("nano", "each_nano")]
        numbers = [row["rating"], row["low"], row["high"]]
        yield [row["entrant"], usd[0], cost["answers"], usd[1], cost.get("unknown", 0), *numbers]


def history_rows(fit: Fit) -> Iterable[list[Any]]:
    yield ["votes", "at", "entrant", "rating", "low", "high"]
    for point in history_of(fit):
        at = datetime.fromtimestamp(point["at"], UTC).isoformat()
        for name, numbers in point["ratings"].items():
            yield [point["votes"], at, name, *numbers]
