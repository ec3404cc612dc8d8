"""`manage.py model_judge RUN --model ID --provider NAME --pairs 500 --budget 2`: a model judges a run's drawings."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from benchsite.templatetags.wording import dollars
from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.suites.suite import ModelEntry
from judging.model_judges.asking import KINDS, Plan, add_model_judge, ask_for_more, cost_bound_nano
from judging.model_judges.instructions import versioned
from judging.model_judges.kinds import Kind

DEFAULT = 200  # pairs or drawings


class Command(RunCommand):
    help = "Let a model compare pairs of a run's drawings, or grade them by its rubric, beside people and never among them."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--model", required=True, help="the model's id at its provider; it must take images")
        parser.add_argument("--provider", required=True, help="a name in config/providers.yaml")
        about = parser.add_mutually_exclusive_group()
        about.add_argument("--pairs", type=int, help="compare so many pairs of drawings, each in both orders (200)")
        about.add_argument("--drawings", type=int, help="grade so many drawings by the run's rubric (200)")
        parser.add_argument("--budget", type=float, help="US dollars that may be spent; needed for a new judge")
        parser.add_argument("--price-in", type=float, help="US$ per million tokens, where the provider lists no price")
        parser.add_argument("--price-out", type=float)
        parser.add_argument("--own-family", action="store_true", help="ask about drawings of its own family, too")
        parser.add_argument("--more", action="store_true", help="ask the newest judge of this model about more")

    def act(self, run: Run, **options: Any) -> str:
        kind = _kind(run, options)
        wanted = options[kind.things] or DEFAULT
        if options["more"]:
            judge = kind.judges(run).filter(models__model_id=options["model"]).last()
            if judge is None:
                raise CommandError(f"{options['model']} does not judge {run}; leave --more out to add it.")
            return f"{options['model']} will be asked about {ask_for_more(judge, wanted)} more {kind.things}."
        if options["budget"] is None:
            raise CommandError("A model judge needs a budget: give --budget in US dollars.")
        entry = ModelEntry(
            options["model"],
            options["model"],
            provider=options["provider"],
            price_in=options["price_in"],
            price_out=options["price_out"],
        )
        plan = Plan(entry, versioned(run, "", kind), wanted, options["budget"], options["own_family"], kind)
        judge = add_model_judge(run, plan)
        bound = cost_bound_nano(run, plan)
        asked = judge.samples.count()
        shown = asked // kind.orders
        things = f"{shown:,} {kind.things.removesuffix('s')}{pluralize(shown)}"
        most = f" It can cost at most {dollars(bound)}." if bound is not None else ""
        return (
            f"{entry.id} will be asked {asked:,} question{pluralize(asked)} about {things} (judge {judge.code}).{most}"
        )


def _kind(run: Run, options: dict[str, Any]) -> Kind:
    """What was asked for by name, else what people do in this run."""
    named = next((kind for kind in KINDS if options[kind.things] is not None), None)
    return named or next((kind for kind in KINDS if kind.is_asked_in(run)), KINDS[0])
