"""Statistics of a question set: lengths, videos, sources, evidence, letters, words, tags."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.records import Evidence, Item, by_key, source_noun
from vidence.report.sections import Section
from vidence.tables.export import csv_text
from vidence.tables.table import Column, Kind, Row, Table, Value, several

JSON_FORMAT = "vidence-described/1"
ANSWER_KIND, DURATION, N_EVIDENCE = "answer_kind", "duration", "n_evidence"
SUBJECT, TEXTBOOK, CHAPTER, CONCEPT = "subject", "textbook", "chapter", "concept"
OWN_TAGS = (ANSWER_KIND, DURATION, N_EVIDENCE)
"""Properties besides tags that can be cross-tabulated."""
MOST_VALUES = 60  # a tag with more different values names questions, and is only counted
# The bins of durations by their ends, in seconds.
_BINS: Mapping[float, str] = {
    60: "under 60 s",
    180: "60 to 180 s",
    600: "180 to 600 s",
    1800: "600 to 1800 s",
    math.inf: "1800 s and more",
}
_NOT_MEASURED = "not measured"
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_TOKEN = re.compile(rf"{_WORD.pattern}|[^\w\s]|_")
_ROUNDING_S = 0.05
_MOST_PROBLEMS = 5


@dataclass(frozen=True, kw_only=True)
class Described:
    """Statistics of a set as `tables` and `sentences`; `problems` lists faults."""

    name: str
    items: tuple[Item, ...]
    durations_s: Mapping[str, float]
    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """The items, with the seconds that each shows; None if not measured."""

    items: Sequence[Item]
    seconds: Mapping[str, float | None]


def describe(
    items: Sequence[Item],
    *,
    name: str,
    durations_s: Mapping[str, float] | None = None,
    crossed: Sequence[tuple[str, str]] = (),
) -> Described:
    """Return the statistics of a set.

    Words are separated by blanks. If a question uses a span of a video, that span counts.

    Args:
        items: one or more questions.
        name: of the set.
        durations_s: the seconds of videos by `Item.video_id`; others were not measured.
        crossed: pairs of tags to cross-tabulate; `OWN_TAGS` are permitted.

    Raises:
        UsageError: no question, or a crossed tag that no question has.

    Source: HERBench, sections 3.3 and 7.8; MMVU, table 2; HumanPCR, table 2.
    Departs: the papers do not say how words are counted; blanks give MMVU's printed means.
    """
    if not items:
        raise UsageError("there is no question to describe; loosen --where, or give another file")
    known = dict(durations_s or {})
    facts = _Facts(items=items, seconds={item.item_id: seconds_of(item, known) for item in items})
    tables = [words_table(items), counts_table(items), _videos_table(facts)]
    if any(item.evidence for item in items):
        tables.append(_evidence_table(facts))
    if letters := _letters_table(items):
        tables.append(letters)
    tables += [vocabulary_table(items), *_tag_tables(facts)]
    if any(TEXTBOOK in item.tags for item in items):
        tables.append(textbooks_table(items))
    for pair in crossed:
        counted = _crossed_table(facts, *pair)
        tables += [counted, _crossed_shares(counted)]
    return Described(
        name=name,
        items=tuple(items),
        durations_s=known,
        tables=tuple(tables),
        sentences=tuple(_sentences(facts)),
        problems=tuple(_outside(facts)),
    )


def seconds_of(item: Item, durations_s: Mapping[str, float]) -> float | None:
    """Return how long a question's media are; None if not measured or not a video."""
    if any(medium.kind != "video" for medium in item.media) or not item.media:
        return None
    spans = [(medium.start_s, medium.end_s) for medium in item.media]
    if all(end_s is not None for _, end_s in spans):
        return sum((end_s or 0.0) - (start_s or 0.0) for start_s, end_s in spans)
    whole = durations_s.get(item.video_id)
    return None if whole is None else whole - (spans[0][0] or 0.0 if len(spans) == 1 else 0.0)


def evidence_span_s(evidence: Sequence[Evidence]) -> float | None:
    """From the start of the first piece of evidence to the end of the last; None without times.

    Source: HERBench, section 3.3 (the mean is 101.1 s).
    Departs: no.

    >>> evidence_span_s([Evidence(start_s=8, end_s=9), Evidence(start_s=1, end_s=2)])
    8.0
    """
    starts = [entry.start_s for entry in evidence if entry.start_s is not None]
    ends = [entry.end_s for entry in evidence if entry.end_s is not None]
    return float(max(ends) - min(starts)) if starts and ends else None


def n_words(text: str) -> int:
    """How many words a text has: what blanks separate.

    >>> n_words("Who is  first?")
    3
    """
    return len(text.split())


def right_text(item: Item) -> str:
    """Return the right answer as text: the right choice's text, or a free answer."""
    if item.answer_kind != "choice" or not item.choices:
        return item.answer
    place = ord(item.answer) - ord("A") if len(item.answer) == 1 else -1
    return item.choices[place] if 0 <= place < len(item.choices) else item.answer


# --------------------------------------------------------------------------- lengths and counts


def _table(
    name: str, title: str, *, label: str, columns: Sequence[Column], rows: Sequence[Row], note: str = ""
) -> Table:
    return Table(name=name, title=title, label=label, columns=tuple(columns), rows=tuple(rows), note=note)


def _column(key: str, title: str = "", *, kind: Kind = "number", note: str = "") -> Column:
    return Column(key=key, title=title or key, kind=kind, note=note)


def _spread(values: Sequence[float]) -> tuple[Value, ...]:
    """Return mean, minimum and maximum; empty for no values."""
    if not values:
        return (None, None, None)
    return (sum(values) / len(values), min(values), max(values))


_SPREAD = (_column("mean"), _column("least", kind="count"), _column("most", kind="count"))


def words_table(items: Sequence[Item]) -> Table:
    """Return words and tokens of questions, options, answers and rationales.

    Source: HERBench, section 7.8 (65.5 tokens a question).
    Departs: the paper names no tokenizer; tokens are words and signs, each sign apart.
    """
    chosen = [item for item in items if item.choices]
    free = [item for item in items if not item.choices]
    parts: list[tuple[str, str, Sequence[str]]] = [("question", "question", [i.question for i in items])]
    if chosen and free:
        parts.append(("choice-question", "... with choices", [i.question for i in chosen]))
        parts.append(("open-question", "... open", [i.question for i in free]))
    parts.append(("option", "option", [text for i in chosen for text in i.choices]))
    parts.append(("choice-answer", "right option", [right_text(i) for i in chosen if i.answer]))
    parts.append(("open-answer", "open answer", [i.answer for i in free if i.answer]))
    parts.append(("rationale", "rationale", [i.rationale for i in items if i.rationale]))
    rows = [
        Row(
            key=key,
            label=label,
            values=(
                len(texts),
                *_spread([n_words(text) for text in texts]),
                _spread([len(_TOKEN.findall(text)) for text in texts])[0],
            ),
        )
        for key, label, texts in parts
        if texts
    ]
    note = "Words are separated by blanks; tokens are words and punctuation, not a model's tokens."
    columns = (_column("n", "texts", kind="count"), *_SPREAD, _column("tokens", "tokens, mean"))
    return _table("words", "Words", label="of", columns=columns, rows=rows, note=note)


def counts_table(items: Sequence[Item]) -> Table:
    """Return numbers of options, media, evidence and knowledge per question, and distinct values."""
    parts: list[tuple[str, str, Callable[[Item], Sequence[object]]]] = [
        ("options", "options", lambda item: item.choices),
        ("media", "media", lambda item: item.media),
        ("images", "images", lambda item: [medium for medium in item.media if medium.kind == "image"]),
        ("evidence", "pieces of evidence", lambda item: item.evidence),
        ("knowledge", "pieces of knowledge", lambda item: item.knowledge),
        ("steps", "steps of reasoning", lambda item: item.steps),
        ("hints", "hints", lambda item: item.hints),
    ]
    rows = []
    for key, label, of in parts:
        if having := [entries for item in items if (entries := of(item))]:
            different = len({msgspec.json.encode(value) for results in having for value in results})
            spread = _spread([len(results) for results in having])
            rows.append(Row(key=key, label=label, values=(len(having), *spread, different)))
    columns = (
        _column("n", "questions", kind="count", note="That have any"),
        *_SPREAD,
        _column("different", kind="count"),
    )
    note = "Questions without any are not counted."
    return _table("counts", "In a question", label="", columns=columns, rows=rows, note=note)


def _videos_table(facts: _Facts) -> Table:
    """Return questions per video and per source, and video lengths."""
    per_video = Counter(item.video_id for item in facts.items)
    per_source = Counter(item.source_id for item in facts.items)
    values = {item.video_id: facts.seconds[item.item_id] for item in facts.items}
    measured = [seconds for seconds in values.values() if seconds is not None]
    rows = [_row("videos", "questions per video", list(per_video.values()))]
    if source_noun(facts.items) == "source":
        rows.append(_row("sources", "questions per source", list(per_source.values())))
    note = ""
    if measured:
        rows.append(_row("seconds", "seconds of a video", measured))
    if len(measured) < len(values):
        note = (
            f"{len(measured):,} of {several(len(values), 'video')} measured; the others are not here or "
            "have no duration."
        )
    columns = (_column("n", "of", kind="count"), *_SPREAD, _column("sum", kind="count"))
    return _table("videos", "Videos", label="", columns=columns, rows=rows, note=note)


def _row(key: str, label: str, values: Sequence[float]) -> Row:
    return Row(key=key, label=label, values=(len(values), *_spread(values), sum(values)))


# --------------------------------------------------------------------------- evidence


def _bin(seconds: float | None) -> str:
    """The bin of a duration.

    >>> _bin(59.0), _bin(60.0), _bin(5000.0), _bin(None)
    ('under 60 s', '60 to 180 s', '1800 s and more', 'not measured')
    """
    if seconds is None:
        return _NOT_MEASURED
    return next(name for end, name in _BINS.items() if seconds < end)


def _evidence_table(facts: _Facts) -> Table:
    """Return amount and spread of evidence, by kind and by video length."""
    everything = [item for item in facts.items if item.evidence]
    groups: list[tuple[str, list[Sequence[Evidence]]]] = [("all", [item.evidence for item in everything])]
    kinds = sorted({evidence.kind for item in everything for evidence in item.evidence})
    for kind in kinds if len(kinds) > 1 else ():
        mine = [[e for e in item.evidence if e.kind == kind] for item in everything]
        groups.append((kind, [entries for entries in mine if entries]))
    for name in (*_BINS.values(), _NOT_MEASURED):
        some = [item.evidence for item in everything if _bin(facts.seconds[item.item_id]) == name]
        if some and len(some) < len(everything):
            groups.append((name, [*some]))
    rows = []
    for name, each in groups:
        spans = [span for entries in each if (span := evidence_span_s(entries)) is not None]
        counts = [len(entries) for entries in each]
        mean, _, most = _spread(spans)
        values = (len(each), sum(counts), *_spread(counts)[::2], mean, most)
        rows.append(Row(key=name, label=name, values=values))
    columns = (
        _column("n", "questions", kind="count"),
        _column("pieces", kind="count"),
        _column("mean", "a question, mean"),
        _column("most", kind="count"),
        _column("span", "span, mean s", note="From the first start to the last end"),
        _column("longest", "longest, s"),
    )
    note = "Stored evidence need not be necessary for the answer."
    return _table("evidence", "Evidence", label="evidence", columns=columns, rows=rows, note=note)


def _outside(facts: _Facts) -> Iterator[str]:
    """Yield evidence beyond the end of what is shown."""
    for item in facts.items:
        value, start_s = facts.seconds[item.item_id], item.media[0].start_s or 0.0 if item.media else 0.0
        ends = [evidence.end_s for evidence in item.evidence if evidence.end_s is not None]
        if value is not None and ends and max(ends) > start_s + value + _ROUNDING_S:
            yield (
                f"{item.item_id}: evidence until {max(ends):.1f} s, and what is shown ends at "
                f"{start_s + value:.1f} s"
            )


# --------------------------------------------------------------------------- letters, words, tags


def _letters_table(items: Sequence[Item]) -> Table | None:
    """Return how often each letter is right; None if no question has choices."""
    letters = Counter(item.answer for item in items if item.choices and item.answer)
    total = letters.total()
    if not total:
        return None
    rows = [Row(key=name, label=name, values=(n, n / total)) for name, n in sorted(letters.items())]
    columns = (_column("n", "right", kind="count"), _column("share", kind="share"))
    title = "Letters of the right answers"
    return _table("letters", title, label="letter", columns=columns, rows=rows)


def vocabulary_table(items: Sequence[Item]) -> Table:
    """Return numbers of distinct words, ignoring case and punctuation, and of those that occur once.

    Source: HERBench, section 7.8 (7.3 thousand word types).
    Departs: the paper does not say how it tells words apart.
    """
    texts = {
        "questions": [item.question for item in items],
        "options": [text for item in items for text in item.choices],
        "open answers": [item.answer for item in items if not item.choices],
    }
    texts["all"] = [text for some in texts.values() for text in some]
    rows = []
    for name, some in texts.items():
        if words := Counter(word.casefold() for text in some for word in _WORD.findall(text)):
            once = sum(n == 1 for n in words.values())
            rows.append(Row(key=name, label=name, values=(words.total(), len(words), once)))
    columns = (
        _column("words", kind="count"),
        _column("types", "different", kind="count"),
        _column("once", "there once", kind="count"),
    )
    note = "Case and punctuation are ignored."
    return _table("vocabulary", "Vocabulary", label="of", columns=columns, rows=rows, note=note)


def _values(facts: _Facts, tag: str) -> list[str | None]:
    """Return each question's value; None if it has none."""
    of: Mapping[str, Callable[[Item], str]] = {
        ANSWER_KIND: lambda item: item.answer_kind,
        DURATION: lambda item: _bin(facts.seconds[item.item_id]),
        N_EVIDENCE: lambda item: str(len(item.evidence)),
    }
    return [of[tag](item) if tag in of else item.tags.get(tag) for item in facts.items]


def _tag_tables(facts: _Facts) -> Iterator[Table]:
    """Yield a table per tag with few values: questions, videos, seconds, words and evidence."""
    names = dict.fromkeys(name for item in facts.items for name in item.tags)
    own = [ANSWER_KIND] if len({item.answer_kind for item in facts.items}) > 1 else []
    for name in (*own, *sorted(names)):
        pairs = zip(_values(facts, name), facts.items, strict=True)
        by_value = by_key((value, item) for value, item in pairs if value is not None)
        if len(by_value) <= MOST_VALUES and len(by_value) < sum(map(len, by_value.values())):
            yield _tag_table(facts, name, by_value)


def _tag_table(facts: _Facts, name: str, by_value: Mapping[str, Sequence[Item]]) -> Table:
    """Return a table with a row per value.

    Source: HumanPCR, figure 23 (pieces of evidence by domain and kind of question).
    Departs: the paper counts all questions; here those that have evidence.
    """
    n_all = sum(map(len, by_value.values()))
    has_evidence = any(item.evidence for item in facts.items)
    rows = []
    for value, some in sorted(by_value.items()):
        seconds = [number for item in some if (number := facts.seconds[item.item_id]) is not None]
        words = [n_words(item.question) for item in some]
        n_videos = len({item.video_id for item in some})
        known = [len(item.evidence) for item in some if item.evidence]
        pieces = _spread(known)[:1] if has_evidence else ()
        values = (len(some), len(some) / n_all, n_videos, _spread(seconds)[0], _spread(words)[0], *pieces)
        rows.append(Row(key=value, label=value, values=values))
    columns = (
        _column("n", "questions", kind="count"),
        _column("share", kind="share"),
        _column("videos", kind="count"),
        _column("seconds", "seconds, mean"),
        _column("words", "words, mean"),
        _column("evidence", "evidence, mean", note="Pieces, of questions with any"),
    )
    kept = columns if has_evidence else columns[:-1]
    missing = len(facts.items) - n_all
    note = f"{missing:,} questions lack it." if missing else ""
    return _table(f"tag-{name}", f"By {name}", label=name, columns=kept, rows=rows, note=note)


def textbooks_table(items: Sequence[Item]) -> Table:
    """Return, per textbook of a subject: questions, videos, and numbers of chapters and concepts.

    Source: MMVU, appendix A.2, tables 6 to 9 (the textbooks of each subject, by discipline).
    Departs: the paper lists the books without numbers.
    """
    tagged = [item for item in items if TEXTBOOK in item.tags]
    by_book = by_key(((item.tags.get(SUBJECT, ""), item.tags[TEXTBOOK]), item) for item in tagged)
    rows = []
    for (subject, book), some in sorted(by_book.items()):
        chapters, concepts = (
            {item.tags[name] for item in some if name in item.tags} for name in (CHAPTER, CONCEPT)
        )
        values = (len(some), len({item.video_id for item in some}), len(chapters), len(concepts))
        table = tuple(value or None for value in values)
        rows.append(Row(key=f"{subject}/{book}", label=book, detail=subject, values=table))
    columns = (
        *(_column("n", "questions", kind="count"), _column("videos", kind="count")),
        *(_column("chapters", kind="count"), _column("concepts", kind="count")),
    )
    n_without = len(items) - len(tagged)
    note = f"{n_without:,} questions name no textbook." if n_without else ""
    return _table(
        "textbooks", "By textbook of each subject", label=TEXTBOOK, columns=columns, rows=rows, note=note
    )


def _crossed_table(facts: _Facts, word: str, other: str) -> Table:
    """Return a cross table of two tags."""
    known = {name for item in facts.items for name in item.tags} | set(OWN_TAGS)
    for name in (word, other):
        if name not in known:
            raise UsageError(f"no question has the tag {name!r}; there are {', '.join(sorted(known))}")
    pairs = Counter(zip(_values(facts, word), _values(facts, other), strict=True))
    firsts, seconds = (sorted({str(pair[i]) for pair in pairs if None not in pair}) for i in (0, 1))
    if len(seconds) > MOST_VALUES:
        raise UsageError(
            f"the tag {other!r} has {len(seconds)} values; expected {MOST_VALUES} at most across a table. "
            "Name it first, or cross another one"
        )
    rows = [Row(key=a, label=a, values=tuple(pairs[a, b] for b in seconds)) for a in firsts]
    columns = [_column(b, kind="count") for b in seconds]
    title = f"{word} by {other}"
    return _table(f"crossed-{word}-{other}", title, label=word, columns=columns, rows=rows)


def _crossed_shares(counted: Table) -> Table:
    """Return the cross table as row shares, which can be plotted."""
    rows = []
    for row in counted.rows:
        counts = [value if isinstance(value, int) else 0 for value in row.values]
        total = sum(counts)
        shares = tuple(n / total if total else None for n in counts)
        rows.append(msgspec.structs.replace(row, values=shares))
    columns = tuple(msgspec.structs.replace(column, kind="share") for column in counted.columns)
    return msgspec.structs.replace(
        counted,
        name=f"{counted.name}-shares",
        title=f"{counted.title}, as shares of each row",
        columns=columns,
        rows=tuple(rows),
        figure="matrix",
    )


# --------------------------------------------------------------------------- in words, and in files


def _sentences(facts: _Facts) -> Iterator[str]:
    """Yield sentences for a datasheet."""
    items = facts.items
    n_videos = len({item.video_id for item in items})
    words = [n_words(item.question) for item in items]
    n_sources = len({item.source_id for item in items})
    sources = f" from {several(n_sources, 'source')}" if source_noun(items) == "source" else ""
    yield (
        f"{several(len(items), 'question')} about {several(n_videos, 'video')}{sources}; "
        f"{len(items) / n_videos:.1f} questions a video."
    )
    yield f"A question has {sum(words) / len(words):.1f} words on average and {max(words):,} at most."
    sentences = {item.video_id: facts.seconds[item.item_id] for item in items}
    measured = [seconds for seconds in sentences.values() if seconds is not None]
    if measured:
        yield (
            f"Videos last {sum(measured) / len(measured):.1f} s on average, {min(measured):.1f} to "
            f"{max(measured):.1f} s ({len(measured):,} of {n_videos:,} measured)."
        )
    else:
        yield "How long the videos are was not measured."
    if spans := [span for item in items if (span := evidence_span_s(item.evidence)) is not None]:
        counts = [len(item.evidence) for item in items if item.evidence]
        yield (
            f"Evidence is stored for {several(len(counts), 'question')}: {sum(counts) / len(counts):.1f} "
            f"pieces on average, {sum(spans) / len(spans):.1f} s from the first start to the last end."
        )


def section(described: Described) -> Section:
    """Return the statistics as a section of a page."""
    sentences, more = described.sentences, len(described.problems) - _MOST_PROBLEMS
    if described.problems:
        listed = "; ".join(described.problems[:_MOST_PROBLEMS])
        ending = f"; and {more:,} more" if more > 0 else ""
        sentences = (*sentences, f"Evidence outside of the video: {listed}{ending}.")
    return Section(title=described.name, paragraphs=sentences, tables=described.tables)


def write_described_csv(described: Described, path: Path) -> None:
    """Write one row per question: lengths, counts and tags.

    Raises:
        StoreError: the file cannot be written.
    """
    tags = sorted({name for item in described.items for name in item.tags})
    heading = ["item_id", "video_id", "source_id", "seconds", "question_words", "options", "option_words"]
    heading += ["answer_words", "evidence", "evidence_span_s", "knowledge", *(f"tag:{name}" for name in tags)]
    rows: list[list[str | float | None]] = [
        [
            *(item.item_id, item.video_id, item.source_id, seconds_of(item, described.durations_s)),
            *(n_words(item.question), len(item.choices)),
            sum(map(n_words, item.choices)) / len(item.choices) if item.choices else None,
            *(n_words(right_text(item)), len(item.evidence), evidence_span_s(item.evidence)),
            *(len(item.knowledge), *(item.tags.get(name) for name in tags)),
        ]
        for item in described.items
    ]
    write_file(path, csv_text([heading, *rows]))
