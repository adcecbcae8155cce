"""A request as the contents and the settings that the SDK of the Gemini API takes."""

from typing import TYPE_CHECKING

import msgspec

from vidence.contracts import Request
from vidence.errors import UsageError
from vidence.records import ImagePart, Record, TextPart, VideoPart

if TYPE_CHECKING:
    from google.genai import types

MOST_LOGPROBS = 20  # the API's limit
# The categories whose threshold can be set.
HARMS = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
_OWN_FIELDS = frozenset({"contents", "systemInstruction", "safetySettings"})
_OWN_SETTINGS = frozenset(
    {"temperature", "topP", "maxOutputTokens", "seed", "responseMimeType", "responseJsonSchema"}
) | {"thinkingConfig", "responseLogprobs", "logprobs", "mediaResolution", "candidateCount"}


class BodyRules(Record, kw_only=True):
    """What the requests to one model have in common; `extra` is added to each body as it is."""

    model: str
    thinking_budget: int | None = None
    thinking_level: str = ""
    video_fps: float | None = None
    media_resolution: str = ""
    safety: str = ""
    extra: dict[str, object] = msgspec.field(default_factory=dict)


def own_fields_in(extra: dict[str, object]) -> list[str]:
    """The fields of `extra` that the plan, an option or vidence sets itself."""
    settings_in = extra.get("generationConfig")
    own = _OWN_SETTINGS & settings_in.keys() if isinstance(settings_in, dict) else frozenset[str]()
    return sorted({*(_OWN_FIELDS & extra.keys()), *(f"generationConfig.{field}" for field in own)})


def text_part(part: TextPart) -> "types.Part":
    """Words."""
    from google.genai import types

    return types.Part(text=part.text)


def image_part(part: ImagePart, request: Request) -> "types.Part":
    """An image, in the request itself.

    Raises:
        UsageError: the request does not carry the image that its prompt names.
    """
    from google.genai import types

    if part.digest not in request.images:
        raise UsageError(
            f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes "
            "are not in Request.images; whoever makes the request must put them there"
        )
    blob = types.Blob(data=request.images[part.digest], mime_type=part.media_type)
    return types.Part(inline_data=blob)


def video_part(part: VideoPart, source: bytes | str, rules: BodyRules) -> "types.Part":
    """A whole video: its bytes, or the address of the file that was uploaded."""
    from google.genai import types

    metadata = None if rules.video_fps is None else types.VideoMetadata(fps=rules.video_fps)
    if isinstance(source, bytes):
        blob = types.Blob(data=source, mime_type=part.media_type)
        return types.Part(inline_data=blob, video_metadata=metadata)
    data = types.FileData(file_uri=source, mime_type=part.media_type)
    return types.Part(file_data=data, video_metadata=metadata)


def _thinking(rules: BodyRules) -> "types.ThinkingConfig | None":
    from google.genai import types

    if rules.thinking_level:
        return types.ThinkingConfig(thinking_level=rules.thinking_level.upper(), include_thoughts=True)
    if rules.thinking_budget is None:
        return None
    return types.ThinkingConfig(
        thinking_budget=rules.thinking_budget, include_thoughts=rules.thinking_budget != 0
    )


def _max_tokens(max_tokens: int | None, rules: BodyRules) -> int | None:
    """The API counts thinking against the limit; a budget is added so that the reply keeps its room."""
    return None if max_tokens is None else max_tokens + max(0, rules.thinking_budget or 0)


def settings(request: Request, rules: BodyRules, *, with_logprobs: bool) -> "types.GenerateContentConfig":
    """The settings of one request.

    Args:
        request: what is asked.
        rules: what all requests have in common.
        with_logprobs: whether the log-probabilities of the first tokens are asked for.
    """
    from google.genai import types

    prompt, sampling = request.prompt, request.sampling
    schema = prompt.reply_schema
    return types.GenerateContentConfig(
        # The SDK's own reading of replies warns of words that it does not know yet.
        should_return_http_response=True,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        system_instruction=prompt.system or None,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_output_tokens=_max_tokens(sampling.max_tokens, rules),
        # The same seed for every sample would give the same reply several times.
        seed=None if sampling.seed is None else sampling.seed + request.sample,
        response_mime_type=None if schema is None else "application/json",
        response_json_schema=schema,
        thinking_config=_thinking(rules),
        response_logprobs=True if with_logprobs else None,
        logprobs=MOST_LOGPROBS if with_logprobs else None,
        media_resolution=(
            f"MEDIA_RESOLUTION_{rules.media_resolution.upper()}" if rules.media_resolution else None
        ),
        safety_settings=(
            [types.SafetySetting(category=h, threshold=rules.safety.upper()) for h in HARMS]
            if rules.safety
            else None
        ),
        http_options=types.HttpOptions(extra_body=rules.extra) if rules.extra else None,
    )
