"""What the Gemini API sends back, read as a `Reply` or as an error."""

import re
from collections.abc import Collection, Sequence

import msgspec

from vidence.ask.models._finish import Finish
from vidence.ask.models._http import Answer, Server, fault
from vidence.ask.models._sdk import decode_reply
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import Reply, Usage

_STOPPED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "ESCALATION",
)
_FINISH: dict[str, Finish] = {"STOP": "stop", "MAX_TOKENS": "length"}
_FINISH.update((word, "refusal") for word in _STOPPED)
# How tokens write a space or a line end before a letter.
_BLANKS = " \t\r\n\u2581"

# Reasons of a 400 that every request of the run would get.
_OF_THE_KEY = {"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED", "SERVICE_DISABLED"}
_OF_THE_PLACE = "location is not supported"
_OF_ALL_REQUESTS = {
    "thinking level": "choose another thinking_level=, or thinking_budget=",
    "thinking_level": "choose another thinking_level=, or thinking_budget=",
    "thinking budget": "choose another thinking_budget=, or thinking_level=",
    "thinking is not": "leave thinking_budget= and thinking_level= away",
    "thinking_config": "leave thinking_budget= and thinking_level= away",
}


class _Part(msgspec.Struct):
    text: str | None = None
    thought: bool | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Likely(msgspec.Struct, rename="camel"):
    token: str = ""
    log_probability: float | None = None


class _Position(msgspec.Struct):
    candidates: list[_Likely] | None = None


class _Logprobs(msgspec.Struct, rename="camel"):
    chosen_candidates: list[_Likely] | None = None
    top_candidates: list[_Position] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    logprobs_result: _Logprobs | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Body(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    model_version: str | None = None


class _Detail(msgspec.Struct, rename="camel"):
    reason: str | None = None
    retry_delay: str | None = None


class _Error(msgspec.Struct):
    details: list[_Detail] | None = None


class _ErrorBody(msgspec.Struct):
    error: _Error | None = None


def _details(answer: Answer) -> Sequence[_Detail]:
    try:
        read = msgspec.json.decode(answer.body, type=_ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ()
    return (read.error.details or ()) if read.error else ()


def _with_wait(answer: Answer, details: Sequence[_Detail]) -> Answer:
    """The answer with a ``retry-after`` header, where the API asks for a wait in the body only."""
    waits = [re.fullmatch(r"(\d+(?:\.\d+)?)s", d.retry_delay or "") for d in details]
    wait = next((found[1] for found in waits if found), None)
    if wait is None or "retry-after" in answer.headers or "retry-after-ms" in answer.headers:
        return answer
    headers = {**answer.headers, "retry-after": wait}
    return Answer(status=answer.status, headers=headers, body=answer.body)


def content_fault(answer: Answer, server: Server) -> ModelError:
    """The error that stands for an answer with a status that is no reply's."""
    details = _details(answer)
    error = fault(_with_wait(answer, details), server)
    if not isinstance(error, RejectedRequestError):
        return error
    if not _OF_THE_KEY.isdisjoint({d.reason for d in details}):
        return AccessError(f"{error} (the key was read from the environment variable {server.key_env})")
    said = str(error).lower()
    if _OF_THE_PLACE in said:
        return AccessError(f"{error} (the API is not offered where this machine is)")
    advice = next((advice for words, advice in _OF_ALL_REQUESTS.items() if words in said), None)
    return error if advice is None else AccessError(f"{error} ({advice})")


def says_no_logprobs(answer: Answer) -> bool:
    """Whether the API says that this model reports no log-probabilities."""
    return answer.status == 400 and b"logprobs" in answer.body.lower()


def _choice_logps(logprobs: _Logprobs | None, letters: Collection[str]) -> dict[str, float] | None:
    """Log-probabilities of the letters at the first token that is not blank; None if not reported."""
    chosen = (logprobs.chosen_candidates if logprobs else None) or []
    tops = (logprobs.top_candidates if logprobs else None) or []
    first = next((i for i, likely in enumerate(chosen) if likely.token.strip(_BLANKS)), None)
    if first is None or first >= len(tops):
        return None
    logps: dict[str, float] = {}
    for likely in (*(tops[first].candidates or ()), chosen[first]):
        letter = likely.token.strip(_BLANKS)
        if letter in letters and likely.log_probability is not None:
            logps[letter] = max(likely.log_probability, logps.get(letter, likely.log_probability))
    return logps


def _usage(usage: _Usage | None) -> Usage:
    """Thoughts are billed as output; the API counts them apart."""
    if usage is None:
        return Usage()
    said = [n for n in (usage.candidates_token_count, usage.thoughts_token_count) if n is not None]
    return Usage(input_tokens=usage.prompt_token_count, output_tokens=sum(said) if said else None)


def _blocked(body: _Body, *, latency_s: float) -> Reply | None:
    """The refusal that stands for a prompt that was blocked."""
    feedback = body.prompt_feedback
    if feedback is None or not feedback.block_reason:
        return None
    return Reply(
        text="",
        finish="refusal",
        refusal=_because(f"the prompt was blocked: {feedback.block_reason}", feedback.block_reason_message),
        model=body.model_version or "",
        usage=_usage(body.usage_metadata),
        latency_s=latency_s,
    )


def _because(what: str, message: str | None) -> str:
    return f"{what} ({message})" if message else what


def read_content(answer: Answer, server: Server, *, letters: Collection[str], latency_s: float) -> Reply:
    """The reply in an answer of status 200.

    Args:
        answer: what came back.
        server: who sent it, for messages.
        letters: those whose log-probabilities were asked for; empty if none were.
        latency_s: how long it took, in seconds.

    Raises:
        TransientModelError: not UTF-8, not JSON, no reply, neither candidates nor a reason for it.
    """
    body = decode_reply(answer, server, kind=_Body, what="reply", api="a Gemini API")
    if not body.candidates:
        blocked = _blocked(body, latency_s=latency_s)
        if blocked is not None:
            return blocked
        said = fault(Answer(status=502, headers=answer.headers, body=answer.body), server)
        raise TransientModelError(f"a reply without candidates: {said}")
    candidate = body.candidates[0]
    parts = (candidate.content.parts if candidate.content else None) or []
    reason = candidate.finish_reason or ""
    finish = _FINISH.get(reason, "other")
    refusal = _because(f"the reply was stopped: {reason}", candidate.finish_message)
    return Reply(
        text="".join(p.text or "" for p in parts if not p.thought),
        reasoning="".join(p.text or "" for p in parts if p.thought),
        finish=finish,
        refusal=refusal if finish == "refusal" else "",
        model=body.model_version or "",
        usage=_usage(body.usage_metadata),
        latency_s=latency_s,
        choice_logps=_choice_logps(candidate.logprobs_result, letters) if letters else None,
    )
