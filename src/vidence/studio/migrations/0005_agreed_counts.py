"""What counters agreed on, when they had looked at their difference, beside what each counted alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A counter may have two rows on one place: what they counted, and what they agree on."""

    dependencies = [("studio", "0004_messages")]

    operations = [
        migrations.AddField(
            model_name="windowcountrow",
            name="agreed",
            field=models.CharField(blank=True, default="", max_length=600),
        ),
        migrations.RemoveConstraint(model_name="windowcountrow", name="window_counted_once"),
        migrations.AddConstraint(
            model_name="windowcountrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "window", "place", "by_name", "agreed"),
                name="window_counted_and_agreed_once",
            ),
        ),
    ]
