"""`manage.py describe_model RUN MODEL --note … --reason …`: corrects what pages say about a model."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.runs.descriptions import describe_model
from generation.runs.errors import RunError


class Command(RunCommand):
    """Changes a label or a note."""

    help = "Change a model's label or note on leaderboards and exports; the log keeps the old words."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("model", help="the model's id")
        parser.add_argument("--label", help="the name on pages; kept if not given")
        parser.add_argument("--note", help="shown beside the name; kept if not given")

    def act(self, run: Run, *, model: str, label: str | None, note: str | None, reason: str, **options: Any) -> str:
        row = run.models.select_related("run").filter(model_id=model).first()
        if row is None:
            raise RunError(
                f"Run {run.code} has no model {model!r}; it has {', '.join(run.models.values_list('model_id', flat=True))}."
            )
        words = {"label": row.label if label is None else label, "note": row.note if note is None else note}
        changed = describe_model(row, by=None, reason=reason, **words)
        return f"Run {run.code}: {model} {'is described anew' if changed else 'was described so already'}."
