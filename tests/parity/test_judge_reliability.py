"""The judge of VLM4D's released predictions against the rule: the check that needs no people."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import need
from vidence.ask.scoring.robust import create
from vidence.records import Answered, Item, Reply
from vidence.report.judge_figures import JudgeVerdicts, Replies, against_rule

LETTERS = "ABCDEFGHIJ"


def judged(path: Path) -> tuple[Replies, JudgeVerdicts, int]:
    """The replies of a released file with what its judge and our rule make of them, and how often."""
    parser = create()
    rows = json.loads(gzip.decompress(path.read_bytes()))
    kept, ruled, verdicts = [], [], []
    for row in rows:
        texts = [str(text) for text in row["choices"].values()]
        if str(row["ground_truth_answer"]) not in texts or list(row["choices"]) != list(
            LETTERS[: len(texts)]
        ):
            continue
        if len(set(texts)) < len(texts) or len(texts) < 2 or "" in texts:
            continue
        item = Item(
            item_id=row["id"],
            question=row["question"],
            choices=tuple(texts),
            answer=LETTERS[texts.index(str(row["ground_truth_answer"]))],
        )
        outcome = parser.read(item, Reply(text=str(row["response"])))
        mark = parser.mark(item, outcome).value
        kept.append(row["id"])
        ruled.append(mark if isinstance(outcome, Answered) else np.nan)
        verdicts.append(float(row["correct"]))
    n = len(kept)
    nothing = np.full(n, np.nan)
    replies = Replies(
        runs=(path.stem,) * n,
        questions=tuple(kept),
        clusters=tuple(kept),
        people=nothing,
        people_points=nothing,
        ruled=np.array(ruled),
        n_characters=np.ones(n),
        names=(path.stem,),
    )
    judge = JudgeVerdicts(
        name="released",
        model="",
        protocol="",
        values=np.array(verdicts)[:, None],
        points=nothing[:, None],
        is_left=np.zeros(n, np.bool_),
        is_asked=np.ones(n, np.bool_),
    )
    return replies, judge, n


@pytest.mark.parametrize("style", ["cot", "direct"])
def test_the_released_judge_says_what_the_rule_says_of_letters_that_it_reads(data_dir, style):
    folder = need(data_dir / "predictions" / "vlm4d" / style)
    n_all = n_read = n_same = 0
    for path in sorted(folder.glob("*.json.gz")):
        replies, judge, n = judged(path)
        found = against_rule(replies, judge, rng=np.random.default_rng(0))
        assert found is not None, path.name
        by_hand = judge.first == replies.ruled
        is_read = np.isfinite(replies.ruled)
        assert found.n == int(is_read.sum())
        assert found.same.value == pytest.approx(by_hand[is_read].mean())
        n_all, n_read, n_same = n_all + n, n_read + found.n, n_same + int(by_hand[is_read].sum())
    # Six replies of one model (llava-onevision) to which the rule finds the right choice and the judge none.
    assert (n_all, n_read, n_read - n_same) == {"cot": (8220, 8170, 6), "direct": (26030, 25995, 0)}[style]
