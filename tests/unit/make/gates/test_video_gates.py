"""Gates, quotas and what is not known, on videos whose measures are given."""

from datetime import date

import pytest

from vidence.errors import UnknownNameError, UsageError
from vidence.make.gates.video_gates import (
    Candidate,
    Selected,
    bounds,
    gate_table,
    judge,
    over_quota,
    video_table,
)
from vidence.make.gates.video_list import ListedVideo, PeopleSaid
from vidence.make.gates.video_measuring import FrameShares, Measured
from vidence.make.gates.video_rules import PRESETS, Gate, SelectRules, read_rules

TODAY = date(2026, 3, 1)


def candidate(name: str, *, seconds: float = 200, motion: float | None = 5, sha256="", **more) -> Candidate:
    listed = ListedVideo(
        video_id=name,
        path=name,
        domain=more.pop("domain", ""),
        published=more.pop("published", None),
        people=more.pop("counted", None),
    )
    measured = Measured(
        seconds=seconds,
        fps=25,
        width_px=640,
        height_px=360,
        has_audio=more.pop("audio", False),
        shots=more.pop("shots", 4),
        motion=motion,
        people=more.pop("people", 2.0),
    )
    return Candidate(listed=listed, measured=measured, sha256=sha256 or name, **more)


def reasons(candidates, rules) -> dict[str, list[str]]:
    verdicts, _ = judge(candidates, rules, today=TODAY)
    return {name: [fault.reason for fault in one.faults] for name, one in verdicts.items()}


def test_both_ends_of_a_threshold_are_included() -> None:
    rules = SelectRules(gates={"seconds": Gate(at_least=120, at_most=600)})
    videos = [candidate(str(s), seconds=s) for s in (119.9, 120, 600, 600.1)]
    assert reasons(videos, rules) == {
        "119.9": ["seconds-low"],
        "120": [],
        "600": [],
        "600.1": ["seconds-high"],
    }


def test_a_quantile_is_of_the_videos_that_were_measured() -> None:
    """By hand: of 1, 2, 3, 4, 5 the lower quarter ends at 2."""
    videos = [candidate(str(m), motion=m) for m in (1, 2, 3, 4, 5)] + [candidate("blind", motion=None)]
    rules = SelectRules(gates={"motion": Gate(from_quantile=0.25)})
    found = reasons(videos, rules)
    assert [name for name, faults in found.items() if not faults] == ["2", "3", "4", "5"]
    assert found["blind"] == ["motion-unknown"]
    gate = bounds("motion", Gate(from_quantile=0.25, to_quantile=0.75, at_least=2.5), [1, 2, 3, 4, 5, None])
    assert (gate.low, gate.high, gate.n) == (2.5, 4.0, 5)
    assert gate.says == "at least 2.5 and at most 4 (quantiles of 5 videos)"


def test_of_the_same_bytes_the_first_stays() -> None:
    one, two = candidate("one"), candidate("two", sha256="one")
    assert reasons([one, two], SelectRules()) == {"one": [], "two": ["repeat"]}


def test_what_was_not_measured_passes_no_gate_unless_it_is_to_stay_open() -> None:
    rules = SelectRules(gates={"text": Gate(at_most=0.5)})
    verdicts, _ = judge([candidate("a")], rules, today=TODAY)
    assert "not rated" in verdicts["a"].faults[0].detail
    kept, _ = judge([candidate("a")], SelectRules(gates=rules.gates, unmeasured="keep"), today=TODAY)
    assert kept["a"].is_kept
    assert [one.reason for one in kept["a"].open] == ["text-unknown"]


def test_what_people_say_goes_before_a_model() -> None:
    looked = FrameShares(text=1.0, lecture=1.0)
    both = candidate("a", looked=looked, said=PeopleSaid(text=0.0, lecture=None, by="Ann"))
    assert (both.values(TODAY)["text"], both.values(TODAY)["lecture"], both.seen_by) == (0.0, None, "Ann")
    assert both.why("lecture") == "Ann left it empty"
    assert candidate("b", looked=looked).seen_by == "model"


def test_cuts_are_counted_and_not_shots() -> None:
    """A clip of 4 s without a cut had 15 shots a minute."""
    assert candidate("a", seconds=4, shots=1).values(TODAY)["cuts_per_minute"] == 0
    assert candidate("a", seconds=60, shots=4).values(TODAY)["cuts_per_minute"] == 3
    with pytest.raises(UsageError, match="is cuts_per_minute now"):
        SelectRules(gates={"shots_per_minute": Gate(at_least=1)})


def test_people_counted_by_a_person_go_before_a_detector() -> None:
    assert candidate("a").values(TODAY)["people"] == 2.0
    assert candidate("a", counted=0.0).values(TODAY)["people"] == 0.0


def test_presets_hold_the_numbers_of_their_papers() -> None:
    long, old = candidate("a", seconds=299), candidate("b", seconds=300, published=date(2024, 2, 28))
    new = candidate("c", seconds=300, published=date(2024, 3, 1))
    assert reasons([long, old, new], SelectRules(preset="humanpcr-r")) == {
        "a": ["seconds-low", "age_days-unknown"],
        "b": ["age_days-high"],
        "c": [],
    }
    seen = FrameShares(text=0.125, lecture=0.0)
    loud, plain = candidate("loud", audio=True, looked=seen), candidate("plain", looked=seen)
    talk = candidate("talk", looked=FrameShares(text=1.0, lecture=0.75))
    assert reasons([loud, plain, talk], SelectRules(preset="mmvu")) == {
        "loud": ["audio-high"],
        "plain": [],
        "talk": ["text-high", "lecture-high"],
    }
    assert PRESETS["perceptioncomp"]["seconds"] == Gate(at_least=120, at_most=600)


def test_a_gate_of_the_file_takes_the_place_of_that_of_the_preset(tmp_path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("[gates.audio]\n[gates.text]\nat_most = 0.5\n")
    gates = read_rules(file, preset="mmvu").wanted_gates
    assert list(gates) == ["text", "lecture"]
    assert gates["text"].at_most == 0.5


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("[gates.speed]\nat_least = 1\n", UsageError, "speed"),
        ("[gates.motion]\nat_least = 3\nat_most = 1\n", UsageError, "nothing lies between 3 and 1"),
        ('[ask]\nlooker = "vlm"\n', UsageError, "looker"),
        ('preset = "mine"\n', UnknownNameError, "mine"),
    ],
)
def test_rules_that_make_no_sense_are_refused(tmp_path, text, error, words) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(error, match=words):
        read_rules(file)


def test_a_quota_keeps_so_many_of_a_domain_whoever_else_is_there() -> None:
    videos = [candidate(f"s{i}", domain="sport") for i in range(5)] + [candidate("n", domain="news")]
    rules = SelectRules(quotas={"sport": 2, "*": 1})
    gone = over_quota(videos, rules)
    assert len(gone) == 3
    assert all(name.startswith("s") for name in gone)
    stay = [one.video_id for one in videos if one.video_id not in gone]
    fewer = [one for one in videos if one.video_id in {*stay, next(iter(gone))}]
    assert {one.video_id for one in fewer} - over_quota(fewer, rules).keys() == set(stay)
    assert over_quota(videos, SelectRules()) == {}
    assert {*over_quota(videos, SelectRules(quotas={"sport": 2}, seed=1))} != {*gone}


def shown(lengths: list[float], **gates: Gate) -> Selected:
    candidates = tuple(candidate(f"v{i}", seconds=one, people=None) for i, one in enumerate(lengths))
    verdicts, found = judge(candidates, SelectRules(gates=gates), today=TODAY)
    return Selected(candidates=candidates, verdicts=verdicts, gates=found, today=TODAY, sentences=())


def test_a_measure_that_no_video_has_is_no_column() -> None:
    keys = video_table(shown([10, 10, 10])).keys
    assert "people" not in keys
    assert "seconds" in keys


def test_the_table_of_gates_counts_every_failure() -> None:
    found = shown([10, 50, 700], seconds=Gate(at_least=20, at_most=600), text=Gate(at_most=0.5))
    table = gate_table(found)
    assert [table.value("seconds", key) for key in ("known", "low", "high", "unknown")] == [3, 1, 1, 0]
    assert [table.value("text", key) for key in ("known", "low", "high", "unknown")] == [0, 0, 0, 3]
    assert video_table(found).value("v0", "why") == "seconds-low, text-unknown"
