"""Epochs: which samples may be shown, frozen for a while, so that balance has something to be measured against."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from functools import lru_cache
from hashlib import blake2b

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, Sum
from django.utils.timezone import now

from generation.models import Run, Sample
from judging.models import Epoch, PromptTally
from judging.rounds import Pair
from judging.schedule import Coverage, Plan, make_plan
from judging.table import Drawing, Table, unordered

CHECK_EVERY = timedelta(seconds=60)


def fingerprint(run: Run) -> str:
    """A number for the set of eligible samples that costs one aggregate and changes when the set does."""
    found = Sample.objects.filter(run=run).judgeable()
    totals = found.aggregate(n=Count("id"), ids=Sum("id"), squares=Sum(F("id") * F("id")), read=Sum("format_version"))
    return "/".join(str(totals[name] or 0) for name in ("n", "ids", "squares", "read"))


def eligible_table(run: Run) -> Table:
    rows = (
        Sample.objects.filter(run=run)
        .judgeable()
        .order_by("prompt__position", "model_id", "entrant_id", "attempt")
        .values_list("id", "entrant_id", "entrant__model_id", "model_id", "prompt_id", "prompt__category", "drawing")
    )
    alike: dict[tuple[int, tuple[int, str | None]], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    categories: dict[tuple[int, str | None], str] = {}
    for sample, entrant, own_model, model, prompt, category, drawing in rows.iterator(chunk_size=500):
        question = (prompt, None if own_model else str(model))  # programs meet on the same model only
        categories[question] = category
        alike[entrant, question][blake2b(drawing.encode(), digest_size=12).hexdigest()].append(sample)
    entrants = tuple(sorted({entrant for entrant, _ in alike}))
    numbers = {question: number for number, question in enumerate(categories)}
    drawings = {
        (entrants.index(entrant), numbers[question]): tuple(
            Drawing(digest, tuple(ids)) for digest, ids in found.items()
        )
        for (entrant, question), found in alike.items()
    }
    return Table(entrants, tuple(categories), tuple(categories.values()), drawings)


def newest_epoch(run: Run) -> Epoch | None:
    return Epoch.objects.filter(run=run).order_by("-number").defer("table").first()


def refresh_epoch(run: Run) -> Epoch:
    """The epoch that fits the samples as they are now: the newest one, or a new one where they have changed."""
    newest, mark = newest_epoch(run), fingerprint(run)
    if newest is not None and newest.fingerprint == mark:
        Epoch.objects.filter(pk=newest.pk).update(checked_at=now())
        return newest
    number = newest.number + 1 if newest else 1
    try:
        with transaction.atomic():
            return Epoch.objects.create(run=run, number=number, table=eligible_table(run).to_json(), fingerprint=mark)
    except IntegrityError:  # another process made it first
        return Epoch.objects.get(run=run, number=number)


def current_epoch(run: Run, known: Epoch | None = None) -> Epoch:
    """The run's epoch; at most once a minute and by one process the samples are looked at again."""
    epoch = known or newest_epoch(run)
    if epoch is None:
        return refresh_epoch(run)
    due = Q(pk=epoch.pk, checked_at__lt=now() - CHECK_EVERY)
    if epoch.checked_at < now() - CHECK_EVERY and Epoch.objects.filter(due).update(checked_at=now()):
        return refresh_epoch(run)
    return epoch


@lru_cache(maxsize=32)
def load_table(epoch: int, seed: int) -> tuple[Table, Plan]:
    """An epoch's table and its shared sequence. An epoch never changes, so keeping it in memory is safe."""
    table = Table.from_json(Epoch.objects.values_list("table", flat=True).get(pk=epoch))
    return table, make_plan(table, seed=seed)


def coverage(run: Run, table: Table) -> Coverage:
    """How often each pair and each question of the table has been voted on so far, by all judges together."""
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    tallies = PromptTally.objects.filter(run=run, is_repeat=False).order_by()
    pairs: dict[Pair, int] = {}
    for left, right, votes in tallies.values_list("left_id", "right_id").annotate(Sum("votes")):
        if left in index and right in index:
            pair = unordered(index[left], index[right])
            pairs[pair] = pairs.get(pair, 0) + votes
    prompts = dict(tallies.values_list("prompt_id").annotate(Sum("votes")))
    return Coverage(pairs, {number: prompts.get(prompt, 0) for number, (prompt, _) in enumerate(table.questions)})
