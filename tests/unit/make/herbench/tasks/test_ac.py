"""AC on logs small enough to check by hand, and which counts share their options."""

from collections import Counter

import msgspec
import numpy as np
import pytest

from subjects.kitchens import event, events, material
from subjects.log_tasks import ask, drafts, reasons, right
from vidence import catalog
from vidence.errors import UsageError
from vidence.make.herbench.tasks.guessing import FairSets
from vidence.make.pipeline.material import Corpus


def test_counts_of_pairs_and_verbs_are_those_of_the_log() -> None:
    made = ask(
        "ac", events([("wash", "carrot")] * 5 + [("wash", "lemon")] * 2 + [("cut", "carrot")]), alone="true"
    )
    (pair,) = drafts(made, "pair")
    assert pair.question == "How many times does the action 'wash carrot' occur in this video?"
    assert (right(pair), pair.k, len(pair.evidence)) == ("5", 5, 5)
    (verb,) = drafts(made, "verb")
    assert verb.question == "How many times does the action 'wash' occur in this video, whatever the object?"
    assert right(verb) == "7"


def test_the_words_that_count_as_well_are_named() -> None:
    rinsed = [
        msgspec.structs.replace(event(50 + i, "wash", "carrot"), verb="rinse", narration="rinse carrot")
        for i in range(2)
    ]
    (pair,) = drafts(ask("ac", [*events([("wash", "carrot")] * 3), *rinsed], alone="true"), "pair")
    assert pair.question.endswith("Count what may also be called 'rinse carrot' as well.")
    assert right(pair) == "5"


def test_synonyms_of_a_log_without_classes_count_together_and_are_named() -> None:
    """``put`` was counted without ``place``: 8 where viewers see 15."""
    here = [event(i, "put" if i % 2 else "place", "carrot") for i in range(9)]
    (verb,) = drafts(ask("ac", here, alone="true"), "verb")
    assert (right(verb), verb.k) == ("9", 9)
    assert "'place'" in verb.question
    assert verb.question.endswith("Count what may also be called 'put' as well.")
    (pair,) = drafts(ask("ac", here, alone="true"), "pair")
    assert right(pair) == "9"


def test_put_glass_may_mean_put_down_glass() -> None:
    """Two classes that one phrase may mean: neither is counted by that phrase."""
    here = [event(i, "put into", "basil") for i in range(5)] + [
        event(50 + i, "put down", "basil") for i in range(4)
    ]
    made = ask("ac", here, alone="true")
    assert {draft.question.split("'")[1] for draft in drafts(made, "pair")} == {"put down basil"}
    assert reasons(made)["words-of-two-classes"] >= 1


def test_counts_that_are_left_over_are_counts_all_the_same() -> None:
    """The account does not say beside them that there is none."""
    made = ask("ac", events([("wash", "carrot")] * 5))
    why = reasons(made)
    assert (why["count-left-over"], why["too-few-occurrences"]) == (2, 1)  # no action leads the others
    none = ask("ac", events([("wash", "carrot")] * 2))
    assert reasons(none)["too-few-occurrences"] == 3  # for pairs, for verbs, for what is done most often


def test_the_most_frequent_action_leads_by_two() -> None:
    others = [("cut", "lemon"), ("stir", "rice"), ("fold", "apron"), ("open", "kettle")]
    here = events([("wash", "carrot")] * 4 + [pair for pair in others for _ in range(2)])
    (draft,) = drafts(ask("ac", here), "most-often")
    assert right(draft) == "wash carrot"
    assert len(draft.evidence) == draft.k == 12
    level = events([("wash", "carrot")] * 4 + [pair for pair in others for _ in range(3)])
    assert drafts(ask("ac", level), "most-often") == []


def test_what_more_words_say_of_an_action_may_be_seen_as_it():
    """Who cuts a bitter lemon twice may be seen to cut a lemon four times, as often as anything is washed."""
    others = [("stir", "rice"), ("fold", "apron"), ("open", "kettle")]
    both = [("cut", "lemon"), ("cut", "bitter lemon")]
    here = [("wash", "carrot")] * 4 + [pair for pair in (*others, *both) for _ in range(2)]
    (draft,) = drafts(ask("ac", events(here)), "most-often")
    assert set(draft.choices) == {
        *("wash carrot", "stir rice", "fold apron", "open kettle", "cut bitter lemon")
    }


def test_the_most_common_action_elsewhere_is_no_leader_without_more_common_ones() -> None:
    """A leader that is the most common one elsewhere, too, would be told by that."""
    deeds = [("wash", "carrot"), ("cut", "lemon"), ("stir", "rice"), ("fold", "apron"), ("open", "kettle")]
    others = [pair for n, pair in enumerate(deeds) for _ in range(10 * (n + 1))]
    here = [pair for n, pair in enumerate(deeds) for _ in range(6 if n == 4 else 2)]
    made = ask("ac", events(here), events(others, video_id="w"))
    assert drafts(made, "most-often") == []
    assert reasons(made)["too-few-as-common"] == 1


DEEDS = [
    *(("wash", "carrot"), ("cut", "lemon"), ("stir", "rice"), ("fold", "apron"), ("open", "kettle")),
    *(("dry", "cork"), ("peel", "basil"), ("fill", "scale"), ("light", "candle"), ("eat", "noodle")),
]


def hits_by_what_leads_elsewhere() -> list[bool]:
    """Forty videos, in most of which one of two deeds leads: whether the usual leader is right."""
    rng = np.random.default_rng(5)
    counts = {f"v{i}": rng.integers(1, 3, size=len(DEEDS)) for i in range(40)}
    for some in counts.values():
        some[rng.choice(10, p=[0.3, 0.2, *([0.0625] * 8)])] = 4
        some[rng.choice(10, p=[0.3, 0.2, *([0.0625] * 8)])] = 6
    corpus = Corpus(
        events={
            name: tuple(
                events([d for d, n in zip(DEEDS, some, strict=True) for _ in range(n)], video_id=name)
            )
            for name, some in counts.items()
        }
    )
    leads = Counter(" ".join(DEEDS[some.argmax()]) for some in counts.values())
    task, hits = catalog.create("task", "ac"), []
    for seed, (name, log) in enumerate(corpus.events.items()):
        flow = task.draft(material(log, video_id=name), corpus, most=30, rng=np.random.default_rng(seed))
        with pytest.raises(StopIteration) as stop:
            next(flow)
        for draft in drafts(stop.value.value, "most-often"):
            hits.append(max(draft.choices, key=lambda deed: leads[deed]) == right(draft))
    return hits


def test_what_leads_in_other_videos_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    hits = hits_by_what_leads_elsewhere()
    assert len(hits) >= 20
    assert np.mean(hits) < 0.35
    monkeypatch.setattr(FairSets, "kept", lambda self, sets, *, rng: np.arange(len(sets.right)))
    assert np.mean(hits_by_what_leads_elsewhere()) > 0.4


def test_too_small_a_smallest_count_is_refused() -> None:
    with pytest.raises(UsageError, match="expected 3 at least"):
        catalog.create("task", catalog.Spec(name="ac", options={"least": "2"}))
    with pytest.raises(UsageError, match="largest not below"):
        catalog.create("task", catalog.Spec(name="ac", options={"least": "9", "most": "8"}))


def test_a_video_that_the_corpus_knows_otherwise_is_dealt_as_it_is() -> None:
    """Five deeds of five counts in one video share their options, whatever other videos hold."""
    deeds = [("wash", "carrot"), ("cut", "lemon"), ("stir", "rice"), ("fold", "apron"), ("open", "kettle")]
    here = events([pair for n, pair in enumerate(deeds, 3) for _ in range(n)])
    task = catalog.create("task", "ac")
    beside = {"w": tuple(msgspec.structs.replace(one, video_id="w") for one in here)}
    for known in ({}, {"v": tuple(here)}, {"v": tuple(here[:9])}):
        corpus = Corpus(events=beside | known)
        flow = task.draft(material(here), corpus, most=30, rng=np.random.default_rng(0))
        with pytest.raises(StopIteration) as stop:
            next(flow)
        pairs = drafts(stop.value.value, "pair")
        assert {right(draft) for draft in pairs} == {"3", "4", "5", "6", "7"}
        assert all(sorted(draft.choices) == ["3", "4", "5", "6", "7"] for draft in pairs)
