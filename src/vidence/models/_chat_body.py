"""A request as the body that OpenAI-compatible servers read.

A clip's frames go out with every question about it, so each image is turned into base64 once, and
the finished text is copied into the bodies as it is.
"""

import base64
from collections import OrderedDict
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import ImagePart, Part, Record, Sampling, TextPart, VideoPart

DATA_URL_MEMORY_BYTES = 64 * 2**20
DATA_URL_MEMORY_REQUESTS = 128  # questions about a clip follow one another; its frames may go soon after
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


def _as_json_string(media_type: str, content: bytes) -> bytes:
    start = msgspec.json.encode(f"data:{media_type};base64,")[:-1]
    return b"".join((start, base64.b64encode(content), b'"'))


class DataUrls:
    """Data URLs, ready to be copied into a body.

    Kept is what one of the last `max_requests` requests carried, up to `max_bytes`; so memory does
    not grow with the number of clips.
    """

    def __init__(
        self, max_bytes: int = DATA_URL_MEMORY_BYTES, max_requests: int = DATA_URL_MEMORY_REQUESTS
    ) -> None:
        self.max_bytes = max_bytes
        self.max_requests = max_requests
        self.n_bytes = 0
        self._n_requests = 0
        self._kept: OrderedDict[tuple[str, str], tuple[int, bytes]] = OrderedDict()  # least recent first
        self._reading_video = anyio.Lock()

    def next_request(self) -> None:
        """A request begins: forget what the last `max_requests` did not carry."""
        self._n_requests += 1
        while self._kept and next(iter(self._kept.values()))[0] < self._n_requests - self.max_requests:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, (_, oldest) = self._kept.popitem(last=False)
        self.n_bytes -= len(oldest)

    def _find(self, digest: str, media_type: str) -> bytes | None:
        found = self._kept.get((digest, media_type))
        if found is None:
            return None
        self._kept[digest, media_type] = (self._n_requests, found[1])
        self._kept.move_to_end((digest, media_type))
        return found[1]

    def _keep(self, digest: str, media_type: str, url: bytes) -> None:
        self._kept[digest, media_type] = (self._n_requests, url)
        self.n_bytes += len(url)
        while self.n_bytes > self.max_bytes:
            self._forget_oldest()

    def of_image(self, part: ImagePart, request: Request) -> msgspec.Raw:
        """The URL of one image of the request.

        Raises:
            UsageError: the request does not carry the image that its prompt names.
        """
        url = self._find(part.digest, part.media_type)
        if url is None:
            if part.digest not in request.images:
                raise UsageError(
                    f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes "
                    "are not in Request.images; whoever makes the request must put them there"
                )
            url = _as_json_string(part.media_type, request.images[part.digest])
            self._keep(part.digest, part.media_type, url)
        return msgspec.Raw(url)

    async def of_video(self, part: VideoPart) -> msgspec.Raw:
        """The URL of a whole file; read in a thread, once for questions that start together.

        Raises:
            RejectedRequestError: the file cannot be read.
        """
        async with self._reading_video:
            url = self._find(part.digest, part.media_type)
            if url is None:
                url = await anyio.to_thread.run_sync(_read_video, part)
                self._keep(part.digest, part.media_type, url)
        return msgspec.Raw(url)


def _read_video(part: VideoPart) -> bytes:
    try:
        return _as_json_string(part.media_type, Path(part.path).read_bytes())
    except OSError as error:
        raise RejectedRequestError(f"the video {part.path} cannot be read: {error}") from error


async def _content(part: Part, request: Request, *, urls: DataUrls, detail: str) -> dict[str, object]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            image: dict[str, object] = {"url": urls.of_image(part, request)}
            if detail:
                image["detail"] = detail
            return {"type": "image_url", "image_url": image}
        case VideoPart():
            return {"type": "video_url", "video_url": {"url": await urls.of_video(part)}}


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


async def chat_body(request: Request, rules: BodyRules, urls: DataUrls, *, with_schema: bool = True) -> bytes:
    """The body of ``POST /chat/completions``; text and images stay in the order of the prompt.

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
    content: object
    if len(prompt.parts) == 1 and isinstance(prompt.parts[0], TextPart):
        content = prompt.parts[0].text  # read by servers that know nothing of parts, too
    else:
        content = [await _content(p, request, urls=urls, detail=rules.image_detail) for p in prompt.parts]
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
    return msgspec.json.encode(body | rules.extra)
