"""Epochs: which samples may be shown, frozen for a while, so that balance has something to be measured against."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, Sum
from django.utils.timezone import now

from generation.models import Run, Sample
from judging.models import Epoch, JudgeTally, Kind, Matchup, PromptTally, Seat
from judging.pairs.schedule.plans import Coverage, Plan, make_plan
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Drawing, Table, digest_of, unordered

CHECK_EVERY = timedelta(seconds=60)


def fingerprint(run: Run) -> str:
    """A number for the set of eligible samples that costs one aggregate and changes when the set does."""
    samples = Sample.objects.filter(run=run).judgeable()
    totals = samples.aggregate(n=Count("id"), ids=Sum("id"), squares=Sum(F("id") * F("id")), read=Sum("format_version"))
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
        alike[entrant, question][digest_of(drawing)].append(sample)
    entrants = tuple(sorted({entrant for entrant, _ in alike}))
    numbers = {question: number for number, question in enumerate(categories)}
    drawings = {
        (entrants.index(entrant), numbers[question]): tuple(
            Drawing(digest, tuple(ids)) for digest, ids in samples.items()
        )
        for (entrant, question), samples in alike.items()
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
    moment = now()
    if abs(moment - epoch.checked_at) <= CHECK_EVERY:  # a check of the future is of a clock that was set back since
        return epoch
    unchecked = Q(checked_at__lt=moment - CHECK_EVERY) | Q(checked_at__gt=moment + CHECK_EVERY)
    return refresh_epoch(run) if Epoch.objects.filter(unchecked, pk=epoch.pk).update(checked_at=moment) else epoch


@lru_cache(maxsize=32)
def load_table(epoch: int, seed: int) -> tuple[Table, Plan]:
    """An epoch's table and its shared sequence. An epoch never changes, so keeping it in memory is safe."""
    table = Table.from_json(Epoch.objects.values_list("table", flat=True).get(pk=epoch))
    return table, make_plan(table, seed=seed)


def coverage(run: Run, table: Table, *, panel: str = Seat.Panel.JUDGES) -> Coverage:
    """How often each pair of the table has a vote of the panel that counts so far, and each question any vote."""
    tallies = PromptTally.objects.filter(run=run, is_repeat=False).order_by()
    prompts = dict(tallies.values_list("prompt_id").annotate(Sum("votes")))
    questions = {number: prompts.get(prompt, 0) for number, (prompt, _) in enumerate(table.questions)}
    return Coverage(_by_pair(table, counting_votes(run, panel=panel)), questions)


def has_enough(run: Run, table: Table, target: int) -> bool:
    """Whether every possible pair has that many votes that count.

    Till near the end the sum of a tally says no; only then is it worth looking who voted, and on what.
    """
    counts = (_by_pair(table, count(run)) for count in (votes_at_most, counting_votes))
    return all(votes[pair] >= target for votes in counts for pair in table.common)


def _by_pair(table: Table, votes: Mapping[Pair, int]) -> Counter[Pair]:
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    pairs: Counter[Pair] = Counter()
    for (left, right), count in votes.items():
        if left in index and right in index:
            pairs[unordered(index[left], index[right])] += count
    return pairs


def votes_at_most(run: Run) -> Counter[Pair]:
    """No fewer than `counting_votes`, in one statement whose cost grows with the prompts and not with the judges.

    Imported votes may have no prompt, so all of them are added, and those with one are in twice.
    """
    known = PromptTally.objects.filter(run=run, is_repeat=False)
    imported = JudgeTally.objects.filter(run=run, is_repeat=False, seat__in=run.seats.filter(judge=None).order_by())
    sums = [tally.order_by().values_list("left", "right").annotate(Sum("votes")) for tally in (known, imported)]
    counts: Counter[Pair] = Counter()
    for left, right, votes in sums[0].union(sums[1], all=True):
        counts[left, right] += votes
    return counts


def counting_votes(run: Run, *, panel: str = Seat.Panel.JUDGES, batch: int = 5_000) -> Counter[Pair]:
    """Standing votes by left and right entrant, repeats apart, without judges set aside and drawings excluded.

    Of an open arena all of its seats count, and no other: they weigh nothing on the judges' board.
    """
    counted = Q(seat__panel=panel) if panel else Q(seat__weight__gt=0)
    tallies = JudgeTally.objects.filter(counted, run=run, is_repeat=False).order_by()
    counts = Counter(
        {(left, right): n for left, right, n in tallies.values_list("left", "right").annotate(Sum("votes"))}
    )
    voted = Matchup.objects.filter(counted, state=Matchup.State.VOTED).exclude(kind=Kind.REPEAT).order_by()
    voted = voted.filter(votes__withdrawn_at=None, votes__kept_out=False)
    gone = run.samples.excluded().order_by().values_list("id", flat=True)
    # Their numbers, not a subquery: so PostgreSQL too reads only the matchups of these few, by an index for each side. In
    # batches, because a statement of SQLite holds some 32,000 values. A vote on two of them is found by its left one.
    ids = list(gone)
    for some in (ids[start : start + batch] for start in range(0, len(ids), batch)):
        on_one = Q(left_sample__in=some) | (Q(right_sample__in=some) & ~Q(left_sample__in=gone))
        rows = voted.filter(on_one).values_list("left", "right").annotate(Count("id"))
        counts.subtract({(left, right): n for left, right, n in rows})
    return counts
