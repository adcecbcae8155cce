"""Projects and their rules, people and what they may do in each project."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q

from vidence.studio.records.fields import NAME_LENGTH, digest, public_id, text, word


class ProtocolRow(models.Model):
    """One version of the rules of a review: the text of a protocol file, which never changes once used."""

    title = models.CharField(max_length=300)
    source = models.TextField()
    sha256 = digest(is_unique=True)
    added_at = models.DateTimeField()


class ProjectRow(models.Model):
    """A set of items that people work on, under one protocol."""

    public = public_id()
    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=300)
    protocol = models.ForeignKey(ProtocolRow, models.PROTECT)
    languages = models.JSONField(default=list)
    state = word()
    media_root = text()
    created_at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=("setup", "open", "frozen", "released", "archived")),
                name="project_state_is_known",
            )
        ]


class GuidelineRow(models.Model):
    """One version of what the people of a project are asked to read; a new one is a new row."""

    project = models.ForeignKey(ProjectRow, models.PROTECT, related_name="guidelines")
    version = models.PositiveIntegerField()
    source = models.TextField()
    sha256 = digest()
    added_at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("project", "version"), name="guideline_version_once")
        ]


class UserRow(AbstractBaseUser):
    """An account. `name` is what is typed, `pseudonym` what stands in files, `key` the name to compare with.

    With `has_first_password` the person has to choose another one before anything else. `team` is for which
    team the person submits answers to the board; empty for none.
    """

    public = public_id()
    name = models.CharField(max_length=NAME_LENGTH)
    key = models.CharField(max_length=NAME_LENGTH, unique=True)
    shown = models.CharField(max_length=NAME_LENGTH)
    pseudonym = models.CharField(max_length=64, unique=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    has_first_password = models.BooleanField(default=False)
    team = models.CharField(max_length=NAME_LENGTH, blank=True, default="")
    last_login = None
    objects = BaseUserManager()
    USERNAME_FIELD = "key"


class MembershipRow(models.Model):
    """What one person may do in one project; without a project, in all of them."""

    user = models.ForeignKey(UserRow, models.CASCADE, related_name="memberships")
    project = models.ForeignKey(ProjectRow, models.CASCADE, null=True, related_name="memberships")
    roles = models.JSONField(default=list)
    domains = models.JSONField(default=list)
    is_author_of_the_paper = models.BooleanField(default=False)
    qualified_until = models.DateTimeField(null=True)
    guideline = models.ForeignKey(GuidelineRow, models.PROTECT, null=True)

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=("user", "project"), name="membership_once"),
            models.UniqueConstraint(
                fields=("user",), condition=Q(project__isnull=True), name="membership_of_all_once"
            ),
        ]


class GuidelineReadRow(models.Model):
    """A confirmation that a person has read a version of the guidelines, with its time."""

    user = models.ForeignKey(UserRow, models.PROTECT, related_name="readings")
    guideline = models.ForeignKey(GuidelineRow, models.PROTECT, related_name="readings")
    at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [models.UniqueConstraint(fields=("user", "guideline"), name="read_by_once")]


class TrialRow(models.Model):
    """A qualification trial for a role of a project: what is shown, the possible answers, the right one."""

    public = public_id()
    project = models.ForeignKey(ProjectRow, models.PROTECT, related_name="trials")
    role = word()
    words = models.TextField()
    medium = models.ForeignKey("MediumRow", models.PROTECT, null=True, related_name="+")
    options = models.JSONField(default=list)
    right = models.CharField(max_length=300)
    why = text()
    is_used = models.BooleanField(default=True)
    at = models.DateTimeField()


class QualificationRow(models.Model):
    """One try of one person at the trial items of a project, for one role.

    What an operator has set aside stays, and does not count any more.
    """

    user = models.ForeignKey(UserRow, models.CASCADE, related_name="qualifications")
    project = models.ForeignKey(ProjectRow, models.CASCADE)
    role = models.CharField(max_length=40, blank=True, default="")
    guideline = models.ForeignKey(GuidelineRow, models.PROTECT, null=True)
    n_try = models.PositiveSmallIntegerField()
    answers = models.JSONField(default=dict)
    n_right = models.PositiveIntegerField()
    n_asked = models.PositiveIntegerField()
    is_passed = models.BooleanField()
    is_set_aside = models.BooleanField(default=False)
    at = models.DateTimeField()

    class Meta:
        """Rules of the table."""

        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(n_right__lte=models.F("n_asked")), name="no_more_right_than_asked"
            ),
            models.UniqueConstraint(
                fields=("user", "project", "role", "guideline", "n_try"), name="try_once"
            ),
            models.UniqueConstraint(
                fields=("user", "project", "role", "n_try"),
                condition=Q(guideline__isnull=True),
                name="try_without_guideline_once",
            ),
        ]
