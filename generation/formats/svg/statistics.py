"""The structure of a drawing in numbers: size, tags, advanced tags, anchors.

They describe the drawing as the model wrote it, before namespaces are repaired and before anything is removed:
that is what the model made. Only drawings that passed the gate are counted.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

from generation.formats.svg.parsing import SVG, local, namespace
from generation.formats.svg.paths import count_listed_points, count_path_points

ADVANCED = frozenset(
    [
        "defs",
        "use",
        "clipPath",
        "mask",
        "linearGradient",
        "radialGradient",
        "filter",
        "pattern",
        "symbol",
        "marker",
        "foreignObject",
        "textPath",
        "switch",
    ]
)
FIXED_POINTS = {"line": 2, "rect": 4, "circle": 4, "ellipse": 4}


def describe_structure(source: str, root: etree._Element) -> dict[str, Any]:
    """Numbers of one drawing.

    - `bytes`: length of the text in UTF-8
    - `tags`: opening tags; self-closing ones count, comments, instructions and closing tags do not
    - `advanced_tags`, `advanced_share`: how many of them are among the seed's 13 (case-sensitive), and their share
    - `anchors_path`, `anchors_all`: on-curve points of paths; of paths and basic shapes; `use` is not expanded
    """
    names = [(local(element), element) for element in root.iter("*")]
    advanced = sum(name in ADVANCED and namespace(element) == SVG for name, element in names)
    in_paths = in_shapes = 0
    for name, element in names:
        if name == "path":
            in_paths += count_path_points(element.get("d", ""))
        elif name in ("polygon", "polyline"):
            in_shapes += count_listed_points(element.get("points", ""))
        else:
            in_shapes += FIXED_POINTS.get(name, 0)
    return {
        "bytes": len(source.encode("utf-8")),
        "tags": len(names),
        "advanced_tags": advanced,
        "advanced_share": advanced / len(names),
        "anchors_path": in_paths,
        "anchors_all": in_paths + in_shapes,
    }
