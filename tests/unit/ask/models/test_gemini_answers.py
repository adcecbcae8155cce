"""`gemini:`: what is made of the API's answers."""

import pytest

from servers.gemini_stub import GeminiStub, content, refusal
from servers.model_asks import ask, asking, maker, shape
from servers.openai_stub import Canned
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import Reply, Usage

SECRET = "AIza-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere

create = maker("model", "gemini")


def model_for(server: GeminiStub, options: str = "") -> HttpModel:
    spec = parse_spec(f"gemini:tiny?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


def ask_stub(canned: Canned, request: Request | None = None) -> Reply:
    with GeminiStub() as server:
        server.canned.append(canned)
        reply = ask(model_for(server), request or asking())[0]
        assert server.n_requests == 1
        return reply


# ------------------------------------------------------------------------------------ what is read

B = {"text": "B"}
THOUGHT = {"text": "First. ", "thought": True}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (content(B), Reply(text="B")),
        (content({"text": "Answer: "}, B), Reply(text="Answer: B")),
        (content(THOUGHT, {"text": "Then.", "thought": True}, B), Reply(text="B", reasoning="First. Then.")),
        (content(THOUGHT, finishReason="MAX_TOKENS"), Reply(text="", reasoning="First. ", finish="length")),
        (content(B, finishReason="MAX_TOKENS"), Reply(text="B", finish="length")),
        (content(finishReason="STOP"), Reply(text="")),
        (content(content={}, finishReason="MAX_TOKENS"), Reply(text="", finish="length")),
        (content(content=None), Reply(text="")),
        (content(B, finishReason="OTHER"), Reply(text="B", finish="other")),
        (content(B, finishReason="LANGUAGE"), Reply(text="B", finish="other")),
        (content(B, finishReason="A_WORD_OF_NEXT_YEAR"), Reply(text="B", finish="other")),
        (content(B, finishReason=None), Reply(text="B", finish="other")),
        (content({"executableCode": {"code": "1"}}, B), Reply(text="B")),
        (
            content(B, finishReason="SAFETY", finishMessage="Not that."),
            Reply(text="B", finish="refusal", refusal="the reply was stopped: SAFETY (Not that.)"),
        ),
        (
            b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}',
            Reply(text="", finish="refusal", refusal="the prompt was blocked: PROHIBITED_CONTENT"),
        ),
        (
            b'{"candidates": [], "promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "m"}}',
            Reply(text="", finish="refusal", refusal="the prompt was blocked: OTHER (m)"),
        ),
    ],
)
def test_replies_of_every_shape_are_read(body: bytes, expected: Reply):
    reply = ask_stub(Canned(status=200, body=body))
    assert shape(reply) == shape(expected)


@pytest.mark.parametrize("reason", ["RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"])
def test_what_was_stopped_is_a_refusal(reason: str):
    reply = ask_stub(Canned(status=200, body=content(finishReason=reason)))
    assert (reply.finish, reply.refusal) == ("refusal", f"the reply was stopped: {reason}")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (b'{"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}', (9, 32)),
        (b'{"promptTokenCount": 9, "thoughtsTokenCount": 30}', (9, 30)),
        (b'{"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}', (9, 2)),
        (b'{"promptTokenCount": 9}', (9, None)),
        (b"{}", (None, None)),
        (b"null", (None, None)),
    ],
)
def test_thoughts_are_output(counts: bytes, expected: tuple[int | None, int | None]):
    body = content(B)[:-1] + b', "usageMetadata": ' + counts + b"}"
    n_input, n_output = expected
    assert ask_stub(Canned(status=200, body=body)).usage == Usage(
        input_tokens=n_input, output_tokens=n_output
    )


@pytest.mark.parametrize(
    "result",
    [
        None,
        {},
        {"chosenCandidates": [], "topCandidates": []},
        {"chosenCandidates": [{"token": " "}], "topCandidates": [{"candidates": []}]},
        {"chosenCandidates": [{"token": "B", "logProbability": -0.1}]},
    ],
)
def test_log_probabilities_that_are_not_there_are_none(result: object):
    body = content(B, logprobsResult=result)
    assert ask_stub(Canned(status=200, body=body), asking(want_choice_logps=True)).choice_logps is None


def test_letters_without_a_log_probability_are_left_out():
    top = [{"token": "A"}, {"token": " B", "logProbability": -0.5}, {"token": "b", "logProbability": -0.1}]
    result = {
        "chosenCandidates": [{"token": "C", "logProbability": -2.0}],
        "topCandidates": [{"candidates": top}],
    }
    reply = ask_stub(
        Canned(status=200, body=content(B, logprobsResult=result)), asking(want_choice_logps=True)
    )
    assert reply.choice_logps == {"B": -0.5, "C": -2.0}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"candidates": []}', "without candidates"),
        (b'{"promptFeedback": {}}', "without candidates"),
        (content({"text": 5}), "no reply.*text"),
        (refusal(503, "UNAVAILABLE", "too busy"), "answered 503: too busy"),
        (b'{"error": {"message": "m"}}', "without candidates.*: m"),
    ],
)
def test_an_answer_that_is_no_reply_is_worth_another_try(body: bytes, words: str):
    with pytest.raises(TransientModelError, match=f"(?s){words}"):
        ask_stub(Canned(status=200, body=body))


# ---------------------------------------------------------------------------------- what is raised

WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
QUOTA = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerMinute"}]}


@pytest.mark.parametrize(
    ("canned", "wait_s"),
    [
        (Canned(status=429, headers={"retry-after": "2"}), 2.0),
        (Canned(status=429, body=refusal(429, "RESOURCE_EXHAUSTED", "slow", QUOTA, WAIT)), 34.5),
        (Canned(status=429, headers={"retry-after": "2"}, body=refusal(429, "R", "slow", WAIT)), 2.0),
        (Canned(status=429, body=refusal(429, "R", "slow", {"retryDelay": "soon"})), None),
        (Canned(status=429, body=b"[]"), None),
    ],
)
def test_a_wait_may_stand_in_the_details(canned: Canned, wait_s: float | None):
    with pytest.raises(TransientModelError, match="429") as caught:
        ask_stub(canned)
    assert caught.value.retry_after_s == wait_s


def invalid(words: str, *details: dict[str, object], status: str = "INVALID_ARGUMENT") -> bytes:
    return refusal(400, status, words, *details)


@pytest.mark.parametrize(
    ("canned", "kind", "words"),
    [
        (Canned(status=401), AccessError, "401.*GEMINI_API_KEY is not set"),
        (
            Canned(status=404, body=refusal(404, "NOT_FOUND", "models/tiny is not found")),
            AccessError,
            "models/tiny is not found.*name right.*before the version",
        ),
        (
            Canned(status=400, body=invalid("API key not valid.", {"reason": "API_KEY_INVALID"})),
            AccessError,
            "not valid.*GEMINI_API_KEY",
        ),
        (
            Canned(
                status=400,
                body=invalid("User location is not supported for the API use.", status="FAILED_PRECONDITION"),
            ),
            AccessError,
            "not offered where",
        ),
        (Canned(status=400, body=invalid("Thinking level is not supported")), AccessError, "thinking_level="),
        (Canned(status=400, body=invalid("Logprobs is not enabled")), RejectedRequestError, "Logprobs"),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}"):
        ask_stub(canned)


# ---------------------------------------------------------------------------------------- the key


def test_a_variable_of_google_is_read_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-mine")
    with GeminiStub(key="AIza-mine") as server:
        assert ask(model_for(server), asking())[0].text == "A"


def test_our_own_variable_goes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-mine")
    monkeypatch.setenv("GOOGLE_API_KEY", SECRET)
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with GeminiStub(key="AIza-mine") as server:
        assert ask(model_for(server), asking())[0].text == "A"
