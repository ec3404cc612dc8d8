"""A leaderboard as LEADERBOARD.md: overall, by category, consistency, and what the numbers rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchsite.lib.text import markdown_cell
from ranking.pairwise.as_json import leaderboard_dict
from ranking.statistics.leaderboard import CountsFit, Leaderboard, is_stable, notes, votes_still_needed
from ranking.statistics.standings import Standing


def leaderboard_markdown(board: Leaderboard, *, title: str = "Leaderboard") -> str:
    """Plain tables that read well on a code host; every number has its n."""
    fit = board.fit
    parts = [f"# {markdown_cell(title)}", _opening(board), *(f"> {markdown_cell(note)}" for note in notes(board))]
    parts += ["## Overall Elo", _overall(board), _places(fit)]
    if fit.categories.standings:
        parts += ["## Category-specific Elo", CATEGORY_WORDS]
        for name, rows in fit.categories.standings.items():
            parts += [f"### {markdown_cell(name)}", _category(rows)]
    parts += ["## Consistency score", CONSISTENCY_WORDS, _consistency(board)]
    parts += ["## How far to trust this", _trust(board), "## Method", _method(fit)]
    return "\n\n".join(part for part in parts if part) + "\n"


CATEGORY_WORDS = (
    "Ratings in a category lean on the overall rating as far as the categories are alike, so that a few lucky votes crown "
    "nobody; *raw* is the rating from the category's own votes alone."
)
CONSISTENCY_WORDS = (
    "Variance across the attempts at the same prompt, in squared win probability, with the noise of single votes taken "
    "out. Lower is steadier."
)


def _opening(board: Leaderboard) -> str:
    fit = board.fit
    judges = len(board.judge_reports)
    until = f" Votes until {fit.settings.until}." if fit.settings.until else ""
    return (
        f"{_count(fit.votes, 'vote')} by {_count(judges, 'judge')} on {_count(len(fit.prompts), 'prompt')}, "
        f"{_count(len(fit.entrants), 'entrant')}.{until}"
    )


def _overall(board: Leaderboard) -> str:
    head = ["Rank", "Entrant", "Elo", "95 % interval", "Rank range", "Best", "Votes", "W / L / T / F", "Fail rate"]
    sampled = bool(board.samples)
    rows = []
    for row in board.fit.overall:
        cells = [
            row.rank,
            markdown_cell(row.entrant),
            f"{row.rating:.0f}",
            _bounds(row.low, row.high),
            _range(row.rank_low, row.rank_high),
            f"{100 * row.p_best:.0f} %",
            row.votes,
            f"{row.wins} / {row.losses} / {row.ties} / {row.fails}",
            _percent(row.fail_rate),
        ]
        if sampled:
            rate = board.samples.get(row.entrant)
            cells += [_percent(rate.valid_rate) if rate else "–", _number(rate.robustness if rate else None, 2)]
        rows.append(cells)
    return _table([*head, "Valid", "Robustness"] if sampled else head, rows, left=(1,))


def _places(fit: CountsFit) -> str:
    """The ranking in words: who is clearly placed, and who is tied."""
    if len(fit.entrants) < 2 or not fit.votes:
        return ""
    lines = []
    for row in fit.overall[:10]:
        if row.rank_low == row.rank_high:
            lines.append(f"- **{markdown_cell(row.entrant)}** is {_ordinal(row.rank_low)}.")
        else:
            lines.append(
                f"- **{markdown_cell(row.entrant)}** is tied: anywhere from {_range(row.rank_low, row.rank_high)}."
            )
    if is_stable(fit):
        lines.append("- The ranking is **stable**: each pair of neighbours is apart or tied, however often one looks.")
    elif (needed := votes_still_needed(fit)) is not None:
        lines.append(f"- The ranking is **not stable yet**: about {needed:,} more votes of this kind would settle it.")
    else:
        lines.append("- The ranking is **not stable**, and more votes of this kind alone will not settle it.")
    return "\n".join(lines)


def _category(rows: Iterable[Standing]) -> str:
    head = ["Rank", "Entrant", "Elo", "95 % interval", "Raw", "Rank range", "Best", "Votes"]
    body = [
        [
            row.rank,
            markdown_cell(row.entrant),
            f"{row.rating:.0f}",
            _bounds(row.low, row.high),
            _number(row.raw_rating),
            _range(row.rank_low, row.rank_high),
            f"{100 * row.p_best:.0f} %",
            row.votes,
        ]
        for row in rows
    ]
    return _table(head, body, left=(1,))


def _consistency(board: Leaderboard) -> str:
    known = board.rows.consistency if board.rows else {}
    ordered = sorted(known.items(), key=lambda item: (item[1].variance is None, item[1].variance or 0, item[0]))
    rows = [
        [
            markdown_cell(name),
            _number(c.variance, 4),
            _number(c.sd, 3),
            "–" if c.low is None or c.high is None else f"{c.low:.4f} – {c.high:.4f}",
            c.prompts,
        ]
        for name, c in ordered
    ]
    return _table(["Entrant", "Variance", "SD", "95 % interval", "Prompts"], rows, left=(0,))


def _trust(board: Leaderboard) -> str:
    document = leaderboard_dict(board)
    lines = [_agreement_line(document), _side_line(document), _robust_line(document)]
    flagged = [name for name, report in board.judge_reports.items() if report.flags]
    if flagged:
        lines.append(f"- Judges worth a look: {len(flagged)} of {len(board.judge_reports)} show an unusual pattern.")
    return "\n".join(line for line in lines if line)


def _agreement_line(document: dict[str, Any]) -> str:
    agreement = document["agreement"]
    if not agreement["units"]:
        return "- No item was seen by two judges, so agreement is unknown."
    words = ", ".join(
        f"{label} {_estimate(agreement[key])}"
        for label, key in (
            ("raw", "raw"),
            ("Krippendorff's alpha", "alpha_nominal"),
            ("alpha of scores", "alpha_interval"),
            ("Gwet's AC1", "ac1"),
        )
    )
    return f"- Agreement on {_count(agreement['units'], 'item')} that two or more judges saw: {words}."


def _side_line(document: dict[str, Any]) -> str:
    bias = document["side_bias"]
    if bias["logit"] is None:
        return ""
    return f"- Side bias: {bias['logit']:+.2f} log-odds for the left ({bias['low']:+.2f} to {bias['high']:+.2f})."


def _robust_line(document: dict[str, Any]) -> str:
    robust = document["robustness"]
    if robust["first"] is None:
        return ""
    said = []
    if robust["first_holds_without_any_judge"] is not None:
        holds = "stays" if robust["first_holds_without_any_judge"] else "does not stay"
        said.append(f"{markdown_cell(robust['first'])} {holds} first when any one judge is left out")
    if few := robust["fewest_votes"]:
        said.append(
            f"leaving out {_count(few['votes'], 'vote')} ({100 * few['share']:.1f} %) would put {markdown_cell(few['instead'])} first"
        )
    return f"- Robustness: {'; '.join(said)}." if said else ""


def _method(fit: CountsFit) -> str:
    spread, settings = fit.overall_fit.spread, fit.settings
    ways = {
        "two-way": f"clustered by judge and prompt, Student's t with {spread.df:.0f} degrees of freedom",
        "judge": f"clustered by judge, Student's t with {spread.df:.0f} degrees of freedom",
        "prompt": f"clustered by prompt, Student's t with {spread.df:.0f} degrees of freedom",
        "iid": "as if votes were independent",
    }
    effect = f" The design effect is {spread.design_effect:.1f}." if fit.votes and spread.design_effect else ""
    nu = fit.davidson.nu
    return (
        f"Bradley-Terry ratings on the Elo scale (mean 1000); ties count as {_handling(settings.ties)}, "
        f"fails (both terrible) as {_handling(settings.fails)}. Intervals are {ways[spread.method]}.{effect} "
        f"Davidson's tie parameter is {_number(nu, 3)}. Rank ranges hold for all entrants at once. "
        "W / L / T / F: wins, losses, ties, fails."
    )


def _handling(setting: str) -> str:
    return "half a win each" if setting == "half" else "no vote"


def _table(head: list[str], rows: list[list[Any]], *, left: tuple[int, ...]) -> str:
    if not rows:
        return "*Nothing to show yet.*"
    rule = ["---" if i in left else "---:" for i in range(len(head))]
    lines = [head, rule, *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _bounds(low: float | None, high: float | None) -> str:
    return f"{'…' if low is None else f'{low:.0f}'} – {'…' if high is None else f'{high:.0f}'}"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _estimate(value: dict[str, Any]) -> str:
    shown = _number(value["value"], 2)
    return shown if value["low"] is None else f"{shown} ({value['low']:.2f} to {value['high']:.2f})"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _ordinal(n: int) -> str:
    suffix = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"
