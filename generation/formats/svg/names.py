"""The elements of SVG that a judged copy may hold. Anything else draws nothing, acts, or reaches outside."""

from __future__ import annotations

SHAPES = frozenset(["path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "use"])
TEXT = frozenset(["text", "tspan", "textPath", "a"])
ANIMATION = frozenset(["animate", "animateColor", "animateMotion", "animateTransform", "set"])
PRIMITIVES = frozenset(
    [
        "feBlend",
        "feColorMatrix",
        "feComponentTransfer",
        "feComposite",
        "feConvolveMatrix",
        "feDiffuseLighting",
        "feDisplacementMap",
        "feDropShadow",
        "feFlood",
        "feGaussianBlur",
        "feImage",
        "feMerge",
        "feMorphology",
        "feOffset",
        "feSpecularLighting",
        "feTile",
        "feTurbulence",
    ]
)
ALLOWED = (
    SHAPES
    | TEXT
    | ANIMATION
    | PRIMITIVES
    | frozenset(
        [
            "svg",
            "g",
            "defs",
            "symbol",
            "switch",
            "view",
            "mpath",
            "style",
            "linearGradient",
            "radialGradient",
            "stop",
            "pattern",
            "clipPath",
            "mask",
            "marker",
            "filter",
            "feDistantLight",
            "fePointLight",
            "feSpotLight",
            "feFuncA",
            "feFuncB",
            "feFuncG",
            "feFuncR",
            "feMergeNode",
        ]
    )
)
SIGNING = frozenset({"title", "desc", "metadata"})
ACTIVE = frozenset(
    ["script", "foreignObject", "handler", "listener", "iframe", "object", "embed", "audio", "video", "canvas"]
)
EXTERNAL = frozenset({"image", "font-face-uri", "link"})
# Attributes that hold numbers, colours and words; with no bracket in them they can neither act nor refer.
PLAIN = frozenset(
    [
        "id",
        "class",
        "d",
        "points",
        "x",
        "y",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "fx",
        "fy",
        "dx",
        "dy",
        "width",
        "height",
        "viewBox",
        "transform",
        "fill",
        "stroke",
        "opacity",
        "fill-opacity",
        "stroke-opacity",
        "fill-rule",
        "clip-rule",
        "stroke-width",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "stroke-dasharray",
        "stroke-dashoffset",
        "offset",
        "stop-color",
        "stop-opacity",
        "gradientUnits",
        "gradientTransform",
        "spreadMethod",
        "font-size",
        "font-family",
        "font-weight",
        "text-anchor",
        "letter-spacing",
        "preserveAspectRatio",
        "in",
        "in2",
        "result",
        "stdDeviation",
    ]
)
