"""Between what is written, the content of a revision, and a question of our format."""

import msgspec
import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.errors import DataError
from vidence.make.review.revisions import new_revision
from vidence.records import Item, Media
from vidence.studio.bridge.items import Subject, annotations_of, content_of, item_of, wording_of
from vidence.studio.rules.wording import Condition, Knowledge, Mark, Option, Wording

AT = "2026-11-22T09:30:00.000000Z"
FILM = Media(path="clips/kitchen.mp4")
WRITTEN = Wording(
    question="Which cup is filled second?",
    language="en",
    right=Option(id="r", text="the red one", category="colour"),
    wrong=(
        Option(id="w1", text="the blue one", category="colour", why="it is filled first"),
        Option(id="w2", text="the green one"),
        Option(id="w3", text="none"),
    ),
    reasoning="causal",
    steps=("A kettle is lifted.", "The red cup is filled."),
    evidence=(
        Mark(kind="referred", start="1.5", end="2", text="the kettle", steps="1"),
        Mark(kind="proactive", start="0:03", end="4.25", text="the cup", steps="1, 2"),
    ),
    conditions=(Condition(text="filled second", skill="temporal", at="41", note="a red cup, too"),),
    knowledge=(Knowledge(title="Kettle", url="https://en.wikipedia.org/wiki/Kettle"),),
    hints=("Something is poured.",),
    subject="Cooking",
    start="1",
    end="20.5",
)


def made(written=WRITTEN, **more):
    said = {"item_id": "q1", "media": (FILM,), "seed": 7, "form": "mmvu", **more}
    return content_of(written, Subject(**said))


def revision(content):
    return new_revision("q1", content, parent=None, origin="submit", by="ann", at=AT)


def test_a_wording_becomes_a_question_and_comes_back():
    found = wording_of(made())
    assert found == msgspec.structs.replace(
        WRITTEN, evidence=(WRITTEN.evidence[0], msgspec.structs.replace(WRITTEN.evidence[1], start="3"))
    )
    one = revision(made(source="the long breakfast"))
    item = item_of(one)
    assert item.choices[ord(item.answer) - ord("A")] == "the red one"
    assert sorted(item.choices) == sorted(["the red one", "the blue one", "the green one", "none"])
    assert (item.media[0].start_s, item.media[0].end_s) == (1.0, 20.5)
    assert [(e.kind, e.start_s, e.end_s, e.step) for e in item.evidence] == [
        ("referred", 1.5, 2.0, 0),
        ("proactive", 3.0, 4.25, 0),
    ]
    assert (item.source, item.tags["language"]) == ("the long breakfast", "en")
    row = annotations_of(one)
    assert row.revision == one.sha256
    assert row.annotations.evidence[1].steps == (0, 1)
    assert [one.text for one in row.annotations.options] == [""] * 4
    assert row.misconception == {"the blue one": "it is filled first"}
    assert [item.choices[p] for p in (row.annotations.order.index(i) for i in range(4))] == [
        *("the red one", "the blue one", "the green one", "none")
    ]
    orders = {tuple(made(seed=seed)["choices"]) for seed in range(12)}
    assert len(orders) > 4
    assert made(seed=3) == made(seed=3)


def test_an_open_question_has_no_options():
    one = revision(made(Wording(question="Why?", answer="it boils", language="de")))
    item = item_of(one)
    assert (item.answer_kind, item.answer, item.choices) == ("text", "it boils", ())
    assert wording_of(one.content).answer == "it boils"


def test_an_imported_question_can_be_read_into_the_form():
    item = Item(item_id="q", question="Where?", choices=("here", "there"), answer="B", knowledge=("Maps",))
    found = wording_of(msgspec.to_builtins(item))
    assert (found.right.text, [one.text for one in found.wrong]) == ("there", ["here"])
    assert found.knowledge == (Knowledge(title="Maps"),)
    assert annotations_of(revision(msgspec.to_builtins(item))) is None


@pytest.mark.parametrize("broken", [{"question": 5}, {"state": "accepted"}, {"annotations": {"nonsense": 1}}])
def test_what_is_no_question_is_refused(broken):
    one = revision({**made(), **broken})
    with pytest.raises(DataError):
        annotations_of(one)
    with pytest.raises(DataError):
        wording_of(one.content)


def test_pictures_have_boxes_and_no_times():
    written = Wording(question="?", answer="a", evidence=(Mark(text="left", medium=1, start="1", end="2"),))
    item = item_of(
        revision(made(written, media=[Media(path="a.png", kind="image"), Media(path="b.png", kind="image")]))
    )
    assert (item.evidence[0].start_s, item.evidence[0].note) == (None, "left")
    plates = (Media(path="a.png", kind="image"), Media(path="b.png", kind="image"))
    mark = Mark(medium=1, x0="10", y0="20.5", x1="30", y1="40", text="the lamp")
    content = made(msgspec.structs.replace(WRITTEN, start="", end="", evidence=(mark,)), media=plates)
    piece = annotations_of(revision(content)).annotations.evidence[0]
    assert (piece.medium, piece.box) == (1, (10.0, 20.5, 30.0, 40.0))
    assert wording_of(content).evidence == (mark,)
    assert item_of(revision(content)).evidence[0].frames == ()


@pytest.mark.parametrize("answer", ["C", "the red one"])
def test_an_answer_that_is_no_letter_of_the_choices_is_no_question_to_write_on(answer):
    content = {"item_id": "q1", "question": "Which?", "choices": ["red", "blue"], "answer": answer}
    with pytest.raises(DataError, match="expected one of A, B"):
        wording_of(content)


def test_frames_that_were_picked_are_those_that_the_oracle_shows():
    picked = Mark(kind="oracle", frames="40, 7, 41", text="the cup is seen whole in these alone")
    content = made(msgspec.structs.replace(WRITTEN, evidence=(picked,)))
    assert wording_of(content).evidence == (picked,)
    item = msgspec.json.decode(msgspec.json.encode(item_of(revision(content))), type=Item)
    assert (item.evidence[0].kind, item.evidence[0].frames) == ("oracle", (40, 7, 41))
    clip = timed_clip(np.arange(90) / 30, fps=30.0)
    oracle = catalog.create("selector", catalog.Spec(name="oracle", argument=""))
    assert oracle.select(clip, item, n_frames=16).tolist() == [7, 40, 41]
