"""Ratings with activity weights and their variances, written again vote by vote with plain loops: slow, to check the fast form."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

Matrix = Any


class SlowRecipe:
    """Everything from lists of votes (left, right, score of the left, judge, prompt), each as its definition has it.

    `kinds` of judges (3) and prompts (4), by number: those of one kind are held against each other.
    """

    def __init__(
        self,
        votes: list[tuple[int, int, float, int, int]],
        size: int,
        kinds: dict[int, dict[int, int]] | None = None,
    ) -> None:
        self.votes, self.size, self.kinds = votes, size, kinds or {}
        ones = [1.0] * len(votes)
        even = self.fit(ones)
        self.information = self.mean_information(even)
        guess = self.weights(0.15)
        theta = self.fit(guess)
        way = self.way(theta, guess, 3)
        self.taste, self.taste_df = self.pool(way)
        self.weight = self.weights(max(self.taste, 0))
        self.theta = self.fit(self.weight)
        judge, prompt = self.way(self.theta, self.weight, 3), self.way(self.theta, self.weight, 4)
        prompts, prompts_df = self.pool(prompt)
        self.variance, self.df = {}, {}
        for name, contrast in self.contrasts().items():
            noise = contrast @ judge["E"] @ contrast
            by_judge, judge_df = self.moderate(judge, contrast, self.taste, self.taste_df)
            by_prompt, prompt_df = self.moderate(prompt, contrast, prompts, prompts_df)
            total = max(by_judge + by_prompt - noise, noise)
            self.variance[name] = total
            self.df[name] = total**2 / (by_judge**2 / judge_df + by_prompt**2 / prompt_df)

    def contrasts(self) -> dict[Any, Matrix]:
        unit = np.eye(self.size)
        pairs = {(i, j): unit[i] - unit[j] for i in range(self.size) for j in range(i + 1, self.size)}
        return {i: unit[i] for i in range(self.size)} | pairs

    def chance(self, theta: Matrix, vote: tuple[Any, ...]) -> float:
        return float(1 / (1 + np.exp(theta[vote[1]] - theta[vote[0]])))

    def direction(self, vote: tuple[Any, ...]) -> Matrix:
        x = np.zeros(self.size)
        x[vote[0]] += 1
        x[vote[1]] -= 1
        return x

    def fit(self, weight: list[float]) -> Matrix:
        """Newton on the weighted log-likelihood, mean 0."""
        theta = np.zeros(self.size)
        for _ in range(60):
            slope, curve = np.zeros(self.size), np.full((self.size, self.size), 1 / self.size)
            for vote, w in zip(self.votes, weight, strict=True):
                p, x = self.chance(theta, vote), self.direction(vote)
                slope += w * (vote[2] - p) * x
                curve += w * p * (1 - p) * np.outer(x, x)
            step = np.linalg.solve(curve, slope)
            theta = theta + step
            if np.abs(step).max() < 1e-13:
                break
        return theta - theta.mean()

    def mean_information(self, theta: Matrix) -> dict[int, float]:
        """By judge: the mean, over judges with as many votes (by powers of two), of the information's trace over K - 1."""
        own: dict[int, float] = defaultdict(float)
        count: dict[int, int] = defaultdict(int)
        for vote in self.votes:
            p = self.chance(theta, vote)
            own[vote[3]] += 2 * p * (1 - p) / (self.size - 1)
            count[vote[3]] += 1
        level = {judge: int(np.floor(np.log2(n))) for judge, n in count.items()}
        return {j: float(np.mean([own[i] for i in own if level[i] == level[j]])) for j in own}

    def weights(self, taste: float) -> list[float]:
        raw = {judge: 1 / (1 + taste * information) for judge, information in self.information.items()}
        return [raw[vote[3]] / max(raw.values()) for vote in self.votes]

    def way(self, theta: Matrix, weight: list[float], column: int) -> dict[str, Any]:
        shape = (self.size, self.size)
        s: dict[int, Matrix] = defaultdict(lambda: np.zeros(self.size))
        h: dict[int, Matrix] = defaultdict(lambda: np.zeros(shape))
        i: dict[int, Matrix] = defaultdict(lambda: np.zeros(shape))
        for vote, w in zip(self.votes, weight, strict=True):
            p, x, group = self.chance(theta, vote), self.direction(vote), vote[column]
            s[group] += w * (vote[2] - p) * x
            h[group] += w * p * (1 - p) * np.outer(x, x)
            i[group] += w**2 * (vote[2] - p) ** 2 * np.outer(x, x)
        b = np.linalg.inv(sum(h.values()) + 1 / self.size)
        m = {g: b @ h[g] for g in h}
        t, e = {g: m[g] @ m[g].T for g in h}, {g: b @ i[g] @ b for g in h}
        kind = self.kinds.get(column) or dict.fromkeys(h, 0)
        many = len(set(kind.values())) > 1
        outer, seen_t, seen_e = (np.zeros(shape) for _ in range(3))
        for k in sorted(set(kind.values())):
            own = [g for g in h if kind[g] == k]
            information = sum(h[g] for g in own)
            held = 0.01 * np.trace(information) / self.size * np.eye(self.size)
            alike = np.linalg.inv(information + held) if many else b  # pull to ratings of the kind's own
            q = {g: b @ h[g] @ alike @ np.linalg.inv(b) for g in own}
            common = sum(b @ s[g] for g in own) if many else np.zeros(self.size)
            outer += sum(np.outer(b @ s[g] - q[g] @ common, b @ s[g] - q[g] @ common) for g in own)
            for seen, each in ((seen_t, t), (seen_e, e)):
                whole = sum(each[g] for g in own)
                seen += whole - sum(q[g] @ each[g] + each[g] @ q[g].T - q[g] @ whole @ q[g].T for g in own)
        whole_t, whole_e = sum(t.values()), sum(e.values())
        sums = {"S": outer, "T": whole_t, "E": whole_e, "QT": seen_t, "QE": seen_e}
        return {**sums, "t": t, "e": e, "kind": kind}

    def groups(self, way: dict[str, Any], contrast: Matrix, taste: float) -> float:
        each = {g: contrast @ (max(taste, 0) * way["t"][g] + way["e"][g]) @ contrast for g in way["t"]}
        seen = spent = 0.0
        for k in set(way["kind"].values()):
            own = [each[g] for g in each if way["kind"][g] == k]
            number = sum(own) ** 2 / sum(v**2 for v in own)
            seen += sum(own) * (number - 1) / number
            spent += sum(own) ** 2 * (number - 1) / number**2
        return seen**2 / spent

    def pool(self, way: dict[str, Any]) -> tuple[float, float]:
        unit, taste = np.eye(self.size), 0.05
        s, qt, qe = ([a @ way[key] @ a for a in unit] for key in ("S", "QT", "QE"))
        floor = -0.5 * min(e / t for e, t in zip(qe, qt, strict=True))
        for _ in range(12):
            df = [max(self.groups(way, a, taste), 0.05) for a in unit]
            omega = [d / (taste * t + e) ** 2 for d, t, e in zip(df, qt, qe, strict=True)]
            top = sum(o * t * (x - e) for o, t, e, x in zip(omega, qt, qe, s, strict=True))
            new = max(floor, top / sum(o * t * t for o, t in zip(omega, qt, strict=True)))
            if abs(new - taste) < 1e-6:
                break
            taste = new
        return taste, sum(df) * (self.size - 1) / self.size

    def moderate(self, way: dict[str, Any], a: Matrix, taste: float, pooled_df: float) -> tuple[float, float]:
        s, t, e, qt, qe = (float(a @ way[key] @ a) for key in ("S", "T", "E", "QT", "QE"))
        model, expected = max(taste * t + e, e / 4), max(taste * qt + qe, qe / 4)
        share = min(1.0, max(0.001, taste * t / model))
        own = max(self.groups(way, a, taste), 0.0)
        prior = min(2 / share**2, max(pooled_df - own, 0.0))
        return (prior + own * s / expected) / (prior + own) * model, max(prior + own, 0.5)
