"""A pairwise run from the database: the same analysis as of a votes file, and what pages show beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchsite.lib.times import parse_time
from generation.models import Run
from judging.model_judges.answers import model_vote_lines
from judging.model_judges.pairs import PAIRS
from judging.models import Seat, Study
from ranking.answers import count_answers, notes_markdown
from ranking.pairwise.as_json import leaderboard_csv, leaderboard_dict
from ranking.pairwise.as_markdown import leaderboard_markdown
from ranking.pairwise.columns.answers import Cost, costs_of, sample_rates
from ranking.pairwise.columns.fonts import font_check, font_marks
from ranking.pairwise.columns.tallies import tallies_of
from ranking.pairwise.columns.votes import votes_of
from ranking.pairwise.model_judges.ballots import ballots_of
from ranking.pairwise.model_judges.picking import picked_figures
from ranking.pairwise.panels.crowd import arena_facts, crowd_apart, crowd_merged
from ranking.pairwise.panels.groups import group_boards
from ranking.pairwise.result import (
    CostResult,
    CovarianceResult,
    PairsResult,
    PairwiseDocument,
    PairwiseFacts,
    PairwiseResult,
)
from ranking.statistics.leaderboard import CountsFit, Leaderboard, Settings, analyse_votes, fit_counts, rank_overall
from ranking.statistics.ratings.bradley_terry import ELO, residual_table, to_elo
from ranking.statistics.ratings.scopes import fit_overall
from ranking.statistics.records import entrant_record
from ranking.statistics.rounding import rounded
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.pairs import EQUAL
from ranking.statistics.votes import REPEAT, Votes, standing_votes, without_judges

LOOKS = 24  # points of the history
KEPT = 5  # best and worst drawings of an entrant


def analyse_run(run: Run, *, options: dict[str, Any], full: bool) -> PairwiseResult:
    """The leaderboard document (see `leaderboard_dict`) and, under `run`, what only a database knows.

    The fast part reads kept counts; the full part reads every vote.
    """
    settings = make_settings(options)
    if not full and not settings.until:
        fit = fit_counts(tallies_of(run, weights=settings.weights), settings=settings)
        board = Leaderboard(fit, None, sample_rates(run))
        return analysed(run, board, None)
    until = parse_time(settings.until) if settings.until else None
    everybody = standing_votes(votes_of(run, until=until), until=until.timestamp() if until else None)
    votes = without_judges(everybody, set(crowd_apart(run)))
    lines = [] if until else list(model_vote_lines(run))
    ballots = ballots_of(lines) if lines else None
    board = analyse_votes(votes, settings=settings, samples=sample_rates(run), ballots=ballots)
    result = analysed(run, board, votes)
    if not until:
        result["run"]["groups"] = rounded(group_boards(run, everybody, settings))
        if picked := picked_figures(run):
            result["run"]["picked"] = rounded(picked)
    return result


def analysed(run: Run, board: Leaderboard, votes: Votes | None) -> PairwiseResult:
    document: PairwiseDocument = {**leaderboard_dict(board), "answers": count_answers(run)}
    return {**document, "run": run_facts(run, board, document, votes)}


def make_settings(options: dict[str, Any]) -> Settings:
    return Settings(
        ties=options["ties"], fails=options["fails"], weights=options["weights"], until=options.get("until")
    )


def run_facts(run: Run, board: Leaderboard, document: PairwiseDocument, votes: Votes | None) -> PairwiseFacts:
    facts: dict[str, Any] = {
        "pairs": pair_counts(board.fit),
        **covariance(board.fit),
        "costs": {name: cost_fact(cost) for name, cost in costs_of(run).items()},
        "md": "\n".join([leaderboard_markdown(document, title=str(run)), *notes_markdown(run)]),
        "csv": leaderboard_csv(board),
        "simulated": Seat.objects.filter(run=run, is_simulated=True, voted__gt=0).count(),
        "model_judges": PAIRS.judges(run).count(),
        "studies": run.studies.exclude(state=Study.State.DRAFT).count(),
    }
    crowd = crowd_apart(run) | crowd_merged(run)
    aside = facts["aside"] = len(board.fit.settings.weights.keys() - crowd.keys())
    if aside and not board.fit.settings.until:
        facts["everyone"] = everyone(run, board.fit.settings, crowd=crowd)
    if arena := arena_facts(run):
        facts["arena"] = arena
    if votes is not None:
        kept = counted_votes(votes, board.fit)
        facts |= {
            "font_marks": font_marks(run),
            "font_check": font_check(run),
            "history": history(kept, board.fit.settings),
            **drawings(kept, board.fit),
        }
    return rounded(facts)


def cost_fact(cost: Cost) -> CostResult:
    return {"nano": cost.nano, "answers": cost.answers, "each_nano": cost.each_nano, "unknown": cost.unknown}


def covariance(fit: CountsFit) -> dict[str, CovarianceResult]:
    """The ratings' joint uncertainty, among the entrants whose rating has limits."""
    spread = fit.overall_fit.spread
    known = np.flatnonzero(np.isfinite(spread.variance))
    if len(known) < 2:
        return {}
    points = ELO**2 * spread.scaled_covariance[np.ix_(known, known)]
    df = float(np.median(spread.df[known]))
    names = [fit.entrants[i] for i in known]
    return {"covariance": {"entrants": names, "points": points.tolist(), "df": df if np.isfinite(df) else None}}


def pair_counts(fit: CountsFit) -> PairsResult:
    """Wins of row over column, ties and fails of each pair, whatever the sides; lists [K][K] in the order of `entrants`."""
    counts = fit.overall_fit.counts
    tables = (counts[..., 0] + counts[..., 1].T, *(counts[..., k] + counts[..., k].T for k in (2, 3)))
    wins, ties, fails = (table.astype(int).tolist() for table in tables)
    return {"entrants": list(fit.entrants), "wins": wins, "ties": ties, "fails": fails}


def everyone(run: Run, settings: Settings, *, crowd: Mapping[str, float]) -> dict[str, Any]:
    """The overall standings had every judge counted fully, an open arena's as they do: the other version, shown beside."""
    whole = Settings(ties=settings.ties, fails=settings.fails, weights=crowd)
    tallies = tallies_of(run, weights=crowd)
    overall = rank_overall(tallies, whole)
    return {"votes": sum(row.votes for row in overall) // 2, "overall": [vars(row) for row in overall]}


def counted_votes(votes: Votes, fit: CountsFit) -> Votes:
    """The votes that entered the ratings, in order of time."""
    out = [j for j, name in enumerate(votes.judges) if fit.settings.weights.get(name, 1.0) == 0]
    kept = votes.take((votes.kind != REPEAT) & ~np.isin(votes.judge, out))
    return kept.take(np.argsort(kept.time, kind="stable"))


def history(votes: Votes, settings: Settings) -> list[dict[str, Any]]:
    """Ratings with their intervals after the first n of the votes that stand now, for some n."""
    looks = np.unique(np.linspace(0, len(votes), LOOKS + 1).round().astype(int))[1:]
    points = []
    for n in looks:
        early = votes.take(np.arange(len(votes)) < n)
        fit = fit_overall(tally_votes(early, weights=settings.weights), settings)
        rating, reach = to_elo(fit.theta), ELO * fit.spread.reach(settings.level)
        low = np.where(fit.connected.no_lower, np.nan, rating - reach)
        high = np.where(fit.connected.no_upper, np.nan, rating + reach)
        met = np.flatnonzero(entrant_record(fit.counts).sum(1))
        ratings = {votes.entrants[i]: [rating[i], low[i], high[i]] for i in met}
        points.append({"votes": int(n), "at": float(early.time[-1]), "ratings": ratings})
    return points


def drawings(votes: Votes, fit: CountsFit) -> dict[str, Any]:
    """How each drawing and each prompt of an entrant did against what its rating led to expect.

    A drawing's `strength` is the mean residual of its votes, drawn to 0 as if two votes had met the expectation, so that
    one lucky vote makes no best drawing; where fails are frequent, both bad counts against both (`fit_joint`). Lists are [prompt, attempt, points, votes, strength] and [prompt, votes, strength].
    """
    number = {name: i for i, name in enumerate(fit.entrants)}
    theta = np.array([fit.overall_fit.theta[number[name]] if name in number else 0.0 for name in votes.entrants])
    tables = residual_table(theta, **fit.settings.halves)
    scores = (tables, -tables)
    if fit.joint is not None and tuple(votes.entrants) == fit.entrants:
        scores = fit.joint.drawing_scores
    left, right = (table[votes.left, votes.right, votes.outcome] for table in scores)
    points = np.array([1.0, 0.0, 0.5, 0.0])[votes.outcome]
    other = np.array([0.0, 1.0, 0.5, 0.0])[votes.outcome]
    entrant = np.concatenate([votes.left, votes.right])
    prompt = np.concatenate([votes.prompt, votes.prompt])
    attempt = np.concatenate([votes.left_attempt, votes.right_attempt])
    score, won = np.concatenate([left, right]), np.concatenate([points, other])
    known = prompt >= 0
    rows = np.column_stack([entrant, prompt, attempt])[known]
    by_drawing = grouped(rows, score[known], won[known])
    by_prompt = grouped(rows[:, :2], score[known], won[known])
    result: dict[str, Any] = {name: {"drawings": [], "prompts": []} for name in votes.entrants}
    for (e, p, a), n, strength, sum_won in by_drawing:
        result[votes.entrants[e]]["drawings"].append([votes.prompts[p], int(a), float(sum_won), n, strength])
    for (e, p), n, strength, _ in by_prompt:
        result[votes.entrants[e]]["prompts"].append([votes.prompts[p], n, strength])
    return {"entrants": {name: extremes(lists) for name, lists in result.items()}}


def grouped(rows: Any, score: Any, won: Any) -> Any:
    keys, group = np.unique(rows, axis=0, return_inverse=True)
    group = group.ravel()
    n = np.bincount(group, minlength=len(keys))
    sums, wins = np.bincount(group, score, len(keys)), np.bincount(group, won, len(keys))
    return zip(keys.tolist(), n.tolist(), (sums / (n + 2)).tolist(), wins.tolist(), strict=True)


def extremes(lists: dict[str, Any]) -> dict[str, Any]:
    """The best, which won or tied once, and the worst by strength, each of another prompt; none where votes tell no difference."""
    ordered = sorted(lists["drawings"], key=lambda row: (-row[4], row[0], row[1]))
    half = (len(ordered) + 1) // 2
    best, worst = (_one_a_prompt(rows)[:KEPT] for rows in (ordered[:half], ordered[half:][::-1]))
    return {
        "best": [row for row in best if row[2] > 0 and abs(row[4]) > EQUAL],
        "worst": [row for row in worst if abs(row[4]) > EQUAL],
        "prompts": sorted(lists["prompts"], key=lambda row: (-row[2], row[0])),
    }


def _one_a_prompt(rows: list[Any]) -> list[Any]:
    first: dict[str, Any] = {}
    for row in rows:
        first.setdefault(row[0], row)
    return list(first.values())
