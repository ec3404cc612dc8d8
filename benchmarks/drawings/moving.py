"""Families of adversarial shapes that move: by animations of the drawing and by keyframes, also of what its filters do."""

from __future__ import annotations

from benchmarks.drawings.paint import GREY, RECT, Family, filtered, repeated, stops, svg

ANIMATED = '<animate attributeName="{}" values="{}" dur="1s" repeatCount="indefinite"/>'
TURNED = '<animateTransform attributeName="{}" type="rotate" values="0 {};360 {}" dur="1s" repeatCount="indefinite"/>'
BLUR = '<filter id="f"><feGaussianBlur stdDeviation="{}"/></filter>'
MASK = f'<mask id="m">{GREY}</mask>'
RING = '<circle cx="50" cy="50" r="48" fill="none" stroke="red" {}>{}</circle>'
SPOT = f'<feSpotLight x="50" y="50" z="30">{ANIMATED.format("x", "0;100")}</feSpotLight>'
TURNING = TURNED.format("transform", "50 50", "50 50")


def keyframes(change: str, shape: str = RECT.format('class="a" fill="red"'), before: str = "") -> Family:
    css = f".a{{animation:a 1s infinite alternate linear}}@keyframes a{{to{{{change}}}}}"
    return repeated(shape, f"<style>{css}</style>{before}")


def zigzags(step: int, n: int) -> str:
    return f"M0 0{''.join(f'L{i * step % 100} {i * (98 - step) % 100}' for i in range(n))}"


def morphing(n: int) -> str:
    return svg(f'<path fill="red">{ANIMATED.format("d", f"{zigzags(37, n)};{zigzags(61, n)}")}</path>')


def grown_from_elsewhere(n: int) -> str:
    """Animations that name what they animate and stand in another group."""
    circles = (f'<circle id="c{i}" cx="50" cy="50" r=".1" filter="url(#f)"/>' for i in range(n))
    growing = (ANIMATED.format("r", "1;60").replace("<animate", f'<animate href="#c{i}"') for i in range(n))
    return svg(f"{BLUR.format(2)}{''.join(circles)}<g>{''.join(growing)}</g>")


MOVING: dict[str, Family] = {
    "moving blurs": keyframes("opacity:.5", RECT.format('class="a" fill="red" filter="url(#f)"'), BLUR.format(2)),
    "moving gradients": keyframes("opacity:.5", RECT.format('class="a" fill="url(#g)"'), stops("radial", 9)),
    "moving masks": keyframes("opacity:.5", RECT.format('class="a" mask="url(#m)"'), MASK),
    "shapes that grow": repeated(f'<circle cx="50" cy="50" fill="red" opacity=".5">{ANIMATED.format("r", "1;60")}</circle>'),
    "blurs that widen": filtered(f'<feGaussianBlur stdDeviation=".1">{ANIMATED.format("stdDeviation", ".1;40")}</feGaussianBlur>'),
    "noise that grows": filtered(f'<feTurbulence baseFrequency=".05" numOctaves="1">{ANIMATED.format("numOctaves", "1;12")}</feTurbulence>'),
    "edges that grow": filtered(f'<feMorphology radius="0" operator="dilate">{ANIMATED.format("radius", "0;4")}</feMorphology>'),
    "regions that grow": repeated(
        RECT.format('fill="red" filter="url(#f)"'),
        f'<filter id="f" x="0" y="0" width=".01" height=".01"><feGaussianBlur stdDeviation="5"/>{ANIMATED.format("width", ".01;3")}{ANIMATED.format("height", ".01;3")}</filter>',
    ),
    "filters set later": repeated(
        f'<rect width="100" height="100" fill="red">{ANIMATED.format("filter", "none;url(#f)")}{ANIMATED.format("x", "0;9")}</rect>', BLUR.format(2)
    ),
    "masks set later": repeated(
        f'<rect width="100" height="100" fill="red">{ANIMATED.format("mask", "none;url(#m)")}{ANIMATED.format("x", "0;9")}</rect>', MASK
    ),
    "shapes grown from elsewhere": grown_from_elsewhere,
    "filters by keyframes": keyframes("filter:blur(2px)"),
    "masks by keyframes": keyframes("mask-image:linear-gradient(#000,transparent)"),
    "blending by keyframes": keyframes("mix-blend-mode:hue"),
    "shadows by keyframes": keyframes("text-shadow:1px 1px 9px red", '<text class="a" y="50" font-size="40">abcdef</text>'),
    "scaled by keyframes": keyframes("transform:scale(100)", '<rect class="a" width="1" height="1" filter="url(#f)"/>', BLUR.format(".2")),
    "lights that move": filtered(f'<feSpecularLighting specularExponent="20">{SPOT}</feSpecularLighting>'),
    "gradients that turn": repeated(
        RECT.format('fill="url(#g)"'),
        stops("radial", 9).replace("</radial", f"{TURNED.format('gradientTransform', '.5 .5', '.5 .5')}</radial"),
    ),
    "patterns that move": repeated(
        RECT.format('fill="url(#p)"'),
        f'<pattern id="p" width=".01" height=".01" patternUnits="userSpaceOnUse"><rect width=".005" height=".005">{ANIMATED.format("x", "0;.005")}</rect></pattern>',
    ),
    "dashes that run": repeated(RING.format('stroke-dasharray=".3 .3"', ANIMATED.format("stroke-dashoffset", "0;9"))),
    "dashes that shorten": repeated(RING.format('stroke-dasharray="9 9"', ANIMATED.format("stroke-dasharray", "9 9;.05 .05"))),
    "zigzags that turn": lambda n: svg(f'<path fill="red" d="{zigzags(37, n)}">{TURNING}</path>'),
    "outlines that change": morphing,
    "groups that turn": repeated(f'<g opacity=".5">{GREY}<circle cx="50" cy="50" r="60" fill="red"/>{TURNING}</g>'),
    "clips that move": repeated(
        RECT.format('clip-path="url(#c)"'), f'<clipPath id="c"><text y="50" font-size="50">abc{ANIMATED.format("x", "0;50")}</text></clipPath>'
    ),
    "text that moves": repeated(f'<text y="50" font-size="40">abcdef{ANIMATED.format("x", "0;50")}</text>'),
}  # fmt: skip
