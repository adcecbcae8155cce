"""Make models and put requests to them, in tests."""

from collections.abc import Callable, Mapping

import anyio

from vidence import catalog
from vidence.contracts import Model, Request
from vidence.records import ImagePart, Part, Prompt, Reply, Sampling, TextPart

SCHEMA = {
    "type": "object",
    "properties": {"right": {"type": "boolean"}, "points": {"type": "integer", "enum": [0, 1, 2]}},
    "required": ["right", "points"],
    "additionalProperties": False,
}


def maker(kind: str, plugin: str) -> Callable[[str, Mapping[str, str]], Model]:
    """What makes a plug-in of an argument and of options as texts, as a user writes them."""

    def create(argument: str, options: Mapping[str, str]) -> Model:
        return catalog.create(kind, catalog.Spec(name=plugin, argument=argument, options=options))

    return create


def image_part(digest: str, media_type: str = "image/jpeg") -> ImagePart:
    return ImagePart(digest=digest, width_px=8, height_px=8, media_type=media_type)


def asking(
    *parts: Part,
    images: dict[str, bytes] | None = None,
    schema: dict[str, object] | None = None,
    system: str = "",
    sample: int = 0,
    **sampling: object,
) -> Request:
    """A request; without parts one question in words, with three choices."""
    prompt = Prompt(
        parts=parts or (TextPart(text="Which?"),),
        choices=("red", "green", "blue"),
        system=system,
        reply_schema=schema,
    )
    return Request(
        item_id="q1", prompt=prompt, sampling=Sampling(**sampling), images=images or {}, sample=sample
    )


def ask(model: Model, *requests: Request) -> list[Reply]:
    """The replies, asked for one after the other."""

    async def all_of_them() -> list[Reply]:
        try:
            return [await model.reply(request) for request in requests]
        finally:
            await model.close()

    return anyio.run(all_of_them)


def shape(reply: Reply) -> tuple[str, str, str, str]:
    """What a reply says and how it ended."""
    return reply.text, reply.reasoning, reply.finish, reply.refusal
