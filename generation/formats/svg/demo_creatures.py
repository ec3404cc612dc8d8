"""SVG drawings: friendly creatures put together from shapes, coloured and shaped by the subject's name.

They are creatures of our own: the colours, ears, wings and tails are chosen to hint at a subject, not to copy anybody's art.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from random import Random

# What a name hints at: body, belly, accent; then ears, tail, wings, legs, mark.
YELLOW, RED, BLUE, GREEN = (
    ("#f6cf3c", "#fbe9a0", "#8a5a1c"),
    ("#f08a3c", "#fbdca0", "#c8402c"),
    ("#6fb4e0", "#f5e8c0", "#3a6a9c"),
    ("#7cc9a8", "#b8e6cc", "#3f8f5a"),
)
PURPLE, PINK, GREY, BROWN = (
    ("#7d62b0", "#c9b6e6", "#4a3a78"),
    ("#f7b3cc", "#fde3ec", "#d0668c"),
    ("#b9c2c9", "#e8edf0", "#5c6b78"),
    ("#b98a58", "#ecd6b0", "#6e4a28"),
)
TEAL, NIGHT = ("#4ca3a8", "#c4e8e6", "#1f5d63"), ("#3a4468", "#8791b8", "#e0525e")


@dataclass(frozen=True)
class Looks:
    """The parts of a creature."""

    colours: tuple[str, str, str]
    ears: str = "round"
    tail: str = "curl"
    wings: bool = False
    legs: int = 2
    mark: str = ""
    body: str = "pair"


HINTS = {
    "pikachu": Looks(YELLOW, "long", "zigzag", mark="cheeks"),
    "jigglypuff": Looks(PINK, "point", "none", legs=2, mark="curl", body="round"),
    "bulbasaur": Looks(GREEN, "point", "none", legs=4, mark="bulb"),
    "venusaur": Looks(GREEN, "point", "none", legs=4, mark="bulb"),
    "charmander": Looks(RED, "none", "flame"),
    "charizard": Looks(RED, "horn", "flame", wings=True),
    "squirtle": Looks(BLUE, "none", "curl", mark="shell"),
    "blastoise": Looks(BLUE, "round", "curl", mark="shell"),
    "gengar": Looks(PURPLE, "point", "none", mark="grin"),
    "ditto": Looks(PURPLE, "none", "none", legs=0, body="blob"),
    "eevee": Looks(BROWN, "long", "bush", legs=4, mark="ruff"),
    "snorlax": Looks(TEAL, "point", "none"),
    "gyarados": Looks(BLUE, "horn", "none", legs=0, mark="grin", body="coil"),
    "dragonite": Looks(RED, "horn", "curl", wings=True),
    "mewtwo": Looks(GREY, "point", "serpent"),
    "mew": Looks(PINK, "point", "serpent"),
    "magnemite": Looks(GREY, "none", "none", legs=0, mark="screw", body="round"),
    "voltorb": Looks(("#e0483c", "#f6f6f6", "#33373d"), "none", "none", legs=0, mark="brows", body="ball"),
    "lucario": Looks(BLUE, "long", "bush", mark="ruff"),
    "umbreon": Looks(NIGHT, "long", "bush", legs=4, mark="rings"),
    "rayquaza": Looks(GREEN, "horn", "none", legs=0, mark="rings", body="coil"),
    "garchomp": Looks(NIGHT, "horn", "curl", wings=True),
    "psyduck": Looks(YELLOW, "tuft", "curl", mark="beak"),
    "diglett": Looks(BROWN, "none", "none", legs=0, mark="nose", body="mound"),
    "cubone": Looks(BROWN, "none", "curl", mark="skull"),
    "scizor": Looks(("#d8403a", "#f2a49a", "#5d666e"), "horn", "none", wings=True, mark="pincers"),
    "arceus": Looks(("#eef0ee", "#a9b0b6", "#d8b03a"), "point", "serpent", legs=4, mark="wheel"),
}  # fmt: skip


def looks_of(subject: str) -> Looks:
    """Looks by name, or, for a name we never heard, always the same looks for the same name."""
    known = next((looks for name, looks in HINTS.items() if re.search(rf"\b{name}\b", subject)), None)
    if known:
        return known
    pick = Random(hashlib.sha256(subject.encode()).digest())
    palette = pick.choice((YELLOW, RED, BLUE, GREEN, PURPLE, PINK, GREY, BROWN, TEAL, NIGHT))
    ears, tail = (
        pick.choice(("round", "long", "point", "horn", "tuft")),
        pick.choice(("curl", "zigzag", "flame", "bush")),
    )
    return Looks(
        palette, ears, tail, pick.random() < 0.3, pick.choice((2, 2, 4)), pick.choice(("cheeks", "ruff", "rings"))
    )


def shapes_of(looks: Looks) -> list[str]:
    """A creature's shapes on a 200 × 200 canvas, back to front."""
    accent = looks.colours[2]
    parts = [_wings(looks), _tail(looks), _legs(looks), _ears(looks), _body(looks), _mark(looks), _face(looks, accent)]
    return [shape for part in parts for shape in part]


def _body(looks: Looks) -> list[str]:
    body, belly, _ = looks.colours
    shapes = {
        "pair": '<ellipse cx="100" cy="128" rx="46" ry="44" fill="{c}"/><ellipse cx="100" cy="136" rx="28" ry="30" fill="{b}"/>'
        '<circle cx="100" cy="74" r="38" fill="{c}"/>',
        "round": '<circle cx="100" cy="104" r="64" fill="{c}"/>',
        "ball": '<circle cx="100" cy="104" r="64" fill="{b}"/><path d="M36 104 A64 64 0 0 1 164 104 Z" fill="{c}"/>',
        "blob": '<path d="M28 168 Q18 132 44 116 Q46 70 84 58 Q132 44 146 92 Q182 104 174 168 Q150 180 128 170 Q100 184 74 170 Q48 182 28 168 Z" fill="{c}"/>',
        "mound": '<path d="M58 170 L58 84 Q58 34 100 34 Q142 34 142 84 L142 170 Z" fill="{c}"/>'
        '<path d="M24 178 Q40 150 62 166 Q84 152 100 168 Q120 152 140 166 Q164 150 178 178 Z" fill="#7a6a58"/>',
        "coil": '<path d="M100 80 Q150 104 116 128 Q44 146 72 166 Q120 184 176 158" fill="none" stroke="{c}" stroke-width="30" stroke-linecap="round"/>'
        '<path d="M104 92 Q138 106 112 122 Q56 142 78 160 Q120 174 168 156" fill="none" stroke="{b}" stroke-width="8" stroke-linecap="round"/>'
        '<circle cx="100" cy="70" r="36" fill="{c}"/>',
    }  # fmt: skip
    return _split(shapes[looks.body].format(c=body, b=belly))


def _ears(looks: Looks) -> list[str]:
    body, belly, accent = looks.colours
    shapes = {
        "round": '<circle cx="72" cy="46" r="14" fill="{c}"/><circle cx="128" cy="46" r="14" fill="{c}"/>',
        "long": '<path d="M74 50 Q48 24 52 2 Q80 14 88 42 Z" fill="{c}"/><path d="M126 50 Q152 24 148 2 Q120 14 112 42 Z" fill="{c}"/>'
        '<path d="M55 16 Q50 8 52 2 Q62 6 68 12 Z" fill="{a}"/><path d="M145 16 Q150 8 148 2 Q138 6 132 12 Z" fill="{a}"/>',
        "point": '<path d="M66 56 L64 24 L92 42 Z" fill="{c}"/><path d="M134 56 L136 24 L108 42 Z" fill="{c}"/>'
        '<path d="M70 48 L69 33 L82 42 Z" fill="{b}"/><path d="M130 48 L131 33 L118 42 Z" fill="{b}"/>',
        "horn": '<path d="M78 44 Q66 26 58 24 Q66 40 70 54 Z" fill="{a}"/><path d="M122 44 Q134 26 142 24 Q134 40 130 54 Z" fill="{a}"/>',
        "tuft": '<path d="M92 38 L86 18 L97 34 L100 12 L104 34 L115 18 L108 38 Z" fill="{a}"/>',
        "none": "",
    }
    return _split(shapes[looks.ears].format(c=body, b=belly, a=accent))


def _tail(looks: Looks) -> list[str]:
    body, _, accent = looks.colours
    shapes = {
        "curl": '<path d="M138 150 Q176 156 172 126 Q168 108 154 118" fill="none" stroke="{c}" stroke-width="12" stroke-linecap="round"/>',
        "zigzag": '<path d="M136 152 L162 140 L154 126 L182 106 L172 84 L196 62 L198 98 L186 112 L192 124 L166 140 L170 152 L138 164 Z" fill="{c}"/>'
        '<path d="M136 152 L148 147 L150 160 L138 164 Z" fill="{a}"/>',
        "flame": '<path d="M138 152 Q172 158 174 120" fill="none" stroke="{c}" stroke-width="14" stroke-linecap="round"/>'
        '<path d="M174 126 Q156 104 176 78 Q178 94 188 98 Q194 116 174 126 Z" fill="#f25c1e"/>'
        '<path d="M175 122 Q166 110 176 94 Q184 108 175 122 Z" fill="#fbd34a"/>',
        "bush": '<path d="M136 150 Q186 160 184 110 Q182 84 166 84 Q172 124 136 140 Z" fill="{c}"/><path d="M184 110 Q182 84 166 84 Q170 98 184 110 Z" fill="#f5ecd2"/>',
        "serpent": '<path d="M100 160 Q160 196 176 150 Q188 110 160 104" fill="none" stroke="{c}" stroke-width="16" stroke-linecap="round"/>'
        '<circle cx="160" cy="104" r="10" fill="{a}"/>',
        "none": "",
    }
    return _split(shapes[looks.tail].format(c=body, a=accent))


def _wings(looks: Looks) -> list[str]:
    if not looks.wings:
        return []
    body, _, accent = looks.colours
    left = f'<path d="M70 110 L14 56 L22 96 L6 104 L30 120 L20 138 L62 134 Z" fill="{accent}" stroke="{body}" stroke-width="4"/>'
    right = f'<path d="M130 110 L186 56 L178 96 L194 104 L170 120 L180 138 L138 134 Z" fill="{accent}" stroke="{body}" stroke-width="4"/>'
    return [left, right]


def _legs(looks: Looks) -> list[str]:
    body = looks.colours[0]
    feet = {0: (), 2: (78, 122), 4: (64, 86, 114, 136)}[looks.legs]
    legs = [f'<ellipse cx="{x}" cy="172" rx="14" ry="11" fill="{body}"/>' for x in feet]
    arms = [f'<ellipse cx="{x}" cy="116" rx="9" ry="18" fill="{body}"/>' for x in (56, 144)] if looks.legs == 2 else []
    return [*legs, *arms]


def _mark(looks: Looks) -> list[str]:
    _, belly, accent = looks.colours
    shapes = {
        "cheeks": '<circle cx="74" cy="86" r="8" fill="#e8503a"/><circle cx="126" cy="86" r="8" fill="#e8503a"/>',
        "curl": '<path d="M100 52 Q84 40 96 30 Q112 26 110 40" fill="none" stroke="{a}" stroke-width="7" stroke-linecap="round"/>',
        "bulb": '<path d="M100 92 Q58 108 66 66 Q92 72 100 40 Q108 72 134 66 Q142 108 100 92 Z" fill="{a}" transform="translate(0 -34) scale(1 0.9)"/>',
        "shell": '<ellipse cx="100" cy="134" rx="36" ry="34" fill="#a9743a"/><ellipse cx="100" cy="136" rx="27" ry="27" fill="{b}"/>'
        '<path d="M100 110 L100 162 M74 136 L126 136" stroke="#a9743a" stroke-width="3"/>',
        "grin": '<path d="M76 88 Q100 112 124 88 Q100 96 76 88 Z" fill="#ffffff" stroke="{a}" stroke-width="2"/>',
        "ruff": '<path d="M66 100 Q72 124 84 112 Q92 130 100 114 Q108 130 116 112 Q128 124 134 100 Q100 112 66 100 Z" fill="#f5ecd2"/>',
        "rings": '<ellipse cx="100" cy="52" rx="10" ry="5" fill="none" stroke="#f2d24a" stroke-width="4"/>'
        '<ellipse cx="70" cy="150" rx="9" ry="5" fill="none" stroke="#f2d24a" stroke-width="4"/><ellipse cx="130" cy="150" rx="9" ry="5" fill="none" stroke="#f2d24a" stroke-width="4"/>',
        "screw": '<rect x="40" y="120" width="18" height="34" rx="4" fill="{a}"/><rect x="142" y="120" width="18" height="34" rx="4" fill="{a}"/>',
        "brows": '<path d="M72 58 L96 66 M128 58 L104 66" stroke="{a}" stroke-width="5" stroke-linecap="round"/>',
        "skull": '<path d="M60 70 Q62 30 100 30 Q138 30 140 70 L130 84 L120 76 L110 88 L100 78 L90 88 L80 76 L70 84 Z" fill="#f5f0e2" stroke="#b9b09a" stroke-width="3"/>'
        '<path d="M150 150 L176 92" stroke="#f0e8d0" stroke-width="9" stroke-linecap="round"/><circle cx="173" cy="88" r="7" fill="#f0e8d0"/><circle cx="181" cy="93" r="7" fill="#f0e8d0"/>',
        "pincers": '<path d="M52 122 Q14 116 18 82 Q36 88 34 104 Q44 92 56 108 Z" fill="#d8403a" stroke="{a}" stroke-width="3"/>'
        '<path d="M148 122 Q186 116 182 82 Q164 88 166 104 Q156 92 144 108 Z" fill="#d8403a" stroke="{a}" stroke-width="3"/>',
        "wheel": '<ellipse cx="100" cy="128" rx="66" ry="30" fill="none" stroke="{a}" stroke-width="8"/>'
        '<path d="M34 128 L22 116 M166 128 L178 116 M60 150 L46 164 M140 150 L154 164" stroke="{a}" stroke-width="7"/>',
        "beak": '<ellipse cx="100" cy="90" rx="20" ry="9" fill="#f7e7b4" stroke="#c9a24a" stroke-width="2"/>',
        "nose": '<ellipse cx="100" cy="86" rx="12" ry="7" fill="#e36a72"/>',
        "": "",
    }
    return _split(shapes[looks.mark].format(a=accent, b=belly))


def _face(looks: Looks, accent: str) -> list[str]:
    if looks.mark == "screw":
        return _split(
            '<circle cx="100" cy="100" r="24" fill="#ffffff"/><circle cx="100" cy="100" r="7" fill="#22242a"/>'
        )
    eyes = [f'<circle cx="{x}" cy="70" r="7" fill="#22242a"/>' for x in (86, 114)]
    glints = [f'<circle cx="{x}" cy="67" r="2.5" fill="#ffffff"/>' for x in (88, 116)]
    if looks.mark in ("nose", "beak", "grin"):
        return [*eyes, *glints]
    mouth = f'<path d="M92 86 Q100 94 108 86" fill="none" stroke="{accent}" stroke-width="3" stroke-linecap="round"/>'
    return [*eyes, *glints, mouth]


def _split(markup: str) -> list[str]:
    return re.findall(r"<[^>]+>", markup)
