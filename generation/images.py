"""Reference pictures of prompts: a file's bytes as a data address that survives JSON, and back."""

from __future__ import annotations

import base64
import re
from io import BytesIO

from PIL import Image

TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
LARGEST = 512 * 1024  # bytes of a file
LARGEST_TOGETHER = 4 * 2**20  # bytes of all pictures of a suite
WIDEST = 2048  # pixels either way
FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DATA = re.compile(r"data:(image/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+=*)")


def data_address(body: bytes) -> tuple[str, tuple[int, int]]:
    """The picture as `data:image/png;base64,…`, and its size in pixels; raises ValueError where it is none."""
    try:
        with Image.open(BytesIO(body), formats=tuple(TYPES)) as picture:
            media_type, size = TYPES[str(picture.format)], picture.size
            picture.verify()
    except Exception as error:  # a damaged file fails in as many ways as there are
        raise ValueError("not a readable picture") from error
    return f"data:{media_type};base64,{base64.b64encode(body).decode()}", size


def image_parts(address: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a data address; None where it is none of ours, such as a damaged archive's."""
    match = DATA.fullmatch(address)
    try:
        return (match[1], base64.b64decode(match[2])) if match else None
    except ValueError:
        return None
