"""Teams: people who share runs that curators of other teams do not see."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from generation.models.fields import CodeField


def teams_of(user: Any) -> models.QuerySet[Team]:
    """Superusers see every team, others their own."""
    return Team.objects.all() if user.is_superuser else Team.objects.filter(pk__in=user.teams.values("pk"))


def default_team(user: Any) -> Team | None:
    """Where a curator's new run goes unless another team is chosen: nowhere that others would see it by mistake."""
    return user.teams.order_by("name").first() if user is not None else None


class Team(models.Model):
    """A run of a team is worked on by its members alone. A run without a team is open to every curator."""

    code = CodeField()
    name = models.CharField(max_length=80, unique=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="teams", blank=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="generation_team_has_a_name")]

    def __str__(self) -> str:
        return self.name
