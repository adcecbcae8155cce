"""Media, items, their wordings, and what was done with them."""

from typing import ClassVar, get_args

from django.db import models
from django.db.models import F, Q

from vidence.make.review.states import State
from vidence.studio.records.fields import digest, public_id, text, word
from vidence.studio.records.people import GuidelineRow, ProjectRow, UserRow

STATES = get_args(State)


class MediumRow(models.Model):
    """A video, an image, a set of images or a folder of frames, of which items are made.

    `source_id` is what several clips of one film share. The path is below the media root of the project.
    """

    public = public_id()
    project = models.ForeignKey(ProjectRow, models.PROTECT, related_name="media")
    kind = word()
    path = models.TextField()
    url = text()
    title = text()
    source_id = models.CharField(max_length=300, blank=True)
    sha256 = digest(is_optional=True)
    n_frames = models.PositiveIntegerField(null=True)
    duration_s = models.FloatField(null=True)
    state = word()
    state_reason = text()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(kind__in=("video", "image", "images", "frames")), name="medium_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=("candidate", "usable", "refused", "gone", "taken-down")),
                name="medium_state_is_known",
            ),
            models.UniqueConstraint(fields=("project", "path"), name="medium_once"),
        ]


class ItemRow(models.Model):
    """One item. Its state is what its transitions come to; the columns repeat it, so that lists are quick.

    `standing` is the whole `make.review.states.ItemState` as JSON; of it, queues and caps are asked about
    `writer`, `is_disputed` and `claims` (a list in JSON). `lock_version` goes up with each change.
    """

    public = public_id()
    project = models.ForeignKey(ProjectRow, models.PROTECT, related_name="items")
    item_id = models.CharField(max_length=300)
    kind = word()
    author = models.ForeignKey(UserRow, models.PROTECT, null=True, related_name="items")
    state = word()
    returns_left = models.SmallIntegerField()
    standing = models.JSONField(default=dict)
    writer = models.CharField(max_length=64, blank=True, default="")
    is_disputed = models.BooleanField(default=False)
    claims = text()
    current = models.ForeignKey("RevisionRow", models.PROTECT, null=True, related_name="+")
    media = models.ManyToManyField(MediumRow, related_name="items")
    strata = models.JSONField(default=dict)
    lock_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("project", "item_id"), name="item_once"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="item_state_is_known"),
            models.CheckConstraint(condition=Q(returns_left__gte=0), name="no_second_return"),
        ]
        indexes: ClassVar = [
            models.Index(fields=("project", "state", "changed_at"), name="item_by_state"),
            models.Index(
                fields=("project", "state", "writer", "is_disputed", "changed_at", "claims"),
                name="item_in_queues",
            ),
        ]


class RevisionRow(models.Model):
    """One wording of an item, a `make.review.revisions.Revision`; rows are never changed or deleted."""

    item = models.ForeignKey(ItemRow, models.PROTECT, related_name="revisions")
    n = models.PositiveIntegerField()
    content = models.TextField()
    parent = digest(is_optional=True)
    origin = word()
    by = models.CharField(max_length=64)
    at = models.CharField(max_length=40)
    sha256 = digest(is_unique=True)
    guideline = models.ForeignKey(GuidelineRow, models.PROTECT, null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [models.UniqueConstraint(fields=("item", "n"), name="revision_once")]


class TransitionRow(models.Model):
    """An act on an item, a `make.review.revisions.Event`; rows are never changed or deleted.

    `event_id` ties it to what the same person did before. `number` counts the rows of the project from 1, and
    `chain_sha256` ties it to the row before, so that a row that was taken out is missed.
    """

    project = models.ForeignKey(ProjectRow, models.PROTECT, related_name="transitions")
    item = models.ForeignKey(ItemRow, models.PROTECT, related_name="transitions")
    number = models.PositiveIntegerField()
    event_id = digest(is_unique=True)
    event = models.TextField()
    kind = word()
    role = word()
    by = models.CharField(max_length=64)
    at = models.CharField(max_length=40)
    state_before = word()
    state_after = word()
    chain_sha256 = digest()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("project", "number"), name="transition_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="transitions_count_from_1"),
        ]
        indexes: ClassVar = [
            models.Index(fields=("item", "number"), name="transition_of_item"),
            models.Index(fields=("by", "item"), name="transition_of_person"),
            models.Index(fields=("project", "by", "at", "kind", "role"), name="transition_of_day"),
        ]


class ReviewRow(models.Model):
    """One look at one revision: what was decided, and how long it took.

    `checks` are answers by check, `fields` the verdict on each field with a note, both as JSON.
    """

    public = public_id()
    item = models.ForeignKey(ItemRow, models.PROTECT, related_name="reviews")
    revision = models.ForeignKey(RevisionRow, models.PROTECT, related_name="reviews")
    stage = word()
    reviewer = models.ForeignKey(UserRow, models.PROTECT, related_name="reviews")
    author = models.ForeignKey(UserRow, models.PROTECT, null=True, related_name="+")
    transition = models.OneToOneField(TransitionRow, models.PROTECT, null=True)
    decision = word(is_optional=True)
    feedback = text()
    answer = text()
    checks = models.JSONField(default=dict)
    fields = models.JSONField(default=dict)
    seconds = models.FloatField(null=True)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("revision", "stage", "reviewer"), name="one_look_each"),
            models.CheckConstraint(
                condition=Q(author__isnull=True) | ~Q(reviewer=F("author")), name="nobody_reviews_their_own"
            ),
        ]
