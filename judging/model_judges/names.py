"""What model judges are called: a name stands for one judge of its kind, in files and on boards."""

from __future__ import annotations

from typing import Any

from django.db.models import Sum

from generation.models import ProviderCall, Run
from judging.model_judges.instructions import about_judge
from judging.model_judges.kinds import Kind


def judge_name(judge: Run, model_id: str) -> str:
    """A model with its first instructions goes by its id; other versions are named. A judge from a file keeps its name."""
    about = about_judge(judge)
    if "name" in about:
        return about["name"]
    version = about["version"]
    return model_id if version == 1 else f"{model_id} (instructions {version})"


def judge_names(run: Run, kind: Kind) -> set[str]:
    """Those taken."""
    return {judge_name(judge, judge.models.get().model_id) for judge in kind.judges(run)}


def head_of(judge: Run) -> dict[str, Any]:
    """What every line of a judge's answers begins with."""
    model = judge.models.get()
    return {
        "judge": judge_name(judge, model.model_id),
        "model": model.model_id,
        "version": about_judge(judge)["version"],
        "simulated": model.profile.get("kind") == "demo",
    }


def costs_of(judge: Run) -> dict[int, int | None]:
    """Nano-dollars by answer."""
    calls = ProviderCall.objects.filter(run=judge).order_by().values_list("sample_id")
    return dict(calls.annotate(Sum("cost_nano")))
