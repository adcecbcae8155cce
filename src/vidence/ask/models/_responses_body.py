"""A request as the body of OpenAI's Responses API."""

from vidence.ask.models._chat_body import SCHEMA_NAME, BodyRules, sampling_fields
from vidence.ask.models._data_urls import DataUrls, Pieces
from vidence.contracts import Request
from vidence.errors import RejectedRequestError
from vidence.records import ImagePart, Part, TextPart, VideoPart

RESPONSES_OWN_FIELDS = frozenset({"model", "input", "instructions", "stream", "temperature", "top_p"}) | {
    "max_output_tokens",
    "top_logprobs",
    "include",
    "reasoning",
    "background",
}


def _content(
    part: Part, request: Request, *, urls: DataUrls, pieces: Pieces, detail: str
) -> dict[str, object]:
    match part:
        case TextPart():
            return {"type": "input_text", "text": part.text}
        case ImagePart():
            image_url = pieces.mark(urls.of_image(part, request))
            # The protocol wants the level named, and some servers insist on it.
            return {"type": "input_image", "image_url": image_url, "detail": detail or "auto"}
        case VideoPart():
            raise RejectedRequestError(
                f"{request.item_id}: the Responses API takes no video file ({part.path}); ask with frames, "
                "or with api=chat where the server takes video_url"
            )


async def responses_body(
    request: Request, rules: BodyRules, urls: DataUrls, *, with_schema: bool = True
) -> tuple[bytes, ...]:
    """The pieces of the body of ``POST /responses``; text and images stay in the order of the prompt.

    The server is asked not to store the exchange. The protocol has no seed.

    Args:
        request: what to ask.
        rules: what all bodies for the server have in common.
        urls: the images that were encoded before.
        with_schema: whether the server is asked to keep to the prompt's `reply_schema`, if it has one.

    Raises:
        UsageError: an image is missing.
        RejectedRequestError: the prompt holds a video file.
    """
    urls.next_request()
    prompt, sampling = request.prompt, request.sampling
    pieces = Pieces()
    content = [
        _content(part, request, urls=urls, pieces=pieces, detail=rules.image_detail) for part in prompt.parts
    ]
    body: dict[str, object] = {
        "model": rules.model,
        "input": [{"role": "user", "content": content}],
        "store": False,
    }
    if prompt.system:
        body["instructions"] = prompt.system
    body |= sampling_fields(sampling, rules)
    reasoning = {"effort": rules.reasoning_effort, "summary": rules.reasoning_summary}
    if any(reasoning.values()):
        body["reasoning"] = {name: value for name, value in reasoning.items() if value}
    if sampling.want_choice_logps and prompt.choices:
        body |= {"include": ["message.output_text.logprobs"], "top_logprobs": rules.top_logprobs}
    if with_schema and prompt.reply_schema is not None:
        body["text"] = {
            "format": {
                "type": "json_schema",
                "name": SCHEMA_NAME,
                "schema": prompt.reply_schema,
                "strict": True,
            }
        }
    return pieces.of(body | rules.extra)
