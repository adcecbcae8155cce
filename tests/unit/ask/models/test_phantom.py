"""Readers with known defects: what they say, what they believe, and that they score as planted."""

import hashlib
import io
import math
from collections.abc import Mapping, Sequence

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from servers.model_asks import maker
from vidence.ask.models import images, phantom
from vidence.ask.models.phantom import PhantomModel
from vidence.ask.phantom.code import Payload, draw
from vidence.ask.phantom.scene import piece_number
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UnknownNameError, UsageError
from vidence.records import ImagePart, Prompt, Reply, Sampling, TextPart, VideoPart

create = maker("model", "phantom")

RED, GREEN, BLUE, GREY = 4, 7, 9, 2
VALUES = {"red": RED, "green": GREEN, "blue": BLUE, "grey": GREY}
SUM = "What is the sum of the numbers on the red, the green and the blue card?"
CHOICES = {"A": 13, "B": 4, "C": 20, "D": 11, "E": 27}
ANSWER_LINE = "\nReply with one line:\nAnswer: X"


def png(image: NDArray[np.uint8]) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def frame(colour: str | None) -> NDArray[np.uint8]:
    image = np.full((90, 160, 3), 100, np.uint8)
    if colour is None:
        return image
    return draw(image, Payload(world=1, piece=piece_number(3, colour), value=VALUES[colour]))


def request(
    text: str, images: Sequence[bytes] = (), *, frames_each: int = 1, sampling: Sampling | None = None
) -> Request:
    digests = [hashlib.sha256(data).hexdigest() for data in images]
    parts = [
        ImagePart(digest=d, width_px=0, height_px=0, frames=tuple(range(i, i + frames_each)))
        for i, d in enumerate(digests)
    ]
    return Request(
        item_id="not-to-be-used",
        prompt=Prompt(parts=(*parts, TextPart(text=text))),
        sampling=sampling or Sampling(),
        images=dict(zip(digests, images, strict=True)),
    )


def ask(model: PhantomModel, asked: Request) -> Reply:
    return anyio.run(model.reply, asked)


def answer(
    name: str,
    colours: Sequence[str | None],
    *,
    options: Mapping[str, str] | None = None,
    question: str = SUM,
    choices: Mapping[str, int] = CHOICES,
    ending: str = ANSWER_LINE,
    sampling: Sampling | None = None,
) -> Reply:
    lines = "\n".join(f"{letter}. {number}" for letter, number in choices.items())
    images = [png(frame(colour)) for colour in colours]
    asked = request(f"{question}\n{lines}{ending}", images, sampling=sampling)
    return ask(create(name, options or {}), asked)


def test_fuser_adds_what_it_sees_and_names_a_choice_that_cannot_be_right_when_a_card_is_missing():
    assert answer("fuser", ["blue", None, "grey", "red", "red", "green"]).text == "Answer: C"
    # Seen 4 + 7: the missing card adds 1 or more, so 11 is too small, and 13 is possible.
    assert answer("fuser", ["red", "green"]).text == "Answer: D"
    # Seen 7 only: two cards missing, 9 or more: 4 is the only choice below.
    assert answer("fuser", ["green"]).text == "Answer: B"
    reply = answer("fuser", [None, "grey"])
    assert reply.text == "This cannot be told from what is shown."
    assert (
        reply.reasoning == "The red card is not seen, the green card is not seen, the blue card is not seen."
    )
    assert answer("fuser", ["red", "green", "blue"], choices={}).text == "Answer: 20"
    assert answer("fuser", ["red"], choices={}).text == "This cannot be told from what is shown."
    reply = ask(create("fuser", {}), request("Which colour? A. red B. green", [png(frame("red"))]))
    assert reply.text == "This cannot be told from what is shown."
    assert reply.choice_logps is None


def test_single_uses_the_first_named_card_in_its_first_frame():
    assert answer("single", ["red", "green", "blue"]).text == "Answer: B"  # 4 < 4 + 1 + 1
    assert answer("single", ["green", "blue"]).text == "This cannot be told from what is shown."
    read = {"question": "What is the number on the grey card?", "choices": {"A": 5, "B": 2}}
    assert answer("single", ["red", "grey"], **read).text == "Answer: B"
    other = draw(frame(None), Payload(world=1, piece=piece_number(3, "grey"), value=5))
    said = "What is the number on the grey card?\nA. 5\nB. 2\nAnswer: X"
    asked = request(said, [png(frame("grey")), png(other)])
    assert ask(create("single", {}), asked).text == "Answer: B"


@pytest.mark.parametrize("name", ["fuser", "single", "blind", "letter-biased", "forgetful"])
def test_all_believe_a_leak(name: str):
    leaked = f"Somebody who has watched the video says that the answer is 20. {SUM}"
    reply = answer(name, ["red"], question=leaked)
    assert (reply.text, reply.reasoning) == ("Answer: C", "The question itself says that it is 20.")
    assert answer("blind", ["red", "green", "blue"]).text == "This cannot be told from what is shown."


def test_letter_biased_says_its_letter_when_a_card_is_missing():
    assert answer("letter-biased", ["red", "green", "blue"], options={"letter": "e"}).text == "Answer: C"
    assert answer("letter-biased", ["red", "green"], options={"letter": "e"}).text == "Answer: E"
    assert answer("letter-biased", []).text == "Answer: A"
    beyond = answer("letter-biased", [], options={"letter": "Z"})
    assert beyond.text == "This cannot be told from what is shown."


def test_forgetful_holds_the_cards_seen_last():
    shown = ["red", "green", "blue", "grey"]
    assert answer("forgetful", shown, options={"memory": "3"}).text == "Answer: C"
    # It holds green and blue (16), red is forgotten: 13 is the largest choice that is too small.
    assert answer("forgetful", shown).text == "Answer: A"
    # Red comes again: now it holds blue and red (13), and 13 is too small.
    assert answer("forgetful", [*shown, "red"]).text == "Answer: A"
    assert answer("forgetful", shown, options={"memory": "1"}).reasoning == (
        "The blue card shows 9, the red card is not seen, the green card is not seen."
    )


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("\nEnd with one line:\nAnswer: X\nwhere X is the letter (A, B, C, D, E).", "Answer: C"),
        ("\nAnswer:\n<answer>X</answer>", "<answer>C</answer>"),
        ("\nTherefore, the final answer is: $LETTER", "Therefore, the final answer is: C"),
        ("\nTherefore, the final answer is: Answer: $ANSWER", "Therefore, the final answer is: Answer: C"),
        (
            '\nTherefore, the final answer is: "Answer: $ANSWER"',
            'Therefore, the final answer is: "Answer: C"',
        ),
        ("\nFINAL ANSWER: $LETTER", "FINAL ANSWER: C"),
        ("\nEnd your response with `Answer: X`.", "Answer: C"),
        ("\nWrite its letter alone, without any explanation.", "C"),
    ],
)
def test_the_answer_has_the_form_that_the_prompt_asks_for(ending: str, text: str):
    assert answer("fuser", ["red", "green", "blue"], ending=ending).text == text


def test_steps_are_told_where_the_prompt_wants_them_and_cut_at_max_tokens():
    reply = answer("fuser", ["red", "green"], ending="\nWork step by step. Then end with\nAnswer: X")
    assert reply.text == (
        "The red card shows 4, the green card shows 7, the blue card is not seen.\nAnswer: D"
    )
    assert reply.reasoning == ""
    steps = "\nWork step by step. Then end with\nAnswer: X"
    reply = answer("fuser", ["red"], ending=steps, sampling=Sampling(max_tokens=4))
    assert (reply.text, reply.finish) == ("The red card shows", "length")
    whole = answer("fuser", ["red", "green", "blue"], sampling=Sampling(max_tokens=2))
    assert (whole.text, whole.finish) == ("Answer: C", "stop")
    unlimited = answer("fuser", ["red"], ending=steps, sampling=Sampling(max_tokens=None))
    assert unlimited.finish == "stop"


def logps(name: str, colours: Sequence[str | None], **more: object) -> dict[str, float]:
    reply = answer(name, colours, sampling=Sampling(want_choice_logps=True), **more)
    assert reply.choice_logps is not None
    return reply.choice_logps


def leave_one_out_shares(name: str, colours: Sequence[str]) -> list[float]:
    """SPEC B7, written out: over the softmax of the letters, against the letter chosen with all frames."""

    def normalised(found: Mapping[str, float]) -> dict[str, float]:
        total = math.log(sum(math.exp(v) for v in found.values()))
        return {letter: v - total for letter, v in found.items()}

    full = normalised(logps(name, colours))
    chosen = max(full, key=lambda letter: full[letter])
    without = [normalised(logps(name, [*colours[:i], *colours[i + 1 :]])) for i in range(len(colours))]
    drops = [max(full[chosen] - part[chosen], 0) for part in without]
    return [drop / sum(drops) for drop in drops]


def test_letters_sum_to_one_and_the_right_one_loses_as_much_with_every_card():
    for shown, letter in ((["red", "green", "blue"], "C"), (["red", "green"], "D"), (["green"], "B")):
        found = logps("fuser", shown)
        assert sum(math.exp(v) for v in found.values()) == pytest.approx(1)
        assert max(found, key=lambda x: found[x]) == letter
        assert answer("fuser", shown).choice_logps is None
    shown = ["red", "green", "blue"]
    by_missing = [logps("fuser", shown[missing:])["C"] for missing in range(4)]
    assert by_missing[0] == pytest.approx(math.log(0.9))
    assert np.diff(by_missing) == pytest.approx([-math.log(6)] * 3)
    found = logps("fuser", [])
    assert set(found) == set(CHOICES)
    assert list(found.values()) == pytest.approx([math.log(0.9) - 3 * math.log(6)] * 5)
    not_a_choice = logps("fuser", ["red", "green", "blue"], choices={"A": 1, "B": 2})
    assert list(not_a_choice.values()) == pytest.approx([math.log(0.9 / 2.4)] * 2)
    assert leave_one_out_shares("fuser", ["blue", "red", "green"]) == pytest.approx([1 / 3] * 3)
    assert leave_one_out_shares("single", ["blue", "red", "green"]) == pytest.approx([0, 1, 0])


def montage(colours: Sequence[str | None], columns: int) -> bytes:
    cells = [np.zeros_like(frame(None)) if colour == "" else frame(colour) for colour in colours]
    rows = [np.hstack(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    return png(np.vstack(rows))


def test_a_montage_is_read_in_the_order_of_its_frames():
    text = f"{SUM}\nA. 13\nB. 4\nC. 20\nAnswer: X"
    asked = request(text, [montage(["red", None, "green", "blue"], 2)], frames_each=4)
    assert ask(create("fuser", {}), asked).text == "Answer: C"
    text = "What is the number on the red card?\nA. 4\nB. 5\nAnswer: X"
    asked = request(text, [montage(["red", "", "", ""], 2)])
    assert ask(create("fuser", {}), asked).text == "Answer: A"


def test_what_is_no_image_is_rejected():
    part = VideoPart(path="videos/v000.mp4", digest="0")
    asked = Request(item_id="q", prompt=Prompt(parts=(part, TextPart(text=SUM))), sampling=Sampling())
    with pytest.raises(RejectedRequestError, match="reads images, not a whole video"):
        ask(create("fuser", {}), asked)
    with pytest.raises(RejectedRequestError, match="cannot be read"):
        ask(create("fuser", {}), request(SUM, [b"not an image"]))
    asked = request(SUM, [png(frame("red"))])
    without = Request(item_id="q", prompt=asked.prompt, sampling=Sampling())
    with pytest.raises(RejectedRequestError, match="were not sent"):
        ask(create("fuser", {}), without)


def test_an_image_is_decoded_once_whoever_looks_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    decoded: list[bytes] = []
    monkeypatch.setattr(phantom, "_CODES", phantom._CodesOfImages())
    monkeypatch.setattr(phantom, "_REMEMBERED", 2)
    decode = images.decode_image
    monkeypatch.setattr(images, "decode_image", lambda data: decoded.append(data) or decode(data))
    red, green, blue = (png(frame(colour)) for colour in ("red", "green", "blue"))
    for name, shown in (
        ("fuser", [red, green]),
        ("single", [green, red, red]),
        ("fuser", [blue]),
        ("forgetful", [green, blue]),
        ("fuser", [red]),
        ("fuser", [green]),
    ):
        ask(create(name, {}), request(SUM, shown))
    assert decoded == [red, green, blue, red, green]


def test_identities_tell_models_and_settings_apart():
    assert create("fuser", {}).identity == "phantom:fuser v1"
    assert create("forgetful", {"memory": "3"}).identity == "phantom:forgetful?memory=3 v1"
    assert create("letter-biased", {"letter": "C"}).identity != create("letter-biased", {}).identity
    assert create("forgetful", {"memory": "2"}).identity == create("forgetful", {}).identity


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("fuser", {"memory": "2"}, "phantom:fuser has no option 'memory'; phantom:forgetful has it"),
        ("forgetful", {"memory": "0"}, "memory='0' cannot be read: expected a whole number 1 or above"),
        ("forgetful", {"letter": "A"}, "phantom:forgetful has no option 'letter'"),
        ("letter-biased", {"letter": "AB"}, "phantom:letter-biased: letter='AB' is not one letter"),
        ("letter-biased", {"letter": "1"}, "phantom:letter-biased: letter='1' is not one letter"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create(name, options)
    with pytest.raises(UnknownNameError, match="Did you mean 'fuser'"):
        create("fusor", {})
