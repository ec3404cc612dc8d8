"""A model judge of a rubric is a run of a format of its own."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0017_run_setting_up")]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="generation_run_model_judge_has_no_board"),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("judged_run", None),
                    models.Q(
                        ("budget_nano__isnull", False),
                        ("format__in", ["ballot", "grade_sheet"]),
                        ("judging_state", "not_open"),
                        models.Q(("visibility", "published"), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="generation_run_model_judge_has_no_board",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="judged_run",
            field=models.ForeignKey(
                blank=True,
                help_text="Its one model judges the drawings of that run: its samples are answers about them, and no drawings.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="model_judges",
                to="generation.run",
            ),
        ),
    ]
