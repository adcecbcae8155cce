"""All runs in one table, what is none, and the pages of one run."""

from subjects.viewed import TRIALS, write_run
from vidence.engine.store import RunStore
from vidence.studio.bridge.places import place_id


def test_runs_are_listed_with_their_scores_and_what_is_none_with_the_reason(look, tmp_path):
    write_run(tmp_path / "a", plan={"name": "Ours"})
    write_run(tmp_path / "b", plan={"name": "<b>bold</b>"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "plan.toml").write_text("this is no plan <i>")
    text = look(tmp_path).get("/runs").content.decode()
    assert "Ours" in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "50.0" in text
    assert "n = 4" in text
    assert "is no run (plan.toml or run.sqlite is missing)" in text
    assert 'unusable</span> <span class="detail">' in text
    assert "<i>" not in text


def test_a_run_that_goes_on_is_looked_at_again(look, tmp_path):
    run = write_run(tmp_path / "a", trials=TRIALS[:2])
    client = look(tmp_path)
    assert "hx-get" not in client.get("/runs").content.decode()
    with RunStore(run, is_writer=True) as store:
        store.add(TRIALS[2])
        text = client.get("/runs").content.decode()
        assert 'hx-get="/runs/lines" hx-trigger="load delay:1s"' in text
        assert "3 of 4" in text
        assert (
            "The tables are made when the run ends." in client.get(f"/run/{place_id(run)}").content.decode()
        )
    assert "hx-get" not in client.get("/runs/lines").content.decode()


def test_the_page_of_a_run_has_the_tables_of_the_report_or_says_what_is_damaged(look, tmp_path):
    run = write_run(tmp_path / "a")
    text = look(run).get(f"/run/{place_id(run)}").content.decode()
    assert "How answers were parsed, and why some were not" in text
    assert "How it was run" in text
    assert '<svg class="figure"' in text
    assert "style=" not in text
    client = look(run)
    (run / "run.sqlite").write_bytes(b"SQLite format 3\0" + b"nothing" * 1000)
    for page in (f"/run/{place_id(run)}", f"/items?run={place_id(run)}"):
        answer = client.get(page)
        assert answer.status_code == 200
        assert "run.sqlite" in answer.content.decode(), page


def test_only_researchers_look_at_runs():
    from vidence.studio.urls import LOOKING, VIEWER

    assert {"researcher"} == LOOKING
    assert all(one.callback.roles == LOOKING and "POST" not in one.callback.methods for one in VIEWER)
