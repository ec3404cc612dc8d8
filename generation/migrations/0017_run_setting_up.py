from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0016_picked_share")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="setting_up",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text="A worker is still writing its samples; nothing is drawn until they are all there.",
            ),
        ),
    ]
