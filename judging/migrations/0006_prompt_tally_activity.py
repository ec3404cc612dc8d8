from __future__ import annotations

from typing import Any

from django.db import migrations, models

BATCH = 500
PATHS = ("matchup__prompt_id", "matchup__left_id", "matchup__right_id", "outcome", "repeat", "level")


def count_by_activity(apps: Any, editor: Any) -> None:
    """Write the tallies by prompt anew, now by the activity of the judges too."""
    Tally, Vote = (apps.get_model("judging", name) for name in ("PromptTally", "Vote"))
    repeat = models.Case(models.When(matchup__kind="repeat", then=models.Value(True)), default=models.Value(False))
    powers = [models.When(seat__voted__gte=2**power, then=models.Value(power)) for power in range(24, 0, -1)]
    level = models.Case(models.When(seat__is_unknown=True, then=models.Value(-1)), *powers, default=models.Value(0))
    votes = Vote.objects.filter(withdrawn_at=None).exclude(matchup__prompt_id=None).annotate(repeat=repeat, level=level)
    for run in Tally.objects.order_by().values_list("run_id", flat=True).distinct():
        counted = votes.filter(run_id=run).order_by().values_list(*PATHS).annotate(models.Count("id"))
        rows = [
            Tally(
                run_id=run,
                prompt_id=prompt,
                left_id=left,
                right_id=right,
                outcome=outcome,
                is_repeat=bool(again),
                activity=activity,
                votes=n,
            )
            for prompt, left, right, outcome, again, activity, n in counted
        ]
        Tally.objects.filter(run_id=run).delete()
        Tally.objects.bulk_create(rows, batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("generation", "0002_run_frozen_at"), ("judging", "0005_judge_weights")]

    operations = [
        migrations.RemoveConstraint(model_name="prompttally", name="judging_prompttally_once"),
        migrations.AddField(
            model_name="prompttally",
            name="activity",
            field=models.SmallIntegerField(
                default=0,
                help_text="Class of the judge: 2 to its power is the largest such number within the judge's votes; "
                "-1 is an unknown judge.",
            ),
        ),
        migrations.AddConstraint(
            model_name="prompttally",
            constraint=models.UniqueConstraint(
                fields=("run", "prompt", "left", "right", "outcome", "is_repeat", "activity"),
                name="judging_prompttally_once",
            ),
        ),
        migrations.RunPython(count_by_activity, migrations.RunPython.noop),
    ]
