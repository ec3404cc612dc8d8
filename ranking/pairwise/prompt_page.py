"""How drawings of one prompt did by votes, and the votes themselves once nobody judges blind any more."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import QueryDict

from generation.models import Entrant, Prompt, Run
from judging.models import Vote
from ranking.people import judge_labels

UNREAD_FIELDS = ("raw", "answer", "earlier_answers")  # as long as a model likes
VOTES_A_PAGE = 20
POINTS = {"left": (1.0, 0.0), "right": (0.0, 1.0), "tie": (0.5, 0.5), "fail": (0.0, 0.0)}
ANSWERS = {"left": "left is better", "right": "right is better", "tie": "both good", "fail": "both bad"}


def prompt_records(run: Run, prompt: Prompt) -> dict[str, Any]:
    """Points and votes on this prompt by entrant and by drawing (ids), and who voted; a tie is half a point for each."""
    votes = Vote.objects.counting(run).without_repeats().filter(matchup__prompt=prompt, seat__weight__gt=0).order_by()
    columns = ("seat_id", "outcome", "matchup__left_id", "matchup__right_id")
    samples = ("matchup__left_sample_id", "matchup__right_sample_id")
    entrants: dict[int, list[float]] = defaultdict(lambda: [0.0, 0])
    drawings: dict[int, list[float]] = defaultdict(lambda: [0.0, 0])
    judges, count = set(), 0
    for seat, outcome, *sides in votes.values_list(*columns, *samples).iterator(chunk_size=5000):
        judges.add(seat)
        count += 1
        for record, pair in ((entrants, sides[:2]), (drawings, sides[2:])):
            for key, points in zip(pair, POINTS[outcome], strict=True):
                if key is not None:
                    record[key][0] += points
                    record[key][1] += 1
    return {"entrants": dict(entrants), "drawings": dict(drawings), "votes": count, "judges": len(judges)}


def votes_context(run: Run, query: QueryDict, *, curator: bool) -> dict[str, Any]:
    """A page of votes, newest first, with both drawings; of one entrant, prompt or answer where asked for."""
    entrants, prompts = list(run.entrants.all()), list(run.prompts.all())
    votes = Vote.objects.counting(run).without_repeats().order_by("-voted_at", "-id")
    entrant = next((one for one in entrants if one.code == query.get("entrant")), None)
    prompt = next((one for one in prompts if one.code == query.get("prompt")), None)
    outcome = query.get("outcome", "") if query.get("outcome") in ANSWERS else ""
    if entrant:
        votes = votes.filter(Q(matchup__left=entrant) | Q(matchup__right=entrant))
    if prompt:
        votes = votes.filter(matchup__prompt=prompt)
    if outcome:
        votes = votes.filter(outcome=outcome)
    sides = [f"matchup__{side}{what}" for side in ("left", "right") for what in ("", "_sample")]
    unread = [f"matchup__{side}_sample__{field}" for side in ("left", "right") for field in UNREAD_FIELDS]
    shown = votes.select_related("seat", "matchup__prompt", *sides).defer("seat__plan", *unread)
    page = Paginator(shown, VOTES_A_PAGE).get_page(query.get("page"))
    labels = judge_labels(run, curator=curator)
    kept = query.copy()
    kept.pop("page", None)
    return {
        "page": page,
        "lines": [vote_line(vote, labels, run) for vote in page],
        "entrants": sorted(entrants, key=lambda one: one.label.lower()),
        "prompts": prompts,
        "answers": ANSWERS,
        "entrant": entrant,
        "prompt": prompt,
        "outcome": outcome,
        "query": kept.urlencode(),
    }


def vote_line(vote: Vote, labels: dict[str, str], run: Run) -> dict[str, Any]:
    pair = vote.matchup
    sides: list[dict[str, Any]] = []
    shown: list[tuple[Entrant, Any]] = [(pair.left, pair.left_sample), (pair.right, pair.right_sample)]
    for (who, sample), points in zip(shown, POINTS[vote.outcome], strict=True):
        if sample is not None:
            sample.run, sample.prompt, sample.entrant = run, pair.prompt, who
        sides.append({"entrant": who, "sample": sample, "won": points == 1})
    return {
        "vote": vote,
        "prompt": pair.prompt,
        "sides": sides,
        "answer": ANSWERS[vote.outcome],
        "judge": labels.get(vote.seat.pseudonym, "a judge"),
    }
