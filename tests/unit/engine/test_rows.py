"""Rows as they are stored."""

import msgspec

from subjects.viewed import TRIALS
from vidence.engine.rows import BriefRow, TrialRow
from vidence.records import Prompt


def test_a_row_is_the_trial_without_its_names_and_a_brief_one_lacks_the_words():
    one = TRIALS[0]
    fields = {name: getattr(one, name) for name in TrialRow.__struct_fields__}
    json = msgspec.json.encode(TrialRow(**fields))
    assert msgspec.json.decode(json, type=TrialRow).trial("q1", 0, one.selection) == one
    brief = msgspec.json.decode(json, type=BriefRow).trial("q1", 0, None)
    assert brief.prompt == Prompt(parts=())
    assert brief.reply == one.reply
