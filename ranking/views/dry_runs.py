"""A dry run of a study: who is expected to come, and what the study would then say, take and cost."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchsite.lib.access import UserRequest, curator_required
from generation.models import Run
from judging.models import Study
from judging.pairs.epochs import eligible_table
from judging.studies.writing import content_of, newest_version
from ranking.simulated.dry_runs import MOST_SEATS, Crowd, DryRun, dry_run
from ranking.views.planning import number, usual, usual_of_run, whole

PARTICIPANTS = 50


class DryRunForm(forms.Form):
    """The crowd that is expected."""

    participants = whole("Participants who finish", 1, 500)
    hasty = number("Hasty (%)", 0, 100, help_text="They look for a moment and half see what is better.")
    random = number("Random clicks (%)", 0, 100)
    dropouts = number("Drop out (%)", 0, 90, help_text="They leave somewhere among their pairs.")
    seconds = number("Seconds for a pair", 0.5, 600)
    pay = number("Pay for each who is done", 0, 10_000, required=False, help_text="In your currency, fees included.")

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if sum(fields.get(name, 0) for name in ("hasty", "random", "dropouts")) > 100:
            self.add_error("dropouts", "The three shares are more than 100% together.")
        return fields


def usual_crowd(study: Study) -> dict[str, Any]:
    """What the form begins with: the study's places, and a crowd such as platforms send."""
    content = content_of(newest_version(study))
    known = usual() | usual_of_run(study.run)
    shares = {name: round(100 * getattr(Crowd(), name)) for name in ("hasty", "random", "dropouts")}
    return shares | {"participants": min(content.places or PARTICIPANTS, 500), "seconds": known["seconds"]}


def play_study(study: Study, fields: dict[str, Any]) -> DryRun | None:
    """The same for the page and the command; None where the run has no two drawings to compare."""
    known = usual() | usual_of_run(study.run)
    table = eligible_table(study.run)
    if not table.common:
        return None
    crowd = Crowd(
        **{name: fields[name] / 100 for name in ("hasty", "random", "dropouts")},
        **{name: float(known[name]) for name in ("spread", "judge_sd", "prompt_sd")},
        undecided=known["undecided"] / 100,
        seconds=fields["seconds"],
    )
    content = content_of(newest_version(study))
    return dry_run(content, table, crowd, participants=fields["participants"], pay=fields["pay"])


@curator_required
@never_cache
@require_GET
def study_dry_run(request: UserRequest, code: str, study: str) -> HttpResponse:
    rows = Study.objects.select_related("run").defer("run__config")
    shown = get_object_or_404(rows, run__code=code, code=study)
    run: Run = shown.run
    form = DryRunForm(request.GET or usual_crowd(shown))
    play = play_study(shown, form.cleaned_data) if request.GET and form.is_valid() else None
    context = {"run": run, "study": shown, "form": form, "play": play, "asked": bool(request.GET), "most": MOST_SEATS}
    context["content"] = content_of(newest_version(shown))
    return render(request, "ranking/dry_run.html", context)
