"""Gates that ask models: planted leaks go, all else stays, and what cannot be read is never right."""

from pathlib import Path

import msgspec
import pytest

from subjects.gated import draft
from subjects.planted_drafts import Planted, models_of
from vidence.ask.phantom.planted import SimulatedModel, demand, expected
from vidence.ask.prompting.templates import Templates
from vidence.errors import AccessError, UsageError
from vidence.make.gates import model_gates
from vidence.make.gates.frames import FrameSource, cut_frames, tried_frames
from vidence.make.gates.model_gates import (
    TEXT_ONLY,
    AskSettings,
    ask_blind,
    ask_with_frames,
    open_ones,
    remarks,
)
from vidence.make.gates.rules import GateRules, OneFrameRules, TextOnlyRules
from vidence.make.pipeline.material import Draft, VideoSource
from vidence.records import Evidence

LONGEST = "baseline:longest"


def blind(tmp_path: Path, drafts, models: dict[str, str], **rules: object):
    with models_of(tmp_path, **models) as sent:
        return ask_blind(drafts, TextOnlyRules(models=tuple(models), **rules), models=sent, seed=1)


# --------------------------------------------------------------------------- a planted world


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Planted:
    return Planted(tmp_path_factory.mktemp("planted"))


def test_the_text_gate_removes_exactly_what_was_leaked(planted, tmp_path):
    panel = {
        "fuser": "phantom:fuser",
        "single": "phantom:single",
        "forgetful": "phantom:forgetful",
        "biased": "phantom:letter-biased?letter=B",
    }
    verdicts = blind(tmp_path, planted.drafts, panel)
    dropped = {one.item_id for one in verdicts if one.decision == "dropped"}
    leaked = {name for name, item in planted.items.items() if item.tags["leak"] == "yes"}
    assert dropped == leaked
    assert len(leaked) == 2
    assert [one.item_id for one in verdicts] == list(planted.items)


def test_the_frame_gate_removes_exactly_what_one_tried_frame_gives_away(planted, tmp_path):
    rules = OneFrameRules(model="eye", evidence=3)
    cutting = planted.cutting(tmp_path)
    tried = cut_frames(planted.drafts, rules, cutting)
    with models_of(tmp_path, cutting.pictures.get, eye="phantom:fuser") as sent:
        verdicts = ask_with_frames(planted.drafts, tried, rules, models=sent, seed=1)
    dropped = {one.item_id for one in verdicts if one.decision == "dropped"}
    model = SimulatedModel(name="fuser")
    solvable = {
        name
        for name, item in planted.items.items()
        if any(
            expected(model, item, times_s=(frame.frame_index / tried[name].fps,))
            for frame in tried[name].frames
        )
    }
    assert dropped == solvable
    single = {n for n, item in planted.items.items() if demand(item) == 1}
    leaked = {n for n, item in planted.items.items() if item.tags["leak"] == "yes"}
    assert dropped == single | leaked  # the middle of its span shows the only card
    with_two = OneFrameRules(model="eye", evidence=3, suffice=2)
    with models_of(tmp_path, cutting.pictures.get, eye="phantom:fuser") as sent:
        again = ask_with_frames(planted.drafts, tried, with_two, models=sent, seed=1)
        assert sent.spent.n_asked == 0  # the same questions: all out of the memory
    assert {one.item_id for one in again if one.decision == "dropped"} == leaked


def test_frames_are_cut_once(planted, tmp_path):
    rules, cutting = OneFrameRules(model="eye", frame_px=160), planted.cutting(tmp_path)
    first = cut_frames(planted.drafts, rules, cutting)
    assert {frame.width_px for one in first.values() for frame in one.frames} == {160}
    without = planted.cutting(tmp_path)
    gone = {name: tmp_path / "gone.mp4" for name in without.files}
    kept = FrameSource(**{**vars(without), "files": gone})
    assert cut_frames(planted.drafts, rules, kept) == first


def test_a_video_that_is_not_here_leaves_its_drafts_untried(planted, tmp_path):
    rules, cutting = OneFrameRules(model="eye"), planted.cutting(tmp_path, with_files=False)
    tried = cut_frames(planted.drafts, rules, cutting)
    with models_of(tmp_path, eye="phantom:fuser") as sent:
        verdicts = ask_with_frames(planted.drafts, tried, rules, models=sent, seed=1)
    assert {one.decision for one in verdicts} == {"untried"}
    assert remarks("one-frame", verdicts) == ["one-frame: 20 not tried: the video is not here."]
    assert open_ones(verdicts) == {}


def test_the_frames_tried_are_the_central_one_and_those_of_the_first_spans():
    video = VideoSource(
        video_id="v1", path="v", n_frames=101, fps=10.0, duration_s=10.1, width_px=8, height_px=8
    )
    asked = draft("a")  # spans at 1-2, 4-5, 8-9 s
    assert tried_frames(asked, video, OneFrameRules(model="m", evidence=2)) == (50, 15, 45)
    assert tried_frames(asked, video, OneFrameRules(model="m", central=False)) == (15, 45, 85)
    late = draft("b", spans=((9.9, 30.0),))
    assert tried_frames(late, video, OneFrameRules(model="m")) == (50, 100)


def test_frames_that_show_the_answer_are_tried_first():
    video = VideoSource(
        video_id="v1", path="v", n_frames=101, fps=10.0, duration_s=10.1, width_px=8, height_px=8
    )
    spans = (
        Evidence(kind="oracle", start_s=1.0, end_s=2.0, frames=(11, 14)),
        Evidence(kind="oracle", start_s=8.0, end_s=9.0, frames=(99,)),
    )
    asked = msgspec.structs.replace(draft("a"), evidence=spans)
    assert tried_frames(asked, video, OneFrameRules(model="m")) == (11, 99, 50, 15, 85)
    assert tried_frames(asked, video, OneFrameRules(model="m", decisive=False)) == (50, 15, 85)
    assert tried_frames(asked, video, OneFrameRules(model="m", evidence=1)) == (11, 50, 15)


# --------------------------------------------------------------------------- votes


def leaky(name: str, answer_index: int = 0) -> Draft:
    choices = ["fig", "kiwi", "plum", "pear"]
    choices.insert(answer_index, "the only long choice")
    return draft(name, choices=tuple(choices), answer_index=answer_index)


def test_a_draft_goes_when_at_least_three_of_four_are_right(tmp_path):
    clean = draft("clean", choices=("fig", "kiwi", "plum", "the long one", "pear"), answer_index=0)
    drafts = [leaky("leak", 2), clean]
    three = {"a": LONGEST, "b": LONGEST, "c": LONGEST, "d": "scripted:Answer: E"}
    verdicts = blind(tmp_path, drafts, three)
    assert [(v.decision, v.n_right, v.n_unusable) for v in verdicts] == [("dropped", 3, 0), ("kept", 0, 0)]
    two = {"a": LONGEST, "b": LONGEST, "c": "scripted:Answer: A", "d": "scripted:Answer: B"}
    assert [v.decision for v in blind(tmp_path, drafts, two)] == ["kept", "kept"]
    assert [v.decision for v in blind(tmp_path, drafts, two, at_least=2)] == ["dropped", "kept"]


def test_other_orders_tell_a_letter_from_knowledge(tmp_path):
    drafts = [leaky("leak", 1)]
    letters = dict.fromkeys("abcd", "scripted:Answer: B")
    assert blind(tmp_path, drafts, letters)[0].decision == "dropped"
    assert blind(tmp_path, drafts, letters, permutations=3)[0].decision == "kept"
    (knows,) = blind(tmp_path, drafts, dict.fromkeys("abcd", LONGEST), permutations=3)
    assert knows.decision == "dropped"
    assert {len(vote.marks) for vote in knows.votes} == {4}


@pytest.mark.parametrize("silent", ["scripted:", "scripted:I see no video.", "scripted:B?fail=500"])
def test_what_cannot_be_read_is_never_right_and_opens_what_it_could_have_turned(tmp_path, silent):
    drafts = [leaky("leak"), draft("clean", choices=("fig", "kiwi", "plum", "the long one", "pear"))]
    models = {"a": LONGEST, "b": LONGEST, "c": "scripted:Answer: C", "d": silent}
    verdicts = blind(tmp_path, drafts, models)
    # two right and one unknown could be three; none right and one unknown could not
    assert [(v.decision, v.n_right, v.n_unusable) for v in verdicts] == [("open", 2, 1), ("kept", 0, 1)]
    assert open_ones(verdicts) == {"leak": [TEXT_ONLY]}
    said = " ".join(remarks(TEXT_ONLY, verdicts))
    assert "2 of 2 answers of d unusable" in said
    assert "no voice" in said
    assert "open about 1," in said


def test_words_of_the_user_replace_those_of_gates(tmp_path, monkeypatch):
    """The folder of a configuration holds templates for cards beside them."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "card_path.txt").write_text("not for gates")
    (own / "choice-direct.txt").write_text("Mine: {{ question }}")
    said: list[str] = []
    subject = model_gates.DraftSubject.prompt

    def heard(*args: object, **more: object):
        said.append(subject(*args, **more).text)
        return subject(*args, **more)

    monkeypatch.setattr(model_gates.DraftSubject, "prompt", heard)
    asked = draft("a")
    rules = TextOnlyRules(models=("a",), at_least=1)
    with models_of(tmp_path, a="scripted:A") as sent:
        ask_blind([asked], rules, models=sent, seed=1, how=AskSettings(own_words=own))
        (own / "forced.txt").write_text("Choose!")
        ask_blind([asked], rules, models=sent, seed=1, how=AskSettings(own_words=own))
    ours = Templates.load("plain").say("forced", {})
    assert said == [f"Mine: {asked.question}\n{ours}", f"Mine: {asked.question}\nChoose!"]


def test_a_model_without_access_stops_the_gate(tmp_path):
    models = {"a": LONGEST, "b": "scripted:B?fail=401"}
    with pytest.raises(AccessError):
        blind(tmp_path, [leaky("leak")], models, at_least=1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TextOnlyRules(models=("a", "b")), "at_least is 3 of 2 models"),
        (lambda: TextOnlyRules(models=("a", "a", "b")), "each once"),
        (
            lambda: msgspec.convert({"models": ["a", "b", "c"], "permutations": -1}, TextOnlyRules),
            r"\$\.permutations",
        ),
        (lambda: OneFrameRules(model="a", evidence=1, suffice=4), "at most 3 frames are tried"),
    ],
)
def test_rules_that_make_no_sense_are_refused(make, said):
    with pytest.raises((UsageError, msgspec.ValidationError), match=said):
        make()


def test_gates_name_the_models_that_they_ask():
    rules = GateRules(text_only=TextOnlyRules(models=("a", "b", "c")), one_frame=OneFrameRules(model="eye"))
    assert rules.models == ("a", "b", "c", "eye")
