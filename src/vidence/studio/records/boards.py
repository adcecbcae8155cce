"""Rows of people on boards, in the order of entry."""

from typing import ClassVar

from django.db import models

from vidence.studio.records.fields import public_id, word
from vidence.studio.records.people import ProjectRow


class MadeSetRow(models.Model):
    """A set in the making, by its folder; it is only read."""

    public = public_id()
    project = models.ForeignKey(ProjectRow, models.PROTECT, null=True)
    folder = models.TextField(unique=True)
    people_folder = models.TextField()


class BoardRow(models.Model):
    """A row of a person on a board: `said` is its JSON, `key` is unique."""

    public = public_id()
    made_set = models.ForeignKey(MadeSetRow, models.PROTECT)
    board = word()
    video_id = models.CharField(max_length=300)
    key = models.TextField()
    said = models.JSONField(default=dict)
    by_name = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("made_set", "board", "key"), name="said_once_on_a_board")
        ]
