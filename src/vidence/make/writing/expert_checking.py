"""Machine checks of drafts: each finding has a cell, and is a fault or a warning.

Source: MMVU, sections 3.1 to 3.3, appendix A; HumanPCR, section 3.3, appendix B.3.1.
Departs: the papers had people look; which findings are faults, and the bounds, are ours (`DraftRules`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import combinations
from typing import Final, TypeAlias

from vidence.ask.files import near
from vidence.make.pipeline.english import content_words
from vidence.make.writing.draft_files import DraftRow, ExpertDraft, Finding
from vidence.make.writing.expert_config import REASONING, DraftRules, Form
from vidence.make.writing.expert_films import Film
from vidence.make.writing.expert_pages import Page, PageLook, page_of
from vidence.make.writing.subjects import Concept, Subject
from vidence.records import by_key
from vidence.text import letter_index, normal_form

Said: TypeAlias = tuple[str, str, bool, str]
"""Column, kind, whether it is a fault, text."""
FAULT: Final = True
WARNING: Final = False
_PSEUDONYM: Final = re.compile(r"\w[\w.-]{0,63}")
_LETTERS: Final = re.compile(r"[A-Z](?:\s*(?:,|;|/|&|and|or)\s*[A-Z])+")
_ROUNDING_S: Final = 0.05
_NOT_RELEASED: Final = frozenset({"no-chapter", "no-times", "few-steps"})
_NEEDED: Final = ("video", "question", "kind", "answer")


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The references of checks: rules, subjects, usable concepts and videos, reasons for unusable ones.

    `lengths_s` are those of videos, `published` their days, where known; `today` is when this is. `pages`
    are looks at pages by their names; empty: nobody looked. With `is_released` the drafts are a released
    file, which lacks what was not released.
    """

    rules: DraftRules
    form: Form
    subjects: Mapping[str, Subject]
    concepts: Mapping[str, Concept]
    films: Mapping[str, Film]
    concepts_gone: Mapping[str, str] = field(default_factory=dict)
    films_gone: Mapping[str, str] = field(default_factory=dict)
    lengths_s: Mapping[str, float] = field(default_factory=dict)
    published: Mapping[str, date] = field(default_factory=dict)
    today: date | None = None
    pages: Mapping[str, PageLook] = field(default_factory=dict)
    is_released: bool = False


def check_rows(rows: Sequence[DraftRow], shelf: Shelf) -> tuple[DraftRow, ...]:
    """Return the rows with all findings, in order; unreadable cells are unchanged."""
    among = by_key(_among(rows, shelf))
    return tuple(
        row
        if row.draft is None
        else _with(row, [*_of_draft(row.draft, shelf), *among.get(row.row_id, ())], shelf)
        for row in rows
    )


def _with(row: DraftRow, entries: Sequence[Said], shelf: Shelf) -> DraftRow:
    unread = row.unread - {"draft_id"}
    findings = [
        Finding(
            row_id=row.row_id,
            column=column,
            kind=kind,
            is_fault=is_fault and not (shelf.is_released and kind in _NOT_RELEASED),
            says=says,
        )
        for column, kind, is_fault, says in entries
        if column not in unread
    ]
    return replace(row, findings=(*row.findings, *findings))


def _of_draft(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    for column in _NEEDED:
        if not getattr(draft, column):
            yield column, "empty", FAULT, "the cell is empty; expected a value"
    yield from _concept(draft, shelf)
    yield from _choices(draft, shelf)
    yield from _clip(draft, shelf)
    yield from _film(draft, shelf)
    yield from _steps(draft, shelf)
    yield from _knowledge(draft, shelf)
    yield from _evidence(draft, shelf)
    if not shelf.is_released:
        yield from _author(draft, shelf)
    if shelf.form == "humanpcr-r":
        yield from _reasoning(draft, shelf)


# --------------------------------------------------------------------------- what it is about, and by whom


def _concept(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    column = "concept_id"
    if not draft.concept_id:
        yield column, "empty", FAULT, "the cell is empty; expected a concept"
        return
    concept = shelf.concepts.get(draft.concept_id)
    if concept is None and draft.concept_id in shelf.concepts_gone:
        why = shelf.concepts_gone[draft.concept_id]
        yield column, "concept-left-out", FAULT, f"{draft.concept_id!r} cannot be used: {why}"
    elif concept is None:
        known = near(draft.concept_id, list(shelf.concepts))
        yield column, "unknown-concept", FAULT, f"no concept {draft.concept_id!r};{known}"
    elif shelf.form == "mmvu":
        listed = shelf.subjects[concept.subject].textbooks
        if concept.textbook not in listed:
            yield column, "textbook-not-listed", FAULT, f"{concept.textbook!r} is none of {'; '.join(listed)}"
        if not concept.chapter:
            yield column, "no-chapter", FAULT, "the chapter of the textbook is not said"


def _author(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    if not draft.author:
        yield "author", "empty", FAULT, "the cell is empty; expected who wrote it: a pseudonym"
    elif not _PSEUDONYM.fullmatch(draft.author):
        yield "author", "no-pseudonym", FAULT, f"{draft.author!r}; expected letters, digits, dots, - and _"
    elif (concept := shelf.concepts.get(draft.concept_id)) is not None:
        allowed = shelf.subjects[concept.subject].authors
        if draft.author not in allowed:
            says = f"{draft.author} does not have {concept.subject}; authors: {', '.join(allowed) or 'none'}"
            yield "author", "author-without-subject", FAULT, says
    if draft.date and not _is_day(draft.date):
        yield "date", "no-day", FAULT, f"{draft.date!r}; expected a day such as 2026-01-31"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2026-01-31")


# --------------------------------------------------------------------------- question and answer


def right_place(draft: ExpertDraft) -> int | None:
    """Return the index of the right choice, by letter or unique text; else None."""
    if re.fullmatch(r"[A-Z]", draft.answer) and letter_index(draft.answer) < len(draft.choices):
        return letter_index(draft.answer)
    same = [i for i, choice in enumerate(draft.choices) if choice == draft.answer]
    return same[0] if len(same) == 1 else None


def answer_text(draft: ExpertDraft) -> str:
    """Return the right answer's text; empty if it is unclear."""
    if draft.kind != "choice":
        return draft.answer
    place = right_place(draft)
    return "" if place is None else draft.choices[place]


def _choices(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    if draft.kind == "open":
        if draft.choices:
            says = "an open question has none; say kind choice, or clear it"
            yield "choices", "choices-of-open", FAULT, says
        most, n = shelf.rules.most_answer_words, len(draft.answer.split())
        if most and n > most:
            yield "answer", "long-answer", WARNING, f"{n} words; the longest of the paper has {most}"
    elif draft.kind == "choice":
        yield from _of_choice(draft, shelf)
    yield from _given_away(draft)


def _of_choice(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    choices, wanted = draft.choices, shelf.rules.choices
    if len(choices) != wanted or not all(choices):
        n = sum(map(bool, choices))
        yield "choices", "not-enough-choices", FAULT, f"{n} choices; expected {wanted}, none of them empty"
    names = [re.sub(r"\s+", " ", choice).casefold() for choice in choices]
    same = next(
        (pair for pair in combinations(range(len(names)), 2) if names[pair[0]] == names[pair[1]]), None
    )
    if same is not None and names[same[0]]:
        says = f"{choices[same[0]]!r} is there twice; expected different ones"
        yield "choices", "same-choices", FAULT, says
    if draft.answer and right_place(draft) is None:
        if _LETTERS.fullmatch(draft.answer):
            yield "answer", "two-right", FAULT, f"{draft.answer!r}; expected the letter of one choice"
        else:
            says = f"{draft.answer!r} is neither a letter of a choice nor the words of one"
            yield "answer", "none-right", FAULT, says
    n_told, n_wrong = sum(map(bool, draft.misconception)), max(len(choices) - 1, 0)
    if n_told != n_wrong or len(draft.misconception) != n_wrong:
        says = f"{n_told} for {n_wrong} wrong choices; explain for each, in order, why it is tempting"
        yield "misconception", "no-misconception", WARNING, says


def _given_away(draft: ExpertDraft) -> Iterator[Said]:
    """Yield findings if the question or its first step contains the answer."""
    answer, question = normal_form(answer_text(draft)), normal_form(draft.question)
    if not answer:
        return
    others = [normal_form(choice) for choice in draft.choices if draft.kind == "choice"]
    n_named = sum(bool(other) and _stands(other, question) for other in others)
    if _stands(answer, question) and n_named < 2:
        yield "question", "answer-in-question", FAULT, f"the answer {answer_text(draft)!r} stands in it"
    elif draft.kind == "open" and answer in question:
        says = f"the answer {answer_text(draft)!r} stands in it as a part of another word"
        yield "question", "answer-in-question", WARNING, says
    is_telling = len(answer) > 1 and not answer.replace(" ", "").isdecimal()
    if len(draft.steps) > 1 and is_telling and _stands(answer, normal_form(draft.steps[0])):
        says = f"step 1 says the answer {answer_text(draft)!r}; begin with what is seen"
        yield "steps", "answer-in-first-step", FAULT, says


def _stands(words: str, text: str) -> bool:
    return f" {words} " in f" {text} "


# --------------------------------------------------------------------------- the clip


def _clip(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    if draft.video and draft.video not in shelf.films:
        if draft.video in shelf.films_gone:
            why = shelf.films_gone[draft.video]
            yield "video", "video-left-out", FAULT, f"{draft.video!r} cannot be used: {why}"
        else:
            says = f"no video {draft.video!r};{near(draft.video, list(shelf.films))}"
            yield "video", "unknown-video", FAULT, says
    if draft.start_s is None or draft.end_s is None:
        column = "start_s" if draft.start_s is None else "end_s"
        yield column, "no-times", FAULT, "the cell is empty; expected seconds from the beginning of the video"
        return
    length_s, span_s = shelf.lengths_s.get(draft.video), draft.end_s - draft.start_s
    if span_s <= 0:
        yield "end_s", "empty-clip", FAULT, f"from {draft.start_s:g} to {draft.end_s:g} s there is nothing"
    elif length_s is not None and draft.end_s > length_s + _ROUNDING_S:
        yield "end_s", "outside-video", FAULT, f"{draft.end_s:g} s; the video ends at {length_s:g} s"
    elif draft.video in shelf.films and length_s is None:
        yield "end_s", "length-unknown", WARNING, "the length of the video is unknown; set duration_s"
    most = shelf.rules.longest_clip_s
    if most and span_s > most:
        whole = length_s is not None and span_s > length_s - 1
        says = f"{span_s:g} s{', the whole video' if whole else ''}; the longest of the paper has {most:g} s"
        yield "end_s", "long-clip", WARNING, says


def _film(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    """Return findings on a video that is too short or old; unknown values are warnings."""
    rules, length_s = shelf.rules, shelf.lengths_s.get(draft.video)
    if draft.video not in shelf.films:
        return
    if rules.least_video_s and length_s is not None and length_s < rules.least_video_s - _ROUNDING_S:
        says = f"the video has {length_s:g} s; expected {rules.least_video_s:g} s or more"
        yield "video", "short-video", FAULT, says
    if not rules.most_age_days:
        return
    published = shelf.published.get(draft.video)
    written = date.fromisoformat(draft.date) if _is_day(draft.date) else shelf.today
    if published is None or written is None:
        yield "video", "date-unknown", WARNING, "the publication date is unknown; set published"
    elif (written - published).days > rules.most_age_days:
        age = f"{(written - published).days:,} days old on {written.isoformat()}"
        yield "video", "old-video", FAULT, f"it was {age}; expected {rules.most_age_days:g} at most"


# --------------------------------------------------------------------------- rationale, knowledge, evidence


def _steps(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    n, least = len(draft.steps), shelf.rules.least_steps
    if n < least:
        yield "steps", "few-steps", FAULT, f"{n} steps; expected {least} or more, one a line"


def _knowledge(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    n, least = len(draft.knowledge), shelf.rules.least_knowledge
    if n < least:
        yield "knowledge", "no-knowledge", FAULT, f"{n} pieces; expected {least} or more, each with its page"
    seen: set[str] = set()
    for link in draft.knowledge:
        if not link.url:
            if shelf.form == "mmvu":
                yield "knowledge", "no-link", FAULT, f"{link.title!r} has no page; expected title | address"
            continue
        page = page_of(link.url)
        if not isinstance(page, Page):
            yield "knowledge", page[0], FAULT, page[1]
            continue
        if page.fragment:
            yield "knowledge", "fragment", WARNING, f"{link.url!r} leads to a part of a page; it is kept"
        if page.name in seen:
            yield "knowledge", "repeated-link", WARNING, f"{page.title!r} is there twice"
        seen.add(page.name)
        yield from _looked_up(page, shelf.pages.get(page.name))


def _looked_up(page: Page, look: PageLook | None) -> Iterator[Said]:
    if look is None or look.outcome == "page":
        return
    at = f"{look.at:%Y-%m-%d}"
    if look.outcome == "missing":
        yield "knowledge", "page-missing", FAULT, f"{page.name} has no page (looked at {at})"
    elif look.outcome == "disambiguation":
        says = f"{page.name} only lists what the word may mean (looked at {at}); name the page that is meant"
        yield "knowledge", "page-disambiguation", FAULT, says
    elif look.outcome == "redirect":
        yield "knowledge", "page-redirect", WARNING, f"{page.name} leads on to {look.to!r} (looked at {at})"
    else:
        yield "knowledge", "page-unknown", WARNING, f"{page.name}: {look.why}"


def _evidence(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    for number, evidence in enumerate(draft.evidence, 1):
        if evidence.step is not None and not 0 <= evidence.step < len(draft.steps):
            says = f"piece {number} belongs to step {evidence.step + 1}; there are {len(draft.steps)}"
            yield "evidence", "unknown-step", FAULT, says
        if evidence.start_s is None or evidence.end_s is None or evidence.end_s <= evidence.start_s:
            says = f"piece {number}: say from when to when it is seen"
            yield "evidence", "evidence-without-times", FAULT, says
        elif draft.start_s is not None and draft.end_s is not None:
            before, behind = draft.start_s - evidence.start_s, evidence.end_s - draft.end_s
            if max(before, behind) > _ROUNDING_S:
                says = f"piece {number}, {evidence.start_s:g}-{evidence.end_s:g} s, is not inside the clip"
                yield "evidence", "evidence-outside-clip", FAULT, says


def _reasoning(draft: ExpertDraft, shelf: Shelf) -> Iterator[Said]:
    """Return findings on HumanPCR's further requirements: several pieces of evidence, each tied to a step."""
    rules = shelf.rules
    if len(draft.evidence) < rules.least_evidence:
        says = f"{len(draft.evidence)} pieces; expected {rules.least_evidence} or more"
        yield "evidence", "few-evidence", FAULT, says
    proactive = [entry for entry in draft.evidence if entry.kind == "proactive"]
    if len(proactive) < rules.least_proactive:
        says = f"{len(proactive)} proactive pieces; expected {rules.least_proactive} or more"
        yield "evidence", "no-proactive", FAULT, says
    if untied := [number for number, entry in enumerate(draft.evidence, 1) if entry.step is None]:
        yield "evidence", "untied-evidence", FAULT, f"piece {untied[0]} belongs to no step; say which"
    if draft.reasoning not in REASONING:
        says = f"{draft.reasoning!r}; expected one of {', '.join(REASONING)}"
        yield "reasoning", "no-reasoning-type", FAULT, says
    asked = content_words(draft.question)
    referred = frozenset().union(*(content_words(e.note) for e in draft.evidence if e.kind == "referred"))
    for evidence in proactive:
        if named := sorted((content_words(evidence.note) - referred) & asked):
            says = f"{', '.join(named)} of the evidence {evidence.note!r}, which is to be looked for"
            yield "question", "names-proactive", WARNING, says


# --------------------------------------------------------------------------- of several drafts together


def _among(rows: Sequence[DraftRow], shelf: Shelf) -> Iterator[tuple[str, Said]]:
    drafts = [(row.row_id, row.draft) for row in rows if row.draft is not None]
    rules = shelf.rules
    clips = Counter((draft.video, draft.start_s, draft.end_s) for _, draft in drafts)
    days = Counter((draft.author, draft.date) for _, draft in drafts)
    of_video: Counter[str] = Counter()
    for row_id, draft in drafts:
        if (
            draft.video
            and rules.most_per_clip
            and (n := clips[draft.video, draft.start_s, draft.end_s]) > rules.most_per_clip
        ):
            says = f"{n} questions about this clip; the paper has two or three"
            yield row_id, ("video", "many-about-a-clip", WARNING, says)
        if (
            rules.most_per_day
            and draft.author
            and draft.date
            and (n := days[draft.author, draft.date]) > rules.most_per_day
        ):
            says = f"{n} by {draft.author} on {draft.date}; advised are {rules.most_per_day} at most"
            yield row_id, ("date", "over-the-day", WARNING, says)
        of_video[draft.video] += 1
        if draft.video and rules.most_per_video and of_video[draft.video] > rules.most_per_video:
            says = f"number {of_video[draft.video]} about this video; the quota is {rules.most_per_video}"
            yield row_id, ("video", "over-quota", FAULT, says)
