"""What every diagnostic in the catalog must do."""

import inspect
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from subjects.simulated import Simulated, drive
from vidence import catalog
from vidence.catalog import create
from vidence.contracts import BoundedDiagnostic, Diagnostic, Examined
from vidence.errors import UsageError
from vidence.media.encode import Size
from vidence.records import Evidence, Failed, Item, Media, Record, Reply
from vidence.tables.charts import Statement
from vidence.tables.table import Table

NAMES = catalog.names("diagnostic")
DOCUMENTED = (
    "mrfs", "frame-shares", "selector-gap", "modality", "blind-panel", "budgets", "hints", "best-of-n",
    "self-refine", "repeats",
)  # fmt: skip
PLAN = {"selector": "midpoints", "n_frames": 8}
CHOICE = Item(
    item_id="q1",
    media=(Media(path="a.mp4"),),
    question="Which?",
    choices=("one", "two", "three"),
    answer="B",
    tags={"kind": "k"},
    evidence=(Evidence(start_s=1, end_s=2), Evidence(start_s=5, end_s=6)),
    hints=("Look up.", "Mind the hat.", "Somebody comes in."),
)
OPEN = Item(item_id="q2", media=(Media(path="b.mp4"),), question="What?", answer="B", answer_kind="text")


def make(name: str, **options: str) -> Diagnostic:
    return catalog.create("diagnostic", catalog.Spec(name=name, options=options))


def subject(one: Diagnostic, item: Item) -> Simulated:
    """The question with all frames that the diagnostic wants, one each half second."""
    return Simulated(
        item, {name: tuple(i / 2 for i in range(v.n_frames)) for name, v in one.views(**PLAN).items()}
    )


def examined(name: str, item: Item, says: str) -> Examined:
    one = make(name)
    driven = drive(one.examine(subject(one, item)), lambda ask: Reply(text=says))
    return Examined(item=item, finding=driven.made)


def said(name: str, found: Sequence[Examined]) -> tuple[Statement, ...]:
    return make(name).summarise(found, rng=np.random.default_rng(0), level=0.95)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_those_of_papers_say_where_they_come_from(name: str) -> None:
    text = inspect.getdoc(type(make(name))) or ""
    assert "Source:" in text
    assert "Departs:" in text


@pytest.mark.parametrize("name", NAMES)
class TestDiagnostic:
    def test_it_says_what_it_is_and_describes_its_options(self, name: str) -> None:
        one = make(name)
        assert one.name == name
        assert one.version >= 1
        assert issubclass(one.finding, Record)
        with pytest.raises(UsageError, match=rf"^the diagnostic '{name}' has no option") as refused:
            make(name, nonsense="1")
        settings = catalog.settings_type("diagnostic", name)
        known = ", ".join(sorted(settings.__struct_fields__)) if settings else "none"
        assert str(refused.value).endswith(f"Known options: {known}")
        settings = catalog.settings_type("diagnostic", name)
        for option in catalog.options_of(settings) if settings else ():
            assert option.help, option.name
            assert option.default is not None, option.name
        assert dict(make(name).models()) == {}

    def test_its_views_can_be_chosen_and_are_the_same_each_time(self, name: str) -> None:
        one = make(name)
        views = one.views(**PLAN)
        assert views
        for view in views.values():
            assert view.n_frames >= 1
            assert create("selector", view.selector)
            assert not view.size or Size.parse(view.size)
        assert dict(one.views(**PLAN)) == dict(make(name).views(**PLAN)) == dict(views)

    @pytest.mark.parametrize("says", ["B", "A", "?", "judge", "broken"])
    def test_it_finds_something_out_about_every_reply(self, name: str, says: str) -> None:
        one = make(name)
        flow = one.examine(subject(one, CHOICE))
        assert inspect.isgenerator(flow)
        driven = drive(flow, lambda ask: Reply(text=says))
        assert driven.rounds
        for ask in driven.asks:
            assert ask.model in ("", *one.models())
            is_alone = not ask.prompt.choices  # words of its own, in place of the question's
            assert ask.prompt.text.startswith("words: " if is_alone else CHOICE.question)
        assert type(driven.made) is one.finding
        assert msgspec.json.decode(msgspec.json.encode(driven.made), type=one.finding) == driven.made
        other = make(name)
        again = drive(other.examine(subject(other, CHOICE)), lambda ask: Reply(text=says))
        assert (again.made, again.rounds) == (driven.made, driven.rounds)

    @pytest.mark.parametrize("says", ["B", "A", "?", "same", "It may be any of them, since all look alike."])
    @pytest.mark.parametrize("item", [CHOICE, OPEN], ids=["choice", "open"])
    def test_it_says_how_often_it_asks_at_most(self, name: str, says: str, item: Item) -> None:
        one = make(name)
        assert isinstance(one, BoundedDiagnostic)
        try:
            driven = drive(one.examine(subject(one, item)), lambda ask: Reply(text=says))
        except UsageError:  # the question has nothing that it needs
            return
        assert len(driven.asks) <= one.most_asks(item, n_frames=8)

    def test_of_nothing_and_of_failures_it_says_little_but_does_not_fail(self, name: str) -> None:
        failed = Failed(stage="media", error="MediaError", message="gone")
        for found in ([], [Examined(item=CHOICE, finding=failed)]):
            statements = said(name, found)
            assert isinstance(statements, tuple)
            assert all(isinstance(one, Statement) for one in statements)
            assert not statements or isinstance(statements[0], Table)

    def test_it_sums_up_what_it_found_and_always_alike(self, name: str) -> None:
        failed = Failed(stage="media", error="MediaError", message="gone")
        found = [
            *(examined(name, msgspec.structs.replace(CHOICE, item_id=says), says) for says in "AB?"),
            Examined(item=OPEN, finding=failed),
        ]
        statements = said(name, found)
        first, *_ = statements
        assert isinstance(first, Table)
        assert first.rows
        assert all(isinstance(one, Statement) for one in statements)
        assert len({one.name for one in statements}) == len(statements)
        for one in statements:
            if isinstance(one, Table):
                assert all(len(entry.values) == len(one.columns) for entry in one.rows), one.name
        assert msgspec.json.encode(statements) == msgspec.json.encode(said(name, found))
