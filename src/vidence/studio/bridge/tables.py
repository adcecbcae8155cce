"""Which columns of which tables go out and come in; whatever is not named here stays at home.

A row refers to others by what they are called everywhere: a person by the pseudonym, a project by its slug, a
wording by its hash, an item or a medium as ``SLUG/NAME``. Numbers of rows, names of people, passwords,
sessions and folders of this machine are in no file.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Final, TypedDict, Unpack, cast

from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import models

from vidence.studio.accounts import key_of
from vidence.studio.records import boards, items, people, work
from vidence.studio.workflow import protocol_of

Record = dict[str, object]
_ELSEWHERE: Final = "imported/"
"""Before the name of a set whose folder is on another machine."""


@dataclass(kw_only=True)
class Taking:
    """What one import knows: who had an account before it, what rows are called, how many were left out."""

    people: frozenset[str]
    named: dict[type[models.Model], dict[str, models.Model]] = field(default_factory=dict)
    n_left: int = 0

    def find(self, model: type[models.Model], name: object) -> models.Model:
        """The row of this name.

        Raises:
            ValueError: there is none.
        """
        if model not in self.named:
            rows = model.objects.select_related(*_NEEDS.get(model, ()))
            self.named[model] = {name_of(row): row for row in rows}
        try:
            return self.named[model][str(name)]
        except KeyError:
            raise ValueError(f"{name!r} is not there") from None

    def forget(self, model: type[models.Model]) -> None:
        """Rows of this kind were added."""
        self.named.pop(model, None)


def _everybody(_record: Record, _taking: Taking) -> bool:
    return True


def _of_the_new(record: Record, taking: Taking) -> bool:
    """Whoever has an account here keeps the roles that were given here."""
    return record["user"] not in taking.people


def _nothing(_record: Record, _values: Mapping[str, object]) -> Record:
    return {}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the rows of one table are written.

    Args:
        file: the name of the file, without the suffix.
        model: the table.
        key: the columns that tell its rows apart.
        columns: those that are written, the key among them.
        is_fixed: whether a row that is there with other values is a fault; else what is there stays.
        fill: columns that a new row has beside those of the file.
        is_taken: which rows may come in.
    """

    file: str
    model: type[models.Model]
    key: tuple[str, ...]
    columns: tuple[str, ...]
    is_fixed: bool = False
    fill: Callable[[Record, Mapping[str, object]], Record] = _nothing
    is_taken: Callable[[Record, Taking], bool] = _everybody

    @property
    def references(self) -> tuple[str, ...]:
        """Columns that refer to other rows, one each."""
        return tuple(name for name in self.columns if isinstance(self.column(name), models.ForeignKey))

    @property
    def is_of_itself(self) -> bool:
        """Whether rows refer to earlier ones of the same table."""
        return any(self.column(name).related_model is self.model for name in self.references)

    def column(self, name: str) -> models.Field:
        """A column of the table."""
        return self.model._meta.get_field(name)  # noqa: SLF001 - Django says that it is public

    def key_of(self, record: Record) -> tuple[str, ...]:
        """What tells a record from others of its file; it also says their order."""
        return tuple(_sortable(record[name]) for name in self.key)

    def rows(self) -> Iterable[models.Model]:
        """All rows with what they refer to."""
        far = [
            f"{name}__{one}"
            for name in self.references
            for one in _NEEDS.get(self.column(name).related_model, ())
        ]
        many = [name for name in self.columns if isinstance(self.column(name), models.ManyToManyField)]
        found: Iterable[models.Model] = (
            self.model.objects.select_related(*self.references, *far)
            .prefetch_related(*many, *(f"{one}__project" for one in many))
            .order_by("pk")
        )
        return found

    def record(self, row: models.Model) -> Record:
        """A row as it is written."""
        return {name: _written(getattr(row, name)) for name in self.columns}

    def values(self, record: Record, taking: Taking) -> tuple[Record, dict[str, list[models.Model]]]:
        """The columns of a new row, and the rows that it has many of.

        Raises:
            ValueError: something is missing, unknown, or cannot stand there.
        """
        if unknown := sorted(set(record) - set(self.columns)):
            raise ValueError(f"{unknown[0]!r} is not known here; expected {', '.join(self.columns)}")
        if absent := [name for name in self.columns if name not in record]:
            raise ValueError(f"no {absent[0]!r}")
        one: Record = {}
        many: dict[str, list[models.Model]] = {}
        for name in self.columns:
            column = self.column(name)
            if isinstance(column, models.ManyToManyField):
                many[name] = [taking.find(column.related_model, called) for called in _list(record[name])]
            else:
                one[name] = _read(column, record[name], taking)
        return one | self.fill(record, one), many


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r}; expected a list")
    return value


def _sortable(value: object) -> str:
    return f"{value:012d}" if isinstance(value, int) else "" if value is None else str(value)


# --------------------------------------------------------------------------- values


def name_of(row: models.Model) -> str:
    """What a row is called in files."""
    if isinstance(row, items.ItemRow):
        return f"{row.project.slug}/{row.item_id}"
    if isinstance(row, items.MediumRow):
        return f"{row.project.slug}/{row.path}"
    if isinstance(row, people.GuidelineRow):
        return f"{row.project.slug}/{row.version}"
    return str(getattr(row, _CALLED.get(type(row), "public")))


_CALLED: Final[Mapping[type[models.Model], str]] = {
    people.UserRow: "pseudonym",
    people.ProjectRow: "slug",
    people.ProtocolRow: "sha256",
    items.RevisionRow: "sha256",
    items.TransitionRow: "event_id",
}
_NEEDS: Final[Mapping[type[models.Model], tuple[str, ...]]] = {
    items.ItemRow: ("project",),
    items.MediumRow: ("project",),
    people.GuidelineRow: ("project",),
}


def _written(value: object) -> object:
    if isinstance(value, models.Manager):
        return sorted(name_of(one) for one in value.all())
    if isinstance(value, models.Model):
        return name_of(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(value) if isinstance(value, uuid.UUID) else value


def _read(column: models.Field, value: object, taking: Taking) -> object:
    if value is None:
        if not column.null:
            raise ValueError(f"nothing under {column.name!r}")
        return None
    if isinstance(column, models.ForeignKey):
        return taking.find(column.related_model, value)
    if isinstance(column, models.JSONField):
        if not isinstance(value, column.default):
            raise ValueError(f"{value!r} under {column.name!r}; expected a {column.default.__name__}")
        return value
    is_text = isinstance(column, models.CharField | models.TextField)
    if (is_text and not isinstance(value, str)) or isinstance(value, dict | list):
        raise ValueError(f"{value!r} under {column.name!r}; expected {'a text' if is_text else 'one value'}")
    try:
        found = column.to_python(value)
        column.run_validators(found)
    except ValidationError as error:
        raise ValueError(f"{value!r} under {column.name!r}: {' '.join(error.messages)}") from error
    if isinstance(found, datetime) and found.tzinfo is None:
        raise ValueError(f"the time {value!r} under {column.name!r} has no zone; expected UTC, with Z")
    return found


# --------------------------------------------------------------------------- rows with columns of their own


def _account(record: Record, _values: Mapping[str, object]) -> Record:
    """An account that nobody can sign in with until it gets a password here."""
    said = str(record["pseudonym"])
    return {"name": said, "key": key_of(said), "shown": said, "password": make_password(None)}


def _undone(_record: Record, values: Mapping[str, object]) -> Record:
    """An item before anything was done with it; its events say the rest."""
    returns = protocol_of(cast("people.ProjectRow", values["project"])).returns
    return {"state": "drafting", "returns_left": returns, "changed_at": values["created_at"]}


def _elsewhere(record: Record, _values: Mapping[str, object]) -> Record:
    """A set whose folder is not known here."""
    told = PurePath(str(record["folder"])).name
    where = f"{_ELSEWHERE}{record['public']}/{told}"
    return {"folder": where, "people_folder": f"{where}/people"}


class _SetShape(Shape):
    """Of sets: their folder by its last name only."""

    def record(self, row: models.Model) -> Record:
        """A row as it is written."""
        return super().record(row) | {"folder": PurePath(row.folder).name}


class _Rules(TypedDict, total=False):
    is_fixed: bool
    fill: Callable[[Record, Mapping[str, object]], Record]
    is_taken: Callable[[Record, Taking], bool]


def _shape(file: str, model: type[models.Model], columns: str, **rules: Unpack[_Rules]) -> Shape:
    """The shape of a table: the columns of its key as words, a colon, the others; `rules` are of `Shape`."""
    key, _, more = (part.split() for part in columns.partition(":"))
    return Shape(file=file, model=model, key=tuple(key), columns=(*key, *more), **rules)


FIRST: Final[Sequence[Shape]] = (
    _shape("protocols", people.ProtocolRow, "sha256: title source added_at"),
    _shape("people", people.UserRow, "pseudonym: is_active created_at", fill=_account),
    _shape("projects", people.ProjectRow, "slug: public title protocol languages state created_at"),
    _shape("guidelines", people.GuidelineRow, "project version: source sha256 added_at", is_fixed=True),
    _shape(
        "memberships",
        people.MembershipRow,
        "user project: roles domains is_author_of_the_paper qualified_until guideline",
        is_taken=_of_the_new,
    ),
    _shape(
        "qualifications",
        people.QualificationRow,
        "user project role guideline n_try: answers n_right n_asked is_passed is_set_aside at",
        is_taken=_of_the_new,
    ),
    _shape("readings", people.GuidelineReadRow, "user guideline: at"),
    _shape("protocol-versions", people.ProtocolVersionRow, "project n: public protocol by at used_at"),
    _shape(
        "media",
        items.MediumRow,
        "project path: public kind url title source_id sha256 n_frames duration_s state state_reason",
    ),
    _shape("trials", people.TrialRow, "public: project role words medium options right why is_used at"),
    _shape(
        "items",
        items.ItemRow,
        "project item_id: public kind author media strata created_at",
        fill=_undone,
    ),
)
"""What the wordings and events of items rest on."""
AFTER: Final[Sequence[Shape]] = (
    _shape(
        "looks",
        items.ReviewRow,
        "revision stage reviewer: "
        "public item author transition decision feedback answer seconds begun_at ended_at",
    ),
    _shape("field-verdicts", items.FieldVerdictRow, "review field: verdict note"),
    _shape("checks", items.ChecklistAnswerRow, "review check_id: said"),
    _shape("scores", items.ScoreRow, "review score_id: value"),
    _shape("assignments", work.AssignmentRow, "public: item stage user state claimed_at due_at ended_at"),
    _shape(
        "drafts",
        work.DraftRow,
        "public: user item project stage version body based_on saved_at is_closed",
    ),
    _shape("saves", work.DraftLogRow, "draft version: body request at", is_fixed=True),
    _shape(
        "spans",
        work.TimeSpanRow,
        "user start_at source kind reason: "
        "project item assignment end_at n_beats is_open is_clock_back approved_by",
    ),
    _shape(
        "corrections",
        work.TimeCorrectionRow,
        "public: user project kind start_at end_at reason filed_at state decided_by decided_at answer",
    ),
    _shape(
        "ledger",
        work.LedgerRow,
        "project number: "
        "public user kind amount_minor currency rule quantity source reverses at chain_sha256",
        is_fixed=True,
    ),
    _SetShape(
        file="sets",
        model=boards.MadeSetRow,
        key=("public",),
        columns=("public", "project", "folder"),
        fill=_elsewhere,
    ),
    _shape("boards", boards.BoardRow, "public: made_set board video_id key said by_name at"),
)
"""What people did besides."""
AT_HOME: Final[Mapping[str, str]] = {
    "AuditEventRow": "is the log of this server; a copy (`vidence studio backup`) holds it",
    "RevisionRow": "goes out as the revisions.jsonl of a review",
    "TransitionRow": "goes out as the reviews.jsonl of a review",
    "ItemRow_media": "is the column media of items",
}
"""Tables that no shape has, and why."""
