"""What people are owed: MMVU's rates and times as the paper gives them."""

import csv
import io

import msgspec

from subjects.reviewing import Team
from vidence.make.review.pay import ledger, ledger_csv, money, over_the_cap, pay_table
from vidence.make.review.protocol import load_protocol

PAY = load_protocol("mmvu").pay


def worked() -> Team:
    team = Team()
    team.put(minutes=20 + 17 / 60)
    team.look("bob", minutes=4 + 12 / 60)
    return team


def owed(team: Team, by: str) -> int:
    return sum(one.amount for one in ledger(team.reviews.events, PAY) if one.by == by)


def test_an_annotation_and_a_validation_earn_what_the_paper_says():
    # MMVU, appendix A.5: 6 USD an hour, 2 USD an annotation, 0.40 USD a validation; 20:17 and 4:12
    team = worked()
    assert (owed(team, "ann"), owed(team, "bob")) == (403, 82)
    assert money(3072 * (403 + 82), "USD") == "14,899.20 USD"
    table = pay_table(ledger(team.reviews.events, PAY), PAY)
    assert {row.label: row.values[-1] for row in table.rows} == {
        "ann": "4.03 USD",
        "bob": "0.82 USD",
        "all": "4.85 USD",
    }


def test_claims_earn_nothing_and_the_ledger_is_a_table():
    entries = ledger(worked().reviews.events, PAY)
    assert [(one.by, one.kind, one.amount) for one in entries] == [
        ("ann", "time", 203),
        ("ann", "annotation", 200),
        ("bob", "time", 42),
        ("bob", "validation", 40),
    ]
    rows = list(csv.DictReader(io.StringIO(ledger_csv(entries))))
    assert sum(int(row["amount"]) for row in rows) == 485


def test_half_a_cent_is_rounded_up():
    team = Team()
    team.put(minutes=0.05)
    assert owed(team, "ann") == 201


def test_more_in_a_day_than_is_advised_is_said():
    entries = ledger(worked().reviews.events, PAY)
    assert over_the_cap(entries, PAY) == ()
    tight = msgspec.structs.replace(PAY, most_annotations=1)
    team = worked()
    team.put(item_id="q2")
    assert over_the_cap(ledger(team.reviews.events, tight), tight) == (
        "ann: 2 annotations on 2026-11-22; 1 are advised at most",
    )
