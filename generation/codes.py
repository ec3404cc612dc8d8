"""Random codes for public addresses; a primary key would betray the order of drawing, and so the model."""

from __future__ import annotations

import secrets

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no 0/o, 1/l/i: codes are read aloud and typed


def new_code() -> str:
    """Twelve characters, 59 bits: unguessable, and short enough for an address."""
    return "".join(secrets.choice(ALPHABET) for _ in range(12))
