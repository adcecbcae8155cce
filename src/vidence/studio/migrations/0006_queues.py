"""Queues and caps are asked about columns: who wrote an item, who has claimed it, whether it is disputed."""

import json
from typing import Any

from django.db import migrations, models
from django.db.models import Case, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, StrIndex


def repeat(apps: Any, _schema_editor: Any) -> None:  # noqa: ANN401 - Django's own
    """Fill the columns from what they repeat."""
    rows = apps.get_model("studio", "ItemRow").objects
    rows.update(
        writer=Coalesce(KT("standing__author"), Value("")),
        is_disputed=Case(When(standing__is_disputed=True, then=Value(True)), default=Value(False)),
    )
    for row in rows.filter(standing__has_key="claims").only("pk", "standing").iterator():
        claims = row.standing["claims"]
        rows.filter(pk=row.pk).update(claims=json.dumps(claims, separators=(",", ":"), ensure_ascii=False))


class Migration(migrations.Migration):
    """What the new columns repeat is in every item already."""

    dependencies = [("studio", "0005_agreed_counts")]

    operations = [
        migrations.AddField("itemrow", "writer", models.CharField(blank=True, default="", max_length=64)),
        migrations.AddField("itemrow", "is_disputed", models.BooleanField(default=False)),
        migrations.AddField("itemrow", "claims", models.TextField(blank=True, default="")),
        migrations.RunPython(repeat, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="itemrow",
            index=models.Index(
                fields=["project", "state", "writer", "is_disputed", "changed_at", "claims"],
                name="item_in_queues",
            ),
        ),
        migrations.AddField(
            "transitionrow",
            "words_at",
            models.GeneratedField(
                db_persist=True,
                expression=StrIndex("event", Value('"message":"')),
                output_field=models.IntegerField(),
            ),
        ),
        migrations.AddIndex(
            model_name="transitionrow",
            index=models.Index(fields=["item", "words_at", "by", "number"], name="transition_with_words"),
        ),
        migrations.AddIndex(
            model_name="transitionrow",
            index=models.Index(fields=["project", "by", "at", "kind", "role"], name="transition_of_day"),
        ),
    ]
