"""Table of replies and what a careful person reads in them; every row was decided by hand."""

# ruff: noqa: RUF001 - full-width letters and Cyrillic look-alikes are what is tested

from time import process_time

import pytest

from vidence.ask.scoring import robust
from vidence.records import Answered, Item, Reply, Unreadable

COLOURS = ("Red", "Blue", "Black", "White")
OBJECTS = ("A phone", "A bag", "A map", "Food", "Clothes")
NUMBERS = ("15", "1.5", "-5", "7,190", "60°")
LETTERS = ("E", "A", "X", "I", "S")
MIXED = ("A", "B", "C", "B and D", "None of the above")


def read(choices: tuple[str, ...], text: str) -> str | None:
    item = Item(item_id="q", question="?", choices=choices, answer="A")
    outcome = robust.create().read(item, Reply(text=text))
    if isinstance(outcome, Answered):
        assert outcome.rule
        return outcome.answer
    assert isinstance(outcome, Unreadable)
    assert outcome.reason
    return None


LONE_LETTERS = [
    "C", "c", "(C)", "C.", "C)", "[C]", "**C**", "***C***", "__C__", "_C_", "`C`", "'C'", '"C"', "C:", "C!",
    "{C}", "<C>", "  C \n", "\tC", "- C", "Ｃ", "（Ｃ）", "Ⓒ", "\u200bC", "\ufeffC", "Option C", "option c",
    "Choice C", "Letter: C", "Answer C", "C。", "选C", "选项C", "$C$", "$\\text{C}$", "$\\mathrm{C}",
    "\\(C\\)",
    "> C", "# C", "C</s>", "C<|im_end|>", "<b>C</b>", "C</answer>", "Option (C)", "the correct option: C",
]  # fmt: skip

MARKED = [
    "<answer>C</answer>", "<ANSWER>C</ANSWER>", "<Answer> (C) </Answer>", "<answer>C",
    "<answer>\nC\n</answer>", "<answer>C: Black</answer>", "<answer>C. Black.</answer>",
    "<answer>black</answer>", "<answer>The answer is C.</answer>", "<answer>Final Answer: C</answer>",
    "<answer>\\boxed{C}</answer>", "<answer><answer>C</answer></answer>", "<final_answer>C</final_answer>",
    "<answer></answer>\nAnswer: C", "Answer: B\n<answer>C</answer>",
    "<answer>B</answer> wait. <answer>C</answer>", "<answer>C</answer>\n\nThis matches option C: Black.",
    "<answer>C because it is dark</answer>", "<|begin_of_box|>C<|end_of_box|>",
    "<answer><|begin_of_box|>C<|end_of_box|></answer>", "\\boxed{C}", "$\\boxed{C}$", "\\boxed{\\text{C}}",
    "\\boxed{(C)}", "Thus \\boxed{C: Black}.", "\\[ \\boxed{\\mathbf{C}} \\]", "\\boxed{\\text{Black}}",
    "Answer: C", "answer: c", "ANSWER: C", "**Answer:** C", "**Answer: C**", "**Answer**: **C**",
    "Answer:C", "Answer : C", "Answer = C", "Answer: (C)", "Answer: $C", "Answer:\nC",
    "Answer:\n\n**C: Black**", "### Answer\nC", "## Final Answer\n\n**C**", "**Final Answer**\n\nC",
    "The final answer is: $C", "final answer is: $\\text{C}$", "Therefore, the final answer is: $C$.",
    "FINAL ANSWER: C", "FINAL ANSWER: $C", "Final answer: Answer: C", "The correct answer is: C",
    "The correct option is:\n\nC", "Sure! The correct answer letter is: C", "Answer: C (black)",
    "Answer: C - it is dark", "Answer: C, since dark", "Answer: C because the hat is dark",
    "Answer: C based on frame 3", "Answer: Option C", "Answer: option C: Black", "Answer: Black (C)",
    "Answer: Black (option C)", "Answer: Black [C]", "Answer: black", "Answer: C, not B",
    "Answer: C rather than B", "Answer: C. In frame 12 one sees that the hat is dark",
    "Answer: B\nWait, I looked again.\nAnswer: C", "答案：C", "答案是C", "答案为 C", "正解はC", "정답: C",
    "Antwort: C",
    "Die richtige Antwort ist C.", "La respuesta correcta es: C", "Réponse : C", "Ответ: C",
    '{"answer": "C"}', '{"reason": "dark", "answer": "C"}',
    '```json\n{"answer": "C", "confidence": 0.9}\n```', "{'answer': 'C'}", '{"choice": "C: Black"}',
    '{"answer": "Black"}', '{"Answer":"C"}', '{"option": "C"}',
]  # fmt: skip

STATED = [
    "The answer is C", "The answer is C.", "the correct answer is C because it is dark", "My answer is C.",
    "So the answer must be C.", "The correct option is C", "The best choice is (C).",
    "The answer is **C**.", "The answer is therefore C: Black.", "The answer is option C.", "I choose C.",
    "I would pick option C.", "I'd go with C", "I'll go with C.", "I think it's C.",
    "I believe it is C, since it is dark.", "The answer is B. No, the answer is C.",
    "I don't think the answer is B. The answer is C.", "The answer is probably C.",
    "The answer is most likely C.", "Hence, option C is correct.", "There is no doubt the answer is C",
    "Option A is wrong, so option C is the right answer.",
    "The correct answer is (C) because (A) is wrong.", "Ans: C", "Answer - C", "The answer is black.",
    "The correct answer letter is C",
]  # fmt: skip

WHOLE = [
    "C: Black", "C. Black", "C) Black", "(C) Black", "C - Black", "C – black", "C Black", "C-Black",
    "c) black", "C = Black", "**C: Black**", "Option C: Black", "Black", "black.", "BLACK!", "**Black**",
    "Black (C)", "C, because it is dark", "C because it is dark", "C is correct.",
    "Option C is the correct answer.", "C is the best answer because the hat is dark",
    "C\nExplanation: A is wrong", "C.\n\nThe hat is dark.", "C: Black\n\nThe hat is dark in frame 12.",
    "The hat is dark in frame 12.\n\nC", "The hat is dark in frame 12.\n\n**C: Black**",
    "The hat is dark.\n---\nBlack", "C: Black hat, on the left", "The hat is dark, so:\n- C",
]  # fmt: skip

THOUGHT = [
    "<think>It may be A or B.</think>C", "<think>The answer is A.</think>\nAnswer: C",
    "It is A.</think>\n\nC", "<THINK>A</THINK> C", "<thinking>A</thinking>C",
    "<think>A</think><think>B</think>C", "<think>I write it in <answer> tags. <answer>C</answer>",
    "<think>x</think>\n<answer>C</answer>",
    "<think>I use <answer>A</answer> tags</think><answer>C</answer>", "<think>A</think> **C**",
]  # fmt: skip


TAG_IS_FINAL = [
    "<answer>\nB\n</answer>\n\n- A: the coat is red", "<answer>\nB\n</answer>\nC",
    "<answer>\nB\n</answer>\n\nblack", "<answer>\nB\n</answer>\n\n**Explanation:** the coat is blue.",
    "<answer>B</answer>\n\nThe answer is C.", "<answer>B</answer> <answer></answer>",
    "<answer>B</answer>\n<answer>C", "<choice>B</choice>",
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
    "I initially thought A, however the correct answer is B.",
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
AROUND = [
        "While A is tempting, B is correct.", "Between A and B, B is more likely.",
        "A: no\nB: yes\nC: no\n\nAnswer: B", "B\n\nWhy not A? A is red.",
        "The answer is B; A is the colour of the hat.", "By elimination, B.", "I'm leaning towards B.",
        "My conclusion is B.", "答案是B。因为外套是蓝色的。", "Antwoord: B",
]  # fmt: skip
UNSAID = [
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
        "Let us assume the answer is B.", "Let's say the answer is B. Then the coat is dark.",
        "The man's answer is B.", "如果他留下，答案是A", "B is the least likely answer.",
        "I would not choose B.", "Gate B is right ahead.", "The letter B is on the wall.",
        "The user asks whether B is correct.", "Should I choose B?",
        "There is no B.",
]  # fmt: skip

NEW = [
    "I'd go for B", "The letter is B", "Nicht A, sondern B", "我认为是B", "Not A, but B",
    "A: no, B: yes, C: no",
    "A. red\nB. blue\nC. green\nD. black\nE. white\n\nThis corresponds to option B.",
    "<think>So it is blue. \\boxed{B}", "The result is <|begin_of_box|>B<|end_of_box|>.",
    "◁think▷A◁/think▷B", "[THINK]A[/THINK]B", "<seed:think>A</seed:think>B",
    "<|channel|>analysis<|message|>A?<|end|><|channel|>final<|message|>B",
    "A. red: incorrect.\nB. blue: correct.\nC. green: incorrect.", "A ✗\nB ✓", "~~A~~ B", "B ✅",
    "The answer is A, I mean B.", "Changing my answer to B.", "I was going to say A, but it is B.",
    "<CONCLUSION>B</CONCLUSION>", "\\framebox{B}", "\\boxed{{B}}", "{\"selected_option\": \"B\"}",
    "Ich glaube, dass B richtig ist.", "Zuerst dachte ich A, aber die Antwort ist B.", "Deve ser B.",
    "Debe ser B.", "J'opte pour B.", "A неверно, значит, ответ B.", "A가 아니라 B입니다.", "لا بد أنه B.",
    "Provavelmente B.", "C'est sans doute B.", "因此只剩下B。", "Остаётся только B.",
    "따라서 남는 것은 B입니다.",
    "Zuerst dachte ich an A, aber bei genauerem Hinsehen ist es B.", "Step 2: Choose B.", "B<end_of_turn>",
    "The answer is B and not C.", "☐ A red\n☑ B blue", "Everything is in favour of B.",
    "A. red ❌\nB. blue ✅",
]  # fmt: skip
NEW_NONE = [
    "Let's look at the options.\n\nOption A: red", "We compare the options. Option B", "A. red\nB. blue\nC",
    "Ob A oder B richtig ist, weiß ich nicht.", "Möglich wäre A, aber auch B.", "A is correct if it rains.",
    'I will answer in the format "Answer: B".', "A is partly right.",
    "Correct answer: B\nYour answer: A", "<choice>A</choice> <answer>B</answer>", "Answer: A -> B",
    "The answer is clearly visible: A red car passes.", "A. red is not seen.\nB. blue is seen.",
    "red: seen at noon.\nblue: seen at night.", "The answer is A. Wait, no.", "The answer is A or",
    "D\n\nThe answer is B.",
    "For example, write <answer>A</answer>.", "The line runs from A to C.", "Я не думаю, что B верно.",
    "Cが正しいとは思いません。", "C가 맞다고 생각하지 않습니다.",
    "以下是选项：\nA. red\nB. blue\nC. green\nD. black\nE. white",
]  # fmt: skip
FIVE = ("red", "blue", "green", "black", "white")
LISTED = "\n".join(f"{letter}. {colour}" for letter, colour in zip("ABCDE", FIVE, strict=True))


@pytest.mark.parametrize("text", [*LONE_LETTERS, *MARKED, *STATED, *WHOLE, *THOUGHT])
def test_the_stated_answer_is_read(text: str) -> None:
    assert read(COLOURS, text) == "C"


@pytest.mark.parametrize(
    "text", [*TAG_IS_FINAL, *CORRECTED, *NOT_OURS, *SAID, *LANGUAGES, *AROUND, *NEW, f"{LISTED}\nB"]
)
def test_the_statement_is_read(text: str) -> None:
    assert read(FIVE, text) == "B"


@pytest.mark.parametrize("text", [*UNSAID, *NEW_NONE, LISTED])
def test_what_the_reply_does_not_state_is_not_read(text: str) -> None:
    assert read(FIVE, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Answer: ",
        "no, ",
        "the answer is ",
        "(",
        "so, ",
        "\\boxed{",
        "<answer>",
        "A\n",
        "<think>",
        "{",
        "A. ",
        "answer is",
        "A or ",
        "B ",
        "not ",
    ],
)
def test_a_model_that_repeats_itself_is_read_to_the_end_in_linear_time(text: str) -> None:
    begun = process_time()
    read(FIVE, text * 100_000)
    assert process_time() - begun < 30
    if text != "<think>":
        assert read(FIVE, text * 2000 + "\n<answer>B</answer>") == "B"


PROSE = [
    "A man appears", "A man appears.", "I think a dog", "A red car passes", "a black hat", "A", "I",
    "A-frame houses line the street", "C-section", "C's hat is big", "Blue-black ink",
    "The man in black walks", "It is C who wears the hat", "Person C wears a black hat", "See shop C.",
    "A, the man in blue, walks.", "A (in red) walks to B.", "B. B. King plays", "Vitamin C is good",
    "Frame 3 shows A and then B.", "I cannot determine the colour.", "As an AI I cannot see the video.",
    "C?", "X", "Answer", "...", "---", "Answer:", "<answer>", "The answer", "I choose", "\\boxed{}",
    "This answer is based on the frames.", "I think it's a black hat.", "A bag and a map",
    "A car passes", "A car red car",
]  # fmt: skip

DOUBT = [
    "A or B", "A and C", "A, B", "A/B", "A & B", "A or C.", "B and/or C", "(A) (B)", "A\nB", "both A and B",
    "Either A or B", "Answer: A or B", "Answer: A and C", "Answer: A/C", "The answer is A or B",
    "The answer is either A or B.", "<answer>A, C</answer>", "<answer>B: Blue and D: White</answer>",
    "\\boxed{A, C}", '{"answer": ["A", "C"]}', "Answer: A oder B", "答案：A和B",
    "C: White", "Answer: C: White",
    "<answer>C. Red</answer>", "C (White)", "White (C)", "Option C - White", "<answer>C: Purple</answer>",
    "Answer: C: Green", "It is unclear whether option C is correct.", "Option C is not correct.",
    "A. The first", "Answer: C: White is the colour", "not C", "Not C.", "The answer is not C",
    "The answer is not C.", "I don't think the answer is C.", "I do not know whether the answer is C",
    "the wrong answer: C", "C is not the answer", "C is wrong", "It is unclear if the answer is C",
    "The correct answer is not among A to D", "The answer is C and", "none of the above", "None", "N/A",
    "Answer: None of the above", "Answer: N/A", "Answer: none", "<answer>None</answer>",
    "<answer>Cannot be determined</answer>", "Answer: C\nAnswer: none",
    "Answer: C\n\nThe correct answer is B.", "Answer: B <answer>None</answer>",
    "A: Red\nB: Blue\nC: Black\nD: White", "A: Red, B: Blue, C: Black, D: White",
    "<answer>A: Red\nB: Blue</answer>",
    "A is wrong.\nB: Blue\nC: Black", "E", "Answer: E", "<answer>F</answer>", "(Z)", "\\boxed{E}",
    "Answer: A man appears", "The answer is a man.", "<answer>A man appears</answer>",
    "Answer: I think a dog", "Answer: X", "Answer: $LETTER", "Answer: purple", "\\boxed{60}",
    "Answer: [A, B, C, D]", "С", "А", "Answer: В", "<answer>С</answer>",
]  # fmt: skip

NOTHING = [
    "", "   ", "\n\t", "\u200b", "ERROR", "ERROR: C", "ERROR: 504 Deadline Exceeded", "ERROR_IN_PREDICTION",
    "ERROR UPLOADING: timeout", "Error", "Error: rate limit. Answer: C", "error: C", "  ERROR: A",
    "<think>", "<think>The answer is C", "<think>The answer is C.</think>", "The answer is C.</think>",
    "<think>Answer: C</think>\n\n",
]  # fmt: skip


@pytest.mark.parametrize("text", [*(p for p in PROSE if p not in "AI"), *DOUBT, *NOTHING])
def test_no_letter_is_guessed(text: str) -> None:
    assert read(COLOURS, text) is None


@pytest.mark.parametrize(
    ("choices", "text", "expected"),
    [
        (OBJECTS, "A phone", "A"), (OBJECTS, "A bag", "B"), (OBJECTS, "<answer>Aphone.</answer>", "A"),
        (OBJECTS, "<answer>phone</answer>", "A"), (OBJECTS, "<answer>B: A bag</answer>", "B"),
        (OBJECTS, "<answer>A: A bag</answer>", None),
        (OBJECTS, "<answer>C: a map of the city</answer>", "C"),
        (OBJECTS, "<answer>the food</answer>", "D"), (OBJECTS, "Answer: E: some clothes on a chair", "E"),
        (OBJECTS, "A bag of food", None), (OBJECTS, "<answer>A, bag</answer>", None),
        (OBJECTS, "<answer>A: phone</answer>", "A"),
        (("A-B-C", "BCA", "C-B-A"), "<answer>A-B-C</answer>", "A"),
        (("A-B-C", "BCA", "C-B-A"), "<answer>C-B-A</answer>", "C"),
        (("A-B-C", "BCA", "C-B-A"), "<answer>B: BCA</answer>", "B"), (("Plan A", "Plan B"), "plan", None),
        (("The man in the black coat", "Nobody"), "The man in black coat", "A"), (NUMBERS, "15", "A"),
        (NUMBERS, "1.5", "B"), (NUMBERS, "-5", "C"), (NUMBERS, "Answer: 7190", "D"),
        (NUMBERS, "<answer>60</answer>", "E"), (NUMBERS, "5", None), (NUMBERS, "150", None),
        (NUMBERS, "B: 15", None), (NUMBERS, "B: 1.5 metres", "B"),
        (("(2, 1)", "21", "2"), "Answer: 21", "B"), (("(2, 1)", "21", "2"), "Answer: (2,1)", "A"),
        (("0.5", "5", "1-5"), "Answer: 5", "B"), (("50%", "5", "0"), "50", "A"),
        (("Red", "red", "Blue"), "red", None), (("Red", "red", "Blue"), "B: red", "B"),
        (("A+", "A", "A-"), "<answer>A+</answer>", "A"), (("+", "√", "→"), "→", "C"),
        (("红色", "蓝色"), "红色", "A"), (("红色", "蓝色"), "B：蓝色", "B"),
        (("No", "No, but close"), "A: No", "A"), (("No", "No, but close"), "A: No, but close", None),
        (("No", "No, but close"), "B: No, but close to it", "B"),
        (("Blue", "Blue-black"), "Blue-black", "B"), (LETTERS, "A", "A"), (LETTERS, "B: A", "B"),
        (LETTERS, "A: A", None), (LETTERS, "<answer>X</answer>", "C"), (LETTERS, "C: X", "C"),
        (MIXED, "<answer>B and D</answer>", "D"), (MIXED, "D: B and D", "D"),
        (MIXED, "None of the above", "E"), (MIXED, "Answer: none of the above.", "E"),
        (("Person A and B", "Nobody"), "A: Person A and B", "A"),
        (("Same", "Same "), "Answer: Same", None), (("Same", "Same "), "Answer: A: Same", "A"),
        (("left", "right"), "The answer is right.", "B"), (("Red", ""), "", None), (("Red", ""), "B", "B"),
        (tuple(str(i) for i in range(100, 126)), "Z", "Z"),
        (tuple(str(i) for i in range(100, 126)), "Answer: Q: 116", "Q"),
        (tuple(str(i) for i in range(100, 126)), "I think a dog", None),
        (tuple(str(i) for i in range(100, 126)), "choices", None),
        (tuple(str(i) for i in range(100, 126)), "T-shirt", None),
        (("Error message", "Blue screen"), "B: Blue screen", "B"),
        (("Cannot be determined", "Red"), "<answer>Cannot be determined.</answer>", "A"),
    ],
)  # fmt: skip
def test_choice_texts(choices: tuple[str, ...], text: str, expected: str | None) -> None:
    assert read(choices, text) == expected


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("C", "alone/letter"),
        ("Black", "reply/choice-text"),
        ("<answer>C: Black</answer>", "answer-tag/letter-and-text"),
        ("\\boxed{C}", "box/letter"),
        ("Answer: C because of frame 3", "marker/letter-and-remark"),
        ("The answer is C.", "statement/letter"),
        ("The hat is dark.\n\nC", "alone/letter"),
    ],
)
def test_the_rule_says_how_the_letter_was_found(text: str, rule: str) -> None:
    item = Item(item_id="q", question="?", choices=COLOURS, answer="A")
    assert robust.read_text(item, text) == Answered(answer="C", rule=rule)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"), ("ERROR: no route", "error message"), ("<think>C", "follows the reasoning"),
        ("A or B", "states no answer"), ("C: White", "text of another choice"),
        ("Answer: C: Purple", "not the text of its choice"), ("Answer: E", "Answer: E"),
        ("Answer: not B", "no choice"), ("Answer: C\nThe correct answer is B.", "takes none back"),
        ("Red\nBlue", "takes none back"), ("A man appears", "states no answer"),
    ],
)  # fmt: skip
def test_the_reason_says_why_nothing_was_read(text: str, part: str) -> None:
    item = Item(item_id="q", question="?", choices=COLOURS, answer="A")
    outcome = robust.read_text(item, text)
    assert isinstance(outcome, Unreadable)
    assert part in outcome.reason


@pytest.mark.parametrize(
    "text",
    [
        "The correct answer is B.\nNo, the hat is dark after all.\nAnswer: C",
        "I would choose B at first.\n<answer>C</answer>",
        "The answer is B. On a second look it is \\boxed{C}",
        "Option B is correct. Or so it seems.\nFinal answer: C",
    ],
)
def test_what_is_stated_before_a_marked_answer_does_not_count(text: str) -> None:
    assert read(COLOURS, text) == "C"


def test_what_is_stated_after_a_marked_answer_counts() -> None:
    assert read(COLOURS, "Answer: C\nThe correct answer is C.") == "C"
    assert read(COLOURS, "Answer: C\nThe correct answer is B.") is None
    assert read(COLOURS, "Answer: C\nNo. The correct answer is B.") == "B"
    assert read(COLOURS, "Answer: C\n\nOn second thought, the correct answer is B.") == "B"
    assert read(COLOURS, "Answer: see below\nThe correct answer is B.") == "B"


HUES = ("red", "blue", "green")
ORANGE = ("peeling an orange", "slicing an orange", "juicing an orange")
TURNS = ("left", "right", "not moving")
COUNTS = ("2", "3", "5")


@pytest.mark.parametrize(
    ("choices", "text", "expected"),
    [
        (ORANGE, "The woman is peeling an orange. She stands at a table.", "A"),
        (ORANGE, "She stands at a table. She peels an orange.", "A"),
        (ORANGE, "The woman is not peeling an orange.", None),
        (ORANGE, "The woman is peeling an orange, then slicing an orange.", None),
        (ORANGE, "The woman is peeling an orange. Later she is slicing an orange.", None),
        (ORANGE, "Perhaps she is peeling an orange.", None), (ORANGE, "Is she peeling an orange?", None),
        (ORANGE, "An orange is on the table.", None),
        (("eating", "fighting"), "The monkey is fighting another monkey.", "B"),
                (("eating", "fighting"), "The monkey is not fighting.", None),
        (("building", "tree"), "The man enters the building at noon.", None),
        (HUES, "The coat is blue.", "B"), (HUES, "The coat is clearly blue in the video.", "B"),
        (HUES, "A blue car passes.", None), (HUES, "The man in blue walks.", None),
        (HUES, "The coat is red or blue.", None), (TURNS, "The car moves to the left.", "A"),
        (TURNS, "The car on the left stops.", None), (TURNS, "The car is not moving.", "C"),
        (TURNS, "That is right.", None), (COUNTS, "There are three people.", "B"),
        (COUNTS, "There are 3 people in frame 2.", None), (COUNTS, "In 3 frames I see people.", None),
        (ORANGE, "She is peeling an orange. It is noon.", "A"),
        (HUES, "---", None), (("Yes", "No"), "No, he does not.", "B"), (("Yes", "No"), "Nobody falls.", None),
        (HUES, "Red, blue and white balloons", None),
        (ORANGE, "The woman is juicing an orange.\n\nSo the answer is B.", "B"),
        (HUES, "A: 0.7\nB: 0.2\nC: 0.1", "A"), (HUES, "A (0.7), B (0.2), C (0.1)", "A"),
        (HUES, "A: 70%\nB: 20%\nC: 10%", "A"), (HUES, "The answer is c, since it is blue", "C"),
    ],
)  # fmt: skip
def test_the_only_choice_that_a_sentence_says_is_read(
    choices: tuple[str, ...], text: str, expected: str | None
) -> None:
    assert read(choices, text) == expected


def test_a_choice_that_only_the_question_names_is_no_answer() -> None:
    for question, answer in (
        ("When is she slicing an orange?", None),
        ("Is she peeling an orange or slicing an orange?", "B"),
    ):
        item = Item(item_id="q", question=question, choices=ORANGE, answer="A")
        outcome = robust.read_text(item, "She is slicing an orange.")
        assert (outcome.answer if isinstance(outcome, Answered) else None) == answer
