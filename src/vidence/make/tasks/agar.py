"""``agar``: appearance-grounded attribute recognition: what others whom somebody passes look like."""

from collections.abc import Mapping

from vidence.make.pipeline.material import Task
from vidence.make.tasks._grounded import Grounded

TOPICS = {
    "passer-by": "what somebody else wears or carries whom the person passes, meets or walks with",
    "surroundings": "a visible attribute, such as colour, kind or number, of a thing that the person passes, "
    "uses or stands at",
}


def create(options: Mapping[str, str]) -> Task:
    """The task; a model writes its questions from B-cards.

    Options: ``leak`` (largest likeness of a question to the description of its person, 0.15), ``crops`` (yes:
    show the model the pictures of the B-card, too), ``prompts`` (a folder with ``task_agar.txt``,
    ``task_system.txt`` or ``task_repair.txt`` that replace ours), ``alike`` (0.6), ``coverage`` (0.8),
    ``unclear_s`` (0.5), ``reach`` (0.05), ``same_look`` (0.1).

    Source: HERBench, section 3.1, figure 14.
    Departs: see `Grounded`.

    Raises:
        UsageError: an option that is not known or cannot be read, or a template with an error.
    """
    return Grounded(
        code="AGAR",
        title="Appearance-Grounded Attribute Recognition",
        stem="appearance_grounded_attribute_recognition",
        topics=TOPICS,
        options=options,
    )
