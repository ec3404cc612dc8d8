from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("judging", "0017_platforms_and_arms"),
    ]

    operations = [
        migrations.AddField(
            model_name="participation",
            name="practice",
            field=models.JSONField(
                blank=True, default=dict, help_text="Its practice pairs by number, as they were chosen."
            ),
        ),
    ]
