"""A model that writes cards and descriptions by the pictures it is shown, and says how often it was asked."""

import hashlib
import json

from vidence.records import ImagePart, Reply

COLOURS = ("red", "blue", "green", "black", "white", "grey", "brown", "yellow", "pink", "purple", "orange")


class CardWriter:
    """Other pictures, other words; the same ones, the same."""

    looks, by_item, max_in_flight, identity = True, False, None, "writer"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def reply(self, request) -> Reply:
        kind = request.prompt.template.split("/")[-1].split(".")[0]
        self.asked.append(kind)
        shown = [part.digest for part in request.prompt.parts if isinstance(part, ImagePart)]
        seed = hashlib.sha256("".join(shown).encode()).digest()
        return Reply(text=getattr(self, kind)([COLOURS[n % len(COLOURS)] for n in seed], request.prompt.text))

    async def close(self) -> None:
        pass

    def card_appearance(self, colours, text) -> str:
        coat, hat, shoes, bag, *_ = colours
        return f"Has a {coat} coat and a {hat} hat. Wears {shoes} shoes, and a {bag} bag is in one hand."

    def card_path(self, colours, text) -> str:
        return (
            "They cross the frame on a straight line. No stop is made on the way. "
            "Others pass close by without any contact."
        )

    def card_scene(self, colours, text) -> str:
        wall, car, door, *_ = colours
        return f"Several figures go past a {wall} wall, a {car} car and a {door} door without a shadow."

    def card_false(self, colours, text) -> str:
        sentence = next(json.loads(line) for line in text.splitlines() if line.startswith('"'))
        changes = [("Several", "Three"), ("without a shadow", "with long shadows")]
        for before, after in changes:
            sentence = sentence.replace(before, after)
        listed = [{"kind": "modification", "before": a, "after": b} for a, b in changes]
        return json.dumps({"text": sentence, "changes": listed})

    def card_identify(self, colours, text) -> str:
        return "FITS: 1"
