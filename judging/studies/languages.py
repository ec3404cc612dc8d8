"""A study in the language of who reads it: by link, by what the study offers, by browser."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext

from benchsite.lib.languages.choosing import chosen_language, turn_to
from generation.suites.studies.study import Study as Content
from judging.models import Participation
from judging.studies.steps import TITLES


def spoken(request: HttpRequest, content: Content) -> Content:
    """Turn the page to the reader's language; the study with its texts in it."""
    code = chosen_language(request, content.languages)
    turn_to(code)
    return content.in_language(code)


def note_language(request: HttpRequest, content: Content, participation: Participation) -> None:
    """For the record: the language that the participant was last seen in before the end."""
    code = chosen_language(request, content.languages)
    if participation.language != code and participation.outcome == Participation.Outcome.RUNNING:
        Participation.objects.filter(pk=participation.pk).update(language=code)
        participation.language = code


def step_title(step: str) -> str:
    return gettext(TITLES[step])
