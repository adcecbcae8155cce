"""`openai:` against a server: what is sent, how it is set up, and what is made of its answers."""

import base64
import json
from pathlib import Path

import pytest

from servers.model_asks import image_part
from servers.openai_asks import ask, ask_stub, create, model_for, shape, text_request
from servers.openai_stub import Canned, OpenAIStub, completion
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Prompt, Reply, Sampling, TextPart, Usage, VideoPart


def test_a_prompt_of_words_is_sent_as_a_plain_string():
    with OpenAIStub(answer="B") as server:
        [reply] = ask(model_for(server), text_request())
    assert reply.text == "B"
    assert reply.finish == "stop"
    assert reply.model == "tiny"
    assert reply.usage == Usage(input_tokens=7, output_tokens=1)
    assert reply.latency_s > 0
    assert server.requests[0].body == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Which?"}],
        "temperature": 0.0,
        "max_tokens": 1024,
    }


def test_parts_keep_their_order_and_images_their_bytes():
    parts = (TextPart(text="first"), image_part("d1"), TextPart(text="then"), image_part("d2"))
    images = {"d1": b"\xff\xd8one", "d2": bytes(range(256))}
    prompt = Prompt(parts=parts, system="Be brief.")
    request = Request(item_id="q1", prompt=prompt, sampling=Sampling(), images=images)
    with OpenAIStub() as server:
        ask(model_for(server, "image_detail=low"), request)
    system, user = server.requests[0].body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text", "image_url"]
    assert user["content"][2]["text"] == "then"
    for part, expected in zip(user["content"][1::2], images.values(), strict=True):
        start, _, data = part["image_url"]["url"].partition(",")
        assert start == "data:image/jpeg;base64"
        assert base64.b64decode(data) == expected
        assert part["image_url"]["detail"] == "low"


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_large_body_arrives_whole_with_its_length_and_what_marks_a_place_in_it(api: str):
    images = {f"d{n}": bytes([n]) * 90_000 for n in range(9)}  # a megabyte, sent in several pieces
    words = "a mark \x00 and its \\u0000 in words"
    prompt = Prompt(
        parts=(*map(image_part, images), TextPart(text=words), image_part("d0")), system="also \x00"
    )
    request = Request(item_id="q1", prompt=prompt, sampling=Sampling(), images=images)
    with OpenAIStub() as server:
        ask(model_for(server, f"api={api}"), request, request)
    first, again = server.requests
    assert first.raw == again.raw
    assert first.headers["content-length"] == str(len(first.raw))
    assert "transfer-encoding" not in first.headers
    assert len(first.raw) > 10 * 120_000
    content = (first.body["messages"][-1] if api == "chat" else first.body["input"][0])["content"]
    urls = [part.get("image_url") for part in content]
    sent = [url["url"] if isinstance(url, dict) else url for url in urls]
    arrived = [url and base64.b64decode(url.split(",")[1]) for url in sent]
    assert arrived == [*images.values(), None, images["d0"]]
    assert content[9]["text"] == words


def test_a_whole_video_is_sent_as_video_url(tmp_path: Path):
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"a whole video")
    prompt = Prompt(parts=(VideoPart(path=str(path), digest="v1"), TextPart(text="Which?")))
    request = Request(item_id="q1", prompt=prompt, sampling=Sampling())
    with OpenAIStub() as server:
        ask(model_for(server), request, request)
    for seen in server.requests:
        url = seen.body["messages"][0]["content"][0]["video_url"]["url"]
        assert url == "data:video/mp4;base64," + base64.b64encode(b"a whole video").decode()
    path.unlink()
    with OpenAIStub() as server, pytest.raises(RejectedRequestError, match=r"clip\.mp4 cannot be read"):
        ask(model_for(server), request)
    assert server.n_requests == 0


def test_settings_left_to_the_server_are_not_sent_and_extra_ones_are():
    request = text_request(temperature=None, max_tokens=None, top_p=0.5, seed=7)
    later = Request(item_id="q1", prompt=request.prompt, sampling=request.sampling, sample=2)
    with OpenAIStub() as server:
        ask(model_for(server, 'extra={"top_k": 5}'), request, later)
    first, second = (seen.body for seen in server.requests)
    assert first.keys() == {"model", "messages", "top_p", "seed", "top_k"}
    assert (first["top_p"], first["seed"], first["top_k"]) == (0.5, 7, 5)
    assert second["seed"] == 9


def test_choice_logps_are_read_where_they_are_reported():
    with OpenAIStub(letter_logps={"B": -0.1, "A": -2.5, "Z": -3.0}) as server:
        [reply] = ask(model_for(server, "top_logprobs=5"), text_request(want_choice_logps=True))
    assert reply.choice_logps == {"B": -0.1, "A": -2.5}
    assert server.requests[0].body["logprobs"] is True
    assert server.requests[0].body["top_logprobs"] == 5
    with OpenAIStub(letter_logps=None) as server:
        assert ask(model_for(server), text_request(want_choice_logps=True))[0].choice_logps is None
    with OpenAIStub(letter_logps={"A": -0.1}) as server:
        assert ask(model_for(server), text_request())[0].choice_logps is None
    assert "logprobs" not in server.requests[0].body

    def position(token: str, **others: float) -> dict[str, object]:
        top = [{"token": t, "logprob": v} for t, v in others.items()]
        return {"token": token, "logprob": -0.9, "top_logprobs": top}

    first = position(" ", A=-0.01)
    second = position("C", **{" A": -1.5, "A": -4.0, "\u0120B": -2.0, "b": -0.2, "AB": -0.3})
    third = position("x", A=-0.02)
    body = completion({"content": " C"}, logprobs={"content": [first, second, third]})
    reply = ask_stub(Canned(status=200, body=body), text_request(want_choice_logps=True))
    assert reply.choice_logps == {"A": -1.5, "B": -2.0, "C": -0.9}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"image_detail": "huge"}, "expected one of auto, high, low"),
        ({"extra": "{"}, "expected a JSON object"),
        ({"extra": '{"temperature": 1, "model": "x"}'}, "must not set model, temperature"),
        ({"base_url": "http://h:99999/v1"}, "99999"),
        ({"base_url": "http://h/v1/chat/completions"}, "stop before"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create("tiny", options)


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
        (Canned(status=400, body=_says(message="word " * 5000)), RejectedRequestError, "word"),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}") as caught:
        ask_stub(canned)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (
            b'{"object": "list", "data": [{"id": "large"}, {"id": "tiny\\u001b[2J"}]}',
            "; it serves tiny␛[2J, large",
        ),
        (b'{"data": []}', ""),
        (b"<html>", ""),
    ],
)
def test_a_wrong_name_is_answered_with_the_names_that_are_served(listed: bytes, said: str):
    with OpenAIStub() as server:
        server.canned.extend(
            [Canned(status=404, body=_says(message="no model tiny")), Canned(status=200, body=listed)]
        )
        with pytest.raises(AccessError) as caught:
            ask(model_for(server), text_request())
    assert str(caught.value).rpartition(")")[2] == said
    assert [(one.method, one.path) for one in server.requests][1:] == [("GET", "/v1/models")]
