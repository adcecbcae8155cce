"""What selectors by scores have in common: whose scores they go by, and what they do without any."""

import hashlib
import json
from pathlib import Path

import numpy as np

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection.scored import query_text
from vidence.contracts import ScoringSelector
from vidence.records import Item

CLIP = timed_clip(np.arange(40) / 10, fps=10.0)  # four seconds
ITEM = Item(item_id="q1", question="Who?", choices=("He", "She"), answer="A")


def make(argument: str = "", **options: str) -> ScoringSelector:
    spec = catalog.Spec(name="aks", argument=argument, options={"grid": "fps:1", **options})
    return catalog.create("selector", spec)


def test_what_is_to_be_scored_says_file_options_text_and_where_it_is_cut(tmp_path: Path) -> None:
    rules = make("blip-itm:w", query="question+choices", **{"embedder.revision": "a b&c"}).score_rules
    assert rules.embedder == "blip-itm:w?revision=a%20b%26c"
    assert (rules.query, rules.max_tokens, rules.file) == ("question+choices", 35, "")
    assert make("siglip:w").score_rules.max_tokens == 0
    assert make("blip-itm:w", max_tokens="7").score_rules.max_tokens == 7
    assert make("blip-itm:w", max_tokens="0").score_rules.max_tokens == 0
    assert query_text(ITEM, "question") == "Who?"
    assert query_text(ITEM, "question+choices") == "Who?\nA. He\nB. She"
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"q1": [1.0, 3.0, 2.0, 0.0]}))
    assert make(scores=str(file)).scores_digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert make("blip-itm:w").scores_digest == ""


def test_scores_that_are_all_the_same_give_even_frames_and_their_order_is_spread() -> None:
    made = make("blip-itm:w")
    same = np.full(4, 0.5)
    assert made.select(CLIP, ITEM, n_frames=2, scores=same).tolist() == [10, 30]
    ranked = made.rank(CLIP, ITEM, n_frames=4, scores=same).tolist()
    assert sorted(ranked) == [0, 10, 20, 30]
    assert set(made.rank(CLIP, ITEM, n_frames=2, scores=same).tolist()) <= set(ranked)
    nearly = np.array([0.5, 0.5, 0.5, 0.6])
    assert 30 in made.select(CLIP, ITEM, n_frames=1, scores=nearly).tolist()
