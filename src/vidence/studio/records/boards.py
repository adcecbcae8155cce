"""What people say of what questions are made of; each table is one of people's files."""

from typing import ClassVar

from django.db import models

from vidence.studio.records.fields import public_id, text, word
from vidence.studio.records.people import ProjectRow, UserRow


class MadeSetRow(models.Model):
    """A set in the making, by its folder; it is only read."""

    public = public_id()
    project = models.ForeignKey(ProjectRow, models.PROTECT, null=True)
    folder = models.TextField(unique=True)
    people_folder = models.TextField()
    configuration_sha256 = models.CharField(max_length=64, blank=True)


class VerdictRow(models.Model):
    """What all of them share. `check` stands for what the person saw, as in the file."""

    public = public_id()
    made_set = models.ForeignKey(MadeSetRow, models.PROTECT, related_name="%(class)s")
    video_id = models.CharField(max_length=300)
    seen = models.CharField(max_length=12)
    by = models.ForeignKey(UserRow, models.PROTECT, null=True, related_name="+")
    by_name = models.CharField(max_length=64)
    note = text()
    seconds = models.FloatField(null=True)
    at = models.DateTimeField()
    lock_version = models.PositiveIntegerField(default=1)

    class Meta:
        """No table of its own."""

        abstract = True


class TrackVerdictRow(VerdictRow):
    """One act on one track: ``ok``, ``phantom``, ``split:FRAME``, ``join:OTHER``, ..."""

    track_id = models.CharField(max_length=100)
    act = models.CharField(max_length=200)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("made_set", "video_id", "track_id", "act", "by_name"), name="track_act_once"
            )
        ]


class ShotEditRow(VerdictRow):
    """One act on the cuts of a video: ``cut-at:FRAME``, ``no-cut-at:FRAME``, ``gradual:FIRST-LAST``."""

    act = models.CharField(max_length=200)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("made_set", "video_id", "act", "by_name"), name="shot_act_once")
        ]


class CardCheckRow(VerdictRow):
    """A card of a person: its words, and whom they fit."""

    track_id = models.CharField(max_length=100)
    kind = word()
    text = text()
    frames = models.JSONField(default=list)
    fits = word(is_optional=True)
    leaks = models.BooleanField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("made_set", "video_id", "track_id", "kind", "by_name"), name="card_check_once"
            )
        ]


class FalseCheckRow(VerdictRow):
    """A false card of a scene: told without the film, and then with it."""

    card_id = models.CharField(max_length=100)
    told_without_film = word(is_optional=True)
    occurs_in_film = models.BooleanField(null=True)
    reads_natural = models.BooleanField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("made_set", "video_id", "card_id", "by_name"), name="false_card_checked_once"
            )
        ]


class WindowCountRow(VerdictRow):
    """How many people somebody counted at a place within a window (``FIRST-LAST`` in frames, or ``whole``).

    `frames` are those in which each was counted, as far as they were noted. With `agreed`, the names of all
    who counted, a row is what `by` holds after they looked at their difference.
    """

    window = models.CharField(max_length=40, default="whole")
    place = models.CharField(max_length=300)
    n = models.PositiveIntegerField()
    n_low = models.PositiveIntegerField()
    n_high = models.PositiveIntegerField()
    frames = models.JSONField(default=list)
    agreed = models.CharField(max_length=600, blank=True, default="")

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(n_low__lte=models.F("n"), n__lte=models.F("n_high")),
                name="count_in_its_range",
            ),
            models.UniqueConstraint(
                fields=("made_set", "video_id", "window", "place", "by_name", "agreed"),
                name="window_counted_and_agreed_once",
            ),
        ]


class WindowCheckRow(VerdictRow):
    """Whether the window of a clip shows what its label says, and which one does."""

    clip_id = models.CharField(max_length=300)
    shows = word()
    start_s = models.FloatField(null=True)
    end_s = models.FloatField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("made_set", "clip_id", "by_name"), name="window_check_once")
        ]
