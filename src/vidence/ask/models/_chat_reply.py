"""What OpenAI-compatible servers send back, read as a `Reply`."""

from collections.abc import Collection
from typing import TypeVar

import msgspec

from vidence.ask.models._finish import finish_of
from vidence.ask.models._http import Answer, Server, fault
from vidence.errors import TransientModelError
from vidence.records import Reply, Usage

BodyT = TypeVar("BodyT")

# How tokenizers that give raw vocabulary entries write a space or a line end.
_BLANKS = " \t\r\n\u0120\u2581\u010a"


class _Piece(msgspec.Struct):
    """One part of a content that comes as a list."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_Piece] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Likely(msgspec.Struct):
    token: str
    logprob: float | None = None


class Position(msgspec.Struct):
    """One token of a reply, with the likeliest ones at its place; both protocols write it alike."""

    token: str
    logprob: float | None = None
    top_logprobs: list[_Likely] | None = None


class _Logprobs(msgspec.Struct):
    content: list[Position] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ErrorCode(msgspec.Struct):
    """An error in a body of status 200."""

    code: int | str | None = None
    message: str | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: _Usage | None = None
    error: ErrorCode | str | None = None


def decode_answer(answer: Answer, server: Server, kind: type[BodyT], *, what: str) -> BodyT:
    """The JSON of an answer.

    Args:
        answer: what came back.
        server: who sent it, for messages.
        kind: what it is read as.
        what: what it should be, for messages, such as ``chat completion``.

    Raises:
        TransientModelError: not UTF-8, not JSON, or of another shape.
    """
    hint = f"is {server.address} the address of an OpenAI-compatible API?"
    try:
        answer.body.decode()
        return msgspec.json.decode(answer.body, type=kind)
    except UnicodeDecodeError as error:
        raise TransientModelError(
            f"{server.address} sent a reply that is not UTF-8 "
            f"(byte {error.start} of {len(answer.body)}); {hint}"
        ) from error
    except msgspec.ValidationError as error:
        raise TransientModelError(f"{server.address} sent JSON that is no {what}: {error}; {hint}") from error
    except msgspec.DecodeError as error:
        start = " ".join(server.hide_key(answer.body[:200].decode(errors="replace")).split())
        raise TransientModelError(
            f"{server.address} sent a reply that is not JSON ({error}): {start!r}; {hint}"
        ) from error


def without_reply(error: ErrorCode | str | None, answer: Answer, server: Server, *, lacks: str) -> Exception:
    """The error that stands for status 200 without a reply; some gateways put the true status in the body."""
    if isinstance(error, ErrorCode) and isinstance(error.code, int) and 400 <= error.code < 600:
        return fault(Answer(status=error.code, headers=answer.headers, body=answer.body), server)
    said = fault(Answer(status=502, headers=answer.headers, body=answer.body), server)
    return TransientModelError(f"a reply without {lacks}: {said}")


def choice_logps(positions: list[Position] | None, letters: Collection[str]) -> dict[str, float] | None:
    """Log-probabilities of the letters at the first token that is not blank; None if not reported.

    A letter can be written as several tokens (with and without a space before it); the most likely
    one counts.
    """
    first = next((p for p in positions or [] if p.token.strip(_BLANKS)), None)
    if first is None or not first.top_logprobs:
        return None
    logps: dict[str, float] = {}
    for likely in (*first.top_logprobs, _Likely(token=first.token, logprob=first.logprob)):
        letter = likely.token.strip(_BLANKS)
        if letter in letters and likely.logprob is not None:
            logps[letter] = max(likely.logprob, logps.get(letter, likely.logprob))
    return logps


def _texts(message: _Message) -> tuple[str, str]:
    """The text and the refusal."""
    pieces = message.content if isinstance(message.content, list) else []
    text = message.content if isinstance(message.content, str) else ""
    text += "".join(p.text or "" for p in pieces if p.type in {"text", "output_text", ""})
    refusal = "".join(p.refusal or "" for p in pieces)
    return text, message.refusal or refusal


def read_reply(answer: Answer, server: Server, *, letters: Collection[str], latency_s: float) -> Reply:
    """The reply in an answer of status 2xx.

    Args:
        answer: what came back.
        server: who sent it, for messages.
        letters: those whose log-probabilities were asked for; empty if none were.
        latency_s: how long it took, in seconds.

    Raises:
        TransientModelError: not UTF-8, not JSON, no chat completion, no choices.
        ModelError: an error dressed as an answer.
    """
    body = decode_answer(answer, server, _Body, what="chat completion")
    if not body.choices:
        raise without_reply(body.error, answer, server, lacks="choices")
    choice = body.choices[0]
    if choice.finish_reason == "error":
        raise TransientModelError(f"{server.address} broke off its reply with finish_reason 'error'")
    text, refusal = _texts(choice.message)
    usage = body.usage or _Usage()
    positions = choice.logprobs.content if choice.logprobs else None
    return Reply(
        text=text,
        reasoning=choice.message.reasoning_content or choice.message.reasoning or "",
        finish="refusal" if refusal else finish_of(choice.finish_reason),
        refusal=refusal,
        model=body.model or "",
        usage=Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens),
        latency_s=latency_s,
        choice_logps=choice_logps(positions, letters) if letters else None,
    )
