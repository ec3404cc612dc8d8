"""Round robins, sides and category words: the combinatorics under a judge's schedule.

Everything here is small and exact; `docs/judging.md` says what each piece promises.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import gcd
from random import Random

Pair = tuple[int, int]


def circle_rounds(count: int) -> list[list[Pair]]:
    """All pairs of `count` entrants as rounds in which nobody appears twice (the circle method).

    An odd count has `count` rounds with one entrant resting in each; an even one has `count - 1` and nobody rests.
    """
    ring = count if count % 2 else count - 1
    rounds = []
    for middle in range(ring):
        pairs = [((middle + step) % ring, (middle - step) % ring) for step in range(1, (ring + 1) // 2)]
        if count % 2 == 0:
            pairs.append((middle, count - 1))
        rounds.append(pairs)
    return rounds


def assign_sides(pairs: Sequence[Pair], random: Random) -> list[Pair]:
    """Turn each pair so that, at every prefix, left and right of each entrant differ by at most 1.

    Tie the 1st and 2nd appearance of an entrant together, the 3rd and 4th, and so on. Every pair then hangs on at most two
    ties, so the pairs form paths and rings; walking along one and always leaving by the other end gives each tie one left and
    one right. This holds for any list of pairs, so it also holds when some pairs are impossible; the alternating sides of the
    circle method need the full round robin.
    """
    tied: dict[tuple[int, int], int] = {}  # (pair's index, entrant) -> index of the pair tied to it there
    waiting: dict[int, int] = {}
    for index, pair in enumerate(pairs):
        for entrant in pair:
            if entrant in waiting:
                other = waiting.pop(entrant)
                tied[index, entrant], tied[other, entrant] = other, index
            else:
                waiting[entrant] = index
    sides: list[Pair | None] = [None] * len(pairs)
    ends = [i for i, pair in enumerate(pairs) if any((i, entrant) not in tied for entrant in pair)]
    for start in [*ends, *range(len(pairs))]:  # paths from their ends first; what is left are rings
        if sides[start] is None:
            _walk(pairs, tied, sides, start, flip=random.random() < 0.5)
    return [side for side in sides if side is not None]


def _walk(
    pairs: Sequence[Pair], tied: dict[tuple[int, int], int], sides: list[Pair | None], start: int, *, flip: bool
) -> None:
    first, second = pairs[start]
    entered = second if (start, first) in tied and (start, second) not in tied else first
    index: int | None = start
    while index is not None and sides[index] is None:
        left = pairs[index][1] if pairs[index][0] == entered else pairs[index][0]
        sides[index] = (entered, left) if flip else (left, entered)
        index, entered = tied.get((index, left)), left


def category_word(sizes: Sequence[int]) -> list[int]:
    """A periodic word over categories in which each letter keeps to its share at every prefix.

    Letter c appears `sizes[c] / gcd(sizes)` times; after n letters its count is within 1 - 1/(2k - 2) of its share
    (Tijdeman, "The chairman assignment problem", Discrete Mathematics 32, 1980). Equal sizes give a plain rotation.
    """
    common = gcd(*sizes)
    weights = [size // common for size in sizes]
    total = sum(weights)
    slack = Fraction(1, max(2 * len(weights) - 2, 1))
    counts = [0] * len(weights)
    word = []
    for step in range(1, total + 1):
        ahead = [Fraction(weight * step, total) - count for weight, count in zip(weights, counts, strict=True)]
        allowed = [c for c, lead in enumerate(ahead) if lead >= slack]
        chosen = min(allowed, key=lambda c: ((1 - slack - ahead[c]) / weights[c], c))
        counts[chosen] += 1
        word.append(chosen)
    return word


def word_starts(word: Sequence[int], pairs: int) -> list[int]:
    """Where to enter the word in each block, so that over all blocks every pair meets every letter.

    With g = gcd(pairs, len(word)) a pair only ever meets letters of one residue class modulo g. So after each
    lcm(pairs, len(word)) items, when all counts stand even, the word is entered anew at the next class. Inside a class the
    entry is free: the one that strays least from the shares is taken.
    """
    length = len(word)
    classes = gcd(pairs, length)
    counts = [list(accumulate((int(at == letter) for at in word), initial=0)) for letter in sorted(set(word))]
    drift = [[length * c - i * column[-1] for i, c in enumerate(column)] for column in counts]
    ranges = [(min(d), max(d)) for d in drift]

    def strays(start: int) -> int:
        return max(max(high - d[start], d[start] - low) for d, (low, high) in zip(drift, ranges, strict=True))

    return [min(range(first, length, classes), key=lambda start: (strays(start), start)) for first in range(classes)]
