"""`openai:` against a server that speaks the protocol: what is made of its answers."""

import json

import pytest

from servers.openai_asks import ask_stub, shape
from servers.openai_stub import Canned, completion
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import Reply

# ------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize(
    ("message", "choice", "expected"),
    [
        ({"content": None}, {"finish_reason": "stop"}, Reply(text="")),
        ({}, {"finish_reason": "length"}, Reply(text="", finish="length")),
        ({"content": "B", "tool_calls": []}, {}, Reply(text="B", finish="other")),
        ({"content": "B"}, {"finish_reason": "content_filter"}, Reply(text="B", finish="refusal")),
        ({"content": "B"}, {"finish_reason": "strange"}, Reply(text="B", finish="other")),
        (
            {"content": None, "refusal": "I can't."},
            {"finish_reason": "stop"},
            Reply(text="", finish="refusal", refusal="I can't."),
        ),
        (
            {"content": [{"type": "text", "text": "Answer: "}, {"type": "text", "text": "B"}]},
            {"finish_reason": "stop"},
            Reply(text="Answer: B"),
        ),
        (
            {"content": [{"type": "refusal", "refusal": "No."}]},
            {"finish_reason": "stop"},
            Reply(text="", finish="refusal", refusal="No."),
        ),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "B"}]},
            {"finish_reason": "stop"},
            Reply(text="B"),
        ),
        (
            {"content": "B", "reasoning_content": "because"},
            {"finish_reason": "stop"},
            Reply(text="B", reasoning="because"),
        ),
        ({"content": "B", "reasoning": "hm"}, {"finish_reason": "stop"}, Reply(text="B", reasoning="hm")),
    ],
)
def test_replies_of_every_shape_are_read(message: object, choice: dict[str, object], expected: Reply):
    reply = ask_stub(Canned(status=200, body=completion(message, **choice)))
    assert shape(reply) == shape(expected)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"choices": []}', "without choices"),
        (b'{"error": "out of memory"}', "without choices.*out of memory"),
        (b'{"error": {"message": "m", "code": 7}}', "without choices.*: m"),
        (completion({"content": 5}), r"no chat completion.*content"),
        (completion({"content": "B"}, finish_reason="error"), "broke off"),
        (b'{"error": {"message": "slow down", "code": 429}}', "answered 429: slow down"),
    ],
)
def test_an_answer_that_is_no_reply_is_worth_another_try(body: bytes, words: str):
    with pytest.raises(TransientModelError, match=f"(?s){words}"):
        ask_stub(Canned(status=200, body=body))


# ---------------------------------------------------------------------------------- what is raised


@pytest.mark.parametrize(
    ("canned", "wait_s", "is_overload"),
    [
        (Canned(status=429, headers={"retry-after": "2.5"}), 2.5, True),
        (Canned(status=503), None, True),
        (Canned(status=529), None, True),
        (Canned(status=502, body=b"<html>Bad gateway</html>"), None, False),
        (Canned(status=408), None, False),
        (Canned(status=409), None, False),
    ],
)
def test_troubles_that_pass(canned: Canned, wait_s: float | None, is_overload: bool):
    with pytest.raises(TransientModelError, match=str(canned.status)) as caught:
        ask_stub(canned)
    assert caught.value.retry_after_s == wait_s
    assert caught.value.is_overload is is_overload
    assert caught.value.is_server_error is (canned.status >= 500)


def _says(**error: object) -> bytes:
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("canned", "kind", "words"),
    [
        (Canned(status=401), AccessError, "401.*OPENAI_API_KEY is not set"),
        (Canned(status=402), AccessError, "402"),
        (Canned(status=403), AccessError, "403"),
        (Canned(status=404, body=_says(message="no model tiny")), AccessError, "no model tiny.*name right"),
        (Canned(status=307, headers={"location": "/v2"}), AccessError, "address moved"),
        (Canned(status=429, body=_says(message="m", code="insufficient_quota")), AccessError, "429: m"),
        (Canned(status=429, body=_says(message="m", type="insufficient_quota")), AccessError, "429: m"),
        (Canned(status=400, body=_says(message="m", code="model_not_found")), AccessError, "400: m"),
        (Canned(status=400, body=_says(message="too many images")), RejectedRequestError, "too many"),
        (Canned(status=422, body=b'{"detail": "bad field"}'), RejectedRequestError, "422: bad field"),
        (Canned(status=400, body=b'{"message": "old style"}'), RejectedRequestError, "400: old style"),
        (Canned(status=413, body=b"too large \xff"), RejectedRequestError, "413: too large"),
        (Canned(status=400, body=b""), RejectedRequestError, "no message"),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}"):
        ask_stub(canned)


def test_a_long_message_of_the_server_is_trimmed():
    with pytest.raises(RejectedRequestError) as caught:
        ask_stub(Canned(status=400, body=_says(message="word " * 5000)))
    assert len(str(caught.value)) < 600
