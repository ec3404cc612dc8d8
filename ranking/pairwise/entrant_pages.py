"""What the pages about one entrant, and about two, show of a pairwise leaderboard."""

from __future__ import annotations

from typing import Any

from generation.models import Entrant, Run
from judging.rules import rules_of
from ranking.best import Best, drawings_of_both, find_sample
from ranking.charts.duels import duel_bar
from ranking.charts.intervals import interval_axis, interval_row
from ranking.charts.markers import marker_sign
from ranking.charts.svg import Svg
from ranking.models import Fit
from ranking.pairwise.chart_files import as_interval, scale_of, win_cell, win_table
from ranking.pairwise.columns.tallies import counts_of_pair
from ranking.pairwise.documents.standings import StandingRow
from ranking.pairwise.result import category_tabs, full_of, result_of, scope_rows
from ranking.words import counted, numbers_of, pair_of, rank_words, stand_words, verdict_words


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
        "bar": versus_bar(cell, one, fit) if cell else "",
        **(verdicts := verdicts_context(fit, one, other)),
        "shared_words": verdicts["verdict"],
        "by_category": category_records(fit, one, other),
        "drawings": drawings_of_both(fit.run, one, other),
    }


def verdicts_context(fit: Fit, one: Entrant, other: Entrant) -> dict[str, Any]:
    """The verdicts on two entrants by their drawings and by their answers; None in a fit that has none."""
    result, labels = result_of(fit), {one.name: one.label, other.name: other.label}
    gap = pair_of(result.get("verdicts"), one.name, other.name)
    ratings = result.get("answer_ratings")
    by_answers = pair_of(ratings["verdicts"], one.name, other.name) if ratings else None
    same = (
        gap is not None
        and by_answers is not None
        and gap["state"] == by_answers["state"]
        and gap["upper"] == by_answers["upper"]
    )
    words = f"By answers: {verdict_words(by_answers, labels, digits=0)}" if by_answers and not same else ""
    return {
        "gap": gap,
        "answers_gap": by_answers,
        "verdict": f"{verdict_words(gap, labels, digits=0)} {words}".strip() if gap else "",
    }


def versus_bar(cell: dict[str, Any], one: Entrant, fit: Fit) -> Svg:
    number = numbers_of(fit.run.entrants.all()).get(one.name)
    return duel_bar(cell["wins"], cell["ties"] + cell["fails"], cell["losses"], number=number)


def category_records(fit: Fit, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """Wins of each, ties and fails in each category, from the tallies of the judges who count."""
    records: dict[str, dict[str, int]] = {}
    for (category, left, _, outcome), votes in counts_of_pair(fit.run, one, other).items():
        record = records.setdefault(category, dict.fromkeys(("one", "other", "tie", "fail"), 0))
        if outcome in ("left", "right"):
            record["one" if (left == one.pk) == (outcome == "left") else "other"] += votes
        else:
            record[outcome] += votes
    rules, number = rules_of(fit.run.code), numbers_of(fit.run.entrants.all()).get(one.name)
    return [
        {
            "label": rules.label(key) or "none",
            **records[key],
            "votes": sum(records[key].values()),
            "bar": duel_bar(
                records[key]["one"], records[key]["tie"] + records[key]["fail"], records[key]["other"], number=number
            ),
        }
        for key in sorted(records)
    ]


def entrant_context(fit: Fit, entrant: Entrant) -> dict[str, Any]:
    full, result = full_of(fit), result_of(fit)
    facts = result_of(full)["run"].get("entrants", {}).get(entrant.name) if full else None
    standing = next((row for row in result["overall"] if row["entrant"] == entrant.name), None)
    scopes = [("Overall", standing)] + [(label, find(fit, key, entrant)) for key, label in category_tabs(fit)]
    known = [(label, row) for label, row in scopes if row]
    scale = scale_of([row for _, row in known])
    number = numbers_of(fit.run.entrants.all()).get(entrant.name)
    subjects, strengths = dict(fit.run.prompts.values_list("text", "subject")), facts["prompts"] if facts else []
    return {
        "standing": standing,
        "ranks": rank_words(standing["rank_low"], standing["rank_high"]) if standing else "",
        "scopes": [(label, row, interval_row(as_interval(row, label, number), scale)) for label, row in known],
        "axis": interval_axis(scale),
        "rate": result["samples"].get(entrant.name),
        "infit": result["model_fit"].get("entrant_infit", {}).get(entrant.name) if "model_fit" in result else None,
        "cost": result["run"]["costs"].get(entrant.name),
        "consistency": result_of(full)["consistency"].get(entrant.name) if full else None,
        "best": with_samples(fit.run, entrant, facts["best"] if facts else []),
        "worst": with_samples(fit.run, entrant, facts["worst"] if facts else []),
        "prompts": [(subjects.get(text) or text, votes, strength) for text, votes, strength in strengths],
        "others": others_of(fit, entrant),
    }


def others_of(fit: Fit, entrant: Entrant) -> list[dict[str, Any]]:
    """Every other entrant, best first, with the chance against it, the votes between the two as a bar, and the verdict."""
    result = result_of(fit)
    others, numbers = {other.name: other for other in fit.run.entrants.all()}, numbers_of(fit.run.entrants.all())
    cells = next((row["cells"] for row in win_table(result) if row["entrant"] == entrant.name), [])
    pairs = result.get("verdicts", {"pairs": [], "brackets": []})["pairs"]
    verdicts = {frozenset((pair["upper"], pair["lower"])): pair for pair in pairs}
    lines = []
    for cell in filter(None, cells):
        verdict = verdicts.get(frozenset((entrant.name, cell["other"])))
        even = cell["votes"] - cell["wins"] - cell["losses"]
        lines.append(
            {
                "entrant": others[cell["other"]],
                "sign": marker_sign(numbers[cell["other"]]),
                "cell": cell,
                "bar": duel_bar(cell["wins"], even, cell["losses"], number=numbers[entrant.name]),
                "verdict": stand_words(verdict, entrant.name) if verdict else "",
            }
        )
    return lines


def find(fit: Fit, category: str, entrant: Entrant) -> StandingRow | None:
    return next((row for row in scope_rows(result_of(fit), category) if row["entrant"] == entrant.name), None)


def with_samples(run: Run, entrant: Entrant, rows: list[tuple[str, int, float, int, float]]) -> list[dict[str, Any]]:
    """The drawings that votes speak of, still to be shown."""
    wanted = run.samples.judgeable().filter(entrant=entrant, prompt__text__in={row[0] for row in rows})
    samples = {
        (s.prompt.text, s.attempt): s
        for s in wanted.select_related("prompt", "run", "entrant").defer("raw", "answer", "run__config")
    }
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
    if full.result["robustness"]["first"] != leader:  # the first place is shared
        return None
    for text, attempt, points, votes, _ in full.result["run"].get("entrants", {}).get(leader, {}).get("best", []):
        if sample := find_sample(run, entrant__name=leader, prompt__text=text, attempt=attempt):
            return Best(sample, f"{points:g} point{'' if points == 1 else 's'} from {counted(votes, 'vote')}")
    return None
