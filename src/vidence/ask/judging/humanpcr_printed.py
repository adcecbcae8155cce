"""HumanPCR's judge of open questions with what its printed prompt gives it: no reference reasoning."""

from pathlib import Path

from vidence.ask.judging._humanpcr import HumanpcrJudge
from vidence.ask.judging._templates import JudgeTemplates


def create(prompts_dir: Path | None = None) -> HumanpcrJudge:
    """The judge ``humanpcr-printed``: it is not given the item's rationale.

    Args:
        prompts_dir: a folder whose files replace those of ``templates/humanpcr``.

    Raises:
        UsageError: the folder or a template in it cannot be used.

    Source: HumanPCR, the prompt of the judge as printed in appendix C.
    Departs: no.
    """
    templates = JudgeTemplates.load("humanpcr", override=prompts_dir)
    return HumanpcrJudge(templates=templates, name="humanpcr-printed", gives_rationale=False)
