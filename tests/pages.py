"""Pages as a reader has them: where a line of a template breaks is nobody's business."""

from __future__ import annotations

import re

from django.http import HttpResponse


def collapsed(page: HttpResponse) -> str:
    """The page's HTML with one space where browsers see one, and none before the end of a tag."""
    return re.sub(r" (/?>)", r"\1", re.sub(r"[ \t\r\n\f]+", " ", page.content.decode()).strip())
