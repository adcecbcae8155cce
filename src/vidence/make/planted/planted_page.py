"""The part of a page that shows questions made of planted material beside what was planted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vidence.ask.phantom.kitchen import Kitchen
from vidence.ask.phantom.kitchen_claims import n_done
from vidence.ask.phantom.street import LOOKS, Passer, Street
from vidence.ask.phantom.street_claims import n_counted
from vidence.make.cards.report_pictures import frames_sheet
from vidence.make.herbench.report_tables import stage_table
from vidence.make.pipeline.material import Draft
from vidence.make.planted.planted_making import LEAK_EVERY, Held, Planted, PlantedMaking
from vidence.media.video import Video, open_video
from vidence.report.sections import Picture, Section
from vidence.tables.format import DASH
from vidence.tables.table import Column, Row, Table

# Forms of question that are shown with the frames of their evidence.
_SHOWN: Final = (("RLPC", "entered"), ("MPDR", "order-in"), ("MPDR", "overlap"), ("MEGL", "exits"))
_N_SHOWN: Final = 2
_THUMB_PX: Final = 170
_MOST_FRAMES: Final = 12
_FACT = re.compile(r"([\d.]+) s to ([\d.]+) s \([\d.]+ s\), enters: (\S+), leaves: (\S+)")
_LISTED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)


def made_section(made: PlantedMaking) -> Section:
    """What was planted, what the made questions say, the account, leaks, and some questions as pictures."""
    n_right = sum(one.is_right for one in made.held)
    n = len(made.held)
    verdict = f"{n_right} of {n} questions say what was planted, and none of their wrong choices does."
    if n_right < n:
        verdict = f"{n - n_right} of {n} questions do not say what was planted: something is wrong."
    people = sum(len(street.passers) for street in made.planted.streets)
    deeds = sum(len(kitchen.deeds) for kitchen in made.planted.kitchens)
    paragraphs = (
        f"Two films were drawn for this page, with {people} figures that come and go through known edges at "
        f"known times, and a log of {deeds} things that are done in three kitchens was planted. "
        "From these the maker of HERBench's questions followed the figures, had a card written of each by a "
        "reader of their coats, and wrote questions. The boxes of the figures came from a file; who is who "
        "in them, it had to find out. Each choice of each question is read and held against the plan.",
        verdict,
        _leak_words(made),
    )
    return Section(
        title="Questions that were made",
        paragraphs=paragraphs,
        tables=(
            _by_form(made.held),
            _counts(made.held, made.planted),
            _people(made.held, made.planted),
            stage_table(made.account),
            _leaks(made.leaks),
        ),
        pictures=tuple(_pictures(made)),
    )


def _leak_words(made: PlantedMaking) -> str:
    gone = [is_gone for is_leak, is_gone in made.leaks if is_leak]
    return (
        f"Then every {LEAK_EVERY}th question was made to give its answer away, by a right choice longer than "
        f"all others, and all were put to the gate that asks without the video: it removed {sum(gone)} of "
        f"these {len(gone)}."
    )


def _text(key: str, title: str) -> Column:
    return Column(key=key, title=title, kind="text")


def _by_form(held: Sequence[Held]) -> Table:
    forms = sorted({(one.draft.task, one.draft.structure) for one in held})
    lines = []
    for task, structure in forms:
        some = [one for one in held if (one.draft.task, one.draft.structure) == (task, structure)]
        n_right = sum(one.is_right for one in some)
        values = (structure, len(some), f"{n_right} of {len(some)}")
        lines.append(Row(key=f"{task} {structure}", label=task, values=values))
    columns = (
        _text("form", "form"),
        Column(key="n", title="questions", kind="count"),
        _text("right", "say what was planted"),
    )
    return Table(
        name="made by form",
        title="Questions beside the plan",
        note="RLPC counts people, MPDR compares times, MEGL tells who is there and which edges they pass; "
        "AC counts what is done, ASII orders it, FAM names what was not done.",
        label=_text("task", "task"),
        columns=columns,
        rows=tuple(lines),
    )


def _counts(held: Sequence[Held], planted: Planted) -> Table:
    """Every number that was asked for: the planted one, and the choice that is called right."""
    lines = []
    for one in held:
        number = planted_number(one.draft, planted)
        if number is not None:
            asked = one.draft.question.split("?")[0] + "?"
            values = (asked, number, one.draft.choices[one.draft.answer_index])
            lines.append(Row(key=one.draft.draft_id, label=one.draft.video_id, values=values))
    columns = (
        _text("asked", "asked"),
        Column(key="planted", title="planted", kind="count"),
        _text("said", "the made question says"),
    )
    return Table(
        name="made counts",
        title="Counts",
        label=_text("video", "video"),
        columns=columns,
        rows=tuple(lines),
    )


def planted_number(draft: Draft, planted: Planted) -> int | None:
    """The number that a question asks for, by the plan; None where it asks for none."""
    street = _named(planted.streets, draft.video_id)
    if street is not None and draft.task == "RLPC":
        return n_counted(street, draft.question, structure=draft.structure)
    kitchen = _kitchen(planted.kitchens, draft.video_id)
    if kitchen is not None and draft.task == "AC" and draft.structure != "most-often":
        return n_done(kitchen, draft.question, structure=draft.structure)
    return None


def _named(streets: Sequence[Street], name: str) -> Street | None:
    return next((one for one in streets if one.name == name), None)


def _kitchen(kitchens: Sequence[Kitchen], name: str) -> Kitchen | None:
    return next((one for one in kitchens if one.name == name), None)


def _people(held: Sequence[Held], planted: Planted) -> Table:
    """When and where everybody comes and goes: as planted, and as the questions have it."""
    found = _facts(held)
    lines = []
    for street in planted.streets:
        for passer in street.passers:
            text = LOOKS[passer.look].words
            said = found.get((street.name, text.rstrip(".")))
            told = (DASH, DASH)
            if said is not None:
                told = (f"{said[0]} to {said[1]} s", f"{said[2]}, {said[3]}")
            values = (text.split(".")[0], *_plan_values(street, passer), *told)
            lines.append(Row(key=f"{street.name} {passer.look}", label=street.name, values=values))
    columns = (
        _text("who", "who"),
        Column(key="when", title="in view", group="planted", kind="text"),
        Column(key="ways", title="comes, goes", group="planted", kind="text"),
        Column(key="found when", title="in view", group="as questions have it", kind="text"),
        Column(key="found ways", title="comes, goes", group="as questions have it", kind="text"),
    )
    return Table(
        name="made people",
        title="People",
        note="Times of the first and the last frame. Who is there at the beginning or until the end has "
        "stayed. A dash: in no question.",
        label=_text("video", "video"),
        columns=columns,
        rows=tuple(lines),
    )


def _plan_values(street: Street, passer: Passer) -> tuple[str, str]:
    when = f"{street.start_s(passer):.2f} to {street.end_s(passer):.2f} s"
    return when, f"{passer.enters or 'stayed'}, {passer.leaves or 'stayed'}"


def _facts(held: Sequence[Held]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """What questions say for reviewers of whom they list: first and last second, edges."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for one in held:
        for i, text in enumerate(_LISTED.findall(one.draft.question), 1):
            fact = _FACT.search(one.draft.facts.get(f"person {i}", ""))
            if fact is not None:
                found[one.draft.video_id, text.rstrip(".")] = fact.groups()
    return found


def _leaks(leaks: Sequence[tuple[bool, bool]]) -> Table:
    lines = []
    for is_leak, name in ((True, "made to give the answer away"), (False, "as they were")):
        gone = [is_gone for leak, is_gone in leaks if leak == is_leak]
        lines.append(Row(key=name, label=name, values=(len(gone), sum(gone))))
    columns = (
        Column(key="n", title="tried", kind="count"),
        Column(key="gone", title="removed", kind="count"),
    )
    return Table(
        name="made leaks",
        title="Planted leaks and the gate that asks without the video",
        note="The gate asks whoever always takes the longest choice, in two orders of the choices; where a "
        "question is removed that was not made to leak, its right choice is the longest anyhow.",
        label=_text("what", "questions"),
        columns=columns,
        rows=tuple(lines),
    )


def _pictures(made: PlantedMaking) -> Iterator[Picture]:
    folder = made.folder / "videos"
    videos = {street.name: open_video(folder / f"{street.name}.mp4") for street in made.planted.streets}
    name, video = next(iter(videos.items()))
    times = [video.n_frames * i // 6 for i in range(1, 6)]
    strip = {i: f"{float(video.times_s[i]):.1f} s" for i in times}
    yield Picture(title=f"The film {name}", sheet=frames_sheet(video, strip, n_columns=5, thumb_px=_THUMB_PX))
    n_shown = 0
    for form in _SHOWN:
        draft = next((o.draft for o in made.held if (o.draft.task, o.draft.structure) == form), None)
        if draft is not None and n_shown < _N_SHOWN:
            n_shown += 1
            yield _question(draft, videos[draft.video_id])


def _question(draft: Draft, video: Video) -> Picture:
    frames: dict[int, str] = {}
    for span in draft.evidence[:_MOST_FRAMES]:
        if span.start_s is not None and span.end_s is not None:
            index = video.index_at((span.start_s + span.end_s) / 2)
            frames[index] = f"{float(video.times_s[index]):.1f} s"
    choices = (
        f"{letter}. {text}{'   (right)' if i == draft.answer_index else ''}"
        for i, (letter, text) in enumerate(zip("ABCDE", draft.choices, strict=True))
    )
    return Picture(
        title=f"A question of {draft.task} ({draft.structure}) with a frame of each span of its evidence",
        sheet=frames_sheet(video, frames, n_columns=5, thumb_px=_THUMB_PX),
        lines=(" ".join(draft.question.split("\n")), *choices),
    )
