"""Readers of hints are right where it is planted, with and without frames."""

import pytest

from vidence.contracts import Ask
from vidence.explain.planted import hint_readers
from vidence.records import Aside

SUBJECTS = hint_readers.subjects(10)


def share(reader, *, level, positions=None):
    """How many of ten questions are right with the first so many hints."""

    def says(subject):
        said = "\n".join(subject.item.hints[:level])
        more = Aside(name="hints", said={"hints": said}) if level else ""
        ask = Ask(prompt=subject.prompt("plan", positions, more=more))
        return hint_readers.answering(reader)(subject.item)(ask).text == subject.item.answer

    return sum(map(says, SUBJECTS)) / 10


@pytest.mark.parametrize(
    ("reader", "by_level", "blind"),
    [
        (hint_readers.searcher, (0.3, 0.3, 0.3, 0.7), 0.0),
        (hint_readers.climber, (0.3, 0.4, 0.5, 0.7), 0.0),
        (hint_readers.parrot, (0.3, 0.3, 0.3, 1.0), 1.0),
        (hint_readers.swayed, (0.3, 0.6, 0.6, 0.6), 0.6),
    ],
)
def test_each_level_has_its_planted_share(reader, by_level, blind):
    assert tuple(share(reader, level=level) for level in range(4)) == by_level
    assert share(reader, level=3, positions=[]) == blind


def test_frames_of_the_evidence_help_who_searches():
    ask = Ask(prompt=SUBJECTS[4].prompt("evidence"))
    assert hint_readers.searcher(SUBJECTS[4].item, ask)
    assert not hint_readers.searcher(SUBJECTS[8].item, ask)
