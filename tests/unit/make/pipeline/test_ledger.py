"""Accounts: what comes in is what goes out and what is dropped, or somebody hears of it."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vidence.errors import AccountError, DataError, StoreError
from vidence.make.pipeline.ledger import Account, Ledger, balanced, read_account
from vidence.make.pipeline.material import Dropped


def drop(what: str, reason: str = "too-short") -> Dropped:
    return Dropped(what=what, stage="rank", reason=reason)


@pytest.mark.parametrize(
    ("taken", "kept", "gone", "fault"),
    [
        (["a", "b"], ["a"], [], "1 tracks are lost ('b')"),
        (["a"], ["a"], ["a"], "came out or were dropped twice"),
        (["a"], ["a", "a"], [], "came out or were dropped twice"),
        (["a"], ["a", "x"], [], "came out without having come in ('x')"),
        (["a", "a"], ["a"], [], "came in twice"),
    ],
)
def test_an_account_that_does_not_hold_is_refused(taken, kept, gone, fault):
    with pytest.raises(AccountError) as caught:
        balanced("rank", unit="tracks", taken=taken, kept=kept, dropped=[drop(one) for one in gone])
    assert fault in str(caught.value)
    assert "'rank'" in str(caught.value)


@given(st.sets(st.integers(0, 50)), st.data())
def test_any_parting_of_what_came_in_holds(names, data):
    taken = sorted(map(str, names))
    kept = [name for name in taken if data.draw(st.booleans())]
    gone = [drop(name) for name in taken if name not in kept]
    account = balanced("rank", unit="tracks", taken=taken, kept=kept, dropped=gone)
    assert account.n_in == account.n_out + account.n_dropped == len(taken)


def test_the_accounts_are_two_files(tmp_path):
    ledger = Ledger()
    ledger.close("rank", unit="tracks", taken=["a", "b"], kept=["b"], dropped=[drop("a")])
    ledger.notes.append("no cards")
    ledger.write(tmp_path, ["FAM", "AC", "FAM"])
    found = json.loads((tmp_path / "account.json").read_text())
    assert found["questions"] == {"AC": 1, "FAM": 2}
    assert found["stages"] == [
        {"stage": "rank", "unit": "tracks", "n_in": 2, "n_out": 1, "dropped": {"too-short": 1}}
    ]
    assert json.loads((tmp_path / "dropped.jsonl").read_text()) == {
        "what": "a",
        "stage": "rank",
        "reason": "too-short",
    }


def test_accounts_that_cannot_be_written_are_said(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot make the folder .*out"):
        Ledger().write(tmp_path / "out", [])


def test_an_account_is_read_or_it_is_said_why_not(tmp_path):
    path = tmp_path / "account.json"
    with pytest.raises(DataError, match="cannot be read"):
        read_account(path)
    path.write_text('{"stages": 1}')
    with pytest.raises(DataError, match="is no account of a making"):
        read_account(path)
    path.write_text('{"format": "vidence-make-account/1", "stages": [], "cautions": ["x"]}')
    assert read_account(path) == Account(stages=(), cautions=("x",))
