import django.db.models.deletion
from django.db import migrations, models


def move_pictures(apps, schema_editor):
    """Pictures out of each run's suite into rows of their own; one run at a time, because they are large."""
    run_table, prompt_table, picture_table = (
        apps.get_model("generation", name) for name in ("Run", "Prompt", "ReferencePicture")
    )
    for pk in run_table.objects.values_list("pk", flat=True).order_by("pk"):
        run = run_table.objects.only("config", "has_programs").get(pk=pk)
        prompts = run.config.get("prompts", [])
        addresses = {row["key"]: row["image"] for row in prompts if row.get("image")}
        if not addresses and not run.config.get("programs"):
            continue
        rows = prompt_table.objects.filter(run=pk, key__in=addresses).values_list("pk", "key")
        picture_table.objects.bulk_create(picture_table(prompt_id=row, address=addresses[key]) for row, key in rows)
        run.config["prompts"] = [{**row, "image": ""} if row.get("image") else row for row in prompts]
        run.has_programs = bool(run.config.get("programs"))
        run.save(update_fields=["config", "has_programs"])


class Migration(migrations.Migration):
    dependencies = [("generation", "0012_request_prices")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="has_programs",
            field=models.BooleanField(default=False, help_text="Its entrants are prompt programs, not models."),
        ),
        migrations.AlterField(
            model_name="run",
            name="config",
            field=models.JSONField(
                help_text="The suite as it was when the run started, without its reference pictures."
            ),
        ),
        migrations.CreateModel(
            name="ReferencePicture",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.TextField(help_text="A data address, as models are sent it.")),
                (
                    "prompt",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="picture", to="generation.prompt"
                    ),
                ),
            ],
        ),
        migrations.RunPython(move_pictures, migrations.RunPython.noop),
    ]
