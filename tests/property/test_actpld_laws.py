"""What holds for every clip, budget and stride, and for every description."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subjects.clips import timed_clip
from vidence.ask.benchmarks.actpld import ClipRow, Labels, choices_for
from vidence.ask.files import DataFile, FieldError
from vidence.ask.scoring.description import branch, evidence_for
from vidence.ask.scoring.label_words import LabelWords, known_words
from vidence.ask.selection.actpld import Actpld
from vidence.records import Item

ITEM = Item(item_id="q1", question="?", answer="A", choices=("x", "y", "z"))


@given(n_total=st.integers(0, 3000), k=st.integers(1, 40), stride=st.integers(1, 60), retry=st.integers(1, 6))
def test_windows_are_whole_inside_the_clip_and_never_the_same_twice(n_total, k, stride, retry):
    clip = timed_clip(np.arange(n_total) / 30, fps=30.0)
    selector = Actpld(stride)
    shown = [selector.select(clip, ITEM, n_frames=k)]
    shown += [selector.again(clip, ITEM, n_frames=k, retry=r) for r in range(1, retry + 1)]
    assert len(shown[0]) == min(k, n_total)
    told = [tuple(window.tolist()) for window in shown if len(window)]
    assert len(set(told)) == len(told)
    for window in told:
        assert len(window) == min(k, n_total)
        assert 0 <= window[0] <= window[-1] < n_total
        assert len(set(np.diff(window).tolist())) <= 1


@given(n_total=st.integers(10, 5000), retry=st.integers(0, 5))
def test_a_tenth_at_each_end_is_never_shown_where_the_rest_is_long_enough(n_total: int, retry: int) -> None:
    clip = timed_clip(np.arange(n_total) / 30, fps=30.0)
    selector = Actpld(1)
    window = (
        selector.again(clip, ITEM, n_frames=8, retry=retry)
        if retry
        else selector.select(clip, ITEM, n_frames=8)
    )
    if len(window):
        cut = n_total // 10
        assert cut <= window[0] <= window[-1] < n_total - cut


def labels_of(groups: list[int]) -> Labels:
    rows = [
        f"{target},name{i},group{group}"
        for target in ("label", "intention")
        for i, group in enumerate(groups)
    ]
    return Labels(DataFile(Path("labels.csv"), "\n".join(["target,name,group", *rows]).encode()))


@given(groups=st.lists(st.integers(0, 5), min_size=1, max_size=20), clip_id=st.text(min_size=1, max_size=8))
def test_distractors_are_two_others_of_other_groups_or_the_clip_is_refused(groups, clip_id):
    clip = ClipRow(clip_id=clip_id, path="a.mp4", set="single", label="name0", intention="name0")
    if sum(group != groups[0] for group in groups) < 2:
        with pytest.raises(FieldError, match=r"labels\.csv has"):
            choices_for(clip, "label", labels_of(groups))
        return
    shown = choices_for(clip, "label", labels_of(groups))
    names = [row.name for row in shown]
    assert len(set(names)) == 3
    assert "name0" in names
    assert all(row.group != f"group{groups[0]}" for row in shown if row.name != "name0")
    assert shown == choices_for(clip, "label", labels_of(groups))


LABELS = st.sampled_from(sorted(known_words()))
SMALL = ("not", "is", ",", ".", "or", "and", "but", ";", "the", "dots\n", "unlikely", "rather", "than")
WORDS = st.lists(st.one_of(LABELS, st.sampled_from(SMALL)), max_size=40)


@given(truth=LABELS, words=WORDS)
def test_saying_less_about_a_label_never_counts_for_it(truth: str, words: list[str]) -> None:
    label = LabelWords(text=truth)
    without = [word for word in words if word not in known_words()]
    (found,) = evidence_for([LabelWords(text="zzz")], " ".join(without))
    assert (found.n_positive, found.n_negated, found.n_cued) == (0, 0, 0)
    assert branch(label, [], "") == ""
