"""The index of the viewer: what lists show of the trials of runs. It may be thrown away at any time.

It has a label of its own, which no migration knows: its tables are made when they are first needed, and made
again by a version of vidence that wants others.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from django.db import connection, models

_LABEL: Final = "studio_index"
EDITION: Final = 1
"The version of the tables; a new number rebuilds them."


class IndexRunRow(models.Model):
    """A run as far as it was read. `content` says which run it was."""

    place = models.CharField(max_length=16, primary_key=True)
    content = models.CharField(max_length=64)
    edition = models.IntegerField(default=EDITION)
    last_seq = models.BigIntegerField(default=0)
    compared_seq = models.BigIntegerField(default=0)
    problem = models.TextField(default="")

    class Meta:
        """Where it is kept."""

        app_label = _LABEL
        db_table = "studio_index_run"


class IndexTrialRow(models.Model):
    """The last trial of a question and repeat, as lists show and filter it."""

    id = models.BigAutoField(primary_key=True)
    place = models.CharField(max_length=16)
    seq = models.BigIntegerField()
    position = models.IntegerField()
    item_id = models.TextField()
    repeat = models.IntegerField()
    fate = models.CharField(max_length=12)
    question = models.TextField()
    read = models.TextField()
    gold = models.TextField()
    value = models.FloatField(null=True)
    finish = models.CharField(max_length=12)
    tokens = models.BigIntegerField(null=True)
    latency_s = models.FloatField(null=True)
    cost_usd = models.FloatField(null=True)
    margin = models.FloatField(null=True)
    judges_differ = models.BooleanField()
    readers_differ = models.BooleanField(default=False)
    tags = models.TextField()
    """The numbers of its tags, each between commas."""
    problem = models.TextField()

    class Meta:
        """Where it is kept."""

        app_label = _LABEL
        db_table = "studio_index_trial"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["place", "item_id", "repeat"], name="index_one_trial")
        ]
        indexes: ClassVar = [
            models.Index(fields=["place", "position", "repeat"], name="index_in_order"),
            models.Index(fields=["place", "fate"], name="index_by_fate"),
        ]


class IndexWordsRow(models.Model):
    """What a search looks through; apart from the rest, which is read more often."""

    id = models.BigAutoField(primary_key=True)
    place = models.CharField(max_length=16)
    item_id = models.TextField()
    repeat = models.IntegerField()
    words = models.TextField()

    class Meta:
        """Where it is kept."""

        app_label = _LABEL
        db_table = "studio_index_words"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["place", "item_id", "repeat"], name="index_one_text")
        ]


class IndexTagRow(models.Model):
    """A value of a tag that some question of a run has; `number` stands for both."""

    id = models.BigAutoField(primary_key=True)
    place = models.CharField(max_length=16)
    number = models.IntegerField()
    name = models.TextField()
    value = models.TextField()
    n_items = models.IntegerField()

    class Meta:
        """Where it is kept."""

        app_label = _LABEL
        db_table = "studio_index_tag"
        constraints: ClassVar = [models.UniqueConstraint(fields=["place", "number"], name="index_one_tag")]


TABLES: Final[Mapping[str, type[models.Model]]] = {
    "studio_index_run": IndexRunRow,
    "studio_index_trial": IndexTrialRow,
    "studio_index_words": IndexWordsRow,
    "studio_index_tag": IndexTagRow,
}


def make_tables() -> None:
    """Create missing tables; after a change of edition, drop and create all."""
    if _are_right(set(connection.introspection.table_names())):
        return
    with connection.schema_editor() as editor:
        # Another process may have made them before this transaction began.
        have = set(connection.introspection.table_names())
        if _are_right(have):
            return
        for name, table in TABLES.items():
            if name in have:
                editor.delete_model(table)
            editor.create_model(table)


def _are_right(have: set[str]) -> bool:
    return set(TABLES) <= have and not IndexRunRow.objects.exclude(edition=EDITION).exists()
