"""Checked drafts as items, and as a review shows them."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

import msgspec
import numpy as np

from vidence.ask.benchmarks.paper_facts import known_names
from vidence.make.gates.letters import names_choices
from vidence.make.gates.licences import LicenceCheck
from vidence.make.writing.draft_files import DraftRow, ExpertDraft
from vidence.make.writing.expert_checking import right_place
from vidence.make.writing.expert_config import REASONING
from vidence.make.writing.expert_films import Film, Length
from vidence.make.writing.expert_pages import Page, page_of
from vidence.make.writing.subjects import Concept, Curriculum, Subject
from vidence.records import Item, Media, Provenance
from vidence.tables.table import DASH, RowSpec, Table, count, lines, tabulate, words

_STATES: Final = ("covered", "filmed", "open", "dropped")


def findings_table(rows: Sequence[DraftRow]) -> Table:
    """Return the frequency of each kind of finding, by column, over rows."""
    findings = [entry for row in rows for entry in row.findings]
    counts = Counter((entry.column, entry.kind, entry.is_fault) for entry in findings)
    hit = Counter(key[:2] for key in {(f.column, f.kind, f.row_id) for f in findings})
    return tabulate(
        "findings",
        "What the checks found",
        label="cell",
        rows=(RowSpec("/".join(key), key[0], key) for key in sorted(hit)),
        measures=[
            words("kind", lambda key: key[1]),
            count("faults", lambda key: counts[*key, True]),
            count("warnings", lambda key: counts[*key, False]),
            count("rows", lambda key: hit[key]),
        ],
        notes=["A fault keeps a draft out, a warning does not."],
    )


def concepts_table(curriculum: Curriculum, asked: Collection[str]) -> Table:
    """Return concepts by chapter: covered, filmed, open, dropped or unusable.

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
    """Return the number of drafts per textbook."""
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
    """Return numbers of links, textbooks, clips by number of questions, and sources."""
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


OPEN_TAG = "left_open"
MADE_BY = "vidence make expert 1"


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The basis of a draft; `licence` is the passing check of its video, None without one."""

    concept: Concept
    subject: Subject
    film: Film
    length: Length
    licence: LicenceCheck | None

    @property
    def provenance(self) -> Provenance:
        """Return the video's origin and licence: by the check, or as its record states."""
        licence = self.film.licence
        if self.licence is not None:
            licence = f"{self.licence.licence}, as declared on {self.licence.at:%Y-%m-%d}"
        return Provenance(source=self.film.url.strip() or self.film.path, licence=licence, maker=MADE_BY)


def item_of(draft: ExpertDraft, ground: Ground, *, benchmark: str) -> Item:
    """Return a valid draft as an item; its media path is relative to the media folder."""
    place = right_place(draft) if draft.kind == "choice" else None
    tags = {
        "subject": ground.subject.subject,
        "discipline": ground.subject.discipline,
        "textbook": ground.concept.textbook,
        "chapter": ground.concept.chapter,
        "concept": draft.concept_id,
        "question_type": "multiple-choice" if draft.kind == "choice" else "open-ended",
        "reasoning": draft.reasoning,
    }
    if draft.reasoning in REASONING:
        name = known_names("humanpcr", "reasoning").read("reasoning", draft.reasoning)
        tags |= {"level": "reasoning", "reasoning": name, "domain": ground.subject.discipline}
    film = ground.film
    return Item(
        item_id=draft.draft_id,
        benchmark=benchmark,
        media=(
            Media(
                path=film.path or None,
                url=film.url.strip() or None,
                start_s=draft.start_s,
                end_s=draft.end_s,
                sha256=ground.length.sha256 or None,
            ),
        ),
        source=film.source,
        question=draft.question,
        choices=draft.choices,
        answer=draft.answer if place is None else chr(ord("A") + place),
        answer_kind="choice" if draft.kind == "choice" else "text",
        tags={name: value for name, value in tags.items() if value},
        evidence=draft.evidence,
        rationale="\n".join(f"{n}. {step}" for n, step in enumerate(draft.steps, 1)),
        steps=draft.steps,
        knowledge=tuple(link.url for link in draft.knowledge),
        provenance=ground.provenance,
    )


def shuffled(item: Item, *, seed: int) -> Item:
    """Return the question with choices in an order drawn from the seed and its id.

    Questions whose words name letters or other choices stay as they are.
    """
    if item.answer_kind != "choice" or names_choices(item):
        return item
    drawn = hashlib.sha256(f"{seed}/{item.item_id}".encode()).digest()
    order = np.random.default_rng(list(drawn)).permutation(len(item.choices))
    return item.with_order(tuple(int(i) for i in order))


def to_review(item: Item, draft: ExpertDraft, *, author: str) -> dict[str, object]:
    """Return a question as a review stores it: without provenance, with the author's remarks.

    That is who wrote it, how long that took, and by choice why somebody would take a wrong one.
    """
    content: dict[str, object] = dict(msgspec.to_builtins(item))
    content.pop("provenance", None)
    content["author"] = author
    if draft.minutes is not None:
        content["minutes"] = draft.minutes
    place = right_place(draft)
    wrong = [choice for i, choice in enumerate(draft.choices) if i != place]
    if values := {choice: why for choice, why in zip(wrong, draft.misconception, strict=False) if why}:
        content["misconception"] = values
    return content


def marked_open(items: Sequence[Item], open_at: Mapping[str, Sequence[str]]) -> tuple[Item, ...]:
    """Return the questions, tagging those left open by gates with ``left_open``."""
    return tuple(
        msgspec.structs.replace(item, tags={**item.tags, OPEN_TAG: ", ".join(open_at[item.item_id])})
        if open_at.get(item.item_id)
        else item
        for item in items
    )
