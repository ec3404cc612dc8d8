"""What curators type: a run to start, a run to extend, a file to import, a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from benchsite.lib.reasons import LONGEST_REASON
from generation.formats import get_format
from generation.models import Run, Sample, Team, teams_of
from generation.suites.costs import sample_count
from generation.suites.loading import SLUG
from generation.suites.suite import ModelEntry, Suite
from generation.suites.yaml_source import MAX_BYTES

LARGEST_UPLOAD = 4 * MAX_BYTES
MOST_SAMPLES = 100_000


def _choices(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


class StartForm(forms.Form):
    """One run of a suite; every field may stay as it is."""

    label = forms.CharField(
        required=False, max_length=60, help_text="Optional. Tells two runs of one suite apart: midterm, final."
    )
    models = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, help_text="The models to ask. More can be added later.", required=False
    )
    attempts = forms.IntegerField(min_value=1, max_value=100, help_text="Drawings of each prompt by each model.")
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        decimal_places=2,
        max_digits=9,
        label="Budget in US$",
        help_text="A hard cap: a call that could pass it is not made. Empty means no cap.",
    )
    team = forms.ModelChoiceField(
        Team.objects.none(),
        to_field_name="code",
        required=False,
        empty_label=None,
        help_text="Whose run it is. Others see it once it is published.",
    )
    key = forms.CharField(widget=forms.HiddenInput, max_length=40)

    def __init__(self, suite: Suite, *args: Any, by: User, more: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_teams(by)
        self.more = more  # how many models from a catalogue take part
        _choices(self, "models", [(model.id, model.label) for model in suite.models])
        self.fields["models"].initial = [model.id for model in suite.models]
        self.fields["attempts"].initial = suite.generation.attempts_per_prompt
        self.fields["budget"].initial = None if suite.budget_usd is None else f"{suite.budget_usd:g}"

    def _offer_teams(self, by: User) -> None:
        """Of those who have a choice; nobody else is asked."""
        teams = teams_of(by)
        if len(teams) > 1 or (teams and by.is_superuser):
            field = cast(forms.ModelChoiceField, self.fields["team"])
            field.queryset = teams
            if by.is_superuser:
                field.empty_label = "no team: every curator"
        else:
            del self.fields["team"]

    def clean_models(self) -> list[str]:
        if not self.cleaned_data["models"] and not self.more:
            raise forms.ValidationError("Choose at least one model; a run without one draws nothing.")
        return self.cleaned_data["models"]


class UploadedStartForm(StartForm):
    """One run of a suite that a curator sent. Nobody who runs the server has looked at it, so its cost is capped."""

    sealed = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, suite: Suite, *args: Any, **kwargs: Any) -> None:
        super().__init__(suite, *args, **kwargs)
        self.suite = suite
        self.fields["budget"].required = True
        self.fields["budget"].help_text = "A hard cap: a call that could pass it is not made."

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "models" in cleaned and cleaned.get("attempts"):
            samples = self._samples(len(cleaned["models"]) + self.more, cleaned["attempts"])
            if samples > MOST_SAMPLES:
                raise forms.ValidationError(
                    f"That is {samples} drawings; a run of an uploaded suite has at most {MOST_SAMPLES}. "
                    "Choose fewer models or attempts."
                )
        return cleaned

    def _samples(self, models: int, attempts: int) -> int:
        """Drawings of the run that is asked for; the suite says how many a model and attempt make."""
        whole = sample_count(self.suite)
        return whole // (len(self.suite.models) * self.suite.generation.attempts_per_prompt) * models * attempts


class ManyFilesInput(forms.FileInput):
    """A file input that takes several."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One or more files, each of which must be there and not empty."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        return [super(ManyFilesField, self).clean(file, initial) for file in data or [None]]


class SuiteUploadForm(forms.Form):
    """A suite that is not on the server."""

    name = forms.RegexField(
        rf"^{SLUG.pattern}\Z",
        help_text="Lower-case letters, digits and dashes, such as tiny-cats. It tells suites apart.",
        error_messages={"invalid": "Use lower-case letters, digits and dashes, at most 50."},
    )
    files = ManyFilesField(  # type: ignore[assignment]  # Django takes it for a field, and its name for the files
        help_text="config.yaml, models.yaml and prompts.yaml, and programs.yaml where programs compete, with the "
        "pictures that prompts name: choose them together, or one zip of them. At most 512 KiB per file.",
        widget=ManyFilesInput(attrs={"accept": ".yaml,.yml,.zip,.png,.jpg,.jpeg,.webp"}),
    )

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if (settings.SUITES_DIR / name).exists():
            raise forms.ValidationError(f"{name} is a suite on this server. Choose another name.")
        return name

    def clean_files(self) -> list[Any]:
        files = self.cleaned_data["files"]
        if sum(file.size for file in files) > LARGEST_UPLOAD:
            raise forms.ValidationError(f"The files have more than {LARGEST_UPLOAD // 2**20} MiB, which no suite has.")
        return files


class ExtendForm(forms.Form):
    """Models that join a run, and more attempts for all of them."""

    models = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, required=False, label="Models to add")
    file = forms.FileField(
        required=False,
        label="Models from a file",
        help_text="Optional: a models.yaml of your own. Models that are not in the run yet are added. The "
        "run then needs a budget, and keeps one.",
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml"}),
    )
    attempts = forms.IntegerField(
        min_value=1, max_value=100, required=False, help_text="Attempts per prompt; the number can only be raised."
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        decimal_places=2,
        max_digits=9,
        label="New budget in US$",
        help_text="Leave empty to keep it.",
    )
    no_budget = forms.BooleanField(
        required=False, label="Remove the budget", help_text="The run then draws whatever it costs."
    )
    reason = forms.CharField(
        label="Why", required=False, max_length=LONGEST_REASON, help_text="Optional. Kept in the log."
    )

    def __init__(
        self,
        candidates: Sequence[ModelEntry],
        *args: Any,
        uploaded: bool = False,
        model_judge: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if uploaded:
            del self.fields["no_budget"]
        if model_judge:
            for name in ("models", "file", "attempts"):
                del self.fields[name]
            return
        _choices(self, "models", [(model.id, model.label) for model in candidates])
        if not candidates:
            self.fields[
                "models"
            ].help_text = "The server has no other models for this run; send a file below to add some."

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("no_budget") and cleaned.get("budget") is not None:
            self.add_error("no_budget", "Set a new budget or remove it, not both.")
        return cleaned

    def budget_wanted(self) -> Any:
        """What `extend_run` takes: an amount, None for no cap, or "keep"."""
        if self.cleaned_data.get("no_budget"):
            return None
        return "keep" if self.cleaned_data["budget"] is None else self.cleaned_data["budget"]


class CancelForm(forms.Form):
    """The last word about a run's drawing, which needs a reason."""

    reason = forms.CharField(label="Why", max_length=LONGEST_REASON, help_text="Kept in the log.")


class BackendForm(forms.Form):
    """Another backend for an automatic score."""

    backend = forms.ChoiceField(help_text="What measures the drawings. The current measurements are kept.")
    reason = forms.CharField(
        label="Why", required=False, max_length=LONGEST_REASON, help_text="Optional. Kept in the log."
    )

    def __init__(self, run: Run, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = get_format(run.format).measure_backends
        _choices(self, "backend", [(name, name) for name in known if name != run.measure_backend])


class ImportForm(forms.Form):
    """Drawings made outside."""

    file = forms.FileField(
        help_text="JSON Lines, one object per line with model_id, prompt_text, attempt_number and raw_output; a log of "
        "inspect_ai (.eval or .json); or a zip of SVG files named MODEL/SUBJECT-1.svg, the number being the attempt.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.zip,.eval,.json"}),
    )


class ProgramsForm(forms.Form):
    """Prompt programs of teams."""

    file = forms.FileField(
        help_text="YAML like a suite’s programs.yaml: a list of programs, each with a name and its turns, Python or source.",
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml"}),
    )


class SampleFilter(forms.Form):
    """What the sample browser shows; every field empty shows all."""

    model = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    state = forms.ChoiceField(required=False, choices=[("", "any"), *Sample.State.choices])
    verdict = forms.ChoiceField(required=False, choices=[("", "any"), ("valid", "valid"), ("invalid", "invalid")])
    held = forms.ChoiceField(required=False, choices=[("", "any"), ("yes", "held back"), ("no", "not held back")])
    flag = forms.CharField(required=False, max_length=60)

    def __init__(self, run: Run, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run
        categories = run.prompts.order_by().values_list("category", flat=True).distinct()
        _choices(self, "model", [("", "any"), *((m.model_id, m.label) for m in run.models.all())])
        _choices(self, "category", [("", "any"), *((name, name) for name in sorted(categories))])

    def samples(self) -> Any:
        """The run's samples that pass; a wrong filter shows none rather than all."""
        samples = self.run.samples.order_by("prompt", "entrant", "attempt")
        if not self.is_valid():
            return samples.none()
        wanted = self.cleaned_data
        names = {"model": "model__model_id", "category": "prompt__category", "state": "state", "verdict": "verdict"}
        samples = samples.filter(**{names[field]: wanted[field] for field in names if wanted[field]})
        if wanted["held"]:
            samples = samples.filter(held=wanted["held"] == "yes")
        # A flag is a code in a JSON list; quoted, so that one code is not found inside another.
        return samples.filter(flags__icontains=f'"{wanted["flag"]}"') if wanted["flag"] else samples
