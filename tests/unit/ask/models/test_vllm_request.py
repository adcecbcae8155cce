"""`vllm:` where no vLLM is needed: requests as what the engine is given, what it gives as replies."""

import io

import pytest
from PIL import Image

from servers.model_asks import asking
from servers.tiny_requests import frame, make_request
from servers.vllm_standin import Logprob, completed
from vidence.ask.models.vllm import read_output, sampling_fields
from vidence.ask.models.weights import Conversation
from vidence.ask.models.weights import conversation as weights_conversation
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, TransientModelError
from vidence.records import ImagePart, Reply, Sampling, TextPart, Usage, VideoPart

LETTERS = {"A": (1, 2), "B": (3, 4), "C": (7,)}
BLANKS = frozenset({5, 6})


def conversation(request: Request) -> Conversation:
    return weights_conversation(request, owner="vllm", image_type="image_pil", has_plain_system=True)


def read(request: Request, *arguments: object, **fields: object) -> Reply:
    output = completed(*arguments, **fields)
    return read_output(output, request, model="tiny", letter_tokens=LETTERS, blanks=BLANKS)


def test_parts_keep_their_order_and_images_become_pictures():
    parts = (TextPart(text="first"), ImagePart(digest="d1", width_px=80, height_px=60), TextPart(text="then"))
    turns = conversation(asking(*parts, system="Be brief.", images={"d1": frame(1)}))
    assert turns[0] == {"role": "system", "content": "Be brief."}
    assert turns[1]["role"] == "user"
    first, picture, then = turns[1]["content"]
    assert (first, then) == ({"type": "text", "text": "first"}, {"type": "text", "text": "then"})
    assert picture.keys() == {"type", "image_pil"}
    assert picture["type"] == "image_pil"
    assert picture["image_pil"].mode == "RGB"
    assert picture["image_pil"].tobytes() == Image.open(io.BytesIO(frame(1))).convert("RGB").tobytes()


def test_a_broken_image_and_a_video_file_are_rejected_requests():
    part = ImagePart(digest="d", width_px=4, height_px=3)
    with pytest.raises(RejectedRequestError, match="q1: image d cannot be read"):
        conversation(asking(part, images={"d": b"no image"}))
    with pytest.raises(RejectedRequestError, match=r"q1.*clip\.mp4; ask with frames"):
        conversation(asking(VideoPart(path="clip.mp4", digest="v")))


NEUTRAL = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ({}, {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024, "seed": None}),
        (
            {"temperature": None, "max_tokens": None, "seed": 3},
            {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024, "seed": None},
        ),
        (
            {"temperature": 0.7, "top_p": 0.9, "max_tokens": 5},
            {"temperature": 0.7, "top_p": 0.9, "max_tokens": 5, "seed": None},
        ),
    ],
)
def test_how_a_reply_is_drawn(sampling: dict[str, object], expected: dict[str, object]):
    assert sampling_fields(asking(TextPart(text="?"), **sampling), LETTERS) == {**NEUTRAL, **expected}


def test_the_samples_of_a_seed_differ_and_are_the_same_every_time():
    def seed(n: int) -> object:
        return sampling_fields(make_request(sampling=Sampling(temperature=1.0, seed=3), sample=n), {})["seed"]

    assert len({seed(n) for n in range(9)}) == 9
    assert seed(0) == seed(0)
    assert isinstance(seed(0), int)


def test_only_the_tokens_of_the_letters_are_reported_where_they_are_wanted():
    wanted = sampling_fields(asking(TextPart(text="?"), want_choice_logps=True), LETTERS)
    assert wanted["logprob_token_ids"] == [1, 2, 3, 4, 7]
    assert sampling_fields(asking(TextPart(text="?"), max_tokens=1), LETTERS)["logprob_token_ids"] == [
        1,
        2,
        3,
        4,
        7,
    ]
    assert "logprob_token_ids" not in sampling_fields(asking(TextPart(text="?")), LETTERS)
    assert "logprob_token_ids" not in sampling_fields(asking(TextPart(text="?"), want_choice_logps=True), {})


def test_text_and_usage():
    reply = read(asking(TextPart(text="?")), "yes", [8, 1, 8], n_input=11)
    assert reply == Reply(text="yes", model="tiny", usage=Usage(input_tokens=11, output_tokens=3))
    assert read(asking(TextPart(text="?")), "yes", n_input=None).usage.input_tokens is None


@pytest.mark.parametrize(("reason", "finish"), [("stop", "stop"), ("length", "length"), ("new", "other")])
def test_why_it_ended(reason: str, finish: str):
    assert read(asking(TextPart(text="?")), "yes", finish_reason=reason).finish == finish


@pytest.mark.parametrize("reason", ["abort", "error", None])
def test_a_reply_that_was_broken_off_is_worth_another_try(reason: str | None):
    found = read(asking(TextPart(text="?")), "ye", finish_reason=reason)
    assert isinstance(found, TransientModelError)
    assert f"q1: the engine broke the reply off (finish_reason {reason!r})" in str(found)


def test_log_probabilities_that_were_not_reported_or_not_wanted_are_absent():
    at = [
        {5: Logprob(-0.1), 1: Logprob(-9.0)},
        {1: Logprob(-3.0), 2: Logprob(-1.0), 4: Logprob(-2.0), 8: Logprob(-0.2)},
        {1: Logprob(-0.1)},
    ]
    request = asking(TextPart(text="?"), want_choice_logps=True)
    assert read(request, "\n A", [5, 2, 8], logprobs=at).choice_logps == {"A": -1.0, "B": -2.0}
    at = [{1: Logprob(-1.0)}]
    assert read(asking(TextPart(text="?"), want_choice_logps=True), "A", [1]).choice_logps is None
    assert read(asking(TextPart(text="?")), "A", [1], logprobs=at).choice_logps is None


@pytest.mark.parametrize("token_ids", [[5, 6], []])
def test_a_blank_reply_has_no_log_probabilities(token_ids: list[int]):
    at = [{1: Logprob(-1.0)} for _ in token_ids]
    request = asking(TextPart(text="?"), want_choice_logps=True)
    assert read(request, "", token_ids, logprobs=at).choice_logps is None
