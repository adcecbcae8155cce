"""Print the report of a study and write it to files; summarize a study for panels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from vidence.console.flags import HTML, JSON, LATEX, LEVEL, argument, flag
from vidence.engine.people import PEOPLE_FOLDER
from vidence.records import Record
from vidence.study.study import STUDY_FILE

if TYPE_CHECKING:
    from vidence.report.sections import Section

_ON_PAGE: Final = "The checklist is on the page and in the files: --html, --latex, --json."


class StudyReportWanted(Record):
    """The options of a study report: the study, models to compare, output files."""

    folder: Annotated[Path, argument("STUDY")]
    models: Annotated[tuple[Path, ...], argument("RUN...")] = ()
    published: Annotated[bool, flag("Set people and models under the rows that their papers print.")] = False
    level: Annotated[float, LEVEL] = 0.95
    html: Annotated[Path | None, HTML] = None
    json_path: Annotated[Path | None, JSON] = None
    latex: Annotated[Path | None, LATEX] = None


def is_study(folder: Path) -> bool:
    """Return whether a folder holds a study and not a run."""
    from vidence.engine.plan import PLAN_FILE

    return (folder / STUDY_FILE).is_file() and not (folder / PLAN_FILE).exists()


def show_report(given: StudyReportWanted) -> None:
    """Write the requested report files, then print the report.

    Raises:
        VidenceError: as for `open_study` and `report_of`.
    """
    from vidence.console.files import screen, write_asked
    from vidence.media.whole import write_file
    from vidence.report.sections import Section
    from vidence.report.terminal import draw_section
    from vidence.study.checklist import checklist_latex, checklist_table, reported
    from vidence.tables.export import said_as_json
    from vidence.tables.latex import latex as latex_of
    from vidence.tables.terminal import Sheet

    console = screen(given.html, given.json_path, given.latex)
    outcome, report, entries = reported(
        given.folder, models=given.models, level=given.level, with_published=given.published
    )
    sentences = report.sentences
    title = outcome.file.study.title or outcome.file.folder.resolve().name
    facts = {"file": str(outcome.file.path), "sha256": outcome.file.sha256, "level": given.level}
    values = {"title": title, "study": outcome.file.study, **facts, "checklist": entries}

    def write_page(path: Path) -> None:
        page = Section(title=title, paragraphs=sentences, tables=(*report.tables, checklist_table(entries)))
        page.write_page(path, eyebrow="vidence study report", facts=(("Study", facts),))

    def as_json() -> bytes:
        return said_as_json("study report", sentences=sentences, tables=report.tables, values=values)

    write_asked(
        (given.html, write_page),
        (given.json_path, lambda path: write_file(path, as_json())),
        (
            given.latex,
            lambda path: write_file(path, latex_of(report.tables) + "\n" + checklist_latex(entries)),
        ),
    )
    sheet = Sheet(console)
    draw_section(Section(title=title, paragraphs=(*sentences, _ON_PAGE)), sheet)
    for section in report.sections:
        console.print()
        draw_section(section, sheet)


def study_of(folder: Path) -> Path | None:
    """Find the study of a panel's row of people: `folder` is the study folder, or a pattern in it."""
    for path in (folder, folder.parent.parent if folder.parent.name == PEOPLE_FOLDER else folder):
        if is_study(path):
            return path
    return None


def panel_section(folder: Path, *, level: float) -> "Section":
    """Summarize a study for a panel: participants, exclusions, and the reporting checklist.

    Raises:
        VidenceError: as for `open_study` and `report_of`.
    """
    from vidence.report.sections import Section
    from vidence.study.checklist import checklist_table, reported
    from vidence.study.report import participants_table

    outcome, report, entries = reported(folder, level=level)
    return Section(
        title=f"People: {outcome.file.study.title or folder.resolve().name}",
        paragraphs=report.sentences,
        tables=(participants_table(outcome), checklist_table(entries)),
    )
