"""What model judges are called: a name stands for one judge of its kind, in files and on boards."""

from __future__ import annotations

from generation.models import Run
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
