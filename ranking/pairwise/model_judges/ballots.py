"""Model judges' answers as columns, from the lines of a file or of the database: one way for both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from judging.files.model_vote_lines import ModelVoteLine
from ranking.statistics.model_judges.report import BallotJudge, Ballots
from ranking.statistics.votes import OUTCOME_NUMBERS, make_votes

UNKNOWN = -1


def ballots_of(lines: Iterable[ModelVoteLine], *, attempt: int = UNKNOWN) -> Ballots:
    """Readable answers as votes; unreadable ones and costs are counted by judge. The order of lines changes nothing.

    `attempt` is that of a line which says none.
    """
    ordered = sorted(lines, key=lambda line: line.key)
    readable = [line for line in ordered if line.answer is not None]
    tables = {
        "entrants": sorted({name for line in ordered for name in (line.left_model, line.right_model)}),
        "judges": sorted({line.judge for line in ordered}),
        "prompts": sorted({line.prompt_text for line in ordered}),
        "categories": sorted({line.category for line in ordered if line.category}),
    }
    number = {table: {name: n for n, name in enumerate(names)} for table, names in tables.items()}
    votes = make_votes(
        entrants=tuple(tables["entrants"]),
        judges=tuple(tables["judges"]),
        prompts=tuple(tables["prompts"]),
        categories=tuple(tables["categories"]),
        left=[number["entrants"][line.left_model] for line in readable],
        right=[number["entrants"][line.right_model] for line in readable],
        outcome=[OUTCOME_NUMBERS[line.answer or ""] for line in readable],
        judge=[number["judges"][line.judge] for line in readable],
        prompt=[number["prompts"][line.prompt_text] for line in readable],
        category=[number["categories"].get(line.category, -1) for line in readable],
        left_attempt=[attempt if line.left_attempt is None else line.left_attempt for line in readable],
        right_attempt=[attempt if line.right_attempt is None else line.right_attempt for line in readable],
    )
    return Ballots(votes, tuple(line.reason for line in readable), _judges(ordered, tables["judges"]))


def _judges(lines: list[ModelVoteLine], names: list[str]) -> tuple[BallotJudge, ...]:
    by_judge: dict[str, list[ModelVoteLine]] = defaultdict(list)
    for line in lines:
        by_judge[line.judge].append(line)
    judges = []
    for name in names:
        own = by_judge[name]
        readable = Counter(line.answer is not None for line in own)
        costs = [line.cost_nano for line in own if line.cost_nano is not None]
        judges.append(
            BallotJudge(
                name=name,
                model=own[0].model,
                version=own[0].version,
                simulated=any(line.simulated for line in own),
                answers=readable[True],
                unreadable=readable[False],
                cost_nano=sum(costs) if costs else None,
                priced=len(costs),
            )
        )
    return tuple(judges)
