"""A leaderboard as a JSON document whose keys stay the same from release to release (see docs/statistics.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from benchsite.lib.text import csv_text
from ranking.pairwise.model_judges.document import models_dict
from ranking.pairwise.result import PairwiseDocument
from ranking.statistics.agreement.shared_items import Agreement
from ranking.statistics.judges.reports import JudgeReport
from ranking.statistics.leaderboard import CountsFit, Leaderboard
from ranking.statistics.notes import notes
from ranking.statistics.ratings.bradley_terry import ELO, RIDGE, to_elo
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.rounding import rounded
from ranking.statistics.samples import SampleRate
from ranking.statistics.standings import EntrantStanding
from ranking.statistics.verdicts.forecast import is_stable, still_needed
from ranking.statistics.verdicts.paired import verdict_table


def leaderboard_dict(board: Leaderboard) -> PairwiseDocument:
    """JSON-able, with null where a number does not exist; never NaN or infinity."""
    fit = board.fit
    document: dict[str, Any] = {
        "votes": fit.votes,
        "judges_count": len(board.judge_reports),
        "prompts_count": _prompts_count(fit),
        "settings": _settings(board),
        "notes": notes(board),
        "intervals": _intervals(fit),
        "overall": [_standing(row) for row in fit.overall],
        "categories": {
            name: [_standing(row, raw=True) for row in rows] for name, rows in fit.categories.standings.items()
        },
        "judges": {name: _judge(report) for name, report in board.judge_reports.items()},
        "agreement": _agreement(board.rows.agreement if board.rows else None),
        "side_bias": asdict(fit.side_bias),
        "ties": _ties(fit),
        "consistency": {n: asdict(c) for n, c in board.rows.consistency.items()} if board.rows else {},
        "connectivity": _connectivity(fit),
        "activity": _activity(fit),
        "verdicts": _verdicts(fit),
        "stability": _stability(fit),
        "robustness": _robustness(board),
        "model_fit": _model_fit(fit),
        "joint": _joint(fit),
        "samples": _rates(board.samples),
        "category_basis": {
            name: {"judges": judges, "prompts": prompts} for name, (judges, prompts) in fit.category_basis.items()
        },
        "category_samples": {
            name: _rates({entrant: rate.in_category(name) for entrant, rate in board.samples.items()})
            for name in fit.categories.standings
            if board.samples
        },
        "answer_ratings": _answer_ratings(board),
    }
    if board.models is not None:
        document["model_judges"] = models_dict(board.models)
    return rounded(document)


def _prompts_count(fit: CountsFit) -> int:
    """Prompts with votes; a spread knows them only where a vote is decided."""
    named = len(fit.prompts)
    return min(int(fit.overall_fit.spread.prompts), named) if fit.overall_fit.decided else named


def _standing(row: EntrantStanding, *, raw: bool = False) -> dict[str, Any]:
    return {key: value for key, value in vars(row).items() if raw or key != "raw_rating"}


def _judge(report: JudgeReport) -> dict[str, Any]:
    return vars(report) | {"standings": [vars(row) for row in report.standings]}


def _rates(samples: Mapping[str, SampleRate]) -> dict[str, Any]:
    """Without what each prompt had: `database.jsonl` has that."""
    return {
        name: {key: value for key, value in vars(rate).items() if key != "by_prompt"} for name, rate in samples.items()
    }


def _answer_ratings(board: Leaderboard) -> dict[str, Any] | None:
    ratings = board.answer_ratings
    if ratings is None:
        return None
    return {"overall": [vars(row) for row in ratings.overall], "verdicts": ratings.verdicts}


def _settings(board: Leaderboard) -> dict[str, Any]:
    fit, settings = board.fit, board.fit.settings
    return {
        "method": "half-win Bradley-Terry",
        "ties": settings.ties,
        "fails": settings.fails,
        "weights": dict(settings.weights),
        "activity": settings.activity,
        "until": settings.until,
        "level": settings.level,
        "margin": settings.margin,
        "judge_minimum": settings.judge_minimum,
        "seed": settings.seed,
        "draws": settings.draws,
        "ridge": RIDGE if fit.overall_fit.connected.components > 1 else 0,
        "category_strength": fit.categories.strength,
        "judge_strength": fit.judge_fits.strength or None,
        "votes": fit.votes,
        "skipped_lines": board.skipped,
    }


def _intervals(fit: CountsFit) -> dict[str, Any]:
    """`df` and `quantile` are those of the entrant in the middle: each rating has its own."""
    spread = fit.overall_fit.spread
    df = spread.usual_df
    return {
        "method": spread.method,
        "df": df,
        "quantile": float(t_quantile(df, 0.5 + fit.settings.level / 2)),
        "design_effect": spread.design_effect if fit.entrants else None,
        "judge_sd": spread.judge_component.positive**0.5,
        "prompt_sd": spread.prompt_component.positive**0.5,
    }


def _activity(fit: CountsFit) -> dict[str, Any]:
    """The weight of a vote by its judge's class (votes from 2^c on), and the ratings had all counted alike."""
    weights = fit.overall_fit.activity.by_class
    classes = [{"votes_from": 2**c, "weight": weight} for c, weight in sorted(weights.items()) if c >= 0]
    return {"weights": classes, "unweighted": [_standing(row) for row in fit.unweighted]}


def _model_fit(fit: CountsFit) -> dict[str, Any]:
    """How well the scale holds together, and the pairs that the ratings do not explain, worst first."""
    pairs = [
        asdict(pair) | {"winner": fit.entrants[pair.winner], "loser": fit.entrants[pair.loser]} for pair in fit.misfits
    ]
    checks = fit.checks
    return {
        "separation_reliability": checks.separation,
        "split_half_reliability": checks.split_half,
        "entrant_infit": dict(zip(fit.entrants, checks.entrant_infit, strict=True)),
        "misfits": pairs,
    }


def _joint(fit: CountsFit) -> dict[str, Any] | None:
    """The ratings that use both bad too, best first; null where fails are few."""
    joint = fit.joint
    if joint is None:
        return None
    rating, reach = to_elo(joint.theta), ELO * joint.reach(fit.settings.level)
    rows = [
        {"entrant": name, "rating": rating[i], "low": rating[i] - reach[i], "high": rating[i] + reach[i]}
        for i, name in enumerate(fit.entrants)
    ]
    rows.sort(key=lambda row: (-round(row["rating"], 6), row["entrant"]))
    return {"fails": joint.fails, "slope": joint.slope, "slope_error": joint.slope_error, "ratings": rows}


def _verdicts(fit: CountsFit) -> dict[str, Any]:
    """Every pair once, better first; `low` and `high` are the gap's own 95% interval."""
    order = [fit.entrants.index(row.entrant) for row in fit.overall]
    return verdict_table(fit.verdicts, fit.entrants, order, unit=ELO)


def _agreement(agreement: Agreement | None) -> dict[str, Any]:
    if agreement is None:
        return {"units": 0}
    values = {
        name: asdict(getattr(agreement, name)) for name in ("alpha_nominal", "alpha_interval", "ac1", "fleiss", "raw")
    }
    cohen = [{"judges": [a, b], "units": n, "kappa": kappa} for a, b, n, kappa in agreement.cohen]
    repeats = asdict(agreement.repeats) | {"repeats": agreement.repeats_seen}
    return {"units": agreement.units, **values, "cohen": cohen, "self": repeats}


def _ties(fit: CountsFit) -> dict[str, Any]:
    ratings = to_elo(fit.davidson.theta)
    return {"nu": fit.davidson.nu, "ratings": dict(zip(fit.entrants, ratings, strict=True))}


def _connectivity(fit: CountsFit) -> dict[str, Any]:
    connected = fit.overall_fit.connected

    def groups(labels: Any, count: int) -> list[list[str]]:
        return [[n for n, label in zip(fit.entrants, labels, strict=True) if label == g] for g in range(count)]

    return {
        "connected": connected.components <= 1,
        "components": groups(connected.component, connected.components),
        "islands": groups(connected.island, connected.islands),
    }


def _stability(fit: CountsFit) -> dict[str, Any]:
    pairs = [
        {
            "upper": fit.entrants[pair.upper],
            "lower": fit.entrants[pair.lower],
            "gap": pair.gap,
            "half_width": pair.half_width,
            "state": pair.state,
            "status": pair.status,
            "votes_needed": pair.forecast.votes,
            "judges_needed": pair.forecast.judges,
            "prompts_needed": pair.forecast.prompts,
        }
        for pair in fit.pairs
    ]
    needed = still_needed(fit.pairs)
    return {
        "stable": is_stable(fit.pairs, fit.overall_fit.connected),
        "votes_needed": needed.votes,
        "judges_needed": needed.judges,
        "prompts_needed": needed.prompts,
        "pairs": pairs,
    }


def _robustness(board: Leaderboard) -> dict[str, Any]:
    fit = board.fit
    alone = sum(row.rank == 1 for row in fit.overall) == 1 and fit.overall_fit.connected.islands == 1
    if len(fit.entrants) < 2 or not alone:
        return {"first": None, "leave_one_judge_out": [], "first_holds_without_any_judge": None, "fewest_votes": None}
    order = np.argsort(-fit.overall_fit.theta, kind="stable")
    first = fit.entrants[order[0]]
    rows = [_without_judge(fit, j, order) for j in range(len(fit.judges)) if fit.judge_fits.votes[j] > 0]
    if len(rows) < 2:
        rows = []
    few = fit.fewest
    fewest = few and {
        "votes": few.votes,
        "share": few.share,
        "first": fit.entrants[few.first],
        "instead": fit.entrants[few.instead],
    }
    holds = all(row["first"] == first for row in rows) if rows else None
    return {
        "first": first,
        "leave_one_judge_out": rows,
        "first_holds_without_any_judge": holds,
        "fewest_votes": fewest,
    }


def _without_judge(fit: CountsFit, j: int, order: Any) -> dict[str, Any]:
    theta = fit.judge_fits.without[j]
    left = np.argsort(-theta, kind="stable")
    place, now = np.empty(len(order), int), np.empty(len(order), int)
    place[order], now[left] = np.arange(len(order)), np.arange(len(order))
    mover = int(np.abs(now - place).argmax())
    return {
        "judge": fit.judges[j],
        "first": fit.entrants[left[0]],
        "ranks_moved": int((now != place).sum()),
        "largest_move": int(abs(now - place)[mover]),
        "mover": fit.entrants[mover] if now[mover] != place[mover] else None,
        "largest_change": float(ELO * np.abs(theta - fit.overall_fit.theta).max()),
    }


def leaderboard_csv(board: Leaderboard) -> str:
    """Every standing of every scope as CSV, formulas made harmless."""
    scopes = [("overall", "", board.fit.overall)]
    scopes += [("category", name, rows) for name, rows in board.fit.categories.standings.items()]
    table: list[list[Any]] = [["scope", "category", *(column.name for column in fields(EntrantStanding))]]
    for scope, category, rows in scopes:
        table += [[scope, category, *rounded(asdict(row)).values()] for row in rows]
    columns = table[0][2:]
    for answer in board.answer_ratings.overall if board.answer_ratings else []:
        values = rounded(vars(answer))
        table.append(["answers", "", *(values.get(name) for name in columns)])
    return csv_text(table)
