"""Studies with people: which are open, who takes part, what they filled in, and what happened when."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from vidence.studio.records.fields import digest, public_id, text, word
from vidence.studio.records.people import UserRow

KEY_LENGTH = 48


class StudyRow(models.Model):
    """A study that was opened: its folder, and the SHA-256 of its study.toml at that moment.

    `key` is the secret part of the link for many, empty if the study has none.
    """

    public = public_id()
    folder = models.TextField(unique=True)
    title = models.CharField(max_length=300)
    sha256 = digest()
    key = models.CharField(max_length=KEY_LENGTH, blank=True)
    state = word()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=("open", "closed")), name="study_state_is_known")
        ]


class ParticipantRow(models.Model):
    """A participant. `name` is the pseudonym; account and recruiter's parameters stay in this table.

    `key` is the secret part of the link for one person, `browser` the SHA-256 of the cookie of the browser
    that took it. `ident` is what a recruiter tells participants apart by. `version` is of the last change.
    """

    public = public_id()
    study = models.ForeignKey(StudyRow, models.PROTECT, related_name="participants")
    name = models.CharField(max_length=16)
    slot = models.PositiveIntegerField()
    state = word()
    recruited = word()
    key = models.CharField(max_length=KEY_LENGTH, blank=True)
    browser = digest(is_optional=True)
    user = models.ForeignKey(UserRow, models.PROTECT, null=True, related_name="+")
    ident = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict)
    px_per_cm = models.FloatField(null=True)
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "slot"), name="slot_once"),
            models.UniqueConstraint(fields=("study", "user"), name="account_once"),
            models.UniqueConstraint(fields=("study", "ident"), condition=~Q(ident=""), name="recruited_once"),
            models.CheckConstraint(
                condition=Q(state__in=("invited", "declined", "begun", "finished", "withdrawn")),
                name="participant_state_is_known",
            ),
        ]


class ResponseRow(models.Model):
    """One trial of a participant: its plan, what is written so far, and what was handed in.

    `draft` and `entered` are JSON objects by the fields of the form; letters are those of the item's own
    order. `version` goes up with each save, `request` is the word of the last. `views` is a JSON object of
    the media that are seen once (`vidence.studio.study_media.View`), by their places in the item.
    """

    participant = models.ForeignKey(ParticipantRow, models.PROTECT, related_name="responses")
    place = models.PositiveIntegerField()
    trial = models.TextField()
    version = models.PositiveIntegerField(default=0)
    request = models.CharField(max_length=64, blank=True)
    draft = models.TextField(default="{}")
    entered = models.TextField(default="{}")
    saved_at = models.DateTimeField()
    shown_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    n_plays = models.PositiveIntegerField(default=0)
    n_changes = models.PositiveIntegerField(default=0)
    late_frames = models.PositiveIntegerField(default=0)
    problem = text()
    views = models.TextField(default="{}")

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("participant", "place"), name="response_once")
        ]


class StudyEventRow(models.Model):
    """What happened to a participant, by the server's clock; rows are never changed or deleted.

    Only the notes go, where a participant withdraws.
    """

    participant = models.ForeignKey(ParticipantRow, models.PROTECT, related_name="events")
    at = models.DateTimeField()
    kind = word()
    place = models.PositiveIntegerField(null=True)
    note = text()
