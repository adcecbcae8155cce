"""Histograms whose bins are round, with the ends of gates at their places."""

from datetime import date

import numpy as np
import pytest

from vidence.make.gates.video_candidates import Candidate
from vidence.make.gates.video_gates import judge
from vidence.make.gates.video_list import ListedVideo
from vidence.make.gates.video_measuring import Measured
from vidence.make.gates.video_report import Selected, edges_of, gate_table, histograms, video_table
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


@pytest.mark.parametrize(("low", "high"), [(12, 61), (0, 1e-6), (299.99, 300.01), (0.5, 7200), (-0.4, 0.6)])
def test_bins_are_ten_or_a_few_more_and_hold_everything(low, high) -> None:
    ends = edges_of(np.array([low, high], np.float64))
    assert 10 <= len(ends) - 1 <= 21
    assert ends[0] <= low < high < ends[-1]
    assert np.allclose(np.diff(ends), ends[1] - ends[0])


def test_each_video_is_in_one_bar_kept_or_dropped() -> None:
    found = shown([10, 20, 30, 40, 100], seconds=Gate(at_least=25))
    (chart,) = histograms(found)
    counts = {series.label: [point.y.value for point in series.points] for series in chart.series}
    assert (sum(counts["kept"]), sum(counts["dropped"])) == (3, 2)
    assert chart.marks == ((25.0, "at least"),)
    assert dict(chart.x_labels)[25.0] == "20\u201330"


def test_a_measure_of_one_value_has_no_histogram_and_one_of_nobody_no_column() -> None:
    found = shown([10, 10, 10])
    assert list(histograms(found)) == []
    assert "people" not in video_table(found).keys
    assert "seconds" in video_table(found).keys


def test_the_table_of_gates_counts_every_failure() -> None:
    found = shown([10, 50, 700], seconds=Gate(at_least=20, at_most=600), text=Gate(at_most=0.5))
    table = gate_table(found)
    assert [table.value("seconds", key) for key in ("known", "low", "high", "unknown")] == [3, 1, 1, 0]
    assert [table.value("text", key) for key in ("known", "low", "high", "unknown")] == [0, 0, 0, 3]
    assert video_table(found).value("v0", "why") == "seconds-low, text-unknown"
