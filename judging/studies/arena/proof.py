"""A proof that a browser is there: its script has to find a number, which costs it a moment and a script of thousands much."""

from __future__ import annotations

from hashlib import sha256

BITS = 14  # about 16,000 hashes: a blink on a computer, less than a second on a phone
LONGEST = 20


def is_proved(challenge: str, number: str) -> bool:
    """Whether the hash of the challenge and this number begins with so many zero bits."""
    if not number.isascii() or not number.isdigit() or len(number) > LONGEST:
        return False
    digest = sha256(f"{challenge}:{number}".encode()).digest()
    return int.from_bytes(digest[:4]) >> (32 - BITS) == 0


def solve(challenge: str) -> str:
    """What the script does, for tests and benches."""
    return next(str(number) for number in range(1 << 30) if is_proved(challenge, str(number)))
