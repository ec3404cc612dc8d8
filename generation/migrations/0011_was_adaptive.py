from django.db import migrations, models
from django.db.models import Q


def remember(apps, schema_editor):
    run = apps.get_model("generation", "Run")
    changed = Q(events__verb__in=["adaptive pairs", "balanced pairs"])
    adaptive = run.objects.filter(Q(adaptive_pairs=True) | changed).values_list("pk", flat=True)
    run.objects.filter(pk__in=list(adaptive)).update(was_adaptive=True)


class Migration(migrations.Migration):
    dependencies = [("generation", "0010_python_programs")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="was_adaptive",
            field=models.BooleanField(
                default=False,
                help_text="Judges were shown such pairs at some time. What they saw tells who is close to whom, so that no "
                "standings are shown before judging is closed, even if pairs are balanced again.",
            ),
        ),
        migrations.RunPython(remember, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=Q(adaptive_pairs=False) | Q(was_adaptive=True), name="generation_run_adaptive_is_remembered"
            ),
        ),
    ]
