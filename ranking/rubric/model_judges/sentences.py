"""Model judges that grade, in words, for pages and files alike."""

from __future__ import annotations

from benchsite.lib.text import markdown_cell
from benchsite.templatetags.wording import thousands
from generation.suites.suite import Rubric
from ranking.results import EstimateResult
from ranking.rubric.model_judges.document import DimensionResult, GraderResult, GradersResult
from ranking.words import counted

SIMULATED = "simulated"
FEWEST = 30  # grades under which a figure about agreement is not shown
TOO_FEW = "too few yet"
HUMAN = "Scores on this board come from people alone. Model judges are compared with them here, and never counted as people."


def figure(estimate: EstimateResult, count: int, *, signed: bool = False) -> str:
    """0.41 (0.33 to 0.49), from so many grades."""
    if count < FEWEST:
        return TOO_FEW
    if estimate["value"] is None:
        return "–"
    form = "{:+.2f}" if signed else "{:.2f}"
    shown = form.format(estimate["value"])
    if estimate["low"] is not None:
        shown += f" ({form.format(estimate['low'])} to {form.format(estimate['high'])})"
    return shown.replace("-", "−")


def score_of(judge: GraderResult) -> DimensionResult:
    """The row of the drawings' scores, which comes first."""
    return judge["dimensions"][0]


def dimension_label(row: DimensionResult, rubric: Rubric) -> tuple[str, str]:
    """The dimension and its stage, as pages name them."""
    stage = next((stage for stage in rubric.stages if stage.key == row["stage"]), None)
    if stage is None:
        return "Score of the drawing", ""
    dimension = next((one for one in stage.dimensions if one.key == row["dimension"]), None)
    return (dimension.label if dimension else row["dimension"]), stage.label


def few_sentence(judge: GraderResult) -> str:
    """Instead of figures that rest on next to nothing, as while a judge is still being asked; empty where there is enough."""
    given = score_of(judge)["with_people"]["grades"]
    if given >= FEWEST:
        return ""
    return f"Too few yet: people scored drawings that it also graded {counted(given, 'time')}. Figures are shown from {FEWEST} on."


def basis_sentence(judge: GraderResult) -> str:
    shared = score_of(judge)["with_people"]
    people = "one person" if shared["people"] == 1 else f"{thousands(shared['people'])} people"
    return f"{counted(shared['grades'], 'score')} by {people} of {counted(shared['drawings'], 'drawing')} that it also graded."


def strictness_sentence(judge: GraderResult) -> str:
    """How much higher it grades than people, and how much of the scale it uses."""
    higher = score_of(judge)["with_people"]["higher"]
    value, low, high = higher["value"], higher["low"], higher["high"]
    if value is None:
        return ""
    if low is not None and high is not None and low <= 0 <= high:
        difference = figure(higher, FEWEST, signed=True)
        sentence = f"It is not clear whether it grades higher or lower than people: it differs by {difference} points."
    elif value < 0:
        lower = EstimateResult(value=-value, low=None if high is None else -high, high=None if low is None else -low)
        sentence = f"It grades {figure(lower, FEWEST)} points lower than people."
    else:
        sentence = f"It grades {figure(higher, FEWEST)} points higher than people."
    spread, people = judge["spread"], judge["people_spread"]
    if spread is not None and people:
        sentence += f" Its scores differ by {spread:.1f} points from drawing to drawing, people’s by {people:.1f} (standard deviations)."
    return sentence


def family_sentence(judge: GraderResult) -> str:
    favoured = judge["own_family"]
    if not judge["own_drawings"]:
        return "No drawing of its own family was graded by both it and people."
    if favoured["value"] is None:
        return "It graded drawings of its own family only, so favouritism cannot be measured."
    return (
        f"What it grades above people is {figure(favoured, FEWEST, signed=True)} points more for its own family’s drawings than "
        f"for others’, from {counted(judge['own_drawings'], 'drawing')} of its own family."
    )


def graders_markdown(graders: GradersResult) -> list[str]:
    """The section of LEADERBOARD.md."""
    lines = [
        "| Judge | α with people | α among people | Order, with people | Order, among people | Distance | Among people | Higher by | Unreadable |",
        "| :-- |" + " --: |" * 8,
    ]
    for judge in graders["judges"]:
        row = score_of(judge)
        ours, theirs = row["with_people"], row["among_people"]
        name = markdown_cell(judge["judge"]) + (f" ({SIMULATED})" if judge["simulated"] else "")
        cells = [name]
        for key in ("alpha", "order", "apart"):
            cells += [figure(ours[key], ours["grades"]), figure(theirs[key], theirs["grades"])]
        cells += [figure(ours["higher"], ours["grades"], signed=True), str(judge["unreadable"])]
        lines.append("| " + " | ".join(cells) + " |")
    return ["## Model judges", HUMAN, "\n".join(lines)]
