"""Forms of judges and curators."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchsite.lib.reasons import LONGEST_REASON
from judging.models import Outcome, Report
from judging.pairs.voting import LONGEST_MS, Ballot

FONTS = {"1", "2", "3"}
OUTCOMES = frozenset(Outcome.values)
CODE = re.compile(r"[-\w]{1,12}", re.ASCII)
MILLISECONDS = re.compile(r"[0-9]{0,12}")
REASON_HELP = "Shown on the leaderboard beside the number of imported votes or grades."


def import_reason_field() -> forms.CharField:
    return forms.CharField(label="Why", max_length=LONGEST_REASON, help_text=REASON_HELP)


def read_ballot(fields: QueryDict) -> tuple[str, Ballot] | None:
    """The matchup's code and the choice, or None where it is no vote; sides, samples and judge come from the row.

    By hand, because a form takes as long as the vote.
    """
    code, outcome = fields.get("code", ""), fields.get("outcome", "")
    claimed = fields.get("response_ms", "").strip()
    breaks = {side: set(fields.getlist(f"{side}_breaks")) for side in ("left", "right")}
    known = CODE.fullmatch(code) and outcome in OUTCOMES and FONTS.issuperset(breaks["left"] | breaks["right"])
    if not known or not MILLISECONDS.fullmatch(claimed):
        return None
    bits = {side: sum(1 << int(font) - 1 for font in fonts) for side, fonts in breaks.items()}
    response = min(int(claimed), LONGEST_MS) if claimed else None
    return code, Ballot(outcome, response_ms=response, left_breaks=bits["left"], right_breaks=bits["right"])


class CodeForm(forms.Form):
    code = forms.SlugField(max_length=12)


class ReportForm(forms.Form):
    code = forms.SlugField(max_length=12)
    side = forms.ChoiceField(choices=Report.Side.choices, label=_("Which drawing"))
    reason = forms.ChoiceField(choices=Report.Reason.choices, label=_("What is wrong"))
    note = forms.CharField(max_length=500, required=False, label=_("Note"), help_text=_("Optional; curators read it."))


class SignUpForm(forms.Form):
    """A name and a password: all that a new judge must give."""

    name = forms.CharField(
        label=_("Name"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=_("You log in with it. Curators see it; nobody else does."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label=_("Password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least eight characters."),
    )

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if User.objects.filter(username__iexact=name).exists():
            sentence = _("That name is taken. If it is yours, log in first, then open the link again.")
            raise forms.ValidationError(sentence)
        return name

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if "password" in fields:
            try:
                validate_password(fields["password"], User(username=fields.get("name", "")))
            except forms.ValidationError as error:
                self.add_error("password", error)
        return fields


class InviteForm(forms.Form):
    count = forms.IntegerField(label="Links", min_value=1, max_value=200, initial=1)
    label = forms.CharField(
        label="For", max_length=100, required=False, help_text="A name or group, for your own list."
    )
    max_uses = forms.IntegerField(
        label="Uses of each link",
        min_value=1,
        max_value=1000,
        initial=1,
        help_text="Standings shown while judging is open treat all judges who used one shared link as one person.",
    )
    days = forms.IntegerField(label="Valid for (days)", min_value=1, max_value=365, initial=14)
    quota = forms.IntegerField(
        label="Pairs or drawings for each judge",
        min_value=1,
        required=False,
        help_text="Leave empty for the suite’s own number, or no limit.",
    )


class VotesForm(forms.Form):
    """Votes that were cast elsewhere."""

    file = forms.FileField(
        help_text="JSON Lines, CSV, TSV or Parquet, or a list in JSON, with left_model, right_model and outcome, or as an "
        "arena, comparIA or Label Studio writes it.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.csv,.tsv,.parquet,.json"}),
    )
    reason = import_reason_field()
    columns = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "left_model=first"}),
        help_text="Only for other columns: our field and the file’s, one pair per line.",
    )
    outcomes = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "left=1"}),
        help_text="Only for other words: left, right, tie or fail and the file’s word for it, one pair per line.",
    )


class VotesRunForm(VotesForm):
    """Votes that make a run of their own."""

    title = forms.CharField(
        required=False, max_length=200, help_text="Title of the new run. Leave empty for the file’s name."
    )


class ModelAnswersForm(forms.Form):
    """Answers of model judges that were asked elsewhere."""

    file = forms.FileField(widget=forms.FileInput(attrs={"accept": ".jsonl"}))
    reason = import_reason_field()

    def __init__(self, *arguments: Any, needed: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["file"].help_text = f"JSON Lines with {needed} on each line."


class WeighForm(forms.Form):
    """How much a judge counts: a share, and why unless it is the whole."""

    weight = forms.FloatField(min_value=0, max_value=1)
    reason = forms.CharField(max_length=300, required=False)

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if fields.get("weight", 1) < 1 and not fields.get("reason"):
            self.add_error("reason", "Say why: the record keeps it.")
        return fields
