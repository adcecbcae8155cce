"""`openai:` over the Responses API: what is sent, and what is made of the answers."""

import base64
import json

import pytest

from servers.openai_asks import ask, model_for, text_request
from servers.openai_stub import Canned, OpenAIStub
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import ImagePart, Prompt, Reply, Sampling, TextPart, Usage, VideoPart


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def response(**fields: object) -> bytes:
    return json.dumps({"object": "response", "status": "completed", "model": "stub", **fields}).encode()


def said(*texts: str, **fields: object) -> dict[str, object]:
    return {"type": "message", "content": [{"type": "output_text", "text": t, **fields} for t in texts]}


def ask_responses(body: bytes, request: Request | None = None) -> Reply:
    with OpenAIStub() as server:
        server.canned.append(Canned(status=200, body=body))
        return ask(model_for(server, "api=responses"), request or text_request())[0]


# ------------------------------------------------------------------------------------ what is sent


def test_words_images_and_settings():
    parts = (
        TextPart(text="first"),
        ImagePart(digest="d1", width_px=8, height_px=8),
        TextPart(text="then"),
        ImagePart(digest="d2", width_px=8, height_px=8, media_type="image/png"),
    )
    schema = {"type": "object"}
    request = Request(
        item_id="q1",
        prompt=Prompt(parts=parts, choices=("x", "y"), system="Be brief.", reply_schema=schema),
        sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=99, want_choice_logps=True),
        images={"d1": b"\xff\xd8one", "d2": b"two"},
    )
    with OpenAIStub(
        answer="B", letter_logps={"B": -0.1, "A": -2.5, "Z": -3.0}, reasoning="Because."
    ) as server:
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
    assert reply.reasoning == "Because."
    assert reply.choice_logps == {"B": -0.1, "A": -2.5}
    assert reply.usage == Usage(input_tokens=7, output_tokens=1)
    assert reply.model == "tiny"


def test_no_more_is_sent_than_is_wanted():
    with OpenAIStub() as server:
        [reply] = ask(
            model_for(server, "api=responses&image_detail=low&fixed_sampling=true"),
            text_request(max_tokens=None),
        )
    assert server.requests[0].body.keys() == {"model", "input", "store"}
    assert (reply.text, reply.finish, reply.reasoning, reply.choice_logps) == ("A", "stop", "", None)


def test_effort_goes_alone_where_no_summary_is_wanted():
    with OpenAIStub(reasoning="Because.") as server:
        [reply] = ask(model_for(server, "api=responses&reasoning_effort=high"), text_request())
    assert server.requests[0].body["reasoning"] == {"effort": "high"}
    assert reply.reasoning == ""


def test_a_seed_is_left_out_and_that_is_said_once(caplog: pytest.LogCaptureFixture):
    with OpenAIStub() as server:
        ask(model_for(server, "api=responses"), text_request(seed=1), text_request(seed=2))
    assert not [s for s in server.requests if "seed" in s.body]
    assert [r.getMessage() for r in caplog.records if "no seed" in r.getMessage()] == [caplog.messages[0]]


def test_a_video_is_a_rejected_request():
    prompt = Prompt(parts=(VideoPart(path="clip.mp4", digest="v"),))
    request = Request(item_id="q7", prompt=prompt, sampling=Sampling())
    with OpenAIStub() as server, pytest.raises(RejectedRequestError, match=r"q7.*clip\.mp4.*frames"):
        ask(model_for(server, "api=responses"), request)
    assert server.n_requests == 0


def test_the_reply_is_cut_at_max_tokens():
    with OpenAIStub(answer="one two three") as server:
        [reply] = ask(model_for(server, "api=responses"), text_request(max_tokens=2))
    assert (reply.text, reply.finish) == ("one two", "length")


# ------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"output": []}, Reply(text="")),
        ({"output": [said("Answer: ", "B")]}, Reply(text="Answer: B")),
        ({"output": [said("B")], "status": None}, Reply(text="B", finish="other")),
        (
            {"output": [said("B")], "status": "incomplete"},
            Reply(text="B", finish="other"),
        ),
        (
            {
                "output": [],
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            Reply(text="", finish="length"),
        ),
        (
            {
                "output": [said("B")],
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
            },
            Reply(text="B", finish="refusal"),
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
                    {
                        "type": "reasoning",
                        "summary": [],
                        "content": [{"type": "reasoning_text", "text": "hm"}],
                    },
                    said("B"),
                ]
            },
            Reply(text="B", reasoning="hm"),
        ),
        ({"output": [{"type": "message"}]}, Reply(text="")),
        (
            {
                "status": "failed",
                "error": {"code": "image_content_policy_violation", "message": "Not this picture."},
            },
            Reply(text="", finish="refusal", refusal="Not this picture."),
        ),
    ],
)
def test_responses_of_every_shape_are_read(fields: dict[str, object], expected: Reply):
    reply = ask_responses(response(**fields))
    assert (reply.text, reply.finish, reply.refusal, reply.reasoning) == (
        expected.text,
        expected.finish,
        expected.refusal,
        expected.reasoning,
    )


def test_output_tokens_include_those_of_the_reasoning():
    usage = {
        "input_tokens": 20,
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 298},
        "total_tokens": 320,
    }
    assert ask_responses(response(output=[said("B")], usage=usage)).usage == Usage(
        input_tokens=20, output_tokens=300
    )


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
        (b"{}", TransientModelError, "without output"),
        (b"<html>", TransientModelError, "not JSON"),
        (b'{"output": 5}', TransientModelError, "no response"),
        (b'{"error": {"message": "m", "code": 401}}', AccessError, "answered 401: m"),
        (b'{"error": "out of memory"}', TransientModelError, "without output.*out of memory"),
        (response(status="in_progress", output=[]), TransientModelError, "not finished: in_progress"),
        (response(status="cancelled", output=[]), TransientModelError, "not finished: cancelled"),
        (response(status="failed"), TransientModelError, r"failed: \(no message\)"),
        (response(status="failed", error="broke"), TransientModelError, "failed: broke"),
        (
            response(status="failed", error={"code": "server_error", "message": "oops"}),
            TransientModelError,
            "oops",
        ),
        (
            response(status="failed", error={"code": "image_parse_error", "message": "not an image"}),
            RejectedRequestError,
            "not an image.*image_parse_error",
        ),
    ],
)
def test_what_is_no_reply_is_an_error(body: bytes, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}") as caught:
        ask_responses(body)
    assert getattr(caught.value, "is_overload", False) is False


def test_a_response_that_failed_for_its_rate_is_overload():
    with pytest.raises(TransientModelError) as caught:
        ask_responses(response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"}))
    assert caught.value.is_overload


def test_the_key_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
    body = response(status="failed", error={"code": "invalid_prompt", "message": "key sk-secret-1"})
    with pytest.raises(RejectedRequestError, match=r"key \[key\]"):
        ask_responses(body)
