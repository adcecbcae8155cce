"""The agreement, and what the hub reads of a licence."""

import pytest
import yaml

from subjects.released import half_hidden, rules_of
from vidence.errors import UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.papers import HEADINGS, agreement_of, blank_agreement
from vidence.make.release.sets import SetMaterial, release_set


def test_a_blank_agreement_has_headings_and_no_terms():
    said = [line.removeprefix("## ") for line in blank_agreement().splitlines() if line.startswith("## ")]
    assert tuple(said) == HEADINGS
    for text in ("", "  \n", blank_agreement()):
        with pytest.raises(UsageError, match="has no terms yet"):
            agreement_of(text, canary="c")
    assert agreement_of("Be fair.", canary="c-1") == "Be fair.\n\n<!-- canary c-1 -->\n"


@pytest.mark.parametrize(
    ("licence", "said"),
    [
        ("CC-BY-4.0", {"license": "cc-by-4.0"}),
        ("ours: alone", {"license": "other", "license_name": "ours: alone"}),
        ("", {"license": "other"}),
    ],
)
def test_the_card_says_the_licence_as_the_hub_wants_it(licence, said, tmp_path):
    about = ReleaseRules(version="1", licence=licence)
    found = release_set(half_hidden(), rules_of("huggingface", about=about), SetMaterial(), into=tmp_path)
    card = yaml.safe_load((found.folder / "huggingface" / "README.md").read_text().split("---\n")[1])
    assert said.items() <= card.items()
    assert ("license_name" in card) == ("license_name" in said)
