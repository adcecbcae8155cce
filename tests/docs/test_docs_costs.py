"""The table of diagnostics gives the most asks of each, as declared; some reader is asked as often."""

import itertools
import re

import msgspec
import pytest

from subjects.simulated import Simulated, drive, times_shown
from vidence import catalog
from vidence.contracts import SetDiagnostic
from vidence.records import Evidence, Item, Media, Reply

N_FRAMES = 16
ITEM = Item(
    item_id="q1",
    media=(Media(path="a.mp4"),),
    question="Which?",
    choices=("one", "two", "three", "four"),
    answer="B",
    evidence=tuple(Evidence(start_s=i, end_s=i + 0.4) for i in range(N_FRAMES)),
    hints=("Look up.", "Mind the hat.", "A man comes in."),
)
AT_MOST = re.compile(r"^\| \[`([\w-]+)`\].*\| (\d+) \|$", re.MULTILINE)
SELECTOR = "midpoints"


OTHER = msgspec.structs.replace(
    ITEM, item_id="q2", media=(Media(path="b.mp4"),), hints=("Look down.", "Mind the dog.", "It rains.")
)


def asked(name, answers):
    one = catalog.create("diagnostic", catalog.Spec(name=name))
    if isinstance(one, SetDiagnostic):
        one = one.of_items([ITEM, OTHER])
    views = one.views(selector=SELECTOR, n_frames=N_FRAMES)
    times = {key: tuple(i + 0.1 for i in range(view.n_frames)) for key, view in views.items()}
    subject = Simulated(ITEM, times)
    return len(drive(one.examine(subject), answers).asks)


def readers():
    """Answers right from n frames on, answers at full length, and answers that never repeat."""

    def right_from(n):
        return lambda ask: Reply(text="B" if len(times_shown(ask)) >= n else "A")

    yield from (right_from(n) for n in range(N_FRAMES + 2))
    counter = itertools.count()

    def wordy(ask):
        if "words:" in ask.prompt.text:
            return Reply(text="nonsense")
        return Reply(text="B", reasoning=f"It is number {next(counter)} since many things can be seen there.")

    yield wordy
    yield lambda ask: Reply(text=f"B{next(counter)}")


@pytest.mark.parametrize("name", catalog.names("diagnostic"))
def test_the_most_asks_of_the_table_are_declared_and_reached(page, name):
    shown = dict(AT_MOST.findall(page["docs/diagnostics/index.md"].text))
    declared = catalog.create("diagnostic", catalog.Spec(name=name)).most_asks(ITEM, n_frames=N_FRAMES)
    assert declared == int(shown[name])
    assert max(asked(name, answers) for answers in readers()) == declared
