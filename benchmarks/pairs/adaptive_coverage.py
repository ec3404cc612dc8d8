"""What adaptive pairs save, and whether ratings stay true: studies played with the product's own planner and fits.

Each study is played twice, with balanced and with adaptive pairs: the same strengths, judges, prompts and luck. Only regular
items are played: shared ones go by a fixed order either way, so that with a fifth of them four fifths of the saving remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from benchmarks.figures.table import Notebook
from benchmarks.numbers.ranking_coverage import FIRST_SEED, held
from benchmarks.numbers.worlds import FieldWorld, true_ratings
from judging.pairs.adaptive.draws import Focus, is_turn, next_plan
from judging.pairs.schedule.items import Place, next_regular
from judging.pairs.schedule.plans import Coverage, Plan, make_plan
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Drawing, Item, Table, unordered
from ranking.statistics.ratings.bradley_terry import fit_ratings
from ranking.statistics.ratings.scopes import ScopeFit, Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.doubt import doubtful_pairs
from ranking.statistics.verdicts.paired import verdict_table
from ranking.statistics.verdicts.pairs import judge_pairs
from ranking.statistics.votes import make_votes

Array = NDArray[Any]
Row = dict[str, Any]
CATEGORIES, ATTEMPTS = 4, 5
FITS = 25  # of a study, evenly through its votes
RULES = BALANCED, ADAPTIVE = "balanced", "adaptive"
HELD = ("slope", "rating", "gap")


@dataclass(frozen=True)
class Study:
    """A field whose strengths are as those of a normal sample, and the votes it gets."""

    entrants: int
    votes: int
    sd: float = 1.0  # of strengths, in log-odds
    judges: int = 40
    prompts: int = 40

    @property
    def world(self) -> FieldWorld:
        theta = self.sd * ndtri((np.arange(self.entrants) + 0.5) / self.entrants)[::-1]
        return FieldWorld(theta=tuple(theta), votes=self.votes, judges=self.judges, prompts=self.prompts)


STUDIES = (Study(8, 2000), Study(20, 4000), Study(40, 8000))


def make_table(study: Study) -> Table:
    places = [(entrant, question) for entrant in range(study.entrants) for question in range(study.prompts)]
    drawings = {
        (e, q): tuple(Drawing(f"{e}/{q}/{a}", ((e * study.prompts + q) * ATTEMPTS + a,)) for a in range(ATTEMPTS))
        for e, q in places
    }
    questions = tuple((number, None) for number in range(study.prompts))
    return Table(tuple(range(study.entrants)), questions, tuple(f"c{q % CATEGORIES}" for q, _ in questions), drawings)


class Sitting:
    """One judge's regular items, planned as the site does it."""

    def __init__(self, table: Table, seed: int, coverage: Coverage, horizon: int) -> None:
        self.table, self.place, self.met = table, Place(), set[str]()
        self.plan = make_plan(table, seed=seed, coverage=coverage, horizon=horizon)

    def next(self, focus: Focus | None) -> Item:
        if focus is not None and is_turn(self.plan, self.place.regular):
            self.plan = self._follow(focus)
        item, self.place = next_regular(self.plan, self.table, self.place, self._unseen)
        assert item is not None
        self.met.add(item.key)
        return item

    def _follow(self, focus: Focus) -> Plan:
        number, seed = self.place.regular, self.plan.seed + self.place.regular
        return next_plan(self.plan, self.table, focus, number=number, last=self.place.last, seed=seed)

    def _unseen(self, items: Any) -> Item | None:
        return next((item for item in items if item.key not in self.met), None)


@dataclass(frozen=True)
class Panel:
    """The judges and prompts of one study, as they are drawn: by how much each likes or suits each entrant."""

    by_judge: Array  # [J, K]
    by_prompt: Array  # [P, K]

    def ratings(self, world: FieldWorld) -> Array:
        """What endless votes by these judges on these prompts would give: the order that more votes lead to."""
        strength = np.array(world.theta) + self.by_judge[:, None] + self.by_prompt[None, :]
        by_entrant = strength.reshape(-1, strength.shape[-1]).T
        wins = np.array([expit(one - by_entrant).mean(1) for one in by_entrant])
        undecided = world.ties + world.fails
        score = (1 - undecided) * wins + undecided / 2
        np.fill_diagonal(score, 0)
        return fit_ratings(score)


def draw_panel(study: Study, rng: np.random.Generator) -> Panel:
    world = study.world
    by_judge = rng.normal(0, world.judge_sd, (study.judges, study.entrants))
    return Panel(by_judge, rng.normal(0, world.prompt_sd, (study.prompts, study.entrants)))


def play(study: Study, seed: int, *, adaptive: bool) -> list[tuple[int, ScopeFit]]:
    """The fits of a study after each stretch of its votes, with how many votes they rest on."""
    world, table = study.world, make_table(study)
    rng = np.random.default_rng(seed)
    theta, panel = np.array(world.theta), draw_panel(study, rng)
    turns = rng.integers(0, study.judges, study.votes)
    luck, chance = rng.random(study.votes), rng.random(study.votes)
    sittings: dict[int, Sitting] = {}
    pairs, asked = Counter[Pair](), Counter[int]()
    rows = np.zeros((study.votes, 4), int)
    every = study.votes // FITS
    focus: Focus | None = None
    fits = []
    for n, judge in enumerate(turns.tolist()):
        if judge not in sittings:
            horizon = study.votes // study.judges
            coverage = Coverage(dict(pairs), dict(asked))
            sittings[judge] = Sitting(table, seed * 1000 + judge, coverage, horizon)
        item = sittings[judge].next(focus)
        pairs[item.pair] += 1
        asked[item.question] += 1
        first, second = (
            theta[e] + panel.by_judge[judge, e] + panel.by_prompt[item.question, e] for e in (item.left, item.right)
        )
        wins = luck[n] < expit(first - second)
        undecided = world.fails + world.ties
        outcome = 3 if chance[n] < world.fails else 2 if chance[n] < undecided else int(not wins)
        rows[n] = item.left, item.right, outcome, item.question
        if (n + 1) % every == 0:
            fit = fit_rows(study, rows[: n + 1], turns[: n + 1])
            fits.append((n + 1, fit))
            if adaptive:
                focus = focus_of(fit, pairs, table)
    return fits


def finite(value: float) -> float | None:
    """None where no pair is left in the wrong order, so that there is nothing to save."""
    return value if np.isfinite(value) else None


def adaptive_table(*, runs: int, studies: Sequence[Study] = STUDIES, notes: Notebook | None = None) -> list[Row]:
    """One row a study; `notes` keeps each that was played.

    - `saved`: share of the votes that adaptive pairs do without for the order that balanced ones give at the end, by lines
      through the second half of both (log of pairs in the wrong order over log of votes); `saved_se`: its standard error over studies.
    - `right` and `right_balanced`: share of pairs at the end in the order that endless votes by the same judges on the same
      prompts would give. More votes lead there, not to the order in the world, which takes more judges and prompts.
    - `slope`: of ratings on true ones; `rating` and `gap`: coverage of nominal 95 % intervals, all at the end; `error`: the standard error of `rating`.
    """
    notes = notes or Notebook(None)
    return [_study_row(study, range(FIRST_SEED, FIRST_SEED + runs), notes) for study in studies]


def _study_row(study: Study, seeds: Sequence[int], notes: Notebook) -> Row:
    played = [_noted(study, seed, notes) for seed in seeds]
    votes = np.array(played[0][BALANCED]["votes"])
    wrong = np.array([[one[rule]["wrong"] for one in played] for rule in RULES])  # [rule, study, fit]
    balanced, adaptive = ({key: np.array([one[rule][key] for one in played]) for key in HELD} for rule in RULES)
    resample = np.random.default_rng(1).integers(0, len(seeds), (200, len(seeds)))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a flat line never gets there
        saved = saving(votes, *wrong.mean(1))
        spread = np.std([saving(votes, *wrong[:, rows].mean(1)) for rows in resample])
    row = {
        "entrants": study.entrants,
        "votes": study.votes,
        "runs": len(seeds),
        "saved": finite(saved) if np.isfinite(spread) else None,
        "saved_se": finite(float(spread)),
        "right": 1 - wrong[1, :, -1].mean(),
        "right_balanced": 1 - wrong[0, :, -1].mean(),
    }
    row |= {name: float(adaptive[name].mean()) for name in HELD}
    row["error"] = _error(adaptive["rating"])
    row |= {f"{name}_balanced": float(balanced[name].mean()) for name in HELD}
    return row | {"error_balanced": _error(balanced["rating"])}


def _error(shares: Array) -> float:
    return float(shares.std(ddof=min(1, len(shares) - 1)) / np.sqrt(len(shares)))


def _noted(study: Study, seed: int, notes: Notebook) -> Row:
    """A study by both rules."""
    name = f"adaptive, {study.entrants} entrants, {study.votes} votes, seed {seed}"
    return notes.noted(name, lambda: {rule: _played(study, seed, adaptive=rule == ADAPTIVE) for rule in RULES})


def saving(votes: Array, balanced: Array, adaptive: Array) -> float:
    """Share of the balanced votes that are not needed, from the share of pairs in the wrong order after so many."""
    late = slice(len(votes) // 2, None)
    lines = [
        np.polyfit(np.log(votes[late]), np.log(np.maximum(wrong[late], 1e-6)), 1) for wrong in (balanced, adaptive)
    ]
    goal = np.polyval(lines[0], np.log(votes[-1]))
    slope, start = lines[1]
    return float(1 - np.exp((goal - start) / slope) / votes[-1])


def gaps(ratings: Array) -> Array:
    return ratings[:, None] - ratings[None, :]


def _played(study: Study, seed: int, *, adaptive: bool) -> Row:
    """The share of pairs in the `wrong` order after so many `votes`, and figures of the last fit."""
    truth, above = true_ratings(study.world), np.triu_indices(study.entrants, 1)
    goal = draw_panel(study, np.random.default_rng(seed)).ratings(study.world)
    fits = play(study, seed, adaptive=adaptive)
    wrong = [float((gaps(fit.theta)[above] * gaps(goal)[above] <= 0).mean()) for _, fit in fits]
    last = fits[-1][1]
    rating, gap = held(last, truth)
    slope = float(last.theta @ truth / (truth @ truth))
    return {"votes": [n for n, _ in fits], "wrong": wrong, "slope": slope, "rating": rating, "gap": gap}


def fit_rows(study: Study, rows: Array, judge: Array) -> ScopeFit:
    votes = make_votes(
        entrants=tuple(map(str, range(study.entrants))),
        judges=tuple(map(str, range(study.judges))),
        prompts=tuple(map(str, range(study.prompts))),
        categories=tuple(map(str, range(CATEGORIES))),
        left=rows[:, 0],
        right=rows[:, 1],
        outcome=rows[:, 2],
        judge=judge,
        prompt=rows[:, 3],
        category=rows[:, 3] % CATEGORIES,
    )
    return fit_overall(tally_votes(votes), Settings())


def focus_of(fit: ScopeFit, pairs: Counter[Pair], table: Table) -> Focus:
    """What the site would store with this fit."""
    verdicts = judge_pairs(fit, Settings())
    rows = verdict_table(verdicts, [str(entrant) for entrant in table.entrants], verdicts.order)["pairs"]
    doubtful = {unordered(int(a), int(b)): chance for (a, b), chance in doubtful_pairs(rows).items()}
    return Focus(dict(pairs), doubtful)
