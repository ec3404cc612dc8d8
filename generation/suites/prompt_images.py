"""A reference picture of a prompt: a file beside the YAML, kept within the suite as a data address."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from pathlib import Path

from PIL import Image

from generation.suites import yaml_fields as read
from generation.suites.yaml_source import Node

TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
LARGEST = 512 * 1024  # bytes of a file
LARGEST_TOGETHER = 4 * 2**20  # bytes of all pictures of a suite
WIDEST = 2048  # pixels either way
FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DATA = re.compile(r"data:(image/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+=*)")


def read_image(node: Node, folder: Path) -> str:
    """The picture as `data:image/png;base64,…`; raises an error that names the line, the file and what is allowed."""
    name = read.matching(node, FILE, "a picture's file name")
    if not name.lower().endswith(SUFFIXES):
        raise node.error(f"{name!r} is no PNG, JPEG or WebP", f"use {', '.join(SUFFIXES)}", reason="bad_image")
    try:
        with (folder / name).open("rb") as stream:
            body = stream.read(LARGEST + 1)
    except OSError:
        raise node.error(f"there is no file {name!r}", "put it beside prompts.yaml", reason="missing_file") from None
    if len(body) > LARGEST:
        raise node.error(f"{name!r} is over {LARGEST // 1024} KiB", "make it smaller", reason="oversize")
    try:
        with Image.open(BytesIO(body), formats=tuple(TYPES)) as picture:
            media_type, size = TYPES[str(picture.format)], picture.size
            picture.verify()
    except Exception:  # a damaged file fails in as many ways as there are
        raise node.error(f"{name!r} is no picture that can be read", "save it again", reason="bad_image") from None
    if max(size) > WIDEST:
        hint = f"make it at most {WIDEST} pixels wide and high"
        raise node.error(f"{name!r} has {size[0]} × {size[1]} pixels", hint, reason="oversize")
    return f"data:{media_type};base64,{base64.b64encode(body).decode()}"


def image_parts(address: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a data address; None where it is none of ours, such as a damaged archive's."""
    match = DATA.fullmatch(address)
    try:
        return (match[1], base64.b64decode(match[2])) if match else None
    except ValueError:
        return None
