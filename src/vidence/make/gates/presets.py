"""The rules of the papers for gates on any file of questions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from vidence.records import Record

PresetName: TypeAlias = Literal["humanpcr", "herbench", "mmvu"]


class Preset(Record, omit_defaults=True):
    """How a paper asks readers who see no video; `at_least` None wants all of them right.

    With `to_people` nothing is dropped: what a gate would drop is left open for people to look at.
    """

    runs: int | Literal["auto"] = "auto"
    at_least: int | None = None
    forced: bool = True
    to_people: bool = False


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "humanpcr": Preset(runs=3),
        "herbench": Preset(runs=1, at_least=3, forced=False),
        "mmvu": Preset(to_people=True),
    }
)
"""Source: HumanPCR, appendix B.1 (the choices permuted anew in each run, out if all are right); HERBench, 7.6
(three of four models); MMVU, section 3.3 (text and a single frame, looked at by people).

Departs: HumanPCR does not say how many runs (three here). MMVU's people judge without models; here models
choose what they look at.
"""
