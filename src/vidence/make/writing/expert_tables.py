"""Tables of an expert dataset: coverage, and findings."""

from collections import Counter
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Final

from vidence.make.writing.drafts import DraftRow, ExpertDraft
from vidence.make.writing.expert_pages import Page, page_of
from vidence.make.writing.subjects import Concept, Curriculum
from vidence.tables.table import DASH, RowSpec, Table, count, lines, number, tabulate

_STATES: Final = ("covered", "filmed", "open", "dropped")


def findings_table(rows: Sequence[DraftRow]) -> Table:
    """How often each kind of finding came up, by column; of how many rows."""
    findings = [entry for row in rows for entry in row.findings]
    counts = Counter((entry.column, entry.kind, entry.is_fault) for entry in findings)
    hit: dict[tuple[str, str], set[str]] = {}
    for finding in findings:
        hit.setdefault((finding.column, finding.kind), set()).add(finding.row_id)
    return tabulate(
        "findings",
        "What the checks found",
        label="cell",
        rows=(RowSpec("/".join(key), key[0], key) for key in sorted(hit)),
        measures=[
            number("kind", lambda key: key[1], kind="text"),
            count("faults", lambda key: counts[*key, True]),
            count("warnings", lambda key: counts[*key, False]),
            count("rows", lambda key: len(hit[key])),
        ],
        notes=["A fault keeps a draft out, a warning does not."],
    )


def concepts_table(curriculum: Curriculum, asked: Collection[str]) -> Table:
    """Concepts by chapter: covered, filmed but not covered, open, dropped or not usable.

    Args:
        curriculum: the concepts.
        asked: the ids of those that something is asked about.
    """
    usable = curriculum.usable
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for concept in curriculum.concepts:
        key = (concept.subject, concept.textbook, concept.chapter)
        state = (
            "dropped"
            if concept.concept_id not in usable
            else "covered"
            if concept.concept_id in asked
            else concept.state
        )
        counts.setdefault(key, Counter())[state] += 1
    return tabulate(
        "concepts",
        "Concepts by chapter",
        label="chapter",
        rows=(
            RowSpec("/".join(key), key[2] or DASH, mine, detail=", ".join(filter(None, key[:2])))
            for key, mine in counts.items()
        ),
        measures=[count(name, itemgetter(name)) for name in _STATES],
    )


def textbooks_table(concepts: Sequence[Concept], drafts: Sequence[ExpertDraft]) -> Table:
    """How many drafts rest on each textbook."""
    book_of = {concept.concept_id: concept.textbook for concept in concepts}
    counts = Counter(book_of[draft.concept_id] for draft in drafts if draft.concept_id in book_of)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tabulate(
        "textbooks",
        "Drafts by textbook",
        label="textbook",
        rows=(RowSpec(name, name or DASH, n) for name, n in ordered),
        measures=[count("drafts", int)],
    )


def counts_table(concepts: Sequence[Concept], drafts: Sequence[ExpertDraft], sources: Sequence[str]) -> Table:
    """Links, textbooks, clips by their number of questions, sources."""
    links = [link.url for draft in drafts for link in draft.knowledge]
    pages = [page_of(url) for url in links]
    books = {concept.concept_id: concept.textbook for concept in concepts}
    clips = Counter((draft.video, draft.start_s, draft.end_s) for draft in drafts)
    by_number = Counter(clips.values())
    values = {
        "drafts": len(drafts),
        "drafts without rationale": sum(not draft.steps for draft in drafts),
        "knowledge links": len(links),
        "distinct links": len(set(links)),
        "links not to Wikipedia": sum(not isinstance(page, Page) for page in pages),
        "links with a fragment": sum(isinstance(page, Page) and bool(page.fragment) for page in pages),
        "textbooks": len({books[draft.concept_id] for draft in drafts if draft.concept_id in books}),
        "sources": len(set(sources)),
        "clips": len(clips),
    } | {f"clips with {n} question{'s' * (n > 1)}": by_number[n] for n in sorted(by_number)}
    return tabulate(
        "counts",
        "What the drafts hold",
        label="",
        rows=lines(values.items()),
        measures=[count("n", int, "number")],
    )
