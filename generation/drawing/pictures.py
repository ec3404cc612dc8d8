"""Drawings as the pictures that a model judge is shown, made when it is asked: outside any transaction, and stored nowhere."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from generation.formats import get_format
from generation.formats.raster.vector import CannotDraw, NotDrawnNow
from generation.models import Sample
from generation.providers.errors import ProviderError
from generation.providers.requests import Request
from generation.runs.loaded import LoadedRun, drawing_address, drawings_in

SIDE = 768  # pixels, as large as most models look at
KEPT = 128  # pictures in a worker's memory: a drawing is in many pairs


@dataclass(frozen=True)
class Shown:
    """The format of the drawings that a question is about, and their texts by address in the request."""

    format: str
    drawings: Mapping[str, str]


def drawings_shown(loaded: LoadedRun, prompt_pk: int) -> Shown | None:
    """What a model judge looks at, without what a curator withheld since it was asked; None where a model draws."""
    if loaded.judged is None:
        return None
    shown = drawings_in(loaded.prompts[prompt_pk].facts)
    drawings = Sample.objects.judgeable().filter(pk__in=shown).values_list("pk", "drawing")
    return Shown(loaded.judged.format, {drawing_address(pk): drawing for pk, drawing in drawings})


async def with_pictures(request: Request, shown: Shown) -> Request:
    """The request with each drawing as PNG, the same pixels that every page shows. Raises ProviderError where one has none."""
    pictures = {
        address: await asyncio.to_thread(_picture, shown.format, text) for address, text in shown.drawings.items()
    }
    return replace(request, messages=tuple(_pictured(message, pictures) for message in request.messages))


@lru_cache(maxsize=KEPT)
def _picture(format_name: str, drawing: str) -> str:
    try:
        png = get_format(format_name).png(drawing, side=SIDE) if drawing else None
    except NotDrawnNow as error:
        raise ProviderError("retry", "picture_not_now", str(error), cost_nano=0) from error
    except CannotDraw as error:
        raise ProviderError(
            "fatal_attempt", "no_picture", f"A drawing gives no picture: {error}", cost_nano=0
        ) from error
    if png is None:
        raise ProviderError("fatal_attempt", "no_picture", "A drawing gives no picture.", cost_nano=0)
    return "data:image/png;base64," + b64encode(png).decode()


def _pictured(message: Mapping[str, Any], pictures: Mapping[str, str]) -> Mapping[str, Any]:
    if not message.get("images"):
        return message
    shown = [pictures.get(address, address) for address in message["images"]]  # a reference picture is its own address
    if not all(picture.startswith("data:") for picture in shown):
        raise ProviderError(
            "fatal_attempt", "no_picture", "A drawing is no longer there, or not judged any more.", cost_nano=0
        )
    return {**message, "images": tuple(shown)}
