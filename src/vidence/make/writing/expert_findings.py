"""What is wrong with a cell of a draft, and the rows as they were handed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from vidence.make.writing.drafts import ExpertDraft
from vidence.records import Record

WHOLE_ROW: Final = "row"


class Finding(Record):
    """One thing about one cell; a fault keeps the draft out, a warning does not."""

    row_id: str
    column: str
    kind: str
    is_fault: bool
    says: str


@dataclass(frozen=True, kw_only=True)
class DraftRow:
    """A row as it was handed in: where it stands, its cells as texts, and the draft that was read from it.

    Cells that could not be read have their names in `unread`, and in the draft their empty value. `draft` is
    None where the whole row could not be read.
    """

    row_id: str
    place: str
    cells: Mapping[str, str]
    draft: ExpertDraft | None
    findings: tuple[Finding, ...] = ()

    @property
    def unread(self) -> frozenset[str]:
        """The columns whose cells could not be read."""
        return frozenset(one.column for one in self.findings)
