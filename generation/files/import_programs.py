"""Verb: programs of a file join a run. Each is checked, and none is asked before a curator has approved it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from generation.models import Entrant, Event, Run
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.expansion import expand, program_row
from generation.runs.loaded import whole_suite
from generation.suites.profiles import load_profiles
from generation.suites.programs import check_program
from generation.suites.suite import ProgramEntry, Suite, without_pictures


@dataclass
class Imported:
    """What became of each program, by name; `refused` has the reasons."""

    waiting: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    same: list[str] = field(default_factory=list)


def import_programs(
    run: Run, programs: Sequence[ProgramEntry], *, by: User | None = None, reason: str = ""
) -> Imported:
    """Qualified programs wait for approval in the admin; the others are listed as disqualified, with every reason.

    The rules are the run's own. A program that is there already is left alone, unless its turns differ.
    """
    refuse_frozen(run)
    suite = whole_suite(run)
    if not suite.programs:
        raise RunError("The entrants of this run are models; programs can only join a run of programs.")
    there = {entrant.name: (entrant.turns, entrant.source, entrant.python) for entrant in run.entrants.all()}
    done, new = Imported(), []
    for program in programs:
        if program.name in there:
            if there[program.name] != (list(program.turns), program.source, program.python):
                raise RunError(f"There is another program named {program.name!r} in this run; give it a new name.")
            done.same.append(program.name)
            continue
        faults = [program.disqualified] if program.disqualified else check_program(program, suite.program_rules)
        new.append(replace(program, disqualified=" ".join(faults)))
        if faults:
            done.refused[program.name] = " ".join(faults)
        else:
            done.waiting.append(program.name)
    with transaction.atomic():
        _join(run, replace(suite, programs=(*suite.programs, *new)), new)
        facts = {"waiting": done.waiting, "refused": done.refused}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_PROGRAMS, reason=reason, facts=facts)
    return done


def _join(run: Run, suite: Suite, new: Sequence[ProgramEntry]) -> None:
    Entrant.objects.bulk_create(program_row(run, program, approved=False) for program in new)
    expand(run, suite, load_profiles(settings.SUITES_DIR / "providers.yaml"))
    run.config, run.digest = without_pictures(suite.to_dict()), suite.digest()
    run.save(update_fields=["config", "digest"])
