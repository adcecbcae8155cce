"""A set that was gated, reviewed and released, and is asked and audited as any other."""

import json

from subjects.reviewed import Reviewed


def test_a_released_set_is_asked_and_audited(vidence, tmp_path):
    one = Reviewed(tmp_path)
    one.make()
    one.decide(reject=2)
    done = vidence("make", "herbench", "set/config.toml", "--out", "out")
    assert done.code == 0, done.err
    assert "Review: " in done.out
    folder = one.release()
    released = (folder / "items.jsonl").read_text().splitlines()
    assert len(released) == one.account()["release"]["n_out"]
    run = vidence(
        "run", "herbench", "--data", str(folder / "data"), "--model", "baseline:longest", "--out", "run"
    )
    assert run.code == 0, run.err
    assert f"{len(released)} questions" in f"{run.out} {run.err}"
    audit = vidence("items", "audit", str(folder / "items.jsonl"), "--strict", "--no-page", "--out", "audit")
    assert audit.code == 0, audit.err
    found = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert found["n_items"] == len(released)
