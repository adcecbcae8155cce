"""Tables of what was measured, and of what each gate drops."""

from datetime import date

from vidence.make.gates.video_candidates import Candidate
from vidence.make.gates.video_gates import judge
from vidence.make.gates.video_list import ListedVideo
from vidence.make.gates.video_measuring import Measured
from vidence.make.gates.video_report import Selected, gate_table, video_table
from vidence.make.gates.video_rules import Gate, SelectRules

TODAY = date(2026, 3, 1)


def shown(lengths: list[float], **gates: Gate) -> Selected:
    candidates = tuple(
        Candidate(
            listed=ListedVideo(video_id=f"v{i}", path=f"v{i}"),
            measured=Measured(
                seconds=one, fps=25, width_px=64, height_px=64, has_audio=False, n_frames=int(25 * one)
            ),
            sha256=f"{i}",
        )
        for i, one in enumerate(lengths)
    )
    verdicts, found = judge(candidates, SelectRules(gates=gates), today=TODAY)
    return Selected(candidates=candidates, verdicts=verdicts, gates=found, today=TODAY, sentences=())


def test_a_measure_that_no_video_has_is_no_column() -> None:
    found = shown([10, 10, 10])
    assert "people" not in video_table(found).keys
    assert "seconds" in video_table(found).keys


def test_the_table_of_gates_counts_every_failure() -> None:
    found = shown([10, 50, 700], seconds=Gate(at_least=20, at_most=600), text=Gate(at_most=0.5))
    table = gate_table(found)
    assert [table.value("seconds", key) for key in ("known", "low", "high", "unknown")] == [3, 1, 1, 0]
    assert [table.value("text", key) for key in ("known", "low", "high", "unknown")] == [0, 0, 0, 3]
    assert video_table(found).value("v0", "why") == "seconds-low, text-unknown"
