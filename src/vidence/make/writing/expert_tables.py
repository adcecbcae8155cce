"""What a set of expert drafts covers, and what is wrong with it, as tables."""

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
    found = [one for row in rows for one in row.findings]
    counts = Counter((one.column, one.kind, one.is_fault) for one in found)
    hit: dict[tuple[str, str], set[str]] = {}
    for one in found:
        hit.setdefault((one.column, one.kind), set()).add(one.row_id)
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
    for one in curriculum.concepts:
        key = (one.subject, one.textbook, one.chapter)
        state = (
            "dropped" if one.concept_id not in usable else "covered" if one.concept_id in asked else one.state
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
    book_of = {one.concept_id: one.textbook for one in concepts}
    counts = Counter(book_of[one.concept_id] for one in drafts if one.concept_id in book_of)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tabulate(
        "textbooks",
        "Drafts by textbook",
        label="textbook",
        rows=(RowSpec(name, name or DASH, n) for name, n in ordered),
        measures=[count("drafts", int)],
    )


def counts_table(concepts: Sequence[Concept], drafts: Sequence[ExpertDraft], sources: Sequence[str]) -> Table:
    """Links, textbooks, clips by their number of questions, sources."""
    links = [link.url for one in drafts for link in one.knowledge]
    pages = [page_of(url) for url in links]
    books = {one.concept_id: one.textbook for one in concepts}
    clips = Counter((one.video, one.start_s, one.end_s) for one in drafts)
    by_number = Counter(clips.values())
    values = {
        "drafts": len(drafts),
        "drafts without rationale": sum(not one.steps for one in drafts),
        "knowledge links": len(links),
        "distinct links": len(set(links)),
        "links not to Wikipedia": sum(not isinstance(one, Page) for one in pages),
        "links with a fragment": sum(isinstance(one, Page) and bool(one.fragment) for one in pages),
        "textbooks": len({books[one.concept_id] for one in drafts if one.concept_id in books}),
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
