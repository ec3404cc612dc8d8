"""Model judges in words, for pages and files alike."""

from __future__ import annotations

from benchsite.lib.text import markdown_cell
from benchsite.templatetags.wording import percent, percent_to, thousands
from ranking.pairwise.model_judges.document import CorrectedResult, ModelJudgeResult, ModelJudgesResult, PickedResult
from ranking.results import EstimateResult
from ranking.words import counted

SIMULATED = "simulated"
FEWEST = 30  # votes or pairs under which a figure about agreement is not shown: it would be off by a fifth or more
TOO_FEW = "too few yet"
PICKED_BECAUSE = {"differs": "Where people and {} differed", "hard": "Where {} found it hardest"}
HUMAN = "Ratings on this board come from people alone. Model judges are compared with them here, and never counted as people."


def share(estimate: EstimateResult, count: int) -> str:
    """72% (68–76%), from so many votes or pairs."""
    if count < FEWEST:
        return TOO_FEW
    limits = "" if estimate["low"] is None else f" ({percent_to(estimate['low'], estimate['high'])})"
    return f"{percent(estimate['value'])}{limits}"


def coefficient(estimate: EstimateResult, count: int) -> str:
    """0.41 (0.33 to 0.49), from so many votes or pairs."""
    if count < FEWEST:
        return TOO_FEW
    if estimate["value"] is None:
        return "–"
    limits = "" if estimate["low"] is None else f" ({estimate['low']:z.2f} to {estimate['high']:z.2f})"
    return f"{estimate['value']:z.2f}{limits}".replace("-", "−")


def few_sentence(judge: ModelJudgeResult) -> str:
    """Instead of figures that rest on next to nothing, as while a judge is still being asked; empty where there is enough."""
    votes = judge["agreement"]["votes"]
    if votes >= FEWEST:
        return ""
    return f"Too few yet: people cast {counted(votes, 'vote')} on pairs it also judged. Figures are shown from {FEWEST} on."


def decided_sentence(judge: ModelJudgeResult) -> str:
    agreement = judge["agreement"]
    votes = agreement["decided_votes"]
    if votes < FEWEST:
        return "Both preferred one drawing on too few of them yet."
    return f"Where both preferred one drawing, they agree in {share(agreement['decided'], votes)} of {thousands(votes)} votes."


def corrected_sentence(corrected: CorrectedResult) -> str:
    if corrected["reason"]:
        return f"There is no corrected rating: {corrected['reason'][0].lower()}{corrected['reason'][1:]}"
    return (
        f"Beside {counted(corrected['votes'], 'human vote')}, the model judges are worth "
        f"{counted(round(corrected['worth']), 'more vote')} from as many more people and prompts: alone, people would need "
        f"that many more for intervals as narrow ({percent(corrected['saved'])} of the votes saved). The ratings stay people’s: "
        "only what a judge says about a pair beyond its mean for the two models is used. This table is shown because its "
        "intervals are narrower, which is decided after seeing the votes; decide beforehand which one you will report."
    )


def position_sentence(judge: ModelJudgeResult) -> str:
    habits = judge["habits"]
    if not habits["both_orders"]:
        return "No pair was judged in both orders."
    if habits["both_orders"] < FEWEST:
        return "Too few pairs were judged in both orders yet."
    return (
        f"It prefers the drawing shown first in {share(habits['first'], habits['answers'])} of decided answers; the two orders contradict each "
        f"other on {share(habits['contradicts'], habits['both_orders'])} of {counted(habits['both_orders'], 'pair')}."
    )


def family_sentence(judge: ModelJudgeResult) -> str:
    habits = judge["habits"]
    gap = habits["own_family"]
    if not habits["own_votes"] or gap["value"] is None:
        return "It was not asked about drawings of its own family."
    if habits["own_votes"] < FEWEST:
        return "Too few votes are on pairs with a drawing of its own family yet."
    limits = (
        ""
        if gap["low"] is None or gap["high"] is None
        else f" ({100 * gap['low']:+.0f} to {100 * gap['high']:+.0f})".replace("-", "−")
    )
    points, way = abs(round(100 * gap["value"])), "higher" if gap["value"] > 0 else "lower"
    return (
        f"It scores its own family’s drawings {counted(points, 'point')} (of 100) {way} than people do{limits}, "
        f"from {counted(habits['own_votes'], 'vote')} on pairs with one of them."
    )


def _people(n: int) -> str:
    return "one person" if n == 1 else f"{thousands(n)} people"


def picked_sentence(picked: PickedResult) -> str:
    """What people answered to pairs that were picked for them; no figure of agreement, since these pairs were chosen."""
    basis = (
        f"{counted(picked['answers'], 'answer')} of {_people(picked['people'])} on {counted(picked['pairs'], 'pair')}"
    )
    if picked["answers"] < FEWEST:
        return f"{PICKED_BECAUSE[picked['why']].format(picked['judge'])}: {basis} so far; figures are shown from {FEWEST} on."
    sided = share(picked["with_judge"], picked["answers"])
    neither = share(picked["undecided"], picked["answers"])
    return (
        f"{PICKED_BECAUSE[picked['why']].format(picked['judge'])}: asked about them, people who preferred one drawing sided with "
        f"the judge in {sided}, and {neither} of answers were both good or both bad ({basis}). These pairs were chosen, so this "
        "says nothing about other pairs."
    )


def models_markdown(models: ModelJudgesResult) -> list[str]:
    """The section of LEADERBOARD.md."""
    head = "| Judge | Agrees with people | People with each other | κ | α | AC1 | First shown | Ties | Both bad | Unreadable |"
    lines = [head, "| :-- |" + " --: |" * 9]
    for judge in models["judges"]:
        agreement, habits, people = judge["agreement"], judge["habits"], judge["agreement"]["among_people"]
        name = markdown_cell(judge["judge"]) + (f" ({SIMULATED})" if judge["simulated"] else "")
        cells = [
            *(name, share(agreement["raw"], agreement["votes"]), share(people["raw"], people["pairs"])),
            *(coefficient(agreement[key], agreement["votes"]) for key in ("kappa", "alpha", "ac1")),
            *(share(habits[key], habits["answers"]) for key in ("first", "ties", "fails")),
            str(judge["unreadable"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    parts = ["## Model judges", HUMAN, "\n".join(lines), corrected_sentence(models["corrected"])]
    if models["corrected"]["overall"]:
        rows = ["| Rank | Entrant | Corrected Elo | 95% interval |", "| --: | :-- | --: | --: |"]
        for row in models["corrected"]["overall"]:
            low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
            rows.append(f"| {row['rank']} | {markdown_cell(row['entrant'])} | {row['rating']:.0f} | {low} – {high} |")
        parts.append("\n".join(rows))
    return parts
