"""The gates on drafts with images of their own, and on any file: leaks all go, others as luck says."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image
from scipy.stats import binom

from conftest import IS_THOROUGH
from subjects.asked_items import question, write_reader
from subjects.gated import draft
from subjects.planted_drafts import models_of
from vidence.errors import UsageError
from vidence.make.gates.blind import hold_back
from vidence.make.gates.frames import frame_source
from vidence.make.gates.gate_sequence import VERDICTS_FILE, GateDesk, pass_gates
from vidence.make.gates.rules import (
    BlindRules,
    GateRules,
    JudgeRules,
    NeedsAllRules,
    OneFrameRules,
    TextOnlyRules,
    runs_against_luck,
)
from vidence.make.pipeline.cache import ArtifactCache
from vidence.make.pipeline.output import item_of_draft
from vidence.make.pipeline.session import BuildContext
from vidence.records import Item, Media

STILLS = ("a.png", "b.png")
N_ASKED = 1200 if IS_THOROUGH else 200
SIZES = (5, 5, 5, 4, 3, 2)
PLAIN = GateRules(checks=None, letters=False, blind=None)


def of_images(name: str, **changes: object):
    media = tuple(Media(path=one, kind="image") for one in STILLS)
    more = {"video_id": "", "media": media, "evidence": (), "k": None, "benchmark": "own"}
    return draft(name, **more | {"source_id": f"album {name}"} | changes)


def desk_of(folder, models) -> GateDesk:
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    cache = ArtifactCache(folder=folder / "stages")
    return GateDesk(
        out=folder,
        models=models,
        frames=lambda some: frame_source(some, media_root=folder, out=folder, cache=cache, context=context),
        seed=1,
    )


def test_drafts_about_images_pass_every_gate_and_are_accounted_for(tmp_path):
    for i, name in enumerate(STILLS):
        Image.new("RGB", (32, 24), (90 * i, 0, 0)).save(tmp_path / name)
    drafts = tuple(
        of_images(
            f"d{i}", question=f"Which of these two pictures number {i} shows more {'very ' * i}red fruit?"
        )
        for i in range(5)
    )
    rules = GateRules(
        text_only=TextOnlyRules(models=("quiet",), at_least=1, runs="auto"),
        one_frame=OneFrameRules(model="eye", permutations=0, suffice=2),
        letters=True,
    )
    pictures = desk_of(tmp_path, None).frames(drafts).pictures.get
    named = {"quiet": "scripted:nothing", "eye": "scripted:Answer: A"}
    with models_of(tmp_path, pictures, **named) as models:
        here = desk_of(tmp_path, models)
        gated = pass_gates(drafts, rules, here)
    stages = {one.stage: one for one in here.ledger.stages}
    assert stages["text-only"].n_out == 5
    assert stages["one-frame"].dropped == {"solved-one-frame": 1}
    assert (tmp_path / VERDICTS_FILE).is_file()
    assert any("so often that guessing passes in 1% at most" in one for one in gated.words)
    assert len(gated.drafts) == 4
    item = item_of_draft(gated.drafts[0], item_id="x")
    assert (item.benchmark, item.source_id, [one.path for one in item.media]) == (
        "own",
        f"album {gated.drafts[0].draft_id}",
        list(STILLS),
    )
    assert "k" not in item.tags


def test_without_rules_only_what_is_released_is_tested_for_blind_readers(tmp_path):
    drafts = tuple(of_images(f"d{i}") for i in range(3))
    here = desk_of(tmp_path, None)
    assert pass_gates(drafts, None, here).drafts == drafts
    assert "no quality gate" in here.ledger.notes[0]


def gated(folder: Path, items, *readers: str, to_people=False):
    path = write_reader(folder)
    specs = {name: f"{path}:{name}" for name in readers}
    text_only = TextOnlyRules(models=readers, at_least=len(readers), runs="auto")
    wanted = msgspec.structs.replace(PLAIN, text_only=text_only)
    with models_of(folder, **specs) as models:
        return pass_gates(items, wanted, GateDesk(seed=1, models=models, to_people=to_people)), text_only


def test_what_a_reader_knows_goes_and_the_rest_as_often_as_luck_says(tmp_path):
    items = [
        question(i, n_choices=SIZES[i % len(SIZES)], words="known" if i % 10 == 0 else "")
        for i in range(N_ASKED)
    ]
    found, rules = gated(tmp_path, items, "reader")
    dropped = {one.item_id for one in found.verdicts if one.decision == "dropped"}
    known = {item.item_id for item in items if "known" in item.question}
    assert len(known) == N_ASKED / 10
    assert known <= dropped
    luck = [rules.by_luck(len(item.choices)) for item in items if item.item_id not in known]
    assert max(luck) <= 0.01
    low, high = binom.interval(0.999, len(luck), np.mean(luck))
    assert low <= len(dropped - known) <= high
    account = found.ledger.stages[-1]
    assert account.n_in == account.n_out + account.n_dropped


def test_a_guesser_is_asked_as_often_as_the_number_of_choices_needs(tmp_path):
    items = [question(i, n_choices=n) for i, n in enumerate((5, 4, 3, 2))]
    found, _ = gated(tmp_path, items, "reader")
    asked = [len(one.votes[0].marks) for one in found.verdicts]
    assert asked == [runs_against_luck(n) for n in (5, 4, 3, 2)] == [3, 4, 5, 7]


def free(number: int, word: str) -> Item:
    return question(number, words=word, choices=(), answer="a thing", answer_kind="text")


def judged(folder: Path, *judges: str):
    items = [free(i, word) for i, word in enumerate(("known", "alike", "odd", "wrong"))]
    path = write_reader(folder)
    specs = {name: f"{path}:{name}" for name in ("talker", *judges)}
    wanted = msgspec.structs.replace(PLAIN, text_only=TextOnlyRules(models=("talker",), at_least=1))
    judge = JudgeRules(models=judges) if judges else None
    with models_of(folder, **specs) as models:
        return pass_gates(items, wanted, GateDesk(seed=1, models=models, judge=judge))


def test_a_judge_finds_the_right_answer_in_other_words_and_what_it_cannot_decide_stays_open(tmp_path):
    found = judged(tmp_path, "grader")
    assert [one.decision for one in found.verdicts] == ["dropped", "dropped", "open", "kept"]
    assert [one.votes[0].marks[0].value for one in found.verdicts] == [1.0, 1.0, None, 0.0]
    assert any("1 of 4 answers of talker unusable: 1 without a verdict" in one for one in found.notes)
    assert any("judged by grader as rule-first" in one for one in found.notes)


def test_judges_who_differ_leave_a_question_open(tmp_path):
    found = judged(tmp_path, "grader", "strict")
    assert [one.decision for one in found.verdicts] == ["dropped", "open", "kept", "kept"]


def test_without_a_judge_it_is_said_that_rules_alone_mark(tmp_path):
    found = judged(tmp_path)
    assert [one.decision for one in found.verdicts] == ["dropped", "open", "open", "open"]
    assert any("4 questions have free answers and no judge" in one for one in found.notes)


def test_people_look_at_it_where_the_rule_says_so(tmp_path):
    items = [question(i, words="known") for i in range(3)]
    found, _ = gated(tmp_path, items, "reader", to_people=True)
    assert [one.decision for one in found.verdicts] == ["open"] * 3
    assert len(found.items) == 3


def test_doubles_and_leaks_between_splits_and_sets(tmp_path):
    one, again = question(1), msgspec.structs.replace(question(1), item_id="again")
    other = question(2, tags={"split": "test"}, source="film")
    train = question(8, tags={"split": "train"}, source="film")
    desk = GateDesk(seed=1, others={"held.jsonl": [msgspec.structs.replace(question(40), item_id="x")]})
    items = [one, again, train, other, question(40)]
    found = pass_gates(items, GateRules(letters=False, blind=None), desk)
    by_gate = {(v.gate, v.item_id): (v.decision, v.reason) for v in found.verdicts}
    assert by_gate["checks", "again"] == ("dropped", "repeat")
    assert by_gate["leaks", "q2"] == ("open", "")
    assert by_gate["leaks", "q40"][0] == "dropped"
    assert [item.item_id for item in found.items] == ["q1", "q8", "q2"]


def test_a_gate_that_asks_needs_somebody_to_ask():
    rules = msgspec.structs.replace(PLAIN, text_only=TextOnlyRules(models=("a",), at_least=1))
    with pytest.raises(UsageError, match="text-only asks a model"):
        pass_gates([question(1)], rules, GateDesk(seed=1))
    rules = msgspec.structs.replace(PLAIN, one_frame=OneFrameRules(model="a"))
    with pytest.raises(UsageError, match="one-frame asks a model"):
        pass_gates([question(1)], rules, GateDesk(seed=1))


def test_a_structure_whose_longest_choice_is_right_is_held_back_where_it_is_named():
    def told(i: int) -> Item:
        texts = [f"thing {i}{k}" for k in range(5)]
        texts[i % 5] += " with very many words behind it"
        media = (Media(path=f"{i}.mp4"),)
        return question(i, choices=tuple(texts), answer="ABCDE"[i % 5], media=media)

    items = [told(i) for i in range(60)]
    (finding,) = hold_back(items, BlindRules(draws=199), seed=1).findings
    assert (finding.verdict, finding.worst.key) == ("above", "longest")
    rules = msgspec.structs.replace(PLAIN, blind=BlindRules(draws=199))
    assert len(pass_gates(items, rules, GateDesk(seed=1)).items) == 60
    rules = msgspec.structs.replace(PLAIN, blind=BlindRules(draws=199, hold=("all",)))
    found = pass_gates(items, rules, GateDesk(seed=1))
    assert (found.items, found.ledger.stages[-1].dropped) == ((), {"solved-by-texts": 60})
    found = pass_gates(items, rules, GateDesk(seed=1, to_people=True))
    assert (len(found.items), {one.decision for one in found.verdicts}) == (60, {"open"})
    assert "longest" in found.verdicts[0].why
    assert any("blind: 60 questions are given away by texts" in one for one in found.notes)


# --------------------------------------------------------------------------- with media


def images(folder: Path, n: int) -> tuple[Media, ...]:
    for i in range(n):
        Image.new("RGB", (32, 24), (40 * i, 0, 0)).save(folder / f"{i}.png")
    return tuple(Media(path=f"{i}.png", kind="image") for i in range(n))


def with_frames(folder: Path, items, **rules: object):
    frames = frame_source(
        items,
        media_root=folder,
        out=folder,
        cache=ArtifactCache(folder=folder / "stages"),
        context=BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite"),
    )
    with models_of(folder, frames.pictures.get, eye="scripted:Answer: B") as models:
        desk = GateDesk(seed=1, models=models, frames=lambda _: frames)
        return pass_gates(items, msgspec.structs.replace(PLAIN, **rules), desk)


def test_each_of_several_images_is_a_frame_and_one_alone_is_not_tried(tmp_path):
    several = images(tmp_path, 3)
    items = [
        question(1, media=several, n_choices=3),
        question(4, media=several[:1]),
        question(5, media=(Media(path="nowhere.mp4"),)),
    ]
    rules = OneFrameRules(model="eye", permutations=0)
    found = with_frames(tmp_path, items, one_frame=rules)
    first, alone, absent = found.verdicts
    assert (first.decision, [vote.frame_index for vote in first.votes]) == ("dropped", [0, 1, 2])
    assert (alone.decision, alone.why) == ("untried", "its only medium is one image")
    assert (absent.decision, absent.why) == ("untried", "the video is not here")


def test_each_of_several_images_is_withheld_in_turn(tmp_path):
    item = question(1, media=images(tmp_path, 3), n_choices=3)
    rules = NeedsAllRules(model="eye", permutations=0)
    (verdict,) = with_frames(tmp_path, [item], needs_all=rules).verdicts
    assert (verdict.decision, verdict.k_verified, verdict.n_right) == ("dropped", 0, 3)
