"""The letter rules of lmms-eval and VLMEvalKit.

WHERE FROM: their own functions, unmodified (lmms-eval at 75571cf, the old one at bd51fab; VLMEvalKit at
e8e78f0), run on these replies, which are ours. On 160,000 drawn replies they and these rules agreed on all.
"""

import pytest

from vidence.ask.scoring.peers import rules_of
from vidence.catalog import create
from vidence.records import Item, Reply

NAMES = (
    *("lmms-eval-mmvu", "lmms-eval-mvbench", "lmms-eval-video-mme", "lmms-eval-video-mme-old"),
    *("vlmevalkit-mvbench", "vlmevalkit-video-mme"),
)
CHOICES = ("red", "a blue car", "It is green", "none of these")
# A reply, and as whose answer each rule of `NAMES` accepts it.
CASES = (
    ("B", "B", "B", "B", "B", "B", "B"),
    ("(B)", "B", "B", "B", "B", "B", "B"),
    ("B. a blue car", "AB", "B", "B", "B", "B", "B"),
    ("A man drives", "A", "A", "A", "A", "A", "A"),
    ("Answer: B", "B", "B", "B", "A", "B", "B"),
    ("The answer is C because A is wrong", "AC", "C", "A", "C", "C", "C"),
    ("<think>A or D</think>B", "B", "B", "B", "B", "", "A"),
    ("<think>D", "D", "D", "D", "D", "", "D"),
    ("so B</think> it is (C), not A.", "AC", "C", "A", "C", "", "B"),
    ("a blue car", "AB", "A", "", "", "AB", ""),
    ("the car is blue", "B", "", "", "", "", ""),
    ("It is green, I think", "C", "", "", "", "C", ""),
    ("none", "", "", "", "", "", ""),
    ("red or blue", "AB", "", "", "", "A", ""),
    ("1,000 (b) cars", "B", "B", "", "", "", ""),
    ("B.\nThe car", "B", "B", "B", "B", "B", "B"),
    ("the answer is **d**", "D", "D", "", "", "D", ""),
    ("Z", "", "", "", "", "", ""),
    ("Cannot determine the answer", "", "", "C", "C", "", "C"),
    ("Failed to obtain answer via API.", "", "", "A", "A", "ABCD", "A"),
    ("정답은 C", "C", "C", "C", "C", "C", "C"),
    ("", "", "", "", "", "ABCD", ""),
    ("I think it is B of course, as the car comes first", "B", "B", "B", "B", "", "B"),
)


@pytest.mark.parametrize("case", CASES, ids=[repr(case[0]) for case in CASES])
def test_each_rule_accepts_what_its_tool_accepts(case: tuple[str, ...]) -> None:
    text, *expected = case
    accepted = []
    for name in NAMES:
        scorer, letters = create("parser", name), ""
        for answer in "ABCD":
            item = Item(item_id="q", question="Which?", choices=CHOICES, answer=answer)
            letters += answer if scorer.mark(item, scorer.read(item, Reply(text=text))).value else ""
        accepted.append(letters)
    assert accepted == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_hidden_answer_is_no_fault(name: str) -> None:
    item = Item(item_id="q", question="Which?", choices=CHOICES)
    assert create("parser", name).read(item, Reply(text="a blue car"))


@pytest.mark.parametrize(
    ("log", "rules"),
    [
        ("1_samples_videomme.jsonl", ["lmms-eval-video-mme", "lmms-eval-video-mme-old"]),
        ("1_samples_videomme_w_subtitle.jsonl", ["lmms-eval-video-mme", "lmms-eval-video-mme-old"]),
        ("1_samples_videomme_v2_w_subtitle.jsonl", []),
        ("1_samples_mvbench_action_count.jsonl", ["lmms-eval-mvbench"]),
        ("1_samples_mmvu_val.jsonl", ["lmms-eval-mmvu"]),
        ("tiny_Video-MME_8frame_subs.xlsx", ["vlmevalkit-video-mme"]),
        ("tiny_Video-MME-v2_64frame.xlsx", []),
        ("tiny_MVBench_MP4_1fps.xlsx", ["vlmevalkit-mvbench"]),
    ],
)
def test_rules_are_known_by_the_names_of_logs(log: str, rules: list[str]) -> None:
    assert rules_of(log) == rules
