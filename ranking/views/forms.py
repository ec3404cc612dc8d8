"""A curator's choices about a leaderboard."""

from __future__ import annotations

from typing import Any

from django import forms

from judging.views.forms import import_reason_field
from ranking.dataset.about import FIRST_VERSION, LICENCES, LONGEST, About
from ranking.dataset.study_answers import SMALLEST
from ranking.models import Counting


class CountingForm(forms.ModelForm):
    """How ties and fails count, with the reason."""

    reason = forms.CharField(required=False, max_length=300, help_text="Kept in the run’s history.")

    class Meta:
        model = Counting
        fields = ["ties", "fails"]
        labels = {"ties": "Ties (both good) count as", "fails": "Fails (both bad) count as"}


class PublishForm(forms.Form):
    """A title and a note for a frozen leaderboard."""

    title = forms.CharField(max_length=200, help_text="Such as: Midterm, or Final results of May.")
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))


class ArchiveForm(forms.Form):
    """A whole run from this site or another."""

    file = forms.FileField(
        help_text="The archive or dataset, as it was downloaded.", widget=forms.FileInput(attrs={"accept": ".zip"})
    )
    copy = forms.BooleanField(
        required=False, label="As a copy", help_text="Import a second copy where this site already has that run."
    )
    reason = import_reason_field()


class GradesForm(forms.Form):
    """Grades that were given elsewhere."""

    file = forms.FileField(
        help_text="JSON Lines, one object per line with judge, entrant, stage, subject, attempt, dimension and value.",
        widget=forms.FileInput(attrs={"accept": ".jsonl"}),
    )
    reason = import_reason_field()


class PastForm(forms.Form):
    """A moment to go back to."""

    until = forms.DateTimeField(
        label="Votes standing at",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S"),
        help_text="UTC. The leaderboard is rebuilt from the votes that stood then.",
    )


class DatasetForm(forms.Form):
    """What the publisher says of a dataset."""

    title = forms.CharField(max_length=200)
    authors = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}), max_length=2000, help_text="People or an organisation, one per line."
    )
    consent = forms.CharField(
        label="Consent of judges",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST,
        help_text="What judges agreed to when they joined. It is printed in the card and in LICENSE.md.",
    )
    licence = forms.ChoiceField(choices=[(each.spdx, f"{each.title} ({each.spdx})") for each in LICENCES.values()])
    version = forms.CharField(
        max_length=20, initial=FIRST_VERSION, help_text="Raise it with every release of the same run."
    )
    url = forms.URLField(
        label="Address", required=False, assume_scheme="https", help_text="Where the dataset will be, if you know it."
    )
    answers = forms.BooleanField(
        label="Publish what judges said of themselves in studies",
        required=False,
        help_text=f"Only where all that is published of one judge is true of at least {SMALLEST} judges.",
    )
    comments = forms.BooleanField(
        label="Publish what judges wrote in studies",
        required=False,
        help_text="Without their numbers. Read it first: people write names and more.",
    )

    def __init__(self, *args: Any, studies: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        if not studies:
            del self.fields["answers"], self.fields["comments"]

    def about(self) -> About:
        data = self.cleaned_data
        return About(**data | {"authors": tuple(data["authors"].splitlines())}).checked()
