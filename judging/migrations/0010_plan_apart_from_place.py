"""A judge's plan is read once and kept in memory; what changes with every vote stands beside it."""

from __future__ import annotations

from django.db import migrations, models


def take_apart(apps, schema_editor):
    Seat = apps.get_model("judging", "Seat")
    for seat in Seat.objects.exclude(epoch=None).only("plan").iterator(chunk_size=200):
        if "seed" in seat.plan:
            seat.seed, seat.owed = seat.plan["seed"], seat.plan.pop("owed", [])
            seat.save(update_fields=["plan", "seed", "owed"])


class Migration(migrations.Migration):
    dependencies = [("judging", "0009_marks_and_reset_links")]
    operations = [
        migrations.AlterField(
            "seat",
            "plan",
            models.JSONField(default=dict, blank=True, help_text="The order of things in this epoch; never changed."),
        ),
        migrations.AddField(
            "seat",
            "seed",
            models.BigIntegerField(
                null=True, blank=True, help_text="Of the plan; names it where it is kept in memory."
            ),
        ),
        migrations.AddField(
            "seat",
            "owed",
            models.JSONField(default=list, blank=True, help_text="Questions that gaps left owed, and how often."),
        ),
        migrations.RunPython(take_apart, migrations.RunPython.noop, elidable=True),
    ]
