"""What OpenAI's Responses API sends back, read as a `Reply`."""

from collections.abc import Collection

import msgspec

from vidence.ask.models._chat_reply import ErrorCode, Position, choice_logps, decode_answer, without_reply
from vidence.ask.models._finish import Finish, finish_of
from vidence.ask.models._http import Answer, Server
from vidence.errors import RejectedRequestError, TransientModelError
from vidence.records import Reply, Usage

_NOT_FINISHED = {"queued", "in_progress", "cancelled"}
_MAY_PASS = {"server_error", "rate_limit_exceeded"}
_POLICY = {
    "bio_policy",
    "content_filter",
    "content_policy_violation",
    "image_content_policy_violation",
    "misalignment_policy_violation",
}


class _Piece(msgspec.Struct):
    """A part of an output item: what is said, a refusal, reasoning."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    logprobs: list[Position] | None = None


class _Output(msgspec.Struct):
    type: str = ""
    content: list[_Piece] | None = None
    summary: list[_Piece] | None = None


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Body(msgspec.Struct):
    status: str | None = None
    output: list[_Output] | None = None
    model: str | None = None
    usage: _Usage | None = None
    error: ErrorCode | str | None = None
    incomplete_details: _Incomplete | None = None


def _refusal_or_fault(error: ErrorCode | str | None, server: Server) -> str:
    """What the server says where it declined a whole response; every other failure is raised."""
    code, message = (error.code, error.message) if isinstance(error, ErrorCode) else (None, error)
    words = server.hide_key(message or "(no message)")
    if code in _POLICY:
        return words
    said = f"{server.address} failed: {words} (code {code})"
    if code is None or code in _MAY_PASS:
        raise TransientModelError(said, is_overload=code == "rate_limit_exceeded")
    raise RejectedRequestError(said)


def _finish(body: _Body) -> Finish:
    if body.status == "incomplete":
        reason = body.incomplete_details.reason if body.incomplete_details else None
        return "length" if reason == "max_output_tokens" else finish_of(reason)
    return "stop" if body.status == "completed" else "other"


def _reasoning(output: _Output) -> str:
    """The summary of the reasoning; the reasoning itself where that is all there is."""
    return "\n\n".join(p.text for p in output.summary or output.content or [] if p.text)


def read_response(answer: Answer, server: Server, *, letters: Collection[str], latency_s: float) -> Reply:
    """The reply in an answer of status 2xx. Output tokens include those of the reasoning.

    Args:
        answer: what came back.
        server: who sent it, for messages.
        letters: those whose log-probabilities were asked for; empty if none were.
        latency_s: how long it took, in seconds.

    Raises:
        TransientModelError: not UTF-8, not JSON, no response, one that is not finished or that failed
            for a reason that may pass.
        RejectedRequestError: the response failed for a reason that stays, such as an unreadable image.
        ModelError: an error dressed as an answer.
    """
    body = decode_answer(answer, server, _Body, what="response")
    declined = _refusal_or_fault(body.error, server) if body.status == "failed" else ""
    if body.status in _NOT_FINISHED:
        raise TransientModelError(f"{server.address} sent a response that is not finished: {body.status}")
    if body.output is None and not declined:
        raise without_reply(body.error, answer, server, lacks="output")
    outputs = body.output or []
    pieces = [piece for output in outputs if output.type == "message" for piece in output.content or []]
    refusal = declined or "".join(p.refusal or "" for p in pieces)
    said = [p for p in pieces if p.type in {"output_text", "text"}]
    usage = body.usage or _Usage()
    positions = [position for piece in said for position in piece.logprobs or []]
    return Reply(
        text="".join(p.text or "" for p in said),
        reasoning="\n\n".join(filter(None, (_reasoning(o) for o in outputs if o.type == "reasoning"))),
        finish="refusal" if refusal else _finish(body),
        refusal=refusal,
        model=body.model or "",
        usage=Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
        latency_s=latency_s,
        choice_logps=choice_logps(positions, letters) if letters else None,
    )
