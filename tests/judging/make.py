"""Small makers for judging tests: a run with drawings, a judge with a seat."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils.timezone import now

from benchsite.operations import accounts
from generation.models import Entrant, LanguageModel, Prompt, Run, Sample
from judging.models import Seat

NAMES = ("acme/alpha-1", "bestco/beta-mini", "corp/gamma-xl", "delta/delta-pro", "eps/epsilon", "zeta/zeta-9")


def close_judging(run):
    """For what is refused while people judge."""
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.CLOSED)
    run.refresh_from_db()
    return run


def make_run(*, entrants=3, prompts=4, attempts=2, categories=("animal", "object"), format="ascii_art", **judging):
    config = {
        "slug": "ascii",
        "title": "ASCII",
        "description": "Small.",
        "method": "By eye.",
        "format": format,
        "protocols": ["pairwise"],
        "seed": 1,
        "generation": {
            "attempts_per_prompt": attempts,
            "temperature": 0.0,
            "max_tokens": 1000,
            "provider": "openrouter",
        },
        "models": [],
        "prompts": [],
        "categories": [{"key": key, "label": key.title(), "description": ""} for key in categories],
        "judging": {"overlap": 0.2, "repeats": 0.05, **judging},
    }
    run = Run.objects.create(
        suite="ascii",
        title="ASCII",
        format=format,
        protocols=["pairwise"],
        config=config,
        digest="0" * 64,
        judging_state=Run.Judging.OPEN,
    )
    Prompt.objects.bulk_create(
        Prompt(
            run=run,
            position=number,
            key=f"p{number}",
            text=f"Draw thing {number}",
            category=categories[number % len(categories)],
        )
        for number in range(prompts)
    )
    more = (f"more/model-{number}" for number in range(len(NAMES), entrants))
    make_entrants(run, [*NAMES[:entrants], *more], attempts=attempts)
    return run


def make_entrant(run, name, *, attempts=2):
    return make_entrants(run, [name], attempts=attempts)[0]


def make_entrants(run, names, *, attempts):
    """Models that drew everything, in a few statements."""
    models = LanguageModel.objects.bulk_create(
        LanguageModel(run=run, model_id=name, label=f"{name} label", provider="openrouter") for name in names
    )
    entrants = Entrant.objects.bulk_create(
        Entrant(run=run, name=model.model_id, label=model.label, model=model) for model in models
    )
    prompts = list(run.prompts.all())
    Sample.objects.bulk_create(
        make_sample(entrant, entrant.model, prompt, attempt)
        for entrant in entrants
        for prompt in prompts
        for attempt in range(1, attempts + 1)
    )
    return entrants


def make_sample(entrant, model, prompt, attempt):
    return Sample(
        run=prompt.run,
        entrant=entrant,
        model=model,
        prompt=prompt,
        attempt=attempt,
        state=Sample.State.DRAWN,
        verdict=Sample.Verdict.VALID,
        drawn_at=now(),
        drawing=f"/{entrant.pk}\\\n|{prompt.pk}|\n\\{attempt}/",
        answer="raw answer",
    )


def make_judge(name="alice"):
    user, made = User.objects.get_or_create(username=name)
    if made:
        user.set_password("a-good-password")
        user.save()
    return user


def make_curator(name="carol"):
    user = make_judge(name)
    accounts.make_curator(user)
    return user


def make_seat(run, name="alice", **values):
    return Seat.objects.create(run=run, judge=make_judge(name), pseudonym=f"judge {name}", **values)
