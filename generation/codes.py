"""Random codes for public addresses; a primary key would betray the order of drawing, and so the model."""

from __future__ import annotations

import secrets

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no 0/o, 1/l/i: codes are read aloud and typed


PLACES = [len(ALPHABET) ** place for place in range(12)]


def new_code() -> str:
    """Twelve characters, 59 bits: unguessable, and short enough for an address."""
    number = secrets.randbelow(len(ALPHABET) ** 12)
    return "".join([ALPHABET[number // place % len(ALPHABET)] for place in PLACES])
