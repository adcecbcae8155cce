"""What a vLLM engine is given for a request, and the reply in what it gives back; vLLM is not needed here."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from PIL import Image

from vidence.ask.models._finish import finish_of
from vidence.ask.models._transformers_run import decode_image, draw_of
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, TransientModelError
from vidence.records import ImagePart, Part, Reply, TextPart, Usage, VideoPart

Content: TypeAlias = list[dict[str, str | Image.Image]]
Conversation: TypeAlias = list[dict[str, str | Content]]


class Likely(Protocol):
    """One entry of ``vllm.logprobs.Logprob``: a natural-log probability over the whole vocabulary."""

    logprob: float


class Completion(Protocol):
    """What is read of ``vllm.CompletionOutput``."""

    text: str
    token_ids: Sequence[int]
    logprobs: Sequence[Mapping[int, Likely]] | None
    finish_reason: str | None


class Output(Protocol):
    """What is read of ``vllm.RequestOutput``."""

    prompt_token_ids: Sequence[int] | None
    outputs: Sequence[Completion]


def conversation(request: Request) -> Conversation:
    """The messages for ``LLM.chat``: parts in the order of the prompt, images as pictures in memory.

    Raises:
        RejectedRequestError: an image that cannot be decoded, or a video file.
    """
    prompt = request.prompt
    turns: Conversation = [{"role": "user", "content": [_content(part, request) for part in prompt.parts]}]
    if prompt.system:
        turns.insert(0, {"role": "system", "content": prompt.system})
    return turns


def _content(part: Part, request: Request) -> dict[str, str | Image.Image]:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(digest=digest):
            image = decode_image(request.images[digest], f"{request.item_id}: {digest}")
            return {"type": "image_pil", "image_pil": image}
        case VideoPart(path=path):
            raise RejectedRequestError(
                f"{request.item_id}: vllm: takes images, not the video file {path}; ask with frames"
            )


def wanted_letters(request: Request) -> tuple[str, ...]:
    """The letters whose log-probabilities are wanted: where they are asked for, and for a single token."""
    sampling = request.sampling
    return request.prompt.letters if sampling.want_choice_logps or sampling.max_tokens == 1 else ()


def drawing(request: Request, letter_tokens: Mapping[str, Collection[int]]) -> dict[str, object]:
    """The fields of ``vllm.SamplingParams``, all but the structured output.

    Everything that is not of the plan stands at the value that changes nothing, whatever the
    checkpoint's own ``generation_config.json`` proposes.

    Args:
        request: what is asked.
        letter_tokens: for each letter the tokens that write it.
    """
    draw = draw_of(request)
    fields: dict[str, object] = {
        "temperature": draw.temperature,
        "top_p": draw.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "max_tokens": draw.max_tokens,
        "seed": draw.seed,
    }
    tokens = sorted({t for letter in wanted_letters(request) for t in letter_tokens.get(letter, ())})
    return fields | ({"logprob_token_ids": tokens} if tokens else {})


def read_output(
    output: Output,
    request: Request,
    *,
    model: str,
    letter_tokens: Mapping[str, Collection[int]],
    blanks: Collection[int],
) -> Reply:
    """The reply in what the engine gave back.

    Args:
        output: of this request, finished.
        request: what was asked.
        model: the name of the checkpoint.
        letter_tokens: for each letter the tokens that write it.
        blanks: the tokens that write nothing but blanks.

    Raises:
        TransientModelError: the engine broke the request off.
    """
    completion = output.outputs[0]
    if completion.finish_reason in {"abort", "error", None}:
        raise TransientModelError(
            f"{request.item_id}: the engine broke the reply off (finish_reason {completion.finish_reason!r})"
        )
    letters = {letter: letter_tokens.get(letter, ()) for letter in wanted_letters(request)}
    return Reply(
        text=completion.text,
        finish=finish_of(completion.finish_reason),
        model=model,
        usage=Usage(
            input_tokens=None if output.prompt_token_ids is None else len(output.prompt_token_ids),
            output_tokens=len(completion.token_ids),
        ),
        choice_logps=_letter_logps(completion, letters, blanks=blanks) or None,
    )


def _letter_logps(
    completion: Completion, letters: Mapping[str, Collection[int]], *, blanks: Collection[int]
) -> dict[str, float]:
    """By letter, at the first token that is not blank; of a letter's forms the likeliest counts."""
    first = next((i for i, token in enumerate(completion.token_ids) if token not in blanks), None)
    if first is None or not completion.logprobs:
        return {}
    at_first = completion.logprobs[first]
    found = {
        letter: [at_first[t].logprob for t in tokens if t in at_first] for letter, tokens in letters.items()
    }
    return {letter: max(logps) for letter, logps in found.items() if logps}
