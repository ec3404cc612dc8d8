"""Boards of judges by group: the crowd they belong to, the platform they came from, what they answered about themselves.

A group of few would show single people's votes, and so would what is left when all others are known: groups under the minimum
are shown together, with the smallest of the others if they are still too few.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from generation.models import Run
from generation.suites.studies.study import Study as Content
from judging.models import Participation, Seat
from judging.studies.writing import content_of
from ranking.pairwise.panels.crowd import weights_of_crowd
from ranking.pairwise.panels.document import GroupingResult, GroupResult, GroupRow
from ranking.statistics.leaderboard import rank_overall
from ranking.statistics.ratings.scopes import Settings
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes, only_judges

MINIMUM = 5  # judges of a group; fewer are shown together with others
MOST = 20  # questions that are looked at
JUDGES, ARENA, TOGETHER = "Judges", "Open arena", "Smaller groups together"
ASKED = ("choice", "several")


@dataclass(frozen=True)
class Grouping:
    by: str
    key: str
    title: str
    members: dict[str, set[str]]  # label to pseudonyms


def group_boards(run: Run, votes: Votes, settings: Settings) -> list[GroupingResult]:
    """Every grouping that has two groups to compare, and the crowd's even if it is the only one. `votes` are everybody's."""
    voted = {votes.judges[number] for number in set(votes.judge.tolist()) if number >= 0}
    seats = {seat.pseudonym: seat for seat in run.seats.defer("plan") if seat.pseudonym in voted}
    counted = {name: seat.weight for name, seat in seats.items() if seat.panel == Seat.Panel.JUDGES and seat.weight}
    crowd = {seat.pseudonym for seat in seats.values() if seat.panel == Seat.Panel.ARENA}
    if crowd:
        counted |= {name: weight for name, weight in weights_of_crowd(run, votes, settings).items() if weight}
    results = []
    for grouping in _groupings(run, seats):
        members = {label: names & counted.keys() for label, names in grouping.members.items()}
        shown, left_out = large_enough(members, apart=(JUDGES, ARENA) if grouping.by == "crowd" else ())
        if len(shown) < 2 and not (grouping.by == "crowd" and crowd and shown):
            continue
        boards = [_board(label, names, votes, settings, counted, crowd) for label, names in shown.items()]
        results.append(
            GroupingResult(
                by=grouping.by, key=grouping.key, title=grouping.title, groups=boards, left_out=len(left_out)
            )
        )
    return results


def large_enough(
    members: Mapping[str, set[str]], *, minimum: int = MINIMUM, apart: Collection[str] = ()
) -> tuple[dict[str, set[str]], set[str]]:
    """Groups that may be shown, small ones together, and who is in none of them; some are `apart` and joined with none."""
    if apart:
        others = {label: names for label, names in members.items() if label not in apart}
        rest, alone = large_enough(others, minimum=minimum)
        own = {label: members[label] for label in apart if members.get(label)}
        # Judges without any study's are the main board, which everybody sees.
        fit = {label for label, names in own.items() if len(names) >= minimum or (label == JUDGES and not others)}
        few = set[str]().union(alone, *(names for label, names in own.items() if label not in fit))
        return {label: names for label, names in own.items() if label in fit} | rest, few
    present = {label: names for label, names in members.items() if names}
    shown = {label: names for label, names in present.items() if len(names) >= minimum}
    small = set[str]().union(*(names for label, names in present.items() if label not in shown))
    while small and len(small) < minimum and shown:
        smallest = min(shown, key=lambda label: len(shown[label]))
        small |= shown.pop(smallest)
    if len(small) >= minimum:
        return {**shown, TOGETHER: small}, set()
    return shown, small


def _groupings(run: Run, seats: Mapping[str, Seat]) -> list[Grouping]:
    rows = Participation.objects.filter(study__run=run, seat__isnull=False).select_related("study", "version", "seat")
    rows = rows.defer("seat__plan").prefetch_related("answers")
    came = {row.seat.pseudonym: row for row in rows if row.seat and row.seat.pseudonym in seats}
    contents = {row.version_id: content_of(row.version) for row in came.values()}
    crowds, platforms = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for name, seat in seats.items():
        row = came.get(name)
        crowds[ARENA if seat.panel else f"Study: {row.study}" if row else JUDGES].add(name)
        platforms[_platform(contents[row.version_id]) if row else "Invitation"].add(name)
    crowd = Grouping("crowd", "crowd", "Where judges come from", dict(crowds))
    asked = _answers(came, contents)
    return [crowd, Grouping("platform", "platform", "Platform", dict(platforms)), *asked]


def _platform(content: Content) -> str:
    if content.arena:
        return "This site"
    return content.platform.name if content.platform else "Shared link"


def _answers(came: Mapping[str, Participation], contents: Mapping[int, Content]) -> list[Grouping]:
    """By each question with options, as the newest version asks it; who was not asked, or did not answer, is in no group."""
    questions = {
        question.key: question
        for version in sorted(contents)
        for question in (*contents[version].profile, *contents[version].closing)
        if question.kind in ASKED
    }
    groupings = []
    for key, question in list(questions.items())[:MOST]:
        members = {option: set[str]() for option in question.options}
        for name, row in came.items():
            for value in _chosen(row, key):
                members.setdefault(value, set()).add(name)
        groupings.append(Grouping("answer", key, question.text, members))
    return groupings


def _chosen(row: Participation, key: str) -> Iterable[str]:
    for answer in row.answers.all():
        if answer.question == key and answer.replaced_at is None and answer.value is not None:
            yield from answer.value if isinstance(answer.value, list) else [str(answer.value)]


def _board(
    label: str, names: set[str], votes: Votes, settings: Settings, counted: Mapping[str, float], crowd: set[str]
) -> GroupResult:
    weights = {name: counted[name] for name in names if counted[name] < 1}
    own = only_judges(votes, names)
    chosen = replace(settings, weights=weights, until=None)
    standings = rank_overall(tally_votes(own, weights=weights), chosen)
    keys = GroupRow.__annotations__
    rows: list[Any] = [{key: getattr(row, key) for key in keys} for row in standings]
    result = GroupResult(label=label, judges=len(names), votes=sum(row.votes for row in standings) // 2, standings=rows)
    if names <= crowd:
        result["weight"] = sum(counted[name] for name in names) / len(names)
    return result
