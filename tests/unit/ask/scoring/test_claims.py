"""What counts as a claim of a reply; every row was decided by hand."""

# ruff: noqa: RUF001 - other scripts are what is tested

import pytest

from vidence.ask.scoring import robust
from vidence.ask.scoring.claims import (
    RULES,
    Rank,
    _said,
    bare,
    claims,
    is_corrected,
    probabilities,
    read_said,
    several_questions,
)
from vidence.ask.scoring.letters import Reading
from vidence.records import Answered, Item

COLOURS = ("red", "blue", "green", "black", "white")
ITEM = Item(item_id="q", question="Which colour?", choices=COLOURS, answer="A")


def read(text: str) -> str | None:
    outcome = robust.read_text(ITEM, text)
    return outcome.answer if isinstance(outcome, Answered) else None


TAG_IS_FINAL = [
    "<answer>\nB\n</answer>\n\n- A: the coat is red", "<answer>\nB\n</answer>\nC",
    "<answer>\nB\n</answer>\n\nblack", "<answer>\nB\n</answer>\n\n**Explanation:** the coat is blue.",
    "<answer>B</answer>\n\nThe answer is C.", "<answer>B</answer> <answer></answer>",
    "<answer>B</answer>\n<answer>C", "<choice>B</choice>", "<choice>A</choice> <answer>B</answer>",
    "<answer>The woman is far away.\nAnswer: B</answer>",
]  # fmt: skip
CORRECTED = [
    "The answer is A. Hold on. B is correct.", "Answer: A\n\nHmm, actually B.",
    "The answer is not A but B.", "It isn't A, it's B.", "A? No, B.", "The answer is A... wait, no, B.",
    "Answer: A. Scratch that, B.", "The answer is A. Sorry, I meant B.", "Answer: A\nNo, it is B.",
    "It is A. Wait, no, it's B.", "The answer isn't A, C or D; it's B.", "A -- no, B",
]  # fmt: skip
NOT_OURS = [
    "Some would say the answer is A, but it is B.", "One might think the answer is A. The answer is B.",
    "If it were night, the answer would be A. It is day: B is correct.", "Is the answer A? I choose B.",
    "I initially thought A, however the correct answer is B.", "Correct answer: B\nYour answer: A",
    "The answer would be A if it were night. It is B.",
    "Although the answer seems to be A, it's actually B.", "If I had to guess, I would say B.",
]  # fmt: skip
SAID = [
    "It is B.", "It's B.", "Definitely B.", "B is the answer", "I would guess B", "This matches option B.",
    "The answer to the question is B", "Among the options, B is the most consistent.", "\\fbox{B}",
    "Your answer: B", "B it is.", "Only B is correct.", "A, C and D are wrong, which leaves B.",
    "Answer -> B", "Final: B", "✅ B", "The coat is dark (option B).", "B, confidence 95%",
    "B (90% confident)", "B, I think.", "Choose B.", "Correct answer is blue because it fits",
    "The coat is far away. B.",
]  # fmt: skip
LANGUAGES = [
    "故选B", "应该选择B", "正确选项是B", "【答案】B", "答：B", "B选项正确", "选项B是正确的。",
    "我认为答案是B。", "正解はBです。", "Bが正解です。", "私はBを選びます。", "答え：B", "정답은 B입니다.",
    "B가 정답입니다.", "B번입니다.", "저는 B를 선택합니다.", "La respuesta correcta es B.",
    "La respuesta correcta es la B.", "Elijo la opción B.", "La opción B es correcta.",
    "A resposta correta é a opção B.", "Escolho a opção B.", "La bonne réponse est la B.",
    "L'option B est correcte.", "C'est B.", "Die richtige Antwort lautet B: blue", "Ich wähle B.",
    "B ist richtig.", "Ich würde B wählen.", "Правильный ответ - B.",
    "Я выбираю B.", "Это B.", "الإجابة الصحيحة هي B.", "أختار B.", "الخيار الصحيح هو B",
    "La risposta corretta è B.",
]  # fmt: skip


@pytest.mark.parametrize("text", [*TAG_IS_FINAL, *CORRECTED, *NOT_OURS, *SAID, *LANGUAGES])
def test_the_claim_is_read(text: str) -> None:
    assert read(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "If the man had stayed, the correct answer would be A.",
        "Question 1 answer: A; Question 2 answer: B", "The answer would be A if it rained.",
        "Some would say the answer is A.", "It is A who walks in.", "Person B is right behind the car.",
        "Team A is best.", "He answers B.", "Everyone says it is B.", "Plan B.",
        "The answer is anything but B.", "I doubt that B is correct.", "Actually, A man walks.",
        "Is it B?", "The sign says B.", "A. B. C.", "Options: A, B, C", "A: red. B: blue.",
        "A: red\nB: blue", "Answer: C\nD", "It is A. It is B.", "答案不是B", "B不正确",
        "B가 정답이 아닙니다", "Bは正解ではありません", "不选B", "La respuesta no es B",
        "Die Antwort ist nicht B.", "La réponse n'est pas B.", "A (blue)", "B. The coat is red.",
        "Answer: A (0.5), B (0.5)", "A: red\nB: blue\nC: green\nD: black\nE: white",
    ],
)  # fmt: skip
def test_what_the_reply_does_not_claim_is_not_read(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C (0.2), B (0.8)", Reading("B", "probabilities")),
        ("A: 10%\nB: 85%\nC: 5%", Reading("B", "probabilities")),
        ("P(A)=0.1, P(B)=0.9", Reading("B", "probabilities")),
        ("A (0.5), B (0.5)", Reading(doubt="several letters have numbers that single out none")),
        ("A (0.8), B (0.6)", Reading(doubt="several letters have numbers that single out none")),
        ("A (0.64), B (0.4)", Reading("A", "probabilities")),
        ("A: 3, B: 4", Reading(doubt="several letters have numbers that single out none")),
        ("A: 0.4, Z: 0.6", Reading(doubt="a letter beyond the choices has a probability")),
        ("B (0.8)", None),
        ("A (0.2) is less than B (0.8)", None),
    ],
)
def test_the_likelier_letter_is_read(text: str, expected: Reading | None) -> None:
    assert probabilities(ITEM, text) == expected


def test_corrections_words_around_a_letter_and_several_questions() -> None:
    item = Item(item_id="q", question="?", choices=("15", "20"), answer="A")
    assert probabilities(item, "A: 15, B: 20") is None
    for text, expected in (
        ("The answer is A. Wait. The answer is B.", True),
        ("The answer is A. The answer is B.", False),
    ):
        found = claims(ITEM, text)
        assert is_corrected(text, found[0], found[-1]) is expected
    assert [bare(said) for said in ("la opción B", "B입니다.", "Bです", "вариант B", "blue")] == [
        "B",
        "B",
        "B",
        "B",
        "blue",
    ]
    assert several_questions("Q1: A\nQ2: B")
    assert not several_questions("Question 1 answer: A")


def test_every_rule_says_its_name() -> None:
    assert {rule.name for rule in RULES} >= {
        "box", "marker", "statement", "verdict", "correction", "it-is", "match",
    }  # fmt: skip
    assert {rule.rank for rule in RULES} == set(Rank)
    outcome = robust.read_text(ITEM, "It is B.")
    assert outcome == Answered(answer="B", rule="it-is/letter")


@pytest.mark.parametrize(
    "text", ["Answer: ", "no, ", "the answer is ", "(", "so, ", "\\boxed{", "<answer>", "A\n"]
)
def test_a_model_that_repeats_itself_is_read_to_the_end(text: str) -> None:
    assert read(text * 2000 + "\n<answer>B</answer>") == "B"
    read(text * 2000)


@pytest.mark.parametrize(
    "text",
    [
        "While A is tempting, B is correct.", "Between A and B, B is more likely.",
        "A: no\nB: yes\nC: no\n\nAnswer: B", "B\n\nWhy not A? A is red.",
        "The answer is B; A is the colour of the hat.", "By elimination, B.", "I'm leaning towards B.",
        "My conclusion is B.", "答案是B。因为外套是蓝色的。", "Antwoord: B",
    ],
)  # fmt: skip
def test_words_around_the_claim_do_not_hide_it(text: str) -> None:
    assert read(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "Let us assume the answer is B.", "Let's say the answer is B. Then the coat is dark.",
        "The man's answer is B.", "如果他留下，答案是A", "B is the least likely answer.",
        "I would not choose B.", "Gate B is right ahead.", "The letter B is on the wall.",
        "A: no, B: yes, C: no, D: no", "The user asks whether B is correct.", "Should I choose B?",
        "There is no B.",
    ],
)  # fmt: skip
def test_what_others_say_or_the_reply_supposes_is_no_claim(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answer is B\nC", "B"),
        ("answer is B</answer> C", "B"),
        ("answer is B < C", "B < C"),
        ("answer is B" + "x" * 700, "B" + "x" * 599),
        ("answer is B" + "x" * 598 + "</b>", "B" + "x" * 598),
        ("answer is B" + "x" * 598 + "<", "B" + "x" * 598 + "<"),
        ("answer is", ""),
    ],
)
def test_what_a_statement_says_ends_with_its_line(text, said):
    rule = next(rule for rule in RULES if rule.name == "statement")
    found = [_said(match) for match in rule.pattern.finditer(text)]
    assert found == [said]


def test_a_line_is_read_once_however_often_it_is_said(monkeypatch):
    n_read = 0
    read_line = robust._read_line

    def counting(item: Item, line: str) -> Reading | None:
        nonlocal n_read
        n_read += 1
        return read_line(item, line)

    monkeypatch.setattr(robust, "_read_line", counting)
    assert read("hm\n" * 10_000 + "B") == "B"
    assert n_read == 2


def test_a_choice_with_its_reason_is_read_where_it_is_marked_as_the_answer():
    for said in ("black, because it is dark", "black because of the coat"):
        assert read_said(ITEM, said, is_marked=True) == Reading("D", "choice-text")
        assert read_said(ITEM, said, is_marked=False) is None


def test_choices_that_are_repeated_whole_are_no_claims():
    repeated = "\n".join(f"{letter}. {colour}" for letter, colour in zip(ITEM.letters, COLOURS, strict=True))
    assert read(f"{repeated}\nB") == "B"
    assert read(f"{repeated}\n\nIt is black.") == "D"
    assert read(repeated) is None
