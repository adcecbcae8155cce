"""The part of a page that shows questions made of planted material beside what was planted."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from vidence.ask.phantom.looks import LOOKS
from vidence.make.herbench.report_tables import (
    number_column,
    plain_table,
    stage_table,
    text_column,
)
from vidence.make.pipeline.material import Draft
from vidence.make.planted.kitchen_claims import n_done
from vidence.make.planted.planted_making import LEAK_EVERY, Planted, PlantedCase, PlantedMaking
from vidence.make.planted.street_claims import n_counted
from vidence.report.sections import Section
from vidence.tables.table import Table

_FACT = re.compile(r"([\d.]+) s to ([\d.]+) s \([\d.]+ s\), enters: (\S+), leaves: (\S+)")
_LISTED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)


def made_section(made: PlantedMaking) -> Section:
    """What was planted, what the made questions say, the account and leaks."""
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
        "simulated model that sees their coats, and wrote questions. The boxes of the figures came from a "
        "file; who is who in them, it had to find out. Each choice of each question is read and held against "
        f"the plan. The page of the making, {'/'.join(made.page.parts[-3:])} beside this one, shows them "
        "with frames of their evidence.",
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
    )


def _leak_words(made: PlantedMaking) -> str:
    gone = [is_gone for is_leak, is_gone in made.leaks if is_leak]
    return (
        f"Then every {LEAK_EVERY}th question was made to give its answer away, by a right choice longer than "
        f"all others, and all were put to the gate that asks without the video: it removed {sum(gone)} of "
        f"these {len(gone)}."
    )


def _by_form(held: Sequence[PlantedCase]) -> Table:
    by_form: dict[tuple[str, str], list[PlantedCase]] = defaultdict(list)
    for one in held:
        by_form[one.draft.task, one.draft.structure].append(one)
    return plain_table(
        "made by form",
        "Questions beside the plan",
        (
            *(text_column("task"), text_column("form"), number_column("n", "questions")),
            text_column("right", "say what was planted"),
        ),
        (
            (*form, len(some), f"{sum(one.is_right for one in some)} of {len(some)}")
            for form, some in sorted(by_form.items())
        ),
        note="RLPC counts people, MPDR compares times, MEGL tells who is there and which edges they pass; "
        "AC counts what is done, ASII orders it, FAM names what was not done.",
        n_keys=2,
    )


def _counts(held: Sequence[PlantedCase], planted: Planted) -> Table:
    """Every number that was asked for: the planted one, and the choice that is called right."""
    numbers = [(one.draft, planted_number(one.draft, planted)) for one in held]
    return plain_table(
        "made counts",
        "Counts",
        (
            *(text_column("video"), text_column("asked"), number_column("planted")),
            text_column("said", "the made question says"),
        ),
        (
            (d.video_id, d.question.split("?")[0] + "?", number, d.choices[d.answer_index])
            for d, number in numbers
            if number is not None
        ),
        n_keys=2,
    )


def planted_number(draft: Draft, planted: Planted) -> int | None:
    """The number that a question asks for, by the plan; None where it asks for none."""
    street = next((one for one in planted.streets if one.name == draft.video_id), None)
    if street is not None and draft.task == "RLPC":
        return n_counted(street, draft.question, structure=draft.structure)
    kitchen = next((one for one in planted.kitchens if one.name == draft.video_id), None)
    if kitchen is not None and draft.task == "AC" and draft.structure != "most-often":
        return n_done(kitchen, draft.question, structure=draft.structure)
    return None


def _people(held: Sequence[PlantedCase], planted: Planted) -> Table:
    """When and where everybody comes and goes: as planted, and as the questions have it."""
    found = _facts(held)
    rows = []
    for street in planted.streets:
        for passer in street.passers:
            text = LOOKS[passer.look].words
            said = found.get((street.name, text.rstrip(".")))
            told = (None, None) if said is None else (f"{said[0]} to {said[1]} s", f"{said[2]}, {said[3]}")
            when = f"{street.start_s(passer):.2f} to {street.end_s(passer):.2f} s"
            ways = f"{passer.enters or 'stayed'}, {passer.leaves or 'stayed'}"
            rows.append((street.name, text.split(".")[0], when, ways, *told))
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
        rows,
        note="Times of the first and the last frame. Who is there at the beginning or until the end has "
        "stayed. A dash: in no question.",
        n_keys=2,
    )


def _facts(held: Sequence[PlantedCase]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """What questions say for reviewers of whom they list: first and last second, edges."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for one in held:
        for i, text in enumerate(_LISTED.findall(one.draft.question), 1):
            fact = _FACT.search(one.draft.facts.get(f"person {i}", ""))
            if fact is not None:
                found[one.draft.video_id, text.rstrip(".")] = fact.groups()
    return found


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
