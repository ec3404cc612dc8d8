#!/usr/bin/env python3
"""Django's command line, in the project's own .venv where there is one."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    own = Path(__file__).resolve().parent / ".venv" / "bin" / "python"
    if sys.prefix == sys.base_prefix and own.exists() and sys.executable != str(own):
        os.execv(own, [str(own), *sys.argv])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit("Django is not installed here; run script/setup first.")
    try:
        execute_from_command_line(sys.argv)
    except (
        ImproperlyConfigured
    ) as error:  # a value in the environment, as a rule; the sentence says which, and what to write
        sys.exit(str(error))


if __name__ == "__main__":
    main()
