"""`openai:` over the Responses API: what is sent, and what is made of the answers."""

import base64
import json

import pytest

from servers.model_asks import image_part
from servers.openai_asks import ask, model_for, shape, text_request
from servers.openai_stub import Canned, OpenAIStub
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, TransientModelError
from vidence.records import Prompt, Reply, Sampling, TextPart, Usage, VideoPart


def response(**fields: object) -> bytes:
    return json.dumps({"object": "response", "status": "completed", "model": "stub", **fields}).encode()


def failed(code: str, message: str) -> bytes:
    return response(status="failed", error={"code": code, "message": message})


def said(*texts: str, **fields: object) -> dict[str, object]:
    return {"type": "message", "content": [{"type": "output_text", "text": t, **fields} for t in texts]}


def ask_responses(body: bytes, request: Request | None = None) -> Reply:
    with OpenAIStub() as server:
        server.canned.append(Canned(status=200, body=body))
        return ask(model_for(server, "api=responses"), request or text_request())[0]


def test_words_images_and_settings():
    parts = (TextPart(text="first"), image_part("d1"), TextPart(text="then"), image_part("d2", "image/png"))
    schema = {"type": "object"}
    request = Request(
        item_id="q1",
        prompt=Prompt(parts=parts, choices=("x", "y"), system="Be brief.", reply_schema=schema),
        sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=99, want_choice_logps=True),
        images={"d1": b"\xff\xd8one", "d2": b"two"},
    )
    with OpenAIStub(answer="B", letter_logps={"B": -0.1, "A": -2.5, "Z": -3.0}, reasoning="So.") as server:
        options = "api=responses&reasoning_effort=minimal&reasoning_summary=concise&top_logprobs=5"
        [reply] = ask(model_for(server, options), request)
    one, two = (base64.b64encode(b).decode() for b in (b"\xff\xd8one", b"two"))
    assert server.requests[0].path == "/v1/responses"
    assert server.requests[0].body == {
        "model": "tiny",
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "first"},
                    {"type": "input_image", "image_url": f"data:image/jpeg;base64,{one}", "detail": "auto"},
                    {"type": "input_text", "text": "then"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{two}", "detail": "auto"},
                ],
            }
        ],
        "store": False,
        "temperature": 0.5,
        "top_p": 0.9,
        "max_output_tokens": 99,
        "reasoning": {"effort": "minimal", "summary": "concise"},
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 5,
        "text": {"format": {"type": "json_schema", "name": "reply", "schema": schema, "strict": True}},
    }
    assert reply.text == "B"
    assert reply.reasoning == "So."
    assert reply.choice_logps == {"B": -0.1, "A": -2.5}
    assert reply.usage == Usage(input_tokens=7, output_tokens=1)
    assert reply.model == "tiny"


def test_no_more_is_sent_than_is_wanted_and_a_seed_is_left_out(caplog: pytest.LogCaptureFixture):
    with OpenAIStub() as server:
        [reply] = ask(
            model_for(server, "api=responses&image_detail=low&fixed_sampling=true"),
            text_request(max_tokens=None),
        )
    assert server.requests[0].body.keys() == {"model", "input", "store"}
    assert (reply.text, reply.finish, reply.reasoning, reply.choice_logps) == ("A", "stop", "", None)
    with OpenAIStub() as server:
        ask(model_for(server, "api=responses"), text_request(seed=1), text_request(seed=2))
    assert not [s for s in server.requests if "seed" in s.body]
    assert [r.getMessage() for r in caplog.records if "no seed" in r.getMessage()] == [caplog.messages[0]]
    prompt = Prompt(parts=(VideoPart(path="clip.mp4", digest="v"),))
    request = Request(item_id="q7", prompt=prompt, sampling=Sampling())
    with OpenAIStub() as server, pytest.raises(RejectedRequestError, match=r"q7.*clip\.mp4.*frames"):
        ask(model_for(server, "api=responses"), request)
    assert server.n_requests == 0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"output": []}, Reply(text="")),
        ({"output": [said("Answer: ", "B")]}, Reply(text="Answer: B")),
        ({"output": [said("B")], "status": None}, Reply(text="B", finish="other")),
        ({"output": [said("B")], "status": "incomplete"}, Reply(text="B", finish="other")),
        (
            {"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Reply(text="", finish="length"),
        ),
        (
            {"output": [], "status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            Reply(text="", finish="refusal"),
        ),
        (
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}]},
            Reply(text="", finish="refusal", refusal="I can't."),
        ),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": [{"text": "First."}, {"text": "Second."}]},
                    {"type": "reasoning", "summary": []},
                    {"type": "web_search_call", "status": "completed"},
                    {"type": "reasoning", "summary": [{"text": "Third."}]},
                    said("B"),
                ]
            },
            Reply(text="B", reasoning="First.\n\nSecond.\n\nThird."),
        ),
        (
            {
                "output": [
                    {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]},
                    said("B"),
                ]
            },
            Reply(text="B", reasoning="hm"),
        ),
        ({"output": [{"type": "message"}]}, Reply(text="")),
        (
            {"status": "failed", "error": {"code": "image_content_policy_violation", "message": "Not it."}},
            Reply(text="", finish="refusal", refusal="Not it."),
        ),
    ],
)
def test_responses_of_every_shape_are_read(fields: dict[str, object], expected: Reply):
    reply = ask_responses(response(**fields))
    assert shape(reply) == shape(expected)


def test_the_first_token_that_is_not_blank_counts():
    def position(token: str, **others: float) -> dict[str, object]:
        top = [{"token": t, "logprob": v, "bytes": []} for t, v in others.items()]
        return {"token": token, "logprob": -0.9, "bytes": [], "top_logprobs": top}

    positions = [position("\n", A=-0.1), position(" C", **{" A": -1.5, "b": -0.2}), position("x", B=-0.1)]
    body = response(output=[said("\n C", logprobs=positions)])
    reply = ask_responses(body, text_request(want_choice_logps=True))
    assert reply.choice_logps == {"A": -1.5, "C": -0.9}
    assert ask_responses(body).choice_logps is None


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b'{"output": 5}', TransientModelError, "no response"),
        (b'{"error": {"message": "m", "code": 401}}', AccessError, "answered 401: m"),
        (b'{"error": "out of memory"}', TransientModelError, "without output.*out of memory"),
        (response(status="in_progress", output=[]), TransientModelError, "not finished: in_progress"),
        (response(status="cancelled", output=[]), TransientModelError, "not finished: cancelled"),
        (response(status="failed"), TransientModelError, r"failed: \(no message\)"),
        (response(status="failed", error="broke"), TransientModelError, "failed: broke"),
        (failed("server_error", "oops"), TransientModelError, "oops"),
        (failed("rate_limit_exceeded", "slow"), TransientModelError, "slow"),
        (failed("image_parse_error", "no image"), RejectedRequestError, "no image.*image_parse_error"),
        (failed("invalid_prompt", "key sk-secret-1"), RejectedRequestError, r"key \[key\]"),
    ],
)
def test_what_is_no_reply_is_an_error(monkeypatch, body, kind, words):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
    with pytest.raises(kind, match=f"(?s){words}") as caught:
        ask_responses(body)
    assert getattr(caught.value, "is_overload", False) is (words == "slow")
