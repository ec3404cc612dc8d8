"""`manage.py close_calls RUN --cost 0 --reason …`: book calls of unknown cost, once the provider's bill is known."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError, CommandParser

from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.money import nano
from generation.runs.billing import calls_of_unknown_cost, close_calls


class Command(RunCommand):
    """Releases reservations."""

    help = "Book calls of unknown cost at what the provider's bill shows, and release their reservations."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--cost", type=Decimal, required=True, help="what each call cost, in US dollars")
        parser.add_argument("--call", action="append", default=[], help="only this call, by its token; may be repeated")

    def act(self, run: Run, *, reason: str, cost: Decimal, call: list[str], **options: Any) -> str:
        cost_nano = nano(cost)
        if cost_nano is None:
            raise CommandError(f"{cost} is not an amount in US dollars.")
        calls = [row for row in calls_of_unknown_cost(run) if not call or str(row.token) in call]
        return f"Run {run.code}: {close_calls(run, calls, cost_nano=cost_nano, by=None, reason=reason)} calls closed."
