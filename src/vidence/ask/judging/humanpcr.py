"""HumanPCR's judge of open questions, with the reference reasoning that raised its agreement with people."""

from pathlib import Path

from vidence.ask.judging._humanpcr import HumanpcrJudge
from vidence.ask.judging._templates import JudgeTemplates


def create(prompts_dir: Path | None = None) -> HumanpcrJudge:
    """The judge ``humanpcr``: it is given the item's rationale.

    Args:
        prompts_dir: a folder whose files replace those of ``templates/humanpcr``.

    Raises:
        UsageError: the folder or a template in it cannot be used.

    Source: HumanPCR, C.3: with the annotated reasoning the correlation with people rises from .642 to .689.
    Departs: the prompt that the paper prints has no place for the reasoning; see ``humanpcr-printed``.
    """
    templates = JudgeTemplates.load("humanpcr", override=prompts_dir)
    return HumanpcrJudge(templates=templates, name="humanpcr", gives_rationale=True)
