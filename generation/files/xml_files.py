"""Drawings as XML files, such as a game's levels: one a sample, one zip an entrant."""

from __future__ import annotations

import io
import re
import zipfile

from generation.formats import get_format
from generation.models import Entrant, Run, Sample

# A zip of the same drawings is the same file, byte for byte.
STAMP = (2000, 1, 1, 0, 0, 0)


def plain(name: str) -> str:
    """A name that every file system takes, and that cannot climb out of its folder."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"


def xml_name(sample: Sample) -> str:
    target = str(sample.prompt.facts.get("target") or sample.prompt.key)
    return f"{plain(sample.entrant.name)}-{plain(sample.model.model_id)}-{plain(target)}-{sample.attempt:02d}.xml"


def zip_xml(run: Run, entrant: Entrant) -> bytes:
    """model/target/attempt.xml of every drawing of an entrant that stands in the run; an answer without one has no file."""
    write = get_format(run.format).xml
    samples = run.samples.filter(entrant=entrant, state=Sample.State.DRAWN, excluded_reason="").exclude(drawing="")
    samples = samples.select_related("model", "prompt").only(
        "drawing", "attempt", "model__model_id", "prompt__key", "prompt__facts"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in samples.order_by("model_id", "prompt__position", "attempt"):
            target = plain(str(sample.prompt.facts.get("target") or sample.prompt.key))
            path = f"{plain(sample.model.model_id)}/{target}/{sample.attempt:02d}.xml"
            archive.writestr(zipfile.ZipInfo(path, STAMP), write(sample.drawing), zipfile.ZIP_DEFLATED)
    return file.getvalue()
