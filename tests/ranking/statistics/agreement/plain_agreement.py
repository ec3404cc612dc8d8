"""Agreement and its intervals answer by answer, as the formulas have them: slow, and with nothing gathered or grouped."""

from __future__ import annotations

import numpy as np
from scipy import stats

VALUES = (1.0, 0.0, 0.5, 0.5)
CLASSES = range(4)


def first_answers(votes):
    """unit -> judge -> class, the judge's first answer; a class is seen from the unit's first drawing."""
    units = {}
    for row in np.argsort(votes.time, kind="stable"):
        judge, prompt = votes.judge[row], votes.prompt[row]
        if judge < 0 or prompt < 0 or votes.kind[row] == 2:
            continue
        left = (votes.left[row], votes.left_attempt[row])
        right = (votes.right[row], votes.right_attempt[row])
        label = int(votes.outcome[row])
        if left > right:
            left, right, label = right, left, {0: 1, 1: 0}.get(label, label)
        units.setdefault((prompt, left, right), {}).setdefault(int(judge), label)
    return list(units.values())


def alpha(delta):
    """Krippendorff's: what a unit adds to the sums, what one answer takes part in, and the coefficient of the sums."""

    def unit_sums(labels):
        if len(labels) < 2:
            return np.zeros(5)
        apart = sum(delta(a, b) for a in labels for b in labels) / (len(labels) - 1)
        return np.array([*(labels.count(c) for c in CLASSES), apart])

    def part(labels, label):
        if len(labels) < 2:
            return np.zeros(5)
        return np.array(
            [*(float(label == c) for c in CLASSES), 2 * sum(delta(label, b) for b in labels) / (len(labels) - 1)]
        )

    def coefficient(sums):
        either = (sums[0] + sums[1]) / 2
        shares = [either, either, sums[2], sums[3]]
        expected = sum(shares[a] * shares[b] * delta(a, b) for a in CLASSES for b in CLASSES) / (sum(shares) - 1)
        return 1 - sums[4] / expected

    return unit_sums, part, coefficient


def agreed(labels):
    return sum(a == b for a in labels for b in labels) - len(labels)


def beyond_chance(chance_of):
    """Gwet's and Fleiss's, by their chance agreement from shares of classes."""

    def unit_sums(labels):
        pairs = len(labels) * (len(labels) - 1)
        shares = [labels.count(c) / len(labels) for c in CLASSES]
        return np.array([*shares, 1, agreed(labels) / pairs if pairs else 0, bool(pairs)], float)

    def part(labels, label):
        n = len(labels)
        pair = [2 * (labels.count(label) - 1) / (n - 1) / n, 2 / n] if n > 1 else [0, 0]
        return np.array([*((label == c) / n for c in CLASSES), 1 / n, *pair])

    def coefficient(sums):
        shares = np.array([(sums[0] + sums[1]) / 2, (sums[0] + sums[1]) / 2, sums[2], sums[3]]) / sums[4]
        chance = chance_of(shares)
        return (sums[5] / sums[6] - chance) / (1 - chance)

    return unit_sums, part, coefficient


def raw():
    unit_sums, part, _ = beyond_chance(None)
    return (
        lambda labels: unit_sums(labels)[5:],
        lambda labels, label: part(labels, label)[5:],
        lambda sums: sums[0] / sums[1],
    )


COEFFICIENTS = {
    "alpha_nominal": alpha(lambda a, b: float(a != b)),
    "alpha_interval": alpha(lambda a, b: (VALUES[a] - VALUES[b]) ** 2),
    "ac1": beyond_chance(lambda shares: (shares * (1 - shares)).sum() / 3),
    "fleiss": beyond_chance(lambda shares: (shares**2).sum()),
    "raw": raw(),
}


def plain_interval(units, name):
    """Value and half-width of the interval, for four judges or more and three units or more."""
    unit_sums, part, coefficient = COEFFICIENTS[name]
    labels = [list(unit.values()) for unit in units]
    total = sum(unit_sums(each) for each in labels)
    value = coefficient(total)
    left_out = np.array([coefficient(total - unit_sums(each)) for each in labels])
    variance = (len(units) - 1) / len(units) * ((left_out - left_out.mean()) ** 2).sum()
    df = sum(len(each) > 1 for each in labels) - 1
    moves = [
        (judge, u, len(unit), coefficient(total + part(labels[u], label)) - value)
        for u, unit in enumerate(units)
        for judge, label in unit.items()
    ]
    usual = {n: np.mean([move for *_, size, move in moves if size == n]) for _, _, n, _ in moves}
    by_judge, by_unit, squares = {}, {}, 0.0
    for judge, u, size, move in moves:
        by_judge[judge] = by_judge.get(judge, 0.0) + move - usual[size]
        by_unit[u] = by_unit.get(u, 0.0) + move - usual[size]
        squares += (move - usual[size]) ** 2
    many = len(by_judge)
    hidden = many * (many - 1) / (many - 2) ** 2
    sums = np.array([*by_judge.values()])
    shown = hidden * ((sums - sums.mean()) ** 2).sum()
    excess = shown - hidden * (squares - sum(move**2 for move in by_unit.values()) / many)
    spent = variance**2 / df + (shown if excess > 0 else shown / 2) ** 2 / (many - 1)
    variance += max(excess, 0)
    return value, stats.t.ppf(0.975, variance**2 / spent) * np.sqrt(variance)


def plain_kappa(units, one, other):
    """Cohen's of two judges, with equal shares of "first wins" and "second wins"; and how many units they share."""
    both = [(unit[one], unit[other]) for unit in units if one in unit and other in unit]

    def shares(labels):
        either = sum(label < 2 for label in labels) / 2
        return np.array([either, either, labels.count(2), labels.count(3)]) / len(labels)

    chance = shares([a for a, _ in both]) @ shares([b for _, b in both])
    return (np.mean([a == b for a, b in both]) - chance) / (1 - chance), len(both)
