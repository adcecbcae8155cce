"""T* names objects and looks for them; what is seen comes from outside."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.prompting.templates import Templates
from vidence.ask.selection.search import Objects, SearchResult, SearchView
from vidence.ask.selection.tstar import Tstar, read_objects
from vidence.errors import DataError, UsageError
from vidence.records import ImagePart, Item, Reply

CLIP = timed_clip(np.arange(400) / 2, fps=2.0)  # 200 seconds
ITEM = Item(
    item_id="q1",
    question="What does the man put on the table?",
    answer="A",
    choices=("a cup", "a hat"),
    tags={"targets": "cup, man", "cues": "table"},
)
WORDS = Templates.load("plain")
IMAGES = [ImagePart(digest=f"{i}" * 64, width_px=8, height_px=8) for i in range(8)]
See = Callable[[SearchView], NDArray[np.float64]]


def make(**options: str) -> Tstar:
    return catalog.create("selector", catalog.Spec(name="tstar", argument="blip-itm:w", options=options))


def named(selector: Tstar, item: Item = ITEM) -> Objects:
    """What is looked for, where nobody is asked."""
    with pytest.raises(StopIteration) as done:
        next(selector.name_objects(item, [], words=WORDS))
    return done.value.value


def run(
    selector: Tstar, see: See, objects: Objects, *, n_frames: int = 4
) -> tuple[SearchResult, list[SearchView]]:
    searching = selector.search(CLIP, ITEM, objects=objects, n_frames=n_frames)
    views: list[SearchView] = []
    try:
        wanted = next(searching)
        while True:
            views.append(wanted)
            wanted = searching.send(see(wanted))
    except StopIteration as done:
        return done.value, views


def at(times: Mapping[float, float], *, elsewhere: float = 0.0) -> See:
    """Confidence of the first text at these times, and of everything else."""

    def see(wanted: SearchView) -> NDArray[np.float64]:
        table = np.full((len(wanted.positions), len(wanted.texts)), elsewhere)
        for row, position in enumerate(wanted.positions):
            table[row, 0] = times.get(float(CLIP.times_s[position]), elsewhere)
        return table

    return see


def test_the_question_is_looked_for_unless_something_is_named() -> None:
    assert named(make()) == Objects(targets=(ITEM.question,))
    assert named(make(query="question+choices")).targets == (f"{ITEM.question}\nA. a cup\nB. a hat",)
    assert named(make(objects="tags")) == Objects(targets=("cup", "man"), cues=("table",))
    given = make(targets="a dog| dog collar ", cues="leash")
    assert named(given) == Objects(targets=("a dog", "dog collar"), cues=("leash",))
    assert named(given).labels == ("a dog", "dog collar", "leash")


def test_a_model_is_asked_with_eight_uniform_frames() -> None:
    selector = make(objects="model:openai:x")
    assert selector.objects_from == "model:openai:x"
    assert selector.models == ("openai:x",)
    assert selector.overview(CLIP).tolist() == [25, 75, 125, 175, 225, 275, 325, 375]
    assert make().overview(CLIP).tolist() == []
    flow = selector.name_objects(ITEM, IMAGES, words=WORDS)
    (ask,) = next(flow)
    assert list(ask.prompt.parts[:8]) == IMAGES
    assert "8 frames" in ask.prompt.text
    assert ITEM.question in ask.prompt.text
    assert ask.prompt.template == WORDS.label("tstar-objects")
    assert ask.sampling.temperature == 0.0
    with pytest.raises(StopIteration) as done:
        flow.send([Reply(text="Targets: cup, hand \nCues: table, chair\n")])
    assert done.value.value == Objects(targets=("cup", "hand"), cues=("table", "chair"))


@pytest.mark.parametrize(
    "said",
    [
        "", "cup, hand", "Targets: cup", "Cues: table\nTargets: cup", "Targets: cup\nCues:",
        "Targets: none\nCues: table", "Sure!\nTargets: cup\nCues: table",
        "Targets: cup\nCues: table\nI hope this helps.",
    ],
)  # fmt: skip
def test_any_other_form_is_an_error(said: str) -> None:
    with pytest.raises(DataError, match=r"item 'q1': the model named no objects.*expected two lines"):
        read_objects(said, item_id="q1")
    assert read_objects("TARGETS: a cup\nCues: None", item_id="q").cues == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objects": "dogs"}, "expected question, tags, model"),
        ({"objects": "model:"}, "expected question, tags, model"),
        ({"cues": "leash"}, "cues without targets"),
        ({"targets": "dog", "objects": "tags"}, "give one of them"),
        ({"targets": " | "}, "expected different values"),
        ({"targets": "a dog|a dog"}, "expected different values"),
        ({"least": "2"}, "least"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make(**options)
    bare = Item(item_id="q2", question="?", answer="A")
    with pytest.raises(DataError, match="item 'q2' has no tag 'targets'"):
        next(make(objects="tags").name_objects(bare, [], words=WORDS))
    (tmp_path / "s.json").write_text('{"q1": [0.5]}')
    with pytest.raises(UsageError, match="objects with a file of scores"):
        catalog.create("selector", f"tstar?scores={tmp_path / 's.json'}&objects=tags")


def test_it_looks_at_mosaics_and_then_at_the_frame_alone() -> None:
    cup = Objects(targets=("cup",), cues=("table",))
    # the first mosaic: every 12th of 200 seconds, 16 of them
    found, views = run(make(side="4", ratio="1"), at({24.0: 0.9}), cup)
    assert len(views) == 2
    assert views[0].positions.tolist() == [24 * i for i in range(16)]
    assert (views[0].width_px, views[0].height_px, views[0].side) == (200, 95, 4)
    assert views[0].texts == ("cup", "table")
    assert views[1].positions.tolist() == [48]
    assert (views[1].width_px, views[1].height_px, views[1].side) == (600, 285, 1)
    assert found.positions[0] == 48
    assert set(found.positions[:3].tolist()) == {46, 48, 50}  # a second before and after
    assert found.note == "looked for cup near table in 16 of 200 frames"


def test_it_looks_at_no_more_than_its_share_and_says_what_it_missed() -> None:
    found, views = run(make(side="4", ratio="0.2"), at({}), Objects(targets=("cup",)))
    assert [len(one.positions) for one in views] == [16, 16, 16]  # 40 of 200, in whole mosaics
    assert len({p for one in views for p in one.positions.tolist()}) == 48
    assert found.note == "looked for cup in 48 of 200 frames; not found: cup"
    # nothing was seen: the middles of four quarters of 200 seconds
    assert sorted(found.positions.tolist()) == [50, 150, 250, 350]


def test_what_an_embedder_is_unsure_of_counts_as_not_seen_and_the_seed_decides() -> None:
    cup = Objects(targets=("cup",))
    _, views = run(make(side="4", ratio="0.08"), at({24.0: 0.4}, elsewhere=0.09), cup)
    assert [one.side for one in views] == [4, 1]
    _, views = run(make(side="4", ratio="0.08", least="0.05"), at({24.0: 0.4}, elsewhere=0.09), cup)
    assert [one.side for one in views] == [4, *[1] * 16]

    def frames(**options: str) -> list[list[int]]:
        _, views = run(make(side="4", ratio="0.5", **options), at({}), Objects(targets=("cup",)))
        return [one.positions.tolist() for one in views]

    assert frames() == frames(seed="0")
    assert frames() != frames(seed="1")
    with pytest.raises(StopIteration) as done:
        next(make().search(timed_clip(np.zeros(0), fps=0.0), ITEM, objects=cup, n_frames=4))
    assert done.value.value.positions.tolist() == []


def test_fewer_frames_are_the_beginning_of_more() -> None:
    cup = Objects(targets=("cup",))
    for pick in ("best", "drawn"):
        whole, _ = run(make(side="4", pick=pick), at({24.0: 0.9}), cup, n_frames=12)
        part, _ = run(make(side="4", pick=pick), at({24.0: 0.9}), cup, n_frames=5)
        assert whole.positions[:5].tolist() == part.positions.tolist()


@pytest.mark.parametrize("bad", [-0.2, 1.5, float("nan")])
def test_scores_that_are_no_confidences_are_refused(bad: float) -> None:
    with pytest.raises(DataError, match=r"item 'q1': .*T\* takes the confidences of a detector"):
        run(make(), at({0.0: bad}), Objects(targets=("cup",)))
