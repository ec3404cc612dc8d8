"""A leaderboard as LEADERBOARD.md: overall, by category, consistency, and what the numbers rest on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchsite.lib.text import markdown_cell
from benchsite.templatetags.wording import chance, percent
from ranking.pairwise.documents.standings import AnswerRow, SampleRateResult, StandingRow
from ranking.pairwise.model_judges.sentences import models_markdown
from ranking.pairwise.result import PairwiseDocument
from ranking.pairwise.sentences import (
    agreement_sentence,
    camps_sentence,
    clustered,
    leading_sentence,
    robustness_sentence,
    scale_sentence,
    side_sentence,
    stability_sentence,
    ties_sentence,
)
from ranking.words import counted, rank_words

CATEGORY_WORDS = (
    "Category ratings are shrunk towards the overall rating; *raw* is the rating from the category’s own votes alone."
)
ANSWERS_WORDS = (
    "The ratings above are of drawings that could be judged. Here an invalid answer loses to a valid one, and two invalid "
    "ones are a tie."
)
ONE_CATEGORY = "There is one category, so its ratings are the overall ones."
CONSISTENCY_WORDS = (
    "Variance across the attempts at the same prompt, in squared win probability, with the noise of single votes taken "
    "out. Lower is steadier."
)
NORMAL = 10_000  # degrees of freedom from which Student's t is the normal distribution
HANDLING = {"half": "half a win each", "drop": "no vote"}


def leaderboard_markdown(board: PairwiseDocument, *, title: str = "Leaderboard") -> str:
    """Plain tables that read well on a code host; every number has its n."""
    parts = [f"# {markdown_cell(title)}", _opening(board), *(f"> {markdown_cell(note)}" for note in board["notes"])]
    parts += ["## Overall Elo", _overall(board), _places(board), *_joint(board)]
    if board["categories"]:
        parts += ["## Category-specific Elo", CATEGORY_WORDS if len(board["categories"]) > 1 else ONE_CATEGORY]
        for name, rows in board["categories"].items():
            parts += [f"### {markdown_cell(name)}", _category(rows)]
    parts += ["## Consistency score", CONSISTENCY_WORDS, _consistency(board)]
    if ratings := board.get("answer_ratings"):
        parts += ["## Elo of the answers", ANSWERS_WORDS, _answers(ratings["overall"])]
    if models := board.get("model_judges"):
        parts += models_markdown(models)
    parts += [
        "## How far to trust this",
        _trust(board),
        "## Method",
        f"{method_paragraph(board)} W / L / T / F: wins, losses, ties, fails.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _labels(board: PairwiseDocument) -> dict[str, str]:
    """Names that cannot be read as markup."""
    return {row["entrant"]: markdown_cell(row["entrant"]) for row in board["overall"]}


def _opening(board: PairwiseDocument) -> str:
    judges, prompts = counted(board["judges_count"], "judge"), counted(board["prompts_count"], "prompt")
    until = board["settings"]["until"]
    return (
        f"{counted(board['votes'], 'vote')} by {judges} on {prompts}, {counted(len(board['overall']), 'entrant')}."
        f"{f' Votes until {until}.' if until else ''}"
    )


def _overall(board: PairwiseDocument) -> str:
    head = ["Rank", "Entrant", "Elo", "95% interval", "Rank range", "Best", "Votes", "W / L / T / F", "Fail rate"]
    samples, rows = board["samples"], []
    for row in board["overall"]:
        cells = [
            *_placed(row),
            rank_words(row["rank_low"], row["rank_high"]),
            chance(row["p_best"]),
            row["votes"],
            f"{row['wins']} / {row['losses']} / {row['ties']} / {row['fails']}",
            percent(row["fail_rate"]),
        ]
        if samples:
            rate = samples.get(row["entrant"])
            cells += [percent(rate["valid_rate"]), *_robustness(rate)] if rate else ["–", "–", "–"]
        rows.append(cells)
    return _table([*head, "Valid", "Robustness", "Characters"] if samples else head, rows, left=1)


def _robustness(rate: SampleRateResult) -> list[str]:
    """How alike the pictures in the three fonts are, and the share of characters that all can show."""
    if "similarity" not in rate:  # a fit from before pictures were compared
        return ["–", percent(rate["robustness"])]
    return [_number(rate["robustness"], 2), percent(rate.get("coverage"))]


def _placed(row: StandingRow) -> list[str | int]:
    """Rank, entrant, rating and interval."""
    low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
    return [row["rank"], markdown_cell(row["entrant"]), f"{row['rating']:.0f}", f"{low} – {high}"]


def _joint(board: PairwiseDocument) -> list[str]:
    """The ratings that use both bad, where fails are frequent."""
    joint = board.get("joint")
    if not joint:
        return []
    rows: list[list[str | int]] = [
        [place, markdown_cell(row["entrant"]), f"{row['rating']:.0f}", f"{row['low']:.0f} – {row['high']:.0f}"]
        for place, row in enumerate(joint["ratings"], start=1)
    ]
    words = f"{percent(joint['fails'])} of the votes were “both bad”. These ratings use that too, on a wider scale."
    return ["### With “both bad”", words, _table(["Place", "Entrant", "Elo", "95% interval"], rows, left=1)]


def _places(board: PairwiseDocument) -> str:
    """The ranking in words: who leads, and whether more votes can change it."""
    if len(board["overall"]) < 2 or not board["votes"]:
        return ""
    first = leading_sentence(board, _labels(board))
    return _listed([first, stability_sentence(board, before=first)])


def _category(rows: Iterable[StandingRow]) -> str:
    head = ["Rank", "Entrant", "Elo", "95% interval", "Raw", "Rank range", "Best", "Votes"]
    rows = list(rows)
    ranked = any(row["p_best"] is not None or (row["rank_low"], row["rank_high"]) != (1, len(rows)) for row in rows)
    body = [
        [
            *(_placed(row) if ranked else ["–", *_placed(row)[1:]]),
            _number(row.get("raw_rating")),
            rank_words(row["rank_low"], row["rank_high"]),
            chance(row["p_best"]),
            row["votes"],
        ]
        for row in rows
    ]
    return _table(head, body, left=1)


def _answers(rows: Iterable[AnswerRow]) -> str:
    head = ["Rank", "Entrant", "Elo", "95% interval", "Rank range", "Valid", "Answers"]
    body: list[list[str | int]] = []
    for row in rows:
        low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
        placed: list[str | int] = [
            row["rank"],
            markdown_cell(row["entrant"]),
            f"{row['rating']:.0f}",
            f"{low} – {high}",
        ]
        ranks = rank_words(row["rank_low"], row["rank_high"])
        body.append([*placed, ranks, percent(row["valid"] / row["answers"]), row["answers"]])
    return _table(head, body, left=1)


def _consistency(board: PairwiseDocument) -> str:
    ordered = sorted(
        board["consistency"].items(), key=lambda item: (item[1]["variance"] is None, item[1]["variance"] or 0, item[0])
    )
    rows: list[list[str | int]] = [
        [
            markdown_cell(name),
            _number(spread["variance"], 4),
            _number(spread["sd"], 3),
            "–" if spread["low"] is None else f"{_number(spread['low'], 4)} – {_number(spread['high'], 4)}",
            spread["prompts"],
        ]
        for name, spread in ordered
    ]
    return _table(["Entrant", "Variance", "SD", "95% interval", "Prompts"], rows, left=0)


def _trust(board: PairwiseDocument) -> str:
    flagged = sum(bool(judge["flags"]) for judge in board["judges"].values())
    return _listed(
        [
            agreement_sentence(board["agreement"]),
            side_sentence(board["side_bias"]),
            robustness_sentence(board["robustness"], _labels(board)),
            scale_sentence(board["model_fit"]) if "model_fit" in board else "",
            camps_sentence(board["judges"]),
            f"{flagged} of {counted(len(board['judges']), 'judge')} {'shows' if flagged == 1 else 'show'} an unusual pattern."
            if flagged
            else "",
        ]
    )


def method_paragraph(board: PairwiseDocument) -> str:
    intervals, settings = board["intervals"], board["settings"]
    df = intervals["df"]
    student = "" if df is None or df > NORMAL else f", Student’s t with {_number(df)} degrees of freedom"
    effect = intervals["design_effect"]
    sentences = [
        f"Bradley-Terry ratings on the Elo scale (mean 1000); ties count as {HANDLING[settings['ties']]}, "
        f"fails (both bad) as {HANDLING[settings['fails']]}.",
        f"Intervals are {made}{student}." if (made := clustered(board)) else "",
        f"The design effect is {effect:.1f}." if board["votes"] and effect else "",
        ties_sentence(board),
        "Rank ranges hold simultaneously for all entrants." if made else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _listed(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences if sentence)


def _table(head: list[str], rows: Sequence[Sequence[str | int]], *, left: int) -> str:
    """A table whose column `left` is text and whose others are numbers."""
    if not rows:
        return "*Nothing to show yet.*"
    rule = ["---" if i == left else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in [head, rule, *rows])


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
