"""``agbi``: appearance-grounded behavior interactions: whom somebody is with, and what they do."""

from collections.abc import Mapping

from vidence.make.pipeline.material import Task
from vidence.make.tasks._grounded import Grounded

TOPICS = {
    "company": "who is with the person: who accompanies, follows, meets or talks to the person on the way",
    "interaction": "what the person does with a thing or at a place, such as a door, a machine or a vehicle",
    "stop": "where or for what the person stops, waits, slows down or turns round",
}


def create(options: Mapping[str, str]) -> Task:
    """The task; a model writes its questions from B-cards.

    Options: ``leak`` (largest likeness of a question to the description of its person, 0.15), ``crops`` (yes:
    show the model the pictures of the B-card, too), ``prompts`` (a folder with ``task_agbi.txt``,
    ``task_system.txt`` or ``task_repair.txt`` that replace ours), ``alike`` (0.6), ``coverage`` (0.8),
    ``unclear_s`` (0.5), ``reach`` (0.05), ``same_look`` (0.1).

    Source: HERBench, section 3.1, figure 13.
    Departs: see `Grounded`.

    Raises:
        UsageError: an option that is not known or cannot be read, or a template with an error.
    """
    return Grounded(
        code="AGBI",
        title="Appearance-Grounded Behavior Interactions",
        stem="appearance_grounded_behavior_interactions",
        topics=TOPICS,
        options=options,
    )
