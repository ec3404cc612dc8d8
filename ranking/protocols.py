"""How each protocol of a run is scored and shown. A new one is an entry here: a function that scores, and a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from generation.models import Run


@dataclass(frozen=True)
class Protocol:
    """One way of scoring, by dotted paths that are loaded when they are first needed.

    - `analyse(run, *, options, full)` gives a JSON-able dict. `overall` is a list of standings, best first, each with
      `entrant` (its name) and `rating` or `score`; perhaps `low, high, rank, rank_low, rank_high` and `votes` or `n`.
      `categories` (name to such a list) and `votes` (what it all rests on) are read too. The rest is the protocol's own;
      its key `run` holds what pages need and files do not have, and is left out of downloads; the texts `run.md` and
      `run.csv` are the downloads in those forms.
    - `options` has `ties, fails, weights, until, backend`; `full` asks for the slow parts where `slow` is true.
    - `template` gets `fit`, `result`, `run` and what `page(fit, *, scope)` adds, if there is one.
    - `rests_on` names what its `votes` count.
    - `sentence(result, labels)` is the one line that lists of leaderboards show; `labels` are entrants' labels by name.
    """

    label: str
    rests_on: str
    analyse: str
    template: str
    page: str = ""
    sentence: str = ""
    slow: bool = False


# By protocol; `automatic` by protocol and format.
PROTOCOLS = {
    "pairwise": Protocol(
        label="Votes",
        rests_on="votes",
        analyse="ranking.pairwise.run.analyse_run",
        template="ranking/leaderboard_pairwise.html",
        page="ranking.pairwise.page.page_context",
        sentence="ranking.pairwise.sentences.leading_sentence",
        slow=True,
    ),
    "rubric": Protocol(
        label="Grades",
        rests_on="grades",
        analyse="ranking.rubric.run.analyse_run",
        template="ranking/leaderboard_rubric.html",
        page="ranking.rubric.page.page_context",
        sentence="ranking.rubric.page.leading_sentence",
    ),
    "automatic": Protocol(
        label="Automatic score",
        rests_on="answers",
        analyse="ranking.automatic.run.analyse_run",
        template="ranking/leaderboard_automatic.html",
        page="ranking.automatic.page.page_context",
        sentence="ranking.automatic.page.overall_sentence",
    ),
    "automatic:science_birds": Protocol(
        label="Competition",
        rests_on="levels",
        analyse="ranking.competition.run.analyse_run",
        template="ranking/leaderboard_competition.html",
        page="ranking.competition.page.page_context",
        sentence="ranking.competition.page.overall_sentence",
    ),
}


def protocol_of(run: Run, name: str) -> Protocol | None:
    """The entry for one of the run's protocols; None where nothing scores it."""
    if name not in run.protocols:
        return None
    return PROTOCOLS.get(f"{name}:{run.format}") or PROTOCOLS.get(name)


def protocols_of(run: Run) -> dict[str, Protocol]:
    """The run's protocols that can be scored, in the suite's order."""
    return {name: found for name in run.protocols if (found := protocol_of(run, name))}


def load(path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
