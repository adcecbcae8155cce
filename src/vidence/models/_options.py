"""The readers of `vidence.option_readers`, under the name that makers of questions import."""

from vidence.option_readers import (
    json_object,
    number_from_zero,
    one_of,
    positive_number,
    positive_whole,
    share,
    whole_from_zero,
    yes_or_no,
)

__all__ = [
    "json_object",
    "number_from_zero",
    "one_of",
    "positive_number",
    "positive_whole",
    "share",
    "whole_from_zero",
    "yes_or_no",
]
