"""Windows of counts in frames, as people's files have them; cards of scenes are named within their video."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Seconds go: no studio wrote a count before."""

    dependencies = [("studio", "0002_people")]

    operations = [
        migrations.RemoveConstraint(model_name="falsecheckrow", name="false_check_once"),
        migrations.AddConstraint(
            model_name="falsecheckrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "card_id", "by_name"), name="false_card_checked_once"
            ),
        ),
        migrations.RemoveConstraint(model_name="windowcountrow", name="count_once"),
        migrations.RemoveConstraint(model_name="windowcountrow", name="window_goes_forward"),
        migrations.RemoveField(model_name="windowcountrow", name="start_s"),
        migrations.RemoveField(model_name="windowcountrow", name="end_s"),
        migrations.AddField(
            model_name="windowcountrow",
            name="window",
            field=models.CharField(default="whole", max_length=40),
        ),
        migrations.AddField(
            model_name="windowcountrow", name="frames", field=models.JSONField(default=list)
        ),
        migrations.AddConstraint(
            model_name="windowcountrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "window", "place", "by_name"), name="window_counted_once"
            ),
        ),
    ]
