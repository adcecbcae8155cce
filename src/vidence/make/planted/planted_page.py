"""The part of a page that shows questions made of planted material, and who was found in it."""

from collections.abc import Sequence

from vidence.make.herbench.report_tables import (
    number_column,
    plain_table,
    stage_table,
    structure_table,
    text_column,
)
from vidence.make.planted.planted_making import LEAK_EVERY, PlantedMaking, PlantedPerson
from vidence.report.sections import Section
from vidence.tables.table import Table


def made_section(made: PlantedMaking) -> Section:
    """What was planted, who was found, the account, and what became of leaks."""
    listed = [one for one in made.people if one.found is not None]
    n_right = sum(one.found == one.drawn for one in listed)
    verdict = f"{n_right} of {len(listed)} people in questions come and go when and where they were drawn."
    if n_right < len(listed):
        verdict += " Something is wrong."
    deeds = sum(len(kitchen.deeds) for kitchen in made.planted.kitchens)
    paragraphs = (
        f"Two films were drawn for this page, with {len(made.people)} figures that come and go through known "
        f"edges at known times, and a log of {deeds} things that are done in three kitchens was planted. "
        f"From these the maker of HERBench's questions made {len(made.drafts)}: it followed the figures, had "
        "a card written of each by a simulated model that sees their coats, and wrote questions. The boxes "
        "of the figures came from a file; who is who in them, it had to find out. The page of the making, "
        f"{'/'.join(made.page.parts[-3:])} beside this one, shows questions with frames of their evidence.",
        verdict,
        _leak_words(made),
    )
    return Section(
        title="Questions that were made",
        paragraphs=paragraphs,
        tables=(
            structure_table(made.drafts),
            _people(made.people),
            stage_table(made.account),
            _leaks(made.leaks),
        ),
    )


def _leak_words(made: PlantedMaking) -> str:
    gone = [is_gone for is_leak, is_gone in made.leaks if is_leak]
    return (
        f"Then every {LEAK_EVERY}th question was made to give its answer away, by a right choice longer than "
        f"all others, and all were put to the gate that asks without the video: it removed {sum(gone)} of "
        f"these {len(gone)}."
    )


def _people(people: Sequence[PlantedPerson]) -> Table:
    """When and where everybody comes and goes: as planted, and as the questions have it."""
    return plain_table(
        "made people",
        "People",
        (
            *(text_column("video"), text_column("who")),
            text_column("when", "in view", group="planted"),
            text_column("ways", "comes, goes", group="planted"),
            text_column("found when", "in view", group="as questions have it"),
            text_column("found ways", "comes, goes", group="as questions have it"),
        ),
        ((one.video_id, one.words.partition(".")[0], *_told(one.drawn), *_told(one.found)) for one in people),
        note="Times of the first and the last frame. Who is there at the beginning or until the end has "
        "stayed. A dash: in no question.",
        n_keys=2,
    )


def _told(seen: tuple[str, ...] | None) -> tuple[str | None, str | None]:
    """When somebody is in view, and which edges they pass."""
    return (None, None) if seen is None else (f"{seen[0]} to {seen[1]} s", f"{seen[2]}, {seen[3]}")


def _leaks(leaks: Sequence[tuple[bool, bool]]) -> Table:
    rows = []
    for is_leak, name in ((True, "made to give the answer away"), (False, "as they were")):
        gone = [is_gone for leak, is_gone in leaks if leak == is_leak]
        rows.append((name, len(gone), sum(gone)))
    return plain_table(
        "made leaks",
        "Planted leaks and the gate that asks without the video",
        (text_column("what", "questions"), number_column("n", "tried"), number_column("gone", "removed")),
        rows,
        note="The gate asks whoever always takes the longest choice, in two orders of the choices; where a "
        "question is removed that was not made to leak, its right choice is the longest anyhow.",
    )
