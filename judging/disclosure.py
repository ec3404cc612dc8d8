"""Who may see drawings together with the names of those who drew them: nobody who might still judge them blind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from generation.models import Event, Run, Sample
from generation.protocols import protocols_of
from judging.models import PublicState
from judging.rules import rules_of

NOT_OVER = (Run.Judging.OPEN, Run.Judging.PAUSED)
IMPORTS = (Event.Verb.IMPORT_VOTES, Event.Verb.IMPORT_GRADES, Event.Verb.IMPORT_RUN)


def drawings_are_open(run: Run) -> bool:
    """Nobody judges this run, or judging is over. Never of a run with a protocol that this site does not know."""
    if set(protocols_of(run)) != set(run.protocols):
        return False
    return run.judging_state == Run.Judging.CLOSED or not run.judged_by


def may_see_drawings(run: Run, user: Any) -> bool:
    """Its curators always; everybody else once the run is published and its judging cannot be swayed any more.

    Not only judges are kept out: a judge can log out and look.
    """
    return run.is_curated_by(user) or (run.visibility == Run.Visibility.PUBLISHED and drawings_are_open(run))


def is_judged_blind(run: Run) -> bool:
    """People judge it now, and are not told the names: its standings are shown as public states only."""
    return run.judging_state in NOT_OVER and bool(run.judged_by) and rules_of(run.code).judging.reveal != "after_vote"


def is_in_public(run: Run, protocol: str, judgement: int) -> bool:
    """Whether a public state may contain this vote or grade, by its number."""
    return PublicState.objects.filter(run=run, protocol=protocol, upto__gte=judgement).exists()


def names_were_shown(run: Run) -> bool:
    """Whether anybody who may judge could see names while judging was closed: on public pages, in an archive, or beside own votes."""
    if run.visibility == Run.Visibility.PUBLISHED or rules_of(run.code).judging.reveal != "never":
        return True
    return run.events.filter(verb__in=(Event.Verb.PUBLISH_RUN, Event.Verb.IMPORT_RUN)).exists()


def standings_were_shown(run: Run) -> bool:
    """Whether anybody who may judge could know how the run stands: adaptive pairs would then tell who is close to whom."""
    if run.names_shown_at or run.public_states.exists():
        return True
    return run.events.filter(verb__in=IMPORTS).exists()


def could_know_names(run: Run, judge: Any, samples: Iterable[Sample]) -> bool:
    """Curators see every name; everybody saw those of drawings that were there before judging was opened again."""
    shown = run.names_shown_at
    seen = shown is not None and any(sample.drawn_at is None or sample.drawn_at <= shown for sample in samples)
    return bool(judge.is_staff or seen)
