"""How many tokens a text takes at the least, where the provider does not count them."""

from __future__ import annotations

import re

# Where the tokenisers in use (GPT's, Llama's, Qwen's) cut a text before they merge anything: a word with the space before
# it, up to three digits, a run of signs, line breaks with the blanks before them, blanks. No token reaches across a cut.
_PIECES = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+|\s*\n+|\s+")
LONGEST_TOKEN = 128  # characters; their vocabularies have no longer ones


def least_tokens(text: str) -> int:
    """A lower bound: each piece is one token or more, and so is every further stretch of the longest token there is."""
    return sum(-(-len(piece.group()) // LONGEST_TOKEN) for piece in _PIECES.finditer(text))
