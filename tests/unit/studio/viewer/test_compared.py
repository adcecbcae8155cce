"""Runs beside each other: sentences of the comparison, flips with their lists, what cannot be compared."""

from subjects.viewed import OTHERS, TRIALS, write_run
from vidence.studio.bridge.places import place_id


def test_runs_beside_each_other_or_a_way_elsewhere(look, tmp_path):
    run = write_run(tmp_path / "a")
    client = look(tmp_path)
    assert client.get("/compare")["Location"] == "/runs"
    assert client.get(f"/compare?run={place_id(run)}")["Location"] == f"/run/{place_id(run)}"
    first, second = run, write_run(tmp_path / "b", trials=OTHERS)
    query = f"run={place_id(first)}&run={place_id(second)}"
    text = look(tmp_path).get(f"/compare?{query}").content.decode()
    assert "have the same scores on" not in text
    assert "2 scored differently" in text
    assert "1 better in the first" in text
    assert "Trials without an answer" in text
    assert "flip=lost" in text


def test_runs_of_other_questions_say_why_and_offer_what_they_share(look, tmp_path):
    first, second = write_run(tmp_path / "a"), write_run(tmp_path / "b", trials=TRIALS[:2])
    client, query = look(tmp_path), f"run={place_id(first)}&run={place_id(second)}"
    text = client.get(f"/compare?{query}").content.decode()
    assert "do not have scores for the same questions" in text
    assert "shared=1" in text
    assert (
        "have the same scores on all 2 questions" in client.get(f"/compare?{query}&shared=1").content.decode()
    )
