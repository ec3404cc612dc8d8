"""Forms of participants: boxes to tick, questions to answer; and of curators who write a study."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from generation.suites.studies.study import Consent, Question

LONGEST_ANSWER = 2000


class ConsentForm(forms.Form):
    """A box for each statement; all of them must be ticked."""

    def __init__(self, consent: Consent, *args: Any) -> None:
        super().__init__(*args)
        for number, statement in enumerate(consent.statements):
            missing = {"required": _("Tick this box to take part, or choose “No, thank you”.")}
            self.fields[f"statement_{number}"] = forms.BooleanField(label=statement, error_messages=missing)


class QuestionsForm(forms.Form):
    """One field for each question of a step, under a prefix: no key collides with the form's own fields."""

    prefix = "q"

    def __init__(self, questions: tuple[Question, ...], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for question in questions:
            self.fields[question.key] = _field(question)

    @property
    def asked(self) -> str:
        """Which questions it has: a form that is sent twice does not answer those that follow."""
        return " ".join(self.fields)

    def answers(self) -> dict[str, Any]:
        """The answers as they are stored; None where an optional question was left out."""
        return {name: None if value in ("", []) else value for name, value in self.cleaned_data.items()}


def _field(question: Question) -> forms.Field:
    shared: dict[str, Any] = {"label": question.text, "required": question.required, "help_text": question.help}
    if question.kind == "choice":
        missing = {"required": _("Choose an answer.")}
        return forms.ChoiceField(choices=question.choices, widget=forms.RadioSelect, error_messages=missing, **shared)
    if question.kind == "several":
        missing = {"required": _("Choose at least one answer.")}
        return forms.MultipleChoiceField(
            choices=question.choices, widget=forms.CheckboxSelectMultiple, error_messages=missing, **shared
        )
    if question.kind == "number":
        return forms.FloatField(min_value=question.low, max_value=question.high, **shared)
    return forms.CharField(max_length=LONGEST_ANSWER, widget=forms.Textarea(attrs={"rows": 4}), **shared)


class NameForm(forms.Form):
    name = forms.CharField(
        label=_("A name, if you like"),
        max_length=80,
        required=False,
        help_text=_("Any name; only curators see it."),
    )


class ReceiptForm(forms.Form):
    receipt = forms.CharField(label=_("Your key"), max_length=20, help_text=_("Twelve letters and digits."))

    def clean_receipt(self) -> str:
        return "".join(self.cleaned_data["receipt"].split()).upper()


class SourceForm(forms.Form):
    """A study as YAML."""

    source = forms.CharField(
        label="The study",
        strip=False,
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 32, "spellcheck": "false", "class": "source"}),
    )


class ReturnForm(forms.Form):
    ids = forms.CharField(
        label="Participant ids",
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The platform’s ids, or participants’ codes; one on each line, or separated by commas.",
    )

    def clean_ids(self) -> list[str]:
        return [each for each in self.cleaned_data["ids"].replace(",", "\n").split() if each]
