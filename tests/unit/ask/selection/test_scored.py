"""What selectors by scores have in common: whose scores they go by, and what they do without any."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from vidence import catalog
from vidence.ask.selection.scored import query_text
from vidence.contracts import ScoringSelector
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.records import Item

CLIP = Clip.of_times(np.arange(40) / 10, fps=10.0)  # four seconds
ITEM = Item(item_id="q1", question="Who?", choices=("He", "She"), answer="A")
NOTHING = Clip.of_times(np.empty(0), fps=0.0)


def make(argument: str = "", **options: str) -> ScoringSelector:
    spec = catalog.Spec(name="aks", argument=argument, options={"grid": "fps:1", **options})
    made: ScoringSelector = catalog.create("selector", spec)
    return made


def test_scores_are_computed_or_in_a_file_and_not_both(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the selector aks goes by scores and was given neither"):
        make()
    with pytest.raises(UsageError, match=r"was given both 'blip-itm:w' and the file 's\.json'"):
        make("blip-itm:w", scores="s.json")
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"q1": [1.0, 3.0, 2.0, 0.0]}))
    with pytest.raises(UsageError, match=r"aks: options for an embedder \(device\), and the scores are from"):
        make(scores=str(file), **{"embedder.device": "cpu"})
    made = make(scores=str(file))
    assert made.scores_digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert made.select(CLIP, ITEM, n_frames=2).tolist() == [10, 20]
    assert made.rank(CLIP, ITEM, n_frames=2).tolist() == [10, 20]
    assert make("blip-itm:w").scores_digest == ""


def test_what_is_to_be_scored_says_embedder_options_and_where_the_text_is_cut() -> None:
    rules = make("blip-itm:w", query="question+choices", **{"embedder.revision": "a b&c"}).score_rules
    assert rules.embedder == "blip-itm:w?revision=a%20b%26c"
    assert (rules.query, rules.max_tokens, rules.file) == ("question+choices", 35, "")
    assert make("siglip:w").score_rules.max_tokens == 0
    assert make("blip-itm:w", max_tokens="7").score_rules.max_tokens == 7
    assert make("blip-itm:w", max_tokens="0").score_rules.max_tokens == 0


def test_frames_are_matched_with_the_question_and_its_choices_where_that_is_said() -> None:
    assert query_text(ITEM, "question") == "Who?"
    assert query_text(ITEM, "question+choices") == "Who?\nA. He\nB. She"


def test_scores_that_are_all_the_same_give_even_frames_and_their_order_is_spread() -> None:
    made = make("blip-itm:w")
    same = np.full(4, 0.5)
    assert made.select(CLIP, ITEM, n_frames=2, scores=same).tolist() == [10, 30]
    ranked = made.rank(CLIP, ITEM, n_frames=4, scores=same).tolist()
    assert sorted(ranked) == [0, 10, 20, 30]
    assert set(made.rank(CLIP, ITEM, n_frames=2, scores=same).tolist()) <= set(ranked)
    nearly = np.array([0.5, 0.5, 0.5, 0.6])
    assert 30 in made.select(CLIP, ITEM, n_frames=1, scores=nearly).tolist()


def test_without_scores_or_with_too_few_nothing_is_chosen() -> None:
    made = make("blip-itm:w")
    for choose in (made.select, made.rank):
        with pytest.raises(UsageError, match=r"handed none for item 'q1'; compute them with 'blip-itm:w'"):
            choose(CLIP, ITEM, n_frames=2)
        with pytest.raises(DataError, match="3 scores for 4 candidates"):
            choose(CLIP, ITEM, n_frames=2, scores=np.ones(3))
        with pytest.raises(UsageError):
            choose(CLIP, ITEM, n_frames=0, scores=np.ones(4))
        assert choose(NOTHING, ITEM, n_frames=2, scores=np.ones(0)).tolist() == []


def test_candidates_come_once_each_and_a_ranking_has_every_frame_once() -> None:
    made = make("blip-itm:w", grid="uniform:6")
    short = Clip.of_times(np.arange(4) / 10, fps=10.0)
    candidates = made.candidates(short)
    assert candidates.tolist() == sorted(set(candidates.tolist()))
    ranked = made.rank(short, ITEM, n_frames=9, scores=np.arange(len(candidates), dtype=np.float64))
    assert sorted(ranked.tolist()) == candidates.tolist()
    assert ranked[0] == candidates[-1]
