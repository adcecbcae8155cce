"""A request as the body that Anthropic's Messages API reads."""

import base64

import msgspec

from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import ImagePart, Part, Record, Sampling, TextPart, VideoPart

DEFAULT_MAX_TOKENS = 4096  # the API wants a number; sent where the plan leaves it to the server
LEAST_BUDGET = 1024  # of thinking, the API's limit
OWN_TEMPERATURE = 1.0  # the API's default; models that let nothing else be chosen refuse other values
LEAST_THINKING_TOP_P = 0.95  # the API's limit

TOOL = "give_reply"
OWN_FIELDS = frozenset(
    {"model", "messages", "system", "stream", "max_tokens", "temperature", "top_p", "thinking"}
) | {"output_config", "tools", "tool_choice"}


class BodyRules(Record, kw_only=True):
    """What the bodies of one model have in common; `extra` is added to each as it is.

    With `fixed_sampling` temperature and top_p are left out.
    """

    model: str
    fixed_sampling: bool = False
    thinking: str = ""
    thinking_budget: int | None = None
    effort: str = ""
    structured: str = "format"
    extra: dict[str, object] = msgspec.field(default_factory=dict)

    @property
    def thinks(self) -> bool:
        """Whether the model is told to think."""
        return self.thinking_budget is not None or self.thinking == "adaptive"


def _content(part: Part, request: Request) -> dict[str, object]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            if part.digest not in request.images:
                raise UsageError(
                    f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes "
                    "are not in Request.images; whoever makes the request must put them there"
                )
            data = base64.b64encode(request.images[part.digest]).decode("ascii")
            return {
                "type": "image",
                "source": {"type": "base64", "media_type": part.media_type, "data": data},
            }
        case VideoPart():
            raise RejectedRequestError(
                f"{request.item_id}: anthropic: takes images, not the video file {part.path}; ask with "
                "frames (--layout images or --layout montage:4x2)"
            )


def _drawing(sampling: Sampling, rules: BodyRules) -> dict[str, object]:
    """Temperature and top_p, where they are not what the API does by itself."""
    if sampling.seed is not None:
        raise UsageError(
            f"anthropic:{rules.model} takes no seed (got {sampling.seed}); leave --model-seed away"
        )
    if rules.fixed_sampling:
        return {}
    temperature, top_p = sampling.temperature, sampling.top_p
    if rules.thinks and temperature not in {None, OWN_TEMPERATURE}:
        raise UsageError(
            f"anthropic:{rules.model} cannot think at temperature {temperature:g}: with thinking the API "
            "draws at 1 and at nothing else; say --temperature 1 or fixed_sampling=yes, or ask without "
            "thinking"
        )
    if rules.thinks and top_p is not None and top_p < LEAST_THINKING_TOP_P:
        raise UsageError(
            f"anthropic:{rules.model} cannot think with top_p {top_p:g}: with thinking the API takes "
            f"{LEAST_THINKING_TOP_P:g} to 1; leave --top-p away, or ask without thinking"
        )
    fields: dict[str, object] = {}
    if temperature is not None and temperature != OWN_TEMPERATURE:
        fields["temperature"] = temperature
    if top_p is not None:
        fields["top_p"] = top_p
    return fields


def _thinking(rules: BodyRules) -> dict[str, object]:
    if rules.thinking_budget is not None:
        return {"thinking": {"type": "enabled", "budget_tokens": rules.thinking_budget}}
    if rules.thinking == "adaptive":
        return {"thinking": {"type": "adaptive", "display": "summarized"}}
    return {"thinking": {"type": "disabled"}} if rules.thinking == "off" else {}


def _output(schema: dict[str, object] | None, rules: BodyRules) -> dict[str, object]:
    """The effort, and what holds the reply to a schema."""
    fields: dict[str, object] = {}
    config: dict[str, object] = {"effort": rules.effort} if rules.effort else {}
    if schema is not None and rules.structured == "format":
        from anthropic import transform_schema

        config["format"] = {"type": "json_schema", "schema": transform_schema(schema)}
    if schema is not None and rules.structured == "tool":
        tool = {"name": TOOL, "description": "Give the reply in this form.", "input_schema": schema}
        fields = {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
    return fields | ({"output_config": config} if config else {})


def message_body(request: Request, rules: BodyRules) -> dict[str, object]:
    """The body of ``POST /v1/messages``; text and images stay in the order of the prompt.

    The API counts thinking against ``max_tokens``; so that `Sampling.max_tokens` stays the room for the
    reply, a budget of thinking is added to it.

    Raises:
        UsageError: an image is missing, or a setting that the API does not have.
        RejectedRequestError: a whole video.
    """
    prompt, sampling = request.prompt, request.sampling
    # The API refuses blocks of nothing but blanks; leaving them out takes no word away.
    parts = [p for p in prompt.parts if not isinstance(p, TextPart) or p.text.strip()]
    max_tokens = DEFAULT_MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens
    body: dict[str, object] = {
        "model": rules.model,
        "max_tokens": max_tokens + (rules.thinking_budget or 0),
        "messages": [{"role": "user", "content": [_content(p, request) for p in parts]}],
    }
    if prompt.system:
        body["system"] = prompt.system
    body |= _drawing(sampling, rules) | _thinking(rules) | _output(prompt.reply_schema, rules)
    return body | rules.extra
