"""Fields that several tables use."""

from __future__ import annotations

from typing import Any

from django.db import models

from generation.codes import new_code


class CodeField(models.CharField):
    """A random public id."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 12, "default": new_code, "unique": True, "editable": False, **options})
