"""A small server that speaks Anthropic's Messages API over loopback, and fails on demand.

    with AnthropicStub(answer="B") as server:
        ...  # ask server.base_url
    assert server.requests[0].path == "/v1/messages"

It checks what the API checks of a request and answers 400 in the API's own words where a rule is broken.
"""

import json
from dataclasses import dataclass
from typing import Self

from servers.openai_stub import Body, Canned, OpenAIStub, Seen

IMAGE_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
FIXED_SAMPLING = "claude-opus-4-7"  # stands for the models that let temperature and top_p not be chosen


def refusal(kind: str, message: str) -> bytes:
    """The body of an error as the API writes it."""
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def message(*content: Body, **fields: object) -> bytes:
    """The body of a reply with these blocks, for `Canned`."""
    return json.dumps(
        {
            "id": "msg_stub",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "content": list(content),
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 7, "output_tokens": 2},
            **fields,
        }
    ).encode()


def text(words: str) -> Body:
    """A block of words."""
    return {"type": "text", "text": words, "citations": None}


@dataclass(kw_only=True)
class AnthropicStub(OpenAIStub):
    """The server; a context manager. For the fields see `OpenAIStub`; `thought` is what it thinks."""

    thought: str = "hm"

    def __enter__(self) -> Self:
        super().__enter__()
        self.base_url = self.base_url.removesuffix("/v1")
        return self

    def _reply(self, seen: Seen) -> Canned:
        if self.canned:
            return self.canned.popleft()
        if self.canned_for and (chosen := self.canned_for(seen)) is not None:
            return chosen
        if (seen.method, seen.path) != ("POST", "/v1/messages"):
            return Canned(status=404, body=refusal("not_found_error", f"no route {seen.method} {seen.path}"))
        if self.key is not None and seen.headers.get("authorization") != f"Bearer {self.key}":
            wrong = f"invalid key: {seen.headers.get('authorization')}"
            return Canned(status=401, body=refusal("authentication_error", wrong))
        if "anthropic-version" not in seen.headers:
            broken = "anthropic-version: header is required"
        else:
            broken = _broken_rule(seen.body)
        if broken:
            return Canned(status=400, body=refusal("invalid_request_error", broken))
        return Canned(status=200, body=self._message(seen.body), delay_s=self.latency_s)

    def _message(self, body: Body) -> bytes:
        said = self.answer(body) if callable(self.answer) else self.answer
        words = said.split(" ")
        thinks = body.get("thinking", {}).get("type") in {"enabled", "adaptive"}
        limit = body["max_tokens"] - body.get("thinking", {}).get("budget_tokens", 0)
        is_cut = limit < len(words)
        content = [{"type": "thinking", "thinking": self.thought, "signature": "c2ln"}] if thinks else []
        stop_reason = "max_tokens" if is_cut else "end_turn"
        if body.get("tool_choice", {}).get("type") == "tool":
            name = body["tool_choice"]["name"]
            content.append({"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(said)})
            stop_reason = "tool_use"
        else:
            content.append(text(" ".join(words[:limit])))
        usage = {"input_tokens": 7, "output_tokens": min(len(words), limit)}
        return message(*content, model=body["model"], stop_reason=stop_reason, usage=usage)


def _broken_rule(body: Body) -> str:
    """What the API would find wrong with a request; empty if nothing."""
    for field in ("model", "max_tokens", "messages"):
        if field not in body:
            return f"{field}: Field required"
    for block in body["messages"][0]["content"]:
        if block["type"] == "text" and not block["text"].strip():
            return "messages: text content blocks must contain non-whitespace text"
        if block["type"] == "image" and block["source"]["media_type"] not in IMAGE_TYPES:
            return "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', ..."
    return _broken_setting(body)


def _broken_setting(body: Body) -> str:
    thinking = body.get("thinking", {"type": "disabled"})
    thinks = thinking["type"] != "disabled"
    if body["model"] == FIXED_SAMPLING:
        for field in ("temperature", "top_p"):
            if field in body:
                return f"`{field}` is deprecated for this model."
        if thinking["type"] == "enabled":
            return '"thinking.type.enabled" is not supported for this model.'
    if not 0 <= body.get("temperature", 1) <= 1:
        return "temperature: range: 0..1"
    if thinks and body.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled."
    if thinks and body.get("tool_choice", {}).get("type") == "tool":
        return "Thinking may not be enabled when tool_choice forces tool use."
    if thinking.get("budget_tokens", 1024) < 1024:
        return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    if thinking.get("budget_tokens", 0) >= body["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    return ""
