"""Who works on what: claims, drafts, time, and what is owed."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from vidence.studio.records.fields import digest, public_id, text, word
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, UserRow


class AssignmentRow(models.Model):
    """One person's claim to one item at one stage; at most one of them is open."""

    public = public_id()
    item = models.ForeignKey(ItemRow, models.PROTECT, related_name="assignments")
    stage = word()
    user = models.ForeignKey(UserRow, models.PROTECT, related_name="assignments")
    state = word()
    claimed_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=("offered", "claimed", "submitted", "released", "expired")),
                name="assignment_state_is_known",
            ),
            models.UniqueConstraint(
                fields=("item", "stage", "user"), condition=Q(state="claimed"), name="one_open_claim"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=("user", "state"), name="assignment_of_user")]


class DraftRow(models.Model):
    """What one person has written so far. `version` goes up with each save; a save names the one it saw.

    `body` is JSON as it came: a column of JSON refuses some texts on Postgres, and changes the order of keys.
    """

    public = public_id()
    user = models.ForeignKey(UserRow, models.PROTECT, related_name="drafts")
    item = models.ForeignKey(ItemRow, models.PROTECT, null=True, related_name="drafts")
    project = models.ForeignKey(ProjectRow, models.PROTECT)
    stage = word()
    version = models.PositiveIntegerField(default=0)
    body = models.TextField(default="{}")
    based_on = digest(is_optional=True)
    saved_at = models.DateTimeField()
    is_closed = models.BooleanField(default=False)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("user", "item", "stage"), condition=Q(is_closed=False), name="one_open_draft"
            )
        ]


class DraftLogRow(models.Model):
    """One save that was acknowledged; rows are never changed or deleted. A `request` is saved once."""

    draft = models.ForeignKey(DraftRow, models.PROTECT, related_name="log")
    version = models.PositiveIntegerField()
    body = models.TextField()
    request = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("draft", "version"), name="draft_version_once"),
            models.UniqueConstraint(fields=("draft", "request"), name="draft_request_once"),
        ]


class TimeSpanRow(models.Model):
    """A span of working time, by the server's clock; a person has at most one open span.

    `is_clock_back`: when it began, the clock of the server had been set back.
    """

    user = models.ForeignKey(UserRow, models.PROTECT, related_name="spans")
    project = models.ForeignKey(ProjectRow, models.PROTECT, null=True, related_name="spans")
    item = models.ForeignKey(ItemRow, models.PROTECT, null=True, related_name="spans")
    assignment = models.ForeignKey(AssignmentRow, models.PROTECT, null=True)
    kind = word()
    source = word()
    start_at = models.DateTimeField()
    end_at = models.DateTimeField()
    n_beats = models.PositiveIntegerField(default=0)
    is_open = models.BooleanField(default=False)
    is_clock_back = models.BooleanField(default=False)
    reason = text()
    approved_by = models.ForeignKey(UserRow, models.PROTECT, null=True, related_name="+")

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(end_at__gte=F("start_at")), name="spans_go_forward"),
            models.CheckConstraint(condition=Q(kind__in=("active", "idle")), name="span_kind_is_known"),
            models.CheckConstraint(
                condition=Q(source__in=("heartbeat", "correction")), name="span_source_is_known"
            ),
            models.UniqueConstraint(fields=("user",), condition=Q(is_open=True), name="one_open_span"),
        ]


class TimeCorrectionRow(models.Model):
    """A requested correction of working time, to add or remove; an operator decides.

    The spans that were counted stay as they are. What is approved is a span of its own.
    """

    public = public_id()
    user = models.ForeignKey(UserRow, models.PROTECT, related_name="corrections")
    project = models.ForeignKey(ProjectRow, models.PROTECT, related_name="corrections")
    kind = word()
    start_at = models.DateTimeField()
    end_at = models.DateTimeField()
    reason = models.TextField()
    filed_at = models.DateTimeField()
    state = word()
    decided_by = models.ForeignKey(UserRow, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    answer = text()
    span = models.OneToOneField(TimeSpanRow, models.PROTECT, null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(end_at__gt=F("start_at")), name="corrections_go_forward"),
            models.CheckConstraint(condition=Q(kind__in=("active", "idle")), name="correction_kind_is_known"),
            models.CheckConstraint(
                condition=Q(state__in=("filed", "approved", "refused")), name="correction_state_is_known"
            ),
        ]


class AuditEventRow(models.Model):
    """What touches safety: sign-ins, changes of roles, exports; rows are never changed or deleted."""

    number = models.PositiveIntegerField(unique=True)
    kind = word()
    by = models.CharField(max_length=64, blank=True)
    about = models.CharField(max_length=300, blank=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField()
    chain_sha256 = digest()
