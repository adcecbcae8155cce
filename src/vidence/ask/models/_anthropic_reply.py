"""What Anthropic's Messages API sends back, read as a `Reply` or as an error."""

import msgspec

from vidence.ask.models._anthropic_body import TOOL
from vidence.ask.models._finish import Finish, finish_of
from vidence.ask.models._http import Answer, Server, fault
from vidence.ask.models._sdk import decode_reply
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import Reply, Usage

_FINISH: dict[str, Finish] = {"tool_use": "stop", "model_context_window_exceeded": "length"}

# What a 400 says of a setting that every request of the run has, and what to do about it.
_OF_ALL_REQUESTS = {
    "credit balance": "the account has no credit left",
    "temperature": "fixed_sampling=yes sends neither temperature nor top_p",
    "top_p": "fixed_sampling=yes sends neither temperature nor top_p",
    "output_format": "structured=tool or structured=off holds the reply in another way, or not",
    "output_config.format": "structured=tool or structured=off holds the reply in another way, or not",
    "effort": "choose another effort=, or leave it away",
    "thinking": "choose among thinking_budget=TOKENS, thinking=adaptive and thinking=off",
}


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: dict[str, object] | None = None


class _StopDetails(msgspec.Struct):
    category: str | None = None
    explanation: str | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Body(msgspec.Struct):
    type: str | None = None
    content: list[_Block] | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: _Usage | None = None


def message_fault(answer: Answer, server: Server) -> ModelError:
    """The error that stands for an answer with a status that is no reply's."""
    error = fault(answer, server)
    if isinstance(error, RejectedRequestError) and answer.status == 400:
        said = str(error).lower()
        advice = next((advice for words, advice in _OF_ALL_REQUESTS.items() if words in said), None)
        if advice is not None:
            return AccessError(f"{error} ({advice})")
    return error


def _text(block: _Block) -> str:
    if block.type == "text":
        return block.text or ""
    if block.type == "tool_use" and block.name == TOOL and block.input is not None:
        return msgspec.json.encode(block.input).decode()
    return ""


def _usage(usage: _Usage | None) -> Usage:
    """Tokens read from and written to the cache are input, too; the API counts them apart."""
    if usage is None:
        return Usage()
    counts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    known = [n for n in counts if n is not None]
    return Usage(input_tokens=sum(known) if known else None, output_tokens=usage.output_tokens)


def read_message(answer: Answer, server: Server, *, latency_s: float) -> Reply:
    """The reply in an answer of status 2xx.

    Args:
        answer: what came back.
        server: who sent it, for messages.
        latency_s: how long it took, in seconds.

    Raises:
        TransientModelError: not UTF-8, not JSON, no message, no content.
    """
    body = decode_reply(answer, server, kind=_Body, what="message", api="an Anthropic API")
    if body.content is None:
        said = fault(Answer(status=502, headers=answer.headers, body=answer.body), server)
        raise TransientModelError(f"a reply without content: {said}")
    reason = body.stop_reason or ""
    finish = _FINISH.get(reason) or finish_of(reason)
    details = body.stop_details or _StopDetails()
    return Reply(
        text="".join(_text(block) for block in body.content),
        reasoning="\n\n".join(b.thinking for b in body.content if b.type == "thinking" and b.thinking),
        finish=finish,
        refusal=(details.explanation or details.category or "") if finish == "refusal" else "",
        model=body.model or "",
        usage=_usage(body.usage),
        latency_s=latency_s,
    )
