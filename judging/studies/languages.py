"""A study in the language of who reads it: by link, by what the study offers, by browser."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from benchsite.lib.languages.choosing import chosen_language, language_links, turn_to
from generation.suites.studies.study import Study as Content
from judging.models import Participation
from judging.studies.steps import TITLES


def spoken(request: HttpRequest, content: Content) -> Content:
    """Turn the page to the reader's language; the study with its texts in it."""
    code = chosen_language(request, content.languages)
    turn_to(code)
    return content.in_language(code)


def study_page(
    request: HttpRequest, template: str, content: Content, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """A participant's page, with links to it in the study's other languages."""
    context = {"content": content, **context, "languages": language_links(request, content.languages)}
    return render(request, template, context, status=status)


def note_language(request: HttpRequest, content: Content, participation: Participation) -> None:
    """For the record: the language that the participant was last seen in before the end."""
    code = chosen_language(request, content.languages)
    if participation.language != code and participation.outcome == Participation.Outcome.RUNNING:
        Participation.objects.filter(pk=participation.pk).update(language=code)
        participation.language = code


def step_title(step: str) -> str:
    return gettext(TITLES[step])
