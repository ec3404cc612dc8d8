"""What a pairwise run adds to a published dataset: votes, preference pairs, and how they were counted."""

from __future__ import annotations

from collections.abc import Mapping

from ranking.pairwise.as_markdown import method_paragraph
from ranking.pairwise.dataset.importing import matchup_lines, vote_lines
from ranking.pairwise.dataset.preference_pairs import PAIRS
from ranking.pairwise.dataset.votes import VOTES
from ranking.pairwise.result import PairwiseDocument
from ranking.pairwise.sentences import agreement_sentence, leading_sentence

TABLES = (VOTES, PAIRS)
READERS = {"matchups.jsonl": matchup_lines, "votes.jsonl": vote_lines}


def methods(result: PairwiseDocument, labels: Mapping[str, str]) -> str:
    """How the ratings came about; every number is taken from the leaderboard."""
    if not result["votes"]:
        return "No vote has been cast."
    level = f"{result['settings']['level']:.0%}"
    parts = [
        f"{result['votes']:,} votes by {result['judges_count']:,} judges on drawings by {len(result['overall']):,} "
        f"entrants for {result['prompts_count']:,} prompts were counted. Each vote compared two drawings of one prompt, "
        "side by side. Judges on Benchsite see no names before they vote.",
        method_paragraph(result),
        f"All intervals are {level} intervals.",
        agreement_sentence(result["agreement"]),
        leading_sentence(result, labels),
    ]
    return " ".join(part for part in parts if part)
