"""A request as the body that OpenAI-compatible servers read.

A body comes in pieces, so that its images and videos are not copied (`ask/models/_data_urls.py`).
"""

import msgspec

from vidence.ask.models._data_urls import DataUrls, Pieces
from vidence.contracts import Request
from vidence.records import ImagePart, Part, Record, Sampling, TextPart, VideoPart

MOST_TOP_LOGPROBS = 20  # the protocol's limit

OWN_FIELDS = frozenset({"model", "messages", "stream", "n", "temperature", "top_p", "max_tokens"}) | {
    "max_completion_tokens",
    "seed",
    "logprobs",
    "top_logprobs",
}
SCHEMA_NAME = "reply"


class BodyRules(Record, kw_only=True):
    """What a server's bodies have in common; `extra` is added to each as it is.

    `thinking_budget` is in tokens; 0 switches thinking off, None says nothing about it. With
    `fixed_sampling` temperature and top_p are left out.
    """

    model: str
    max_tokens_field: str
    image_detail: str = ""
    top_logprobs: int = MOST_TOP_LOGPROBS
    reasoning_effort: str = ""
    reasoning_summary: str = ""
    thinking_budget: int | None = None
    fixed_sampling: bool = False
    extra: dict[str, object] = msgspec.field(default_factory=dict)


async def _content(
    part: Part, request: Request, *, urls: DataUrls, pieces: Pieces, detail: str
) -> dict[str, object]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            image: dict[str, object] = {"url": pieces.mark(urls.of_image(part, request))}
            if detail:
                image["detail"] = detail
            return {"type": "image_url", "image_url": image}
        case VideoPart():
            return {"type": "video_url", "video_url": {"url": pieces.mark(await urls.of_video(part))}}


def sampling_fields(sampling: Sampling, rules: BodyRules) -> dict[str, object]:
    """The settings that both protocols have; those left to the server are absent."""
    fields: dict[str, object | None] = {
        "temperature": None if rules.fixed_sampling else sampling.temperature,
        "top_p": None if rules.fixed_sampling else sampling.top_p,
        rules.max_tokens_field: sampling.max_tokens,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _thinking(rules: BodyRules) -> dict[str, object]:
    fields: dict[str, object] = {}
    if rules.reasoning_effort:
        fields["reasoning_effort"] = rules.reasoning_effort
    if rules.thinking_budget is not None:
        budget = {"thinking_budget": rules.thinking_budget} if rules.thinking_budget else {}
        fields["chat_template_kwargs"] = {"enable_thinking": bool(budget), **budget}
    return fields


async def chat_body(
    request: Request, rules: BodyRules, urls: DataUrls, *, with_schema: bool = True
) -> tuple[bytes, ...]:
    """The pieces of the body of ``POST /chat/completions``; text and images stay in the order of the prompt.

    Args:
        request: what to ask.
        rules: what all bodies for the server have in common.
        urls: the images that were encoded before.
        with_schema: whether the server is asked to keep to the prompt's `reply_schema`, if it has one.

    Raises:
        UsageError: an image is missing.
        RejectedRequestError: a video file cannot be read.
    """
    urls.next_request()
    prompt, sampling = request.prompt, request.sampling
    pieces = Pieces()
    content: object
    if len(prompt.parts) == 1 and isinstance(prompt.parts[0], TextPart):
        content = prompt.parts[0].text  # read by servers that know nothing of parts, too
    else:
        content = [
            await _content(part, request, urls=urls, pieces=pieces, detail=rules.image_detail)
            for part in prompt.parts
        ]
    messages: list[dict[str, object]] = [{"role": "user", "content": content}]
    if prompt.system:
        messages.insert(0, {"role": "system", "content": prompt.system})
    body: dict[str, object] = {"model": rules.model, "messages": messages}
    body |= sampling_fields(sampling, rules) | _thinking(rules)
    if sampling.seed is not None:
        # The same seed for every sample would give the same reply several times.
        body["seed"] = sampling.seed + request.sample
    if sampling.want_choice_logps and prompt.choices:
        body |= {"logprobs": True, "top_logprobs": rules.top_logprobs}
    if with_schema and prompt.reply_schema is not None:
        schema = {"name": SCHEMA_NAME, "schema": prompt.reply_schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return pieces.of(body | rules.extra)
