"""Messages are acts of a review, so their own tables go; how far somebody has read is kept by item."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The tables that go were never written."""

    dependencies = [("studio", "0003_boards")]

    operations = [
        migrations.DeleteModel(name="MessageReadRow"),
        migrations.DeleteModel(name="MessageRow"),
        migrations.CreateModel(
            name="ReadRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reads",
                        to="studio.itemrow",
                    ),
                ),
                (
                    "transition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="studio.transitionrow"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reads",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="readrow",
            constraint=models.UniqueConstraint(fields=("item", "user"), name="read_up_to_once"),
        ),
        migrations.AddIndex(
            model_name="transitionrow",
            index=models.Index(fields=["by", "item"], name="transition_of_person"),
        ),
    ]
