"""The judging app."""

from __future__ import annotations

from django.apps import AppConfig

from generation.protocols import judging_modules


class JudgingConfig(AppConfig):
    name = "judging"

    def import_models(self) -> None:
        """The app's tables, and those that protocols keep in their rooms."""
        super().import_models()
        judging_modules("models")
