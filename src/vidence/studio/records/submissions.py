"""The board of a hidden split, and what teams submitted to it; no column holds anything of an answer key."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from vidence.studio.records.fields import digest, public_id, word
from vidence.studio.records.people import UserRow


class LeaderboardRow(models.Model):
    """The board of this studio: the public questions of one hidden split, its limits, its end.

    `items` are the questions as JSON lines, without words and media: ids, options, tags. With `is_open_ended`
    some are answered in words, so that a judge scores them.
    """

    title = models.CharField(max_length=300)
    split = word()
    items = models.TextField()
    items_sha256 = digest()
    n_items = models.PositiveIntegerField()
    is_open_ended = models.BooleanField()
    most_a_day = models.PositiveIntegerField()
    most_in_all = models.PositiveIntegerField()
    ends_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField()


class SubmissionRow(models.Model):
    """One submission that was checked and counted, with the job of scoring it.

    `answers` are its rows as JSON lines. `points` is the shown score in whole points; None if nothing is
    shown. `strata` are points by tag and value, written after the end. A scorer holds the job until
    `leased_until` under the word `lease`; `n_leases` counts how often it was taken.
    """

    public = public_id()
    team = models.CharField(max_length=150)
    user = models.ForeignKey(UserRow, models.PROTECT, related_name="submissions")
    at = models.DateTimeField()
    day = models.DateField()
    answers = models.TextField()
    sha256 = digest()
    state = word()
    points = models.PositiveSmallIntegerField(null=True)
    strata = models.JSONField(default=dict)
    scored_at = models.DateTimeField(null=True)
    lease = word(is_optional=True)
    leased_until = models.DateTimeField(null=True)
    n_leases = models.PositiveSmallIntegerField(default=0)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=("queued", "scored", "failed")), name="submission_state_is_known"
            ),
            models.UniqueConstraint(
                fields=("team", "sha256"), condition=~Q(state="failed"), name="submitted_once"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=("state", "leased_until"), name="submission_in_queue")]
