"""The order in which choices are shown, and asking again with other frames."""

from collections import Counter

import numpy as np
import pytest
from PIL import Image

from vidence.catalog import create
from vidence.contracts import Request
from vidence.engine import prepare
from vidence.engine.prepare import make_plan
from vidence.errors import UsageError
from vidence.records import Answered, Item, Reply, Unreadable

CHOICES = ["red", "green", "blue"]


def test_with_order_moves_the_letter_with_its_choice():
    item = Item(item_id="q", question="?", choices=("red", "green", "blue"), answer="C")
    moved = item.with_order((2, 0, 1))
    assert moved.choices == ("blue", "red", "green")
    assert moved.answer == "A"
    assert item.with_order(()) is item
    for wrong in [(0, 1), (0, 0, 1), (1, 2, 3)]:
        with pytest.raises(ValueError, match="not a permutation of 3 choices"):
            item.with_order(wrong)


def test_choices_are_shuffled_for_every_question_and_repeat_and_read_as_shown(bench, fake_model):
    bench.write(40, choices=CHOICES, answer="B")

    async def turn(request: Request) -> Reply:  # always green, wherever it stands
        at = request.prompt.choices.index("green")
        return Reply(text=f"Answer: {'ABC'[at]}")

    bench.run(fake_model(turn=turn), shuffle_choices=True, repeats=2)
    trials = bench.trials()
    assert all(t.score.value == 1.0 for t in trials)
    letters = Counter(t.score.outcome.answer for t in trials if isinstance(t.score.outcome, Answered))
    assert sum(letters.values()) == 80
    assert min(letters[letter] for letter in "ABC") > 12
    by_item = {}
    for trial in trials:
        by_item.setdefault(trial.item_id, set()).add(trial.choice_order)
    assert sum(len(orders) == 2 for orders in by_item.values()) > 20  # repeats have orders of their own


def test_the_order_does_not_depend_on_the_model_or_the_questions_around(bench, fake_model):
    bench.write(5, choices=CHOICES, answer="B")
    bench.run(fake_model(identity="one"), out="a", shuffle_choices=True)
    bench.run(fake_model(identity="two"), out="b", shuffle_choices=True, limit=2)
    bench.run(fake_model(identity="three"), out="c", shuffle_choices=True, seed=1)
    orders = {out: {t.item_id: t.choice_order for t in bench.trials(out)} for out in "abc"}
    assert orders["b"] == {item_id: orders["a"][item_id] for item_id in ("q0", "q1")}
    assert orders["a"] != orders["c"]
    assert all(sorted(order) == [0, 1, 2] for order in orders["a"].values())


def test_free_answers_have_no_order_and_by_default_nothing_is_shuffled(bench, fake_model):
    bench.write(2, choices=CHOICES, answer="B")
    bench.run(fake_model(), out="plain")
    assert [t.choice_order for t in bench.trials("plain")] == [(), ()]
    bench.write(2, choices=[], answer="red", answer_kind="text")
    bench.run(fake_model(), out="text", shuffle_choices=True)
    assert [t.choice_order for t in bench.trials("text")] == [(), ()]


def test_recorded_letters_are_not_read_in_another_order(bench, fake_model):
    bench.write(2, choices=CHOICES, answer="B")
    model = fake_model()
    model.recorded_ids = lambda: {"q0", "q1"}
    with pytest.raises(UsageError, match="--no-shuffle-choices"):
        bench.run(model, shuffle_choices=True)


def with_windows(kind, spec, **more):
    """Makes what is named, and `Windows` for every selector."""
    return Windows() if kind == "selector" else create(kind, spec, **more)


class Windows:
    """Shows one image of six; two others when asked again."""

    version = 1

    def select(self, clip, item, *, n_frames):
        return np.array([0])

    def again(self, clip, item, *, n_frames, retry):
        return np.array([retry]) if retry <= 2 else np.array([], np.int64)


@pytest.fixture
def clip_of_six(bench):
    folder = bench.folder / "clip"
    folder.mkdir()
    for i in range(6):
        Image.fromarray(np.full((20, 30, 3), 40 * i, np.uint8)).save(folder / f"{i}.png")
    bench.write(1, media=[{"path": "clip", "kind": "frames"}])
    return bench


@pytest.mark.parametrize(("readable_at", "n_asked", "shown"), [(1, 1, 0), (3, 3, 2), (9, 3, 2)])
def test_a_reply_that_cannot_be_read_is_asked_again_with_other_frames(
    clip_of_six, fake_model, monkeypatch, readable_at, n_asked, shown
):
    monkeypatch.setattr(prepare, "create", with_windows)
    model = fake_model(looks=True)

    async def turn(request: Request) -> Reply:
        return Reply(text="Answer: A" if len(model.asked) >= readable_at else "I cannot tell")

    model.turn = turn
    clip_of_six.run(model, in_real_time=True, strategy="retry?tries=3", layout="images")
    (trial,) = clip_of_six.trials()
    assert len(model.asked) == n_asked
    assert len({tuple(r.images) for r in model.asked}) == n_asked
    assert [ref.frame_index for ref in trial.selection.frames] == [shown]
    assert ("retry" in trial.selection.note) == (shown > 0)
    assert isinstance(trial.score.outcome, Answered if readable_at <= 3 else Unreadable)


def test_the_windows_of_all_retries_are_read_in_one_pass(clip_of_six, fake_model, monkeypatch):
    monkeypatch.setattr(prepare, "create", with_windows)
    model = fake_model(looks=True)

    async def turn(request: Request) -> Reply:
        return Reply(text="I cannot tell")

    model.turn = turn
    summary = clip_of_six.run(model, in_real_time=True, strategy="retry?tries=2")
    assert len(model.asked) == 3
    assert summary.decoding.n_passes == 1
    assert summary.decoding.n_decoded == 3


async def cannot_tell(request: Request) -> Reply:
    return Reply(text="I cannot tell")


def test_selectors_without_a_second_choice_are_asked_once(clip_of_six, fake_model):
    clip_of_six.run(model := fake_model(looks=True, turn=cannot_tell), in_real_time=True, strategy="retry")
    assert len(model.asked) == 1


def test_an_unknown_protocol_is_refused_with_the_known_ones(bench):
    bench.write(1)
    with pytest.raises(UsageError, match="Known: default"):
        make_plan("table", data=bench.folder, model="scripted:A", overrides={"protocol": "papre"})
