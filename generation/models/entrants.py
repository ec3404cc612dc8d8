"""Who is asked, and what: a run's language models, entrants and prompts."""

from __future__ import annotations

from django.db import models

from generation.models.fields import CodeField
from generation.models.runs import Run


class LanguageModel(models.Model):
    """A language model as it is asked in one run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="models")
    model_id = models.CharField(max_length=200)
    label = models.CharField(max_length=200)
    provider = models.CharField(max_length=60)
    profile = models.JSONField(default=dict, help_text="The provider's profile, frozen; never a key.")
    note = models.CharField(max_length=300, blank=True)
    extra_prompt = models.TextField(blank=True)
    parameters = models.JSONField(default=dict)
    price_in_nano = models.BigIntegerField(null=True, blank=True, help_text="Nano-dollars for a million tokens in.")
    price_out_nano = models.BigIntegerField(null=True, blank=True, help_text="Nano-dollars for a million tokens out.")
    price_request_nano = models.BigIntegerField(null=True, blank=True, help_text="Nano-dollars for a request.")
    price_image_nano = models.BigIntegerField(
        null=True, blank=True, help_text="Nano-dollars for a picture in a request."
    )
    facts = models.JSONField(default=dict, blank=True, help_text="Organisation, weights, licence, release, context.")
    refused_reason = models.TextField(blank=True, help_text="Why the provider will never serve this model.")
    failures_in_row = models.PositiveIntegerField(default=0)
    open_until = models.DateTimeField(null=True, blank=True, help_text="The circuit breaker: not asked before this.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "model_id"], name="generation_languagemodel_once_a_run")]

    def __str__(self) -> str:
        return self.label


class Prompt(models.Model):
    """One thing to draw, in one run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="prompts")
    code = CodeField()
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    text = models.TextField()
    subject = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=80)
    facts = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="generation_prompt_key_once_a_run"),
            models.UniqueConstraint(fields=["run", "position"], name="generation_prompt_position_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.text


class ReferencePicture(models.Model):
    """The picture that goes with a prompt. Apart from the prompt, because it is large and rarely needed."""

    prompt = models.OneToOneField(Prompt, models.CASCADE, related_name="picture")
    address = models.TextField(help_text="A data address, as models are sent it.")

    def __str__(self) -> str:
        return f"picture of {self.prompt}"


class Entrant(models.Model):
    """What is ranked: a language model, or a prompt program that is run on every model."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="entrants")
    code = CodeField()
    name = models.CharField(max_length=200)
    label = models.CharField(max_length=200)
    note = models.CharField(max_length=300, blank=True)
    model = models.ForeignKey(LanguageModel, models.CASCADE, null=True, blank=True, related_name="entrants")
    team = models.CharField(max_length=120, blank=True)
    turns = models.JSONField(default=list, blank=True, help_text="A program's prompts, in order; empty for a model.")
    source = models.TextField(blank=True, help_text="Of a program that runs elsewhere; its answers are imported.")
    python = models.TextField(blank=True, help_text="A program that is run here, in a sandbox.")
    baseline = models.BooleanField(default=False)
    approved = models.BooleanField(default=True)
    disqualified = models.TextField(blank=True, help_text="The reason; empty while the entrant competes.")
    is_demo = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="generation_entrant_once_a_run")]

    def __str__(self) -> str:
        return self.label

    @property
    def prompt_length(self) -> int:
        return sum(len(turn) for turn in self.turns) + len(self.source) + len(self.python)

    @property
    def is_program(self) -> bool:
        return bool(self.turns or self.source or self.python)

    @property
    def runs_elsewhere(self) -> bool:
        return bool(self.source) and not self.turns
