"""What a study says of its responses: technical failures, and answers that stay in the next phase."""

import pytest

from vidence.study.study import Phase, PlannedTrial, Response, Study, read_study


@pytest.mark.parametrize(
    ("limit", "n_late", "problem", "failed"),
    [(2, 2, "", False), (2, 3, "", True), (0, 1, "", True), (None, 99, "", False), (None, 0, "frozen", True)],
)
def test_a_trial_beyond_the_limit_has_failed(limit, n_late, problem, failed):
    study = Study(phases=(Phase(name="lights", condition="dots", most_late=limit),))
    trial = PlannedTrial(place=0, phase="lights", item_id="i", condition="dots")
    response = Response(participant="P01", trial=trial, late_frames=n_late, problem=problem)
    assert study.failed(response) is failed


def answered(phase, item, letter, kind="asked"):
    trial = PlannedTrial(place=0, phase=phase, item_id=item, kind=kind, condition="whole")
    return Response(participant="P01", trial=trial, values={"answer": letter})


def test_answers_stay_where_a_phase_keeps_and_no_other_is_given():
    phases = (Phase(name="closed"), Phase(name="open", keeps=True), Phase(name="oracle", keeps=True))
    study = Study(phases=(*phases, Phase(name="after")))
    responses = [
        answered("closed", "a", "A"), answered("closed", "b", "A"), answered("closed", "c", "A"),
        answered("open", "b", "B"), answered("oracle", "c", "C"), answered("oracle", "d", "D", "practice"),
    ]  # fmt: skip

    def letters(phase):
        return {r.trial.item_id: r.values["answer"] for r in study.answers_in(phase, responses)}

    assert letters("closed") == {"a": "A", "b": "A", "c": "A"}
    assert letters("open") == {"a": "A", "b": "B", "c": "A"}
    assert letters("oracle") == {"a": "A", "b": "B", "c": "C"}
    assert letters("after") == {}


@pytest.mark.parametrize("name", ["exam", "frames-of", "free", "point-light", "rewatch"])
def test_presets_of_baselines_are_studies_that_own_settings_change(tmp_path, name):
    (tmp_path / "study.toml").write_text(
        f'preset = "{name}"\nitems = "mmvu"\nruns = ["r"]\n[draw]\nseed = 9\n'
    )
    study = read_study(tmp_path).study
    assert (study.items, study.draw.seed) == ("mmvu", 9)
    assert study.instructions
    assert [field.name for field in study.form][-1] == "answer"
    assert [phase.name for phase in study.phases if not phase.aids] == []
    assert [p.condition for p in study.phases if p.condition.startswith("frames-of")] == (
        ["frames-of r"] if name == "frames-of" else []
    )
