"""Verdicts of gates out of a diagnosis that was made already: what a blind panel found of each question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.engine.diagnose import open_diagnostic
from vidence.engine.rows import Header
from vidence.engine.store import RunStore
from vidence.errors import DataError, UsageError
from vidence.explain.diagnostics.blind_panel import UNDER_TEST, BlindPanel, PanelFinding, Vote
from vidence.make.gates.model_gates import GateVerdict, GateVote, decide
from vidence.make.gates.verdicts import ItemVerdict, content_of
from vidence.records import Failed, Item, Record

PANEL: Final = "blind-panel"
_PAGE = ".html"
_WHOLE: Final = "vidence-diagnosis/1"
_LINES: Final = "vidence-findings/1"


class _FindingLine(Record):
    """The finding of one question in a file."""

    item_id: str
    finding: msgspec.Raw = msgspec.Raw(b"null")
    failed: Failed | None = None


class _Format(msgspec.Struct):
    """Of what format a file says that it is; its other fields are not read here."""

    format: str = ""


class _Whole(msgspec.Struct):
    """What `vidence diagnose --json` writes, as far as it is read here."""

    header: Header
    findings: tuple[_FindingLine, ...]


@dataclass(frozen=True, kw_only=True)
class _Diagnosis:
    """A diagnosis: what it is about, and what it found of each question, by its id.

    `contents` are the hashes of the questions as they were asked (`content_of`); empty where a file does not
    hold them.
    """

    header: Header
    findings: Mapping[str, PanelFinding | Failed]
    contents: Mapping[str, str]


def is_diagnosis(by: Path) -> bool:
    """Whether this is a run folder, the page of a diagnosis, or a file of findings; else it is verdicts."""
    if by.is_dir() or by.suffix == _PAGE:
        return True
    try:
        with by.open("rb") as file:
            first = file.readline()
        return msgspec.json.decode(first, type=_Format).format in (_WHOLE, _LINES)
    except (OSError, msgspec.DecodeError):
        return False


def panel_verdicts(by: Path, items: Sequence[Item], *, content_hash: str) -> tuple[ItemVerdict, ...]:
    """What a blind panel found, as verdicts of the gate ``blind-panel``.

    A question is dropped where as many answers are right as the diagnosis flags at, and left open where
    answers without a mark could have made up what is lacking. One that failed, or that the panel was not
    asked about, is untried.

    Args:
        by: a run folder in which `vidence diagnose blind-panel` was made; the page of one of several such
            diagnoses in it; or its findings as a file (``--json``, or ``blind-panel.jsonl`` of earlier
            versions).
        items: the questions.
        content_hash: that of their file, which findings in a file are held against.

    Raises:
        UsageError: the folder has no such diagnosis, or several.
        DataError: the findings cannot be read, or are about other questions, or about another wording of one.
        StoreError: the folder is no run, or damaged.
    """
    found = _of_file(by) if by.is_file() and by.suffix != _PAGE else _of_run(by)
    if found.header.diagnostic != PANEL:
        raise UsageError(f"{by} holds findings of {found.header.diagnostic}; a gate follows those of {PANEL}")
    if not found.contents and found.header.content_hash != content_hash:
        raise DataError(
            f"the findings in {by} are about another file of questions, and do not hold these; give the run "
            "folder, which does, or the file that the panel was asked about"
        )
    diagnostic = open_diagnostic(PANEL, found.header.options)
    if not isinstance(diagnostic, BlindPanel):
        raise UsageError(f"the diagnostic {PANEL} is another one here; a gate follows the one of vidence")
    wanted = diagnostic.settings.n_wanted
    by_id = {item.item_id: item for item in items}
    judged = [
        _verdict(name, finding, at_least=wanted, item=by_id.get(name), content=found.contents.get(name, ""))
        for name, finding in found.findings.items()
    ]
    missing = [item for item in items if item.item_id not in found.findings]
    return (*judged, *(_untried(item, "the panel was not asked about it") for item in missing))


def _verdict(
    name: str, finding: PanelFinding | Failed, *, at_least: int, item: Item | None, content: str
) -> ItemVerdict:
    asked = content or (content_of(item) if item is not None else "")
    if isinstance(finding, Failed):
        why = f"{finding.error}: {finding.message}"
        return ItemVerdict(item_id=name, content=asked, gate=PANEL, decision="untried", why=why)
    answers = [GateVote(model=_who(vote), marks=(vote.mark,)) for vote in finding.votes]
    verdict: GateVerdict = decide(name, PANEL, answers, at_least=at_least)
    return ItemVerdict(
        item_id=name,
        content=asked,
        gate=PANEL,
        decision=verdict.decision,
        reason="solved-blind" if verdict.decision == "dropped" else "",
        n_right=verdict.n_right,
        n_unusable=verdict.n_unusable,
        why=f"{verdict.n_right} of {len(answers)} answers right, {at_least} are wanted",
        votes=verdict.votes,
    )


def _untried(item: Item, why: str) -> ItemVerdict:
    return ItemVerdict(
        item_id=item.item_id, content=content_of(item), gate=PANEL, decision="untried", why=why
    )


def _who(vote: Vote) -> str:
    return vote.member or UNDER_TEST


# --------------------------------------------------------------------------- where findings stand


def _of_run(by: Path) -> _Diagnosis:
    """The findings in a run folder, or those that a page in its folder ``diagnostics`` is of."""
    folder, wanted = (by, "") if by.is_dir() else (by.parent.parent, by.stem)
    with RunStore(folder) as store:
        headers = {name: one for name, one in store.diagnoses().items() if one.diagnostic == PANEL}
        names = [name for name in headers if not wanted or name == wanted]
        if len(names) != 1:
            raise UsageError(_which(by, folder, names=list(headers)))
        examined = store.findings(names[0], PanelFinding).values()
    findings: dict[str, PanelFinding | Failed] = {}
    for one in examined:
        if isinstance(one.finding, PanelFinding | Failed):
            findings[one.item.item_id] = one.finding
    contents = {one.item.item_id: content_of(one.item) for one in examined}
    return _Diagnosis(header=headers[names[0]], findings=findings, contents=contents)


def _which(by: Path, folder: Path, *, names: Sequence[str]) -> str:
    if not names:
        return f"{folder} holds no findings of {PANEL}; make them with: vidence diagnose {PANEL} {folder}"
    pages = ", ".join(str(folder / "diagnostics" / f"{name}{_PAGE}") for name in names)
    return (
        f"{by} is not one of the {len(names)} diagnoses by {PANEL} in {folder}; name one by its page: {pages}"
    )


def _of_file(by: Path) -> _Diagnosis:
    """The findings in a file of `vidence diagnose --json`, or in lines behind their header."""
    try:
        content = by.read_bytes()
        first, _, rest = content.partition(b"\n")
        if msgspec.json.decode(first, type=_Format).format == _WHOLE:
            whole = msgspec.json.decode(first, type=_Whole)
            header, lines = whole.header, whole.findings
        else:
            header = msgspec.json.decode(first, type=Header)
            lines = tuple(
                msgspec.json.decode(line, type=_FindingLine) for line in rest.splitlines() if line.strip()
            )
        findings = {one.item_id: one.failed or _finding(one.finding) for one in lines}
    except OSError as error:
        raise DataError(f"{by}: cannot be read ({error.strerror})") from error
    except msgspec.DecodeError as error:
        raise DataError(f"{by}: these are no findings of {PANEL} ({error})") from error
    return _Diagnosis(header=header, findings=findings, contents={})


def _finding(raw: msgspec.Raw) -> PanelFinding | Failed:
    """A finding, or why there is none: of a file both stand in one place."""
    try:
        return msgspec.json.decode(raw, type=PanelFinding)
    except msgspec.ValidationError:
        return msgspec.json.decode(raw, type=Failed)
