"""What the pages about one entrant, and about two, show of a pairwise leaderboard."""

from __future__ import annotations

from typing import Any

from generation.models import Entrant, Run, Sample
from judging.rules import rules_of
from ranking.best import Best, find_sample
from ranking.charts.intervals import interval_axis, interval_row
from ranking.models import Fit
from ranking.pairwise.chart_files import as_interval, scale_of, win_cell, win_table
from ranking.pairwise.columns import counts_of_pair
from ranking.pairwise.result import StandingRow, category_tabs, full_of, result_of, scope_rows
from ranking.words import rank_words

PAIRS_SHOWN = 8


def versus_context(fit: Fit, first: str, second: str) -> dict[str, Any] | None:
    """Two entrants by their codes; by default the two at the top."""
    entrants = {entrant.code: entrant for entrant in fit.run.entrants.all()}
    by_name = {entrant.name: entrant for entrant in entrants.values()}
    result = result_of(fit)
    top = [by_name[row["entrant"]] for row in result["overall"] if row["entrant"] in by_name]
    if len(top) < 2 or first not in {"", *entrants} or second not in {"", *entrants}:
        return None
    one = entrants.get(first) or next(e for e in top if e.code != second)
    other = entrants.get(second) or next(e for e in top if e != one)
    rows = {row["entrant"]: row for row in result["overall"]}
    pairs = result["run"]["pairs"]
    number = {name: i for i, name in enumerate(pairs["entrants"])}
    cell = None
    if one != other and one.name in rows and other.name in rows:
        i, j = number[one.name], number[other.name]
        chance = win_cell(rows[one.name], rows[other.name], pairs, number)
        cell = {**chance, "ties": pairs["ties"][i][j], "fails": pairs["fails"][i][j]} if chance else None
    return {
        "one": one,
        "other": other,
        "entrants": sorted(entrants.values(), key=lambda entrant: entrant.label),
        "standings": [rows.get(one.name), rows.get(other.name)],
        "cell": cell,
        "verdict": verdict_sentence(fit.result, one, other),
        "by_category": category_records(fit, one, other),
        "drawings": drawings_of_both(fit.run, one, other),
    }


VERDICT_WORDS = {
    "settled": "{upper} is ahead of {lower}{gap}. This holds by a bound that stays right however often one looks.",
    "ahead": "{upper} is ahead of {lower}{gap}. This may still change.",
    "tied": "The two are practically equal{gap}.",
    "undecided": "The two are not separated yet{gap}.",
    "apart": "The two have never been compared, not even through others.",
}


def verdict_sentence(result: dict[str, Any], one: Entrant, other: Entrant) -> str:
    """The verdict on two entrants, with their gap and its interval; empty in a fit that has none."""
    wanted, labels = {one.name, other.name}, {one.name: one.label, other.name: other.label}
    pairs = result.get("verdicts", {}).get("pairs", [])
    pair = next((pair for pair in pairs if {pair["upper"], pair["lower"]} == wanted), None)
    if pair is None:
        return ""
    bounds = "" if pair["low"] is None else f" (95% interval {pair['low']:+.0f} to {pair['high']:+.0f})"
    gap = f": the gap is {pair['gap']:.0f} points{bounds}"
    return VERDICT_WORDS[pair["state"]].format(upper=labels[pair["upper"]], lower=labels[pair["lower"]], gap=gap)


def category_records(fit: Fit, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """Wins of each, ties and fails in each category, from the tallies of the judges who count."""
    records: dict[str, dict[str, int]] = {}
    for (category, left, _, outcome), votes in counts_of_pair(fit.run, one, other).items():
        record = records.setdefault(category, dict.fromkeys(("one", "other", "tie", "fail"), 0))
        if outcome in ("left", "right"):
            record["one" if (left == one.pk) == (outcome == "left") else "other"] += votes
        else:
            record[outcome] += votes
    rules = rules_of(fit.run.code)
    return [
        {"label": rules.label(key) or "none", **records[key], "votes": sum(records[key].values())}
        for key in sorted(records)
    ]


def drawings_of_both(run: Run, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """The first drawing of each on the first prompts that both have one for."""
    samples = run.samples.judgeable().filter(entrant__in=[one, other]).select_related("prompt", "run")
    by_prompt: dict[int, dict[int, Sample]] = {}
    for sample in samples.order_by("prompt__position", "attempt").defer("raw", "answer"):
        by_prompt.setdefault(sample.prompt_id, {}).setdefault(sample.entrant_id, sample)
    both = [drawings for drawings in by_prompt.values() if len(drawings) == 2]
    return [{"prompt": s[one.pk].prompt, "one": s[one.pk], "other": s[other.pk]} for s in both[:PAIRS_SHOWN]]


def entrant_context(fit: Fit, entrant: Entrant) -> dict[str, Any]:
    full, result = full_of(fit), result_of(fit)
    facts = result_of(full)["run"].get("entrants", {}).get(entrant.name) if full else None
    standing = next((row for row in result["overall"] if row["entrant"] == entrant.name), None)
    scopes = [("Overall", standing)] + [(label, find(fit, key, entrant)) for key, label in category_tabs(fit)]
    known = [(label, row) for label, row in scopes if row]
    scale = scale_of([row for _, row in known])
    return {
        "standing": standing,
        "ranks": rank_words(standing["rank_low"], standing["rank_high"]) if standing else "",
        "scopes": [(label, row, interval_row(as_interval(row, label), scale)) for label, row in known],
        "axis": interval_axis(scale),
        "rate": result["samples"].get(entrant.name),
        "cost": result["run"]["costs"].get(entrant.name),
        "consistency": result_of(full)["consistency"].get(entrant.name) if full else None,
        "best": with_samples(fit.run, entrant, facts["best"] if facts else []),
        "worst": with_samples(fit.run, entrant, facts["worst"] if facts else []),
        "prompts": facts["prompts"] if facts else [],
        "others": others_of(fit, entrant),
    }


def others_of(fit: Fit, entrant: Entrant) -> list[dict[str, Any]]:
    """Every other entrant, best first, with the chance against it and the votes between the two."""
    others = {other.name: other for other in fit.run.entrants.all()}
    cells = next((row["cells"] for row in win_table(result_of(fit)) if row["entrant"] == entrant.name), [])
    return [{"entrant": others[cell["other"]], "cell": cell} for cell in cells if cell]


def find(fit: Fit, category: str, entrant: Entrant) -> StandingRow | None:
    return next((row for row in scope_rows(result_of(fit), category) if row["entrant"] == entrant.name), None)


def with_samples(run: Run, entrant: Entrant, rows: list[tuple[str, int, float, int, float]]) -> list[dict[str, Any]]:
    """The drawings that votes speak of, still to be shown."""
    wanted = run.samples.judgeable().filter(entrant=entrant, prompt__text__in={row[0] for row in rows})
    samples = {(s.prompt.text, s.attempt): s for s in wanted.select_related("prompt", "run").defer("raw", "answer")}
    return [
        {"sample": samples[row[0], row[1]], "points": row[2], "votes": row[3], "strength": row[4]}
        for row in rows
        if (row[0], row[1]) in samples
    ]


def best_drawing(run: Run, fit: Fit) -> Best | None:
    """The drawing of the leader that did best by votes."""
    full = full_of(fit)
    if full is None or not full.result["overall"]:
        return None
    leader = full.result["overall"][0]["entrant"]
    for text, attempt, points, votes, _ in full.result["run"].get("entrants", {}).get(leader, {}).get("best", []):
        if sample := find_sample(run, entrant__name=leader, prompt__text=text, attempt=attempt):
            return Best(sample, f"{points:g} points from {votes} vote{'' if votes == 1 else 's'}")
    return None
