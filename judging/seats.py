"""What every verb of a judge shares: why it refuses, and how it is tried again when two requests collide."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext

P = ParamSpec("P")
R = TypeVar("R")
RETRIES = 8


class RefusedError(Exception):
    """Why something was not done, as a code and a sentence for the judge."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


def refuse_many_reports(recent: int) -> None:
    """Each report takes a drawing from a judge's list and a curator's time, so a judge has only so many an hour."""
    if recent >= settings.REPORTS_AN_HOUR:
        raise RefusedError(
            "reports",
            gettext("You reported %(count)s drawings within an hour. Judge this one, or report it later.")
            % {"count": settings.REPORTS_AN_HOUR},
        )


class StaleSeatError(Exception):
    """Another request of the same judge got there first; the verb is tried again on what it left."""


def retried(verb: Callable[P, R]) -> Callable[P, R]:
    """Run a verb in a transaction of its own, again when another request of the same judge interfered."""

    @wraps(verb)
    def tried(*args: P.args, **kwargs: P.kwargs) -> R:
        last: Exception = StaleSeatError()
        for _ in range(RETRIES):
            try:
                with transaction.atomic():
                    return verb(*args, **kwargs)
            except (StaleSeatError, IntegrityError) as error:
                last = error
        raise last

    return tried
