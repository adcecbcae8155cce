"""Diagnostics over a run: views in one pass, asks to several models, judges, findings that survive."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import anyio
import msgspec
import numpy as np
import pytest
from PIL import Image

from vidence import catalog
from vidence.contracts import Ask, Examined, Flow, Request, Subject, View
from vidence.engine import engine as engine_module
from vidence.engine import session
from vidence.engine.diagnose import Account, diagnose, open_diagnostic, own_frames
from vidence.engine.environment import Environment
from vidence.engine.prepare import make_plan
from vidence.engine.session import ShownSubject
from vidence.engine.store import RunStore, diagnosis_name
from vidence.errors import AccessError, BudgetSpentError, RejectedRequestError, StoreError, UsageError
from vidence.records import Failed, Item, Prompt, Record, Reply, Sampling, Score, TextPart, Usage, Verdict
from vidence.tables.charts import Statement
from vidence.tables.table import Column, Row, Table

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Found(Record):
    """The letters read in turn."""

    n_frames: int
    said: tuple[str, ...]
    values: tuple[float | None, ...]


class Probe:
    """Asks without frames, with the first frame, with all reversed; then another model."""

    name = "probe"
    version = 1
    finding = Found

    def __init__(self, others: Mapping[str, str] | None = None, tolerant: bool = False) -> None:
        self.others = others or {}
        self.tolerant = tolerant

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        return {
            "all": View(selector=selector, n_frames=n_frames),
            "one": View(selector="central", n_frames=1),
            "small": View(selector=selector, n_frames=2, size="short:10"),
        }

    def models(self) -> Mapping[str, str]:
        return self.others

    def examine(self, subject: Subject) -> Flow[Record]:
        n = subject.n_frames("all")
        prompts = [
            subject.prompt("all", []),
            subject.prompt("one"),
            subject.prompt("all", list(reversed(range(n)))),
            subject.prompt("small"),
        ]
        try:
            replies = yield prompts
        except RejectedRequestError:
            if not self.tolerant:
                raise
            return Found(n_frames=n, said=(), values=())
        if self.others:
            replies = [*replies, *(yield [Ask(prompt=prompts[0], model=name) for name in self.others])]
        scores = []
        for reply in replies:
            scores.append((yield from subject.mark(reply)))
        return Found(n_frames=n, said=tuple(r.text for r in replies), values=tuple(s.value for s in scores))

    def summarise(self, examined: Sequence[Examined], *, rng, level) -> tuple[Statement, ...]:
        good = [one for one in examined if isinstance(one.finding, Found)]
        entry = Row(key="n", label="examined", values=(len(good),))
        heading = Column(key="n", title="n")
        return (Table(name="s", title="S", label="", columns=(heading,), rows=(entry,)),)


@pytest.fixture
def folder(tmp_path):
    """Three questions about two folders of six images."""
    for name in ("clip", "other"):
        (tmp_path / name).mkdir()
        for i in range(6):
            shade = 30 * i + (5 if name == "other" else 0)
            Image.fromarray(np.full((20, 30, 3), shade, np.uint8)).save(tmp_path / name / f"{i}.png")
    rows = [
        {
            "item_id": f"q{i}",
            "media": [{"path": "other" if i == 2 else "clip", "kind": "frames"}],
            "question": f"Question {i}?",
            "choices": ["x", "y"],
            "answer": "A",
        }
        for i in range(3)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(msgspec.json.encode(row).decode() for row in rows))
    return tmp_path


@pytest.fixture
def examine(folder, monkeypatch):
    """Run a diagnostic in a folder; models are given by their specs."""

    def go(diagnostic, models, *, out="run", options=None, **overrides: object) -> Account:
        monkeypatch.setattr(engine_module, "create", lambda kind, spec: models[spec])
        plan = make_plan(
            "table", data=folder / "q.jsonl", model="scripted:A", overrides={"frames": 4} | overrides
        )

        async def run() -> Account:
            return await diagnose(
                diagnostic,
                plan,
                folder / out,
                options=options or {},
                environment=Environment(cache_root=folder / "cache", n_workers=1),
                now=NOW,
                on_event=lambda event: None,
            )

        return anyio.run(run)

    return go


def findings(folder, diagnostic, out="run", options=None):
    name = diagnosis_name(diagnostic.name, options or {})
    with RunStore(folder / out) as store:
        found = store.findings(name, diagnostic.finding)
        assert all(store.finding(name, i, diagnostic.finding) == one.finding for i, one in found.items())
        assert store.finding(name, "no such question", diagnostic.finding) is None
    return {item_id: one.finding for item_id, one in found.items()}


def test_views_are_shown_in_parts_and_orders_from_one_pass_per_size(folder, examine, fake_model):
    model = fake_model(looks=True)
    account = examine(Probe(), {"scripted:A": model})
    assert (account.n_examined, account.n_failed, account.n_asked) == (3, 0, 12)
    assert account.decoding.n_passes == 4  # two videos, two sizes
    by_item = {}
    for request in model.asked:
        images = [p for p in request.prompt.parts if not isinstance(p, TextPart)]
        by_item.setdefault(request.item_id, []).append(images)
        assert set(request.images) == {p.digest for p in images}
    for asked in by_item.values():
        assert sorted(len(images) for images in asked) == [0, 1, 2, 4]
    full = next(images for images in by_item["q0"] if len(images) == 4)
    forwards = make_forwards(folder, fake_model, examine)
    assert [p.digest for p in full] == list(reversed(forwards))


def make_forwards(folder, fake_model, examine):
    class Forwards(Probe):
        name = "forwards"

        def examine(self, subject):
            (reply,) = yield [subject.prompt("all")]
            return Found(n_frames=4, said=(reply.text,), values=())

    model = fake_model(looks=True)
    examine(Forwards(), {"scripted:A": model}, out="forwards", memory=str(folder / "own.sqlite"))
    prompt = next(r.prompt for r in model.asked if r.item_id == "q0")
    return [p.digest for p in prompt.parts if not isinstance(p, TextPart)]


def test_a_diagnostic_of_a_set_is_told_all_questions_before_it_asks(folder, examine, fake_model):
    class Neighbours(Probe):
        name = "neighbours"
        ids: tuple[str, ...] = ()

        def of_items(self, items):
            told = Neighbours()
            told.ids = tuple(item.item_id for item in items)
            return told

        def examine(self, subject):
            (reply,) = yield [subject.prompt("one")]
            return Found(n_frames=1, said=(*self.ids, reply.text), values=())

    examine(Neighbours(), {"scripted:A": fake_model(looks=True)}, limit=2)
    assert [one.said[:-1] for one in findings(folder, Neighbours()).values()] == [("q0", "q1")] * 2


def test_the_same_again_asks_nothing(folder, examine, fake_model):
    examine(Probe(), {"scripted:A": fake_model(looks=True)})
    model = fake_model(looks=True)
    account = examine(Probe(), {"scripted:A": model})
    assert (account.n_before, account.n_examined, model.asked) == (3, 0, [])
    with sqlite3.connect(folder / "run" / "run.sqlite") as db:
        db.execute("DELETE FROM findings")
    db.close()
    account = examine(Probe(), {"scripted:A": model})
    assert (account.n_examined, account.n_remembered, account.n_asked) == (3, 12, 0)


def test_a_failure_is_examined_again_and_the_last_finding_counts(folder, examine, fake_model):
    examine(Probe(), {"scripted:A": fake_model(looks=True)})
    lost = Failed(stage="model", error="E", message="m")
    with RunStore(folder / "run", is_writer=True) as store:
        store.add_finding("probe", Examined(item=store.items()[0], finding=lost))
    assert findings(folder, Probe())["q0"] == lost
    with sqlite3.connect(folder / "run" / "run.sqlite") as db:
        errors = db.execute("SELECT item_id, error FROM findings WHERE error IS NOT NULL").fetchall()
    db.close()
    assert errors == [("q0", "E")]
    assert examine(Probe(), {"scripted:A": fake_model(looks=True)}).n_examined == 1
    assert isinstance(findings(folder, Probe())["q0"], Found)
    assert list(findings(folder, Probe())) == ["q0", "q1", "q2"]


def test_other_models_are_asked_by_their_names(folder, examine, fake_model):
    async def b(request: Request) -> Reply:
        return Reply(text="Answer: B")

    models = {
        "scripted:A": fake_model(looks=True, identity="one"),
        "scripted:B": fake_model(looks=True, identity="two", turn=b),
        "scripted:A?delay_s=0": fake_model(looks=True, identity="three"),
    }
    examine(Probe({"other": "scripted:B", "same": "+delay_s=0"}), models)
    found = findings(folder, Probe())["q0"]
    assert found.said == ("Answer: A",) * 4 + ("Answer: B", "Answer: A")
    assert found.values == (1.0, 1.0, 1.0, 1.0, 0.0, 1.0)
    assert all(model.n_closed == 1 for model in models.values())


def test_one_question_that_fails_loses_no_other(folder, examine, fake_model):
    async def turn(request: Request) -> Reply:
        if request.item_id == "q1" and request.images:
            raise RejectedRequestError("too many images")
        return Reply(text="Answer: A")

    account = examine(Probe(), {"scripted:A": fake_model(looks=True, turn=turn)})
    assert (account.n_examined, account.n_failed) == (3, 1)
    found = findings(folder, Probe())
    assert found["q1"].message == "too many images"
    assert isinstance(found["q0"], Found)


def test_media_that_cannot_be_shown_fail_their_question(folder, examine, fake_model):
    (folder / "other" / "0.png").write_bytes(b"broken")
    for i in range(1, 6):
        (folder / "other" / f"{i}.png").write_bytes(b"broken")
    account = examine(Probe(), {"scripted:A": fake_model(looks=True)})
    assert account.n_failed == 1
    assert findings(folder, Probe())["q2"].stage == "media"


def test_what_ends_a_run_ends_the_examination_and_keeps_what_was_found(folder, examine, fake_model):
    async def barred(request: Request) -> Reply:
        raise AccessError("wrong key")

    with pytest.raises(AccessError, match="wrong key"):
        examine(Probe(), {"scripted:A": fake_model(looks=True, turn=barred)})

    async def dear(request: Request) -> Reply:
        return Reply(text="Answer: A", usage=Usage(input_tokens=1000, output_tokens=0))

    model = fake_model(looks=True, turn=dear)
    with pytest.raises(BudgetSpentError):
        examine(Probe(), {"scripted:A": model}, out="dear", price_in=1.0, max_cost=0.006, concurrency=1)
    assert 1 <= len(findings(folder, Probe(), out="dear")) <= 2


def test_findings_of_something_else_are_not_added_to(folder, examine, fake_model):
    examine(Probe(), {"scripted:A": fake_model(looks=True)})
    newer = Probe()
    newer.version = 2
    with pytest.raises(StoreError, match="findings of probe with another version"):
        examine(newer, {"scripted:A": fake_model(looks=True)})
    with sqlite3.connect(folder / "run" / "run.sqlite") as db:
        db.execute("UPDATE diagnoses SET header = 'no json'")
    db.close()
    with pytest.raises(StoreError, match="a row is damaged"):
        examine(Probe(), {"scripted:A": fake_model(looks=True)})
    with RunStore(folder / "run") as store, pytest.raises(StoreError, match="no findings of other"):
        store.header("other")


def test_whole_videos_are_refused(examine, fake_model):
    with pytest.raises(UsageError, match="layout 'video'"):
        examine(Probe(), {"scripted:A": fake_model(looks=True)}, layout="video")


class OneWord:
    """A judge that asks for one word."""

    name, version, scale, prompts_digest = "one-word", 1, 0.0, ""
    sampling = Sampling(temperature=0.5)

    def __init__(self, prompts_dir: object = None) -> None: ...

    def judge(self, item, reply, *, ruled):
        (said,) = yield (Prompt(parts=(TextPart(text=reply.text),)),)
        value = 1.0 if said.text == "right" else 0.0
        verdict = Verdict(judge_model="", value=value, said=(said.text,))
        return Score(
            outcome=ruled.outcome, value=value, scorer="one-word", scorer_version=1, verdicts=(verdict,)
        )


def test_judges_mark_inside_a_flow(folder, examine, fake_model, monkeypatch):
    def create(kind: str, spec: object, **given: object) -> object:
        return OneWord(*given.values()) if kind == "judge" else catalog.create(kind, spec, **given)

    monkeypatch.setattr(session, "create", create)

    def judge(word: str, identity: str, error: Exception | None = None):
        async def turn(request: Request) -> Reply:
            assert request.sampling.temperature == 0.5
            if error:
                raise error
            return Reply(text=word)

        return fake_model(identity=identity, turn=turn)

    models = {
        "scripted:A": fake_model(looks=True),
        "scripted:j": judge("wrong", "j"),
        "scripted:k": judge("wrong", "k"),
        "scripted:l": judge("right", "l"),
    }
    examine(Probe(), models, judge="one-word", judge_models=("scripted:j", "scripted:k", "scripted:l"))
    assert findings(folder, Probe())["q0"].values == (0.0,) * 4
    models = {"scripted:A": fake_model(looks=True), "scripted:m": judge("", "m", RejectedRequestError("no"))}
    examine(Probe(), models, out="silent", judge="one-word", judge_models=("scripted:m",))
    assert findings(folder, Probe(), out="silent")["q0"].values == (0.0,) * 4


def test_views_and_positions_that_are_not_there_are_named():
    subject = ShownSubject(item=Item(item_id="q", question="?", answer="A"), prepared=None, views={})
    with pytest.raises(UsageError, match="no view 'x'"):
        subject.n_frames("x")


@pytest.mark.parametrize(
    ("frames", "options", "said"),
    [
        (32, {}, ["mrfs ranks 16 frames of each question (max), the plan shows 32"]),
        (16, {}, []),
        (32, {"max": "32"}, []),
    ],
)
def test_other_frames_than_those_of_the_plan_are_said(tmp_path, frames, options, said):
    plan = make_plan("table", data=tmp_path, model="scripted:A", overrides={"frames": frames})
    notes = own_frames(open_diagnostic("mrfs", options), plan)
    assert [note.partition(";")[0] for note in notes] == said
    assert all(note.endswith("--set max=32 makes them equal") for note in notes)
    assert own_frames(open_diagnostic("modality", {}), plan) == ()
