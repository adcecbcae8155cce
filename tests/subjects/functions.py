"""Functions that the conformance tests hold to the contracts, through the plug-ins ``python``."""

import numpy as np


def answer(prompt, images):
    """The letter of the colour that the words name first, and how much was shown."""
    return f"The answer is {'ABCD'[len(prompt) % 4]}, by {sum(image.width for image in images)} columns"


def letter(text, letters):
    """The last letter of a question among the words of a reply."""
    return next((word.strip(".:") for word in reversed(text.split()) if word.strip(".:") in letters), None)


def opening(times_s, n_frames):
    """The first frames."""
    return np.arange(min(n_frames, len(times_s)))


def twice(question):
    """Asks once more where nothing can be read."""
    from vidence.contracts import Answer, Ask
    from vidence.records import Unreadable

    prompt = question.prompt("")
    for sample in range(2):
        (reply,) = yield [Ask(prompt=prompt, sample=sample)]
        if not isinstance(question.read(reply), Unreadable):
            break
    return Answer(prompt=prompt, reply=reply, view="")
