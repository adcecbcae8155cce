"""Gates on any file: planted leaks all go, others go as often as luck says, and what is unclear stays."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy.stats import binom

from subjects.asked_items import question, write_reader
from subjects.planted_drafts import models_of
from vidence.errors import UsageError
from vidence.make.gates.frames import frame_source
from vidence.make.gates.item_gates import GateDesk, ItemGateRules, gate_items, read_balance
from vidence.make.gates.rules import (
    BlindRules,
    CheckRules,
    JudgeRules,
    NeedsAllRules,
    OneFrameRules,
    TextOnlyRules,
    runs_against_luck,
)
from vidence.make.gates.tables import luck_sentence
from vidence.make.pipeline.cache import ArtifactCache
from vidence.make.pipeline.session import BuildContext
from vidence.records import Item, Media

SIZES = (5, 5, 5, 4, 3, 2)
PLAIN = ItemGateRules(checks=None, balance=None)


def gated(folder: Path, items, *readers: str, **rules: object):
    path = write_reader(folder)
    specs = {name: f"{path}:{name}" for name in readers}
    text_only = TextOnlyRules(models=readers, at_least=len(readers), runs="auto")
    wanted = msgspec.structs.replace(PLAIN, **{"text_only": text_only} | rules)
    with models_of(folder, **specs) as models:
        return gate_items(items, wanted, GateDesk(seed=1, models=models)), text_only


def test_what_a_reader_knows_goes_and_the_rest_as_often_as_luck_says(tmp_path):
    items = [
        question(i, n_choices=SIZES[i % len(SIZES)], words="known" if i % 10 == 0 else "")
        for i in range(1200)
    ]
    found, rules = gated(tmp_path, items, "reader")
    dropped = {one.item_id for one in found.verdicts if one.decision == "dropped"}
    known = {item.item_id for item in items if "known" in item.question}
    assert len(known) == 120
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


def test_what_cannot_be_read_is_left_open_and_a_mute_model_is_named(tmp_path):
    items = [question(i, words="odd" if i % 2 else "") for i in range(8)]
    found, _ = gated(tmp_path, items, "nonsense")
    assert {one.decision for one in found.verdicts} == {"open"}
    assert len(found.items) == len(items)
    assert any("nonsense" in word and "no voice" in word for word in found.words)
    found, _ = gated(tmp_path, items, "half")
    assert [one.decision for one in found.verdicts] == ["dropped", "open"] * 4


def test_an_open_question_without_a_judge_stays_open(tmp_path):
    free = question(1, words="known", choices=(), answer="a thing", answer_kind="text")
    found, rules = gated(tmp_path, [free], "nonsense")
    assert [one.decision for one in found.verdicts] == ["open"]
    assert "no question with choices" in luck_sentence([free], found.verdicts, rules)


def test_an_open_question_is_dropped_by_an_equal_answer_and_left_open_by_another(tmp_path):
    items = [
        question(i, words=words, choices=(), answer="a thing", answer_kind="text")
        for i, words in enumerate(("known", "odd"))
    ]
    found, _ = gated(tmp_path, items, "teller")
    assert [one.decision for one in found.verdicts] == ["dropped", "open"]
    assert any("not marked" in word for word in found.words)


def free(number: int, word: str) -> Item:
    return question(number, words=word, choices=(), answer="a thing", answer_kind="text")


def judged(folder: Path, *judges: str, **rules: object):
    items = [free(i, word) for i, word in enumerate(("known", "alike", "odd", "wrong"))]
    path = write_reader(folder)
    specs = {name: f"{path}:{name}" for name in ("talker", *judges)}
    wanted = msgspec.structs.replace(
        PLAIN,
        text_only=TextOnlyRules(models=("talker",), at_least=1),
        judge=JudgeRules(models=judges) if judges else None,
    )
    with models_of(folder, **specs) as models:
        return gate_items(items, wanted, GateDesk(seed=1, models=models))


def test_a_judge_finds_the_right_answer_in_other_words_and_what_it_cannot_decide_stays_open(tmp_path):
    found = judged(tmp_path, "grader")
    assert [one.decision for one in found.verdicts] == ["dropped", "dropped", "open", "kept"]
    assert [one.votes[0].marks[0].value for one in found.verdicts] == [1.0, 1.0, None, 0.0]
    assert any("1 of 4 answers of talker unusable: 1 without a verdict" in one for one in found.words)
    assert any("judged by grader as rule-first" in one for one in found.words)


def test_judges_who_differ_leave_a_question_open(tmp_path):
    found = judged(tmp_path, "grader", "strict")
    assert [one.decision for one in found.verdicts] == ["dropped", "open", "kept", "kept"]


def test_without_a_judge_it_is_said_that_rules_alone_mark(tmp_path):
    found = judged(tmp_path)
    assert [one.decision for one in found.verdicts] == ["dropped", "open", "open", "open"]
    assert any("4 questions have free answers and no judge" in one for one in found.words)


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
    found = gate_items(items, ItemGateRules(checks=CheckRules(), balance=None), desk)
    by_gate = {(v.gate, v.item_id): (v.decision, v.reason) for v in found.verdicts}
    assert by_gate["checks", "again"] == ("dropped", "repeat")
    assert by_gate["leaks", "q2"] == ("open", "")
    assert by_gate["leaks", "q40"][0] == "dropped"
    assert [item.item_id for item in found.items] == ["q1", "q8", "q2"]


def test_a_gate_that_asks_needs_somebody_to_ask():
    rules = msgspec.structs.replace(PLAIN, text_only=TextOnlyRules(models=("a",), at_least=1))
    with pytest.raises(UsageError, match="text-only asks a model"):
        gate_items([question(1)], rules, GateDesk(seed=1))
    rules = msgspec.structs.replace(PLAIN, one_frame=OneFrameRules(model="a"))
    with pytest.raises(UsageError, match="one-frame asks a model"):
        gate_items([question(1)], rules, GateDesk(seed=1))


def test_a_structure_whose_longest_choice_is_right_is_held_back_where_it_is_named():
    def told(i: int) -> Item:
        texts = [f"thing {i}{k}" for k in range(5)]
        texts[i % 5] += " with very many words behind it"
        media = (Media(path=f"{i}.mp4"),)
        return question(i, choices=tuple(texts), answer="ABCDE"[i % 5], media=media)

    items = [told(i) for i in range(60)]
    (finding,) = read_balance(items, BlindRules(draws=199), seed=1)
    assert (finding.verdict, finding.worst.key) == ("above", "longest")
    rules = ItemGateRules(checks=None, balance=BlindRules(draws=199))
    assert len(gate_items(items, rules, GateDesk(seed=1)).items) == 60
    rules = ItemGateRules(checks=None, balance=BlindRules(draws=199, hold=("all",)))
    found = gate_items(items, rules, GateDesk(seed=1))
    assert (found.items, found.ledger.stages[-1].dropped) == ((), {"solved-by-texts": 60})
    rules = msgspec.structs.replace(rules, to_people=True)
    found = gate_items(items, rules, GateDesk(seed=1))
    assert (len(found.items), {one.decision for one in found.verdicts}) == (60, {"open"})
    assert "longest" in found.verdicts[0].why
    assert any("blind: 60 questions are of structures that texts give away" in one for one in found.words)


# --------------------------------------------------------------------------- with media


def images(folder: Path, n: int) -> tuple[Media, ...]:
    from PIL import Image

    for i in range(n):
        Image.new("RGB", (32, 24), (40 * i, 0, 0)).save(folder / f"{i}.png")
    return tuple(Media(path=f"{i}.png", kind="image") for i in range(n))


def with_frames(folder: Path, items, **rules: object):
    frames = frame_source(
        items,
        media_root=folder,
        pictures=folder / "pictures",
        cache=ArtifactCache(folder=folder / "stages"),
        context=BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite"),
    )
    with models_of(folder, frames.pictures.get, eye="scripted:Answer: B") as models:
        desk = GateDesk(seed=1, models=models, frames=frames)
        return gate_items(items, msgspec.structs.replace(PLAIN, **rules), desk)


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
