"""A session: which models and views are opened, what is shown in which order, and that models are closed."""

from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime

import anyio
import msgspec
import pytest

from vidence.contracts import View
from vidence.engine import engine as engine_module
from vidence.engine.environment import Environment
from vidence.engine.plan import read_plan
from vidence.engine.session import opened_session
from vidence.engine.views import DecodeCount
from vidence.errors import UsageError
from vidence.records import Item, Media, Subtitles

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def plan(bench, fake_model):
    """The plan of a run over five questions with three choices."""
    bench.write(5, choices=["red", "green", "blue"], answer="B")
    bench.run(fake_model(), shuffle_choices=True, repeats=2)
    found, _ = read_plan(bench.folder / "run")
    return found


def within(plan, folder, look, **more):
    """What `look` finds in an open session."""

    async def go():
        environment = Environment(cache_root=folder / "cache", n_workers=1)
        async with AsyncExitStack() as stack:
            opened = opened_session(
                plan, environment=environment, now=NOW, on_event=lambda event: None, **more
            )
            return await look(await stack.enter_async_context(opened))

    return anyio.run(go)


async def asked(session):
    """The questions as they are shown, each with its repeat."""
    todo = [(item, repeat) for item in session.prepared.items for repeat in range(2)]
    seen = []

    async def note(subject):
        seen.append((subject.item.item_id, subject.repeat, subject.item.choices, subject.n_repeats))

    await session.work(todo, note, n_consumers=2, count=DecodeCount())
    return sorted(seen)


def test_words_alone_are_asked_without_subtitles(plan, bench):
    """As diagnostics ask blind; a run without frames shows what its plan names."""
    (bench.folder / "a.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nIt is green.\n")

    async def look(session):
        [item, *_] = session.prepared.items
        said = msgspec.structs.replace(item, subtitles=Subtitles(path=str(bench.folder / "a.srt")))
        texts = []

        async def note(subject):
            texts.extend("green." in subject.prompt("", positions).text for positions in (None, ()))

        await session.work([(said, 0)], note, n_consumers=1, count=DecodeCount())
        return texts

    shown = msgspec.structs.replace(plan, subtitles="all", shuffle_choices=False)
    assert within(shown, bench.folder, look) == [True, False]


def test_a_run_shows_choices_in_the_order_that_the_plan_draws(plan, bench):
    shown = within(plan, bench.folder, asked)
    assert [(name, repeat) for name, repeat, _, _ in shown] == [
        (f"q{i}", r) for i in range(5) for r in range(2)
    ]
    assert {n for *_, n in shown} == {2}
    assert len({choices for _, _, choices, _ in shown}) > 1
    assert shown == within(plan, bench.folder, asked)


def test_questions_are_grouped_by_video_or_so_many_without_media(plan, bench):
    def item(i, video):
        return Item(item_id=f"q{i}", media=(Media(path=video),), question="?", answer="A", choices=("x", "y"))

    items = [item(i, video) for i, video in enumerate("babcab")]
    todo = [(items[n // 2], n % 2) for n in (0, 1, 2, 4, 5, 7, 8, 11)]

    async def look(session):
        plain = replace(session, needs_frames=False).groups(todo, most=3)
        by_video = [[(i.item_id, r) for i, r in one] for one in session.groups(todo)]
        return by_video, [len(one) for one in plain]

    by_video, plain = within(plan, bench.folder, look)
    assert by_video == [
        [("q0", 0), ("q0", 1), ("q2", 0), ("q2", 1), ("q5", 1)],
        [("q1", 0), ("q4", 0)],
        [("q3", 1)],
    ]
    assert plain == [3, 3, 2]


def test_frames_are_for_models_that_look_and_for_diagnostics(plan, bench, fake_model, monkeypatch):
    views = {"one": View(selector="none", n_frames=1)}

    async def look(session):
        return session.is_run, set(session.views), session.needs_frames

    assert within(plan, bench.folder, look, views=views) == (False, {"one"}, True)
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: fake_model(looks=False))
    assert within(plan, bench.folder, look)[0::2] == (True, False)


def test_what_was_composed_ahead_is_the_plain_question_alone(plan, bench):
    async def look(session):
        seen = []

        async def note(subject):
            subject.compose_ahead("one")
            turned = subject.prompt("one", order=(2, 1, 0))
            seen.append((subject.prompt("one") == subject.prompt("one", ()), subject.n_repeats, str(turned)))

        await session.work([(session.prepared.items[0], 0)], note, n_consumers=1, count=DecodeCount())
        return seen

    views = {"one": View(selector="none", n_frames=1)}
    [(is_same, n_repeats, turned)] = within(plan, bench.folder, look, views=views)
    assert (is_same, n_repeats, "A. blue" in turned) == (True, 1, True)


def test_models_have_their_identity_and_are_closed_whatever_happens(plan, bench, fake_model, monkeypatch):
    models = {plan.model: fake_model(identity="main"), "scripted:B": fake_model(identity="other")}
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: models[spec])

    async def look(session):
        assert {"": "main", "help": "other"}.items() <= session.identities.items()
        raise RuntimeError("stop")

    with pytest.raises((RuntimeError, ExceptionGroup)):
        within(plan, bench.folder, look, others={"help": "scripted:B"})
    assert all(model.n_closed == 1 for model in models.values())


def test_judges_are_opened_with_their_names_and_none_without(plan, bench):
    judged = msgspec.structs.replace(plan, judge="mmvu-official", judge_models=("scripted:x", "scripted:y"))

    async def look(session):
        return None if session.pool is None else [one.name for one in session.pool.models]

    assert within(judged, bench.folder, look) == ["judge 0", "judge 1"]
    assert within(plan, bench.folder, look) is None


def test_several_candidates_at_temperature_0_are_refused_before_anything_is_asked(bench, fake_model):
    bench.write(1)
    model = fake_model()
    with pytest.raises(UsageError, match="candidates at temperature 0 are equal"):
        bench.run(model, strategy="self-consistency", temperature=0.0)
    assert model.asked == []
    summary = bench.run(model, strategy="self-consistency", temperature=1.0)
    assert summary.n_tried == 1
    assert len(model.asked) > 1
