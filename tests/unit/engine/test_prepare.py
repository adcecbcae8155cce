"""From overrides to a plan, and from a plan to what is asked."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
import pytest

from servers.objects import on_loopback
from vidence.catalog import create
from vidence.contracts import Loaded
from vidence.engine import get
from vidence.engine import plan as plan_module
from vidence.engine.plan import Plan
from vidence.engine.prepare import (
    MOST_FOLDERS,
    PreparedRun,
    changed_plan,
    check_same,
    choose_items,
    default_folder,
    every_item,
    make_plan,
    media_root_of,
    new_folder,
    open_views,
    prepare,
    run_name,
)
from vidence.errors import DataError, MediaError, MissingMediaError, StoreError, UnknownNameError, UsageError
from vidence.records import Item, Media


def plan(**overrides: object) -> Plan:
    return make_plan("table", data=Path("questions.jsonl"), model="baseline:constant", overrides=overrides)


class Looker:
    """A model that looks at media."""

    identity = "looker"
    looks = True
    by_item = False
    max_in_flight = None


def items(n: int, **changes: object) -> tuple[Item, ...]:
    return tuple(
        Item(
            item_id=f"q{i}",
            question="?",
            choices=("x", "y"),
            answer="A",
            tags={"task": f"t{i % 2}"},
            **changes,
        )
        for i in range(n)
    )


def ids(loaded: Loaded, chosen: Plan) -> list[str]:
    kept, _ = choose_items(loaded, chosen, model=create("model", "baseline:constant"))
    return [i.item_id for i in kept]


def loaded(questions: tuple[Item, ...], root: Path = Path()) -> Loaded:
    return Loaded(items=questions, media_root=root, content_hash="")


def test_what_a_spec_says_about_drawing_goes_to_the_plan():
    assert (plan().shuffle_choices, plan().repeats, plan().seed) == (False, 1, 0)
    made = make_plan(
        "table",
        data=Path("q.jsonl"),
        model="openai:m?base_url=http://localhost:1/v1&temperature=0.7&max_tokens=64"
        '&extra={"a": "50%25 %26"}',
        overrides={"top_p": 0.9, "model_seed": 3, "choice_logps": True},
    )
    drawn = made.sampling
    assert (drawn.temperature, drawn.max_tokens, drawn.top_p, drawn.seed) == (0.7, 64, 0.9, 3)
    assert drawn.want_choice_logps
    assert made.model == 'openai:m?base_url=http://localhost:1/v1&extra={"a": "50%25 %26"}'


@pytest.mark.parametrize(
    ("model", "overrides", "message"),
    [
        ("scripted:A?temperature=hot", {}, "temperature='hot' in the model spec is not a number"),
        ("scripted:A?temperature=0.5", {"temperature": 0.7}, "temperature is 0.5 in the model spec and 0.7"),
        ("scripted:A", {"frames": "many"}, "these settings are not valid"),
        ("scripted:A", {"n_frame": 1}, "no setting of a run named 'n_frame'. Did you mean 'frames'"),
    ],
)
def test_overrides_that_make_no_plan(model: str, overrides: dict[str, object], message: str):
    with pytest.raises(UsageError, match=message):
        make_plan("table", data=Path("q.jsonl"), model=model, overrides=overrides)


def test_a_run_can_be_taken_up_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    made = plan(memory="own.sqlite", prompts_dir="mine")
    assert made.data == str(tmp_path / "questions.jsonl")
    assert made.memory == str(tmp_path / "own.sqlite")
    assert made.prompts_dir == str(tmp_path / "mine")
    assert plan().memory == ""


def test_limit_takes_the_first_and_sample_draws_in_the_order_of_the_release():
    questions = loaded(items(20))
    assert ids(questions, plan(limit=3)) == ["q0", "q1", "q2"]
    assert ids(questions, plan(limit=99)) == ids(questions, plan(sample=20)) == [f"q{i}" for i in range(20)]
    drawn = ids(questions, plan(sample=8, seed=5))
    assert drawn == ids(questions, plan(sample=8, seed=5))
    assert drawn != ids(questions, plan(sample=8, seed=6))
    assert len(set(drawn)) == 8
    assert drawn == sorted(drawn, key=lambda name: int(name[1:]))


def test_a_sample_depends_on_the_seed_alone():
    # worked out with numpy itself: default_rng(0).choice(10, 3, replace=False), sorted
    expected = np.sort(np.random.default_rng(0).choice(10, 3, replace=False))
    assert ids(loaded(items(10)), plan(sample=3)) == [f"q{i}" for i in expected]


def test_filters_come_before_limits():
    assert ids(loaded(items(6)), plan(where={"task": "t1"}, limit=2)) == ["q1", "q3"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"tusk": "t0"}, "no question has the tag 'tusk'; tags are: task"),
        ({"task": "t9"}, "values are: t0, t1"),
    ],
)
def test_filters_that_leave_nothing_say_what_there_is(where: dict[str, str], message: str):
    with pytest.raises(UsageError, match=message):
        ids(loaded(items(6)), plan(where=where))


def test_only_recorded_questions_on_request(tmp_path: Path):
    (tmp_path / "answers.jsonl").write_text('{"item_id": "q4", "text": "A"}\n{"item_id": "q1", "text": "B"}')
    replay = create("model", f"replay:{tmp_path / 'answers.jsonl'}")
    kept, notes = choose_items(loaded(items(6)), plan(recorded_only=True), model=replay)
    assert [i.item_id for i in kept] == ["q1", "q4"]
    assert notes == ("only the 2 questions that have a recorded reply are asked",)
    with pytest.raises(UsageError, match="replay:FILE"):
        ids(loaded(items(6)), plan(recorded_only=True))


@pytest.mark.parametrize("narrowing", [{"recorded_only": True}, {"limit": 1}, {"sample": 1}])
def test_where_nobody_is_asked_all_questions_with_the_tags_are_met(narrowing: dict[str, object]):
    released = loaded(items(4))
    met = every_item(released, plan(where={"task": "t1"}, **narrowing))
    assert [item.item_id for item in met] == ["q1", "q3"]


def test_nothing_left_to_ask_is_an_error():
    with pytest.raises(UsageError, match="no question is left to ask"):
        ids(loaded(()), plan())


def test_hundreds_of_missing_files_are_all_in_the_error_and_some_in_its_message(tmp_path: Path):
    (tmp_path / "there.mp4").touch()
    some = [
        Item(
            item_id=f"q{i}", media=(Media(path="there.mp4"), Media(path=f"{i}.mp4")), question="?", answer="A"
        )
        for i in range(300)
    ]
    whole = Item(item_id="whole", media=(Media(path="there.mp4"),), question="?", answer="A")
    questions = loaded((*some, whole), tmp_path)
    with pytest.raises(
        MissingMediaError, match=r"300 videos are missing, which 300 of 301 questions need:"
    ) as caught:
        choose_items(questions, plan(), model=Looker())
    assert len(caught.value.missing) == 300
    assert "and 280 more" in str(caught.value)
    assert str(caught.value).count("\n") < 30
    (tmp_path / "0.mp4").mkdir()
    with pytest.raises(MissingMediaError, match=r"0\.mp4 \(a folder, and a file is needed\)"):
        choose_items(questions, plan(), model=Looker())
    kept, notes = choose_items(questions, plan(allow_missing=True), model=Looker())
    assert [i.item_id for i in kept] == ["whole"]
    assert notes == ("300 of 301 questions are left out: their media are missing",)


def test_media_outside_the_folder_are_named_once_and_can_be_refused(tmp_path: Path):
    (tmp_path / "data").mkdir()
    some = [
        Item(item_id=f"q{i}", media=(Media(path=f"../{i // 2}.mp4"),), question="?", answer="A")
        for i in range(10)
    ]
    for i in range(5):
        (tmp_path / f"{i}.mp4").touch()
    questions = loaded(tuple(some), tmp_path / "data")
    kept, (note,) = choose_items(questions, plan(), model=Looker())
    assert len(kept) == 10
    assert note.startswith("5 media lie outside the folder of the questions")
    assert (note.count(".mp4"), ", ..." in note, "media_inside" in note) == (3, True, True)
    with pytest.raises(DataError, match="5 media lie outside"):
        choose_items(questions, plan(media_inside=True), model=Looker())
    _, (single,) = choose_items(loaded(tuple(some[:2]), tmp_path / "data"), plan(), model=Looker())
    assert single.startswith("1 medium lies outside")
    assert len(ids(questions, plan(media_inside=True))) == 10  # of a model that looks at nothing


FACTS = plan_module.Facts(
    **plan_module.machine_facts(),
    benchmark_version=1,
    benchmark_revision="",
    content_hash="abc",
    prompts_digest="def",
    selector_version=1,
    model_identity="m",
    citation="",
    licence="",
    n_items=1,
    n_planned=1,
    started_at="2026-01-01",
)


@pytest.mark.parametrize("name", plan_module.MUST_AGREE)
def test_a_run_goes_on_only_with_what_it_began_with(name: str):
    other = msgspec.structs.replace(FACTS, **{name: 2 if isinstance(getattr(FACTS, name), int) else "other"})
    check_same(FACTS, msgspec.structs.replace(FACTS, started_at="later", python="4"), folder=Path("r"))
    with pytest.raises(StoreError, match=f"since this run began .*{name}: .*run again into a new folder"):
        check_same(FACTS, other, folder=Path("r"))


def test_the_same_command_has_the_same_folder_and_another_one_has_not():
    assert run_name(plan()) == run_name(plan())
    assert run_name(plan(frames=3)) != run_name(plan())
    assert run_name(plan(name="Ours")) == run_name(plan())  # what it is called is not what is asked
    assert run_name(plan()).startswith("table-baseline-constant-")
    assert default_folder(plan()) == Path("runs", run_name(plan()))
    local = make_plan("table", data=Path("q"), model="transformers:/models/My Model", overrides={})
    assert run_name(local).startswith("table-transformers-My-Model-")


def prepared(made: Plan) -> PreparedRun:
    return prepare(
        made,
        strategy=create("strategy", made.strategy),
        view=open_views({"plan": made.view}, made)["plan"],
        models={"": create("model", made.model)},
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_preparing_says_what_was_met(tmp_path: Path):
    (tmp_path / "questions.jsonl").write_text(
        '{"item_id": "a", "question": "?", "choices": ["x", "y"], "answer": "A"}\n{"item_id": '
    )
    made = make_plan(
        "table", data=tmp_path / "questions.jsonl", model="baseline:constant", overrides={"repeats": 2}
    )
    found = prepared(made)
    assert (found.facts.n_items, found.facts.n_planned) == (1, 2)
    assert found.facts.model_identity == found.model.identity
    assert found.facts.started_at == "2026-01-01T00:00:00+00:00"
    assert "questions.jsonl:2" in found.facts.problems[0]
    assert found.parser_for(found.items[0]).name == "robust"
    with pytest.raises(UnknownNameError, match="Did you mean 'needs-judge'"):  # though no text is asked for
        prepared(msgspec.structs.replace(made, text_parser="needs-juge"))
    (tmp_path / "questions.jsonl").write_text(
        '{"item_id": "a", "question": "?", "answer_kind": "text", "answer": "x"}'
    )
    found = prepared(made)
    assert found.parser_for(found.items[0]).name == "needs-judge"


def test_a_stratified_sample_has_so_many_questions_with_each_value():
    rare = tuple(
        msgspec.structs.replace(i, item_id=f"r{n}", tags={"task": "rare"}) for n, i in enumerate(items(2))
    )
    untagged = tuple(msgspec.structs.replace(i, item_id=f"u{n}", tags={}) for n, i in enumerate(items(3)))
    questions = loaded((*items(20), *rare, *untagged))
    kept, notes = choose_items(questions, plan(sample_by="task=3", seed=5), model=Looker(), shows_media=False)
    counted = [item.tags["task"] for item in kept]
    assert {task: counted.count(task) for task in counted} == {"t0": 3, "t1": 3, "rare": 2}
    assert [i.item_id for i in questions.items if i in kept] == [
        i.item_id for i in kept
    ]  # order of the release
    assert notes[0].startswith(
        "sampled by task, 3 questions with each value or all that there are (rare: 2 of 2; t0: 3 of 10; "
        "t1: 3 of 10; none of 3 without the tag): means over questions describe this sample"
    )
    assert ids(questions, plan(sample_by="task=3", seed=5)) == [i.item_id for i in kept]
    assert ids(questions, plan(sample_by="task=3", seed=6)) != [i.item_id for i in kept]


def test_what_is_sampled_of_one_value_does_not_depend_on_the_others():
    whole = ids(loaded(items(20)), plan(sample_by="task=3"))
    half = ids(loaded(items(20)), plan(sample_by="task=3", where={"task": "t1"}))
    assert half == [name for name in whole if name in half]
    assert len(half) == 3


def test_a_stratified_sample_by_a_tag_that_is_not_there_says_which_are():
    with pytest.raises(UsageError, match="no question has the tag 'tusk'; tags are: task"):
        ids(loaded(items(6)), plan(sample_by="tusk=2"))


def test_a_rule_that_is_thinned_by_the_plan_says_so(tmp_path: Path):
    (tmp_path / "questions.jsonl").write_text(
        '{"item_id": "a", "question": "?", "choices": ["x", "y"], "answer": "A"}\n'
    )

    def notes(model: str, **overrides: object) -> tuple[str, ...]:
        made = make_plan("table", data=tmp_path / "questions.jsonl", model=model, overrides=overrides)
        return tuple(note for note in prepared(made).facts.notes if "thinned" in note)

    (said,) = notes("scripted:B", selector="fps:1")
    assert said.startswith("fps:1 shows at most 16 frames of a question")
    assert notes("scripted:B", selector="fps:1", frames=64)[0].startswith("fps:1 shows at most 64 frames")
    assert notes("scripted:B") == notes("baseline:constant", selector="fps:1") == ()


def test_a_name_that_looks_like_a_key_is_not_shown():
    key = "sk-proj-Q8f2Lk3nV7xT1mB6wZ9cR4yH5dS0aJ"
    with pytest.raises(UsageError, match="looks like a key") as refused:
        plan(name=key)
    assert key not in str(refused.value)


# --------------------------------------------------------------------------------------- media at addresses


def at(*paths: str) -> Loaded:
    media = [(Media(path=path),) for path in paths]
    return loaded(
        tuple(
            msgspec.structs.replace(items(1)[0], item_id=p, media=m)
            for p, m in zip(paths, media, strict=True)
        )
    )


def test_the_address_of_a_folder_stays_as_it_is():
    made = plan(media="s3://lab/videos/", media_at=("https://h.example/",))
    assert (made.media, made.media_at) == ("s3://lab/videos", ("https://h.example",))
    assert str(media_root_of(made, loaded(items(1)))) == "s3://lab/videos"
    assert media_root_of(plan(), loaded(items(1), Path("here"))) == Path("here")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"media": "ftp://h/x"}, "cannot be read from ftp"),
        ({"media": "https://me:hush@h/x"}, "a user name or a password"),
        ({"media": "https://h/x?sig=hush"}, "is signed"),
        ({"media_at": ("videos",)}, "--media-at videos: expected an address"),
    ],
)
def test_an_address_that_cannot_stand_in_a_plan_is_refused(overrides, said):
    with pytest.raises(UsageError, match=said) as caught:
        plan(**overrides)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["s3://lab/q.jsonl", "hf://datasets/o/n/q.jsonl", "https://h.example/q.jsonl"]
)
def test_questions_are_read_from_files(text):
    with pytest.raises(UsageError, match=r"is an address; fetch the file"):
        make_plan("table", data=Path(text), model="baseline:constant", overrides={})


def test_questions_name_addresses_only_where_the_plan_does(monkeypatch):
    monkeypatch.setattr("vidence.engine.prepare.missing", lambda root, items: ())
    found = at("s3://lab/a.mp4", "s3://lab/b.mp4", "https://h.example/c.mp4", "d.mp4")
    with pytest.raises(
        DataError, match=r"s3://lab: 2 media\nIf .*--media-at https://h.example --media-at s3://lab"
    ):
        choose_items(found, plan(), model=Looker())
    named = plan(media="s3://lab/v", media_at=("https://h.example",))
    kept, notes = choose_items(found, named, model=Looker())
    assert len(kept) == 4
    assert "3 media lie outside the folder of the questions, s3://lab/v: s3://lab/a.mp4" in notes[0]
    with pytest.raises(DataError, match="media_inside refuses them"):
        choose_items(
            found,
            plan(media="s3://lab/v", media_at=("https://h.example",), media_inside=True),
            model=Looker(),
        )
    blind, _ = choose_items(found, plan(), model=create("model", "baseline:constant"))
    assert len(blind) == 4  # nobody looks


def test_questions_with_secrets_in_addresses_are_never_stored():
    found = at("https://h.example/a.mp4?X-Amz-Signature=hush")
    with pytest.raises(DataError, match="is signed") as caught:
        choose_items(found, plan(), model=create("model", "baseline:constant"))
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("medium", "said"),
    [
        (Media(path="file:///etc/passwd"), "file:///etc/passwd: media cannot be read from file://"),
        (Media(url="http://h/../../a.mp4"), "the url 'http://h/../../a.mp4' leads out of the media folder"),
        (Media(path="s3://lab/a.mp4"), "s3://lab is read only with --media-at s3://lab"),
    ],
)
def test_one_medium_that_cannot_be_used_is_left_out_like_a_missing_one(tmp_path, medium, said):
    (tmp_path / "a.mp4").write_bytes(b"x")
    whole, bad = items(2, media=(Media(path="a.mp4"),))
    found = loaded((msgspec.structs.replace(bad, media=(medium,)), whole), tmp_path)
    kept, (note,) = choose_items(found, plan(allow_missing=True), model=Looker())
    assert kept == [whole]
    assert note.startswith(f"1 of 2 questions are left out: their media cannot be used (the first: {said}")
    with pytest.raises(DataError, match=r"--allow-missing leaves such questions out|only with your consent"):
        choose_items(found, plan(), model=Looker())


def test_media_that_an_address_lacks_are_named_before_anything_is_asked(monkeypatch):
    with on_loopback(monkeypatch) as server:
        server.put("lab", "v/a.mp4", b"x")
        root = f"{server.url}/lab/v"
        with pytest.raises(MissingMediaError, match=rf"1 video is missing.*\n  {root}/none.mp4\n"):
            choose_items(at("a.mp4", "none.mp4"), plan(media=root), model=Looker())
        kept, notes = choose_items(
            at("a.mp4", "none.mp4"), plan(media=root, allow_missing=True), model=Looker()
        )
        assert ([item.item_id for item in kept], len(notes)) == (["a.mp4"], 1)
        server.always["lab/v/a.mp4"] = 403
        with pytest.raises(MediaError, match="its server refuses access"):
            choose_items(at("a.mp4"), plan(media=root, allow_missing=True), model=Looker())


def test_a_changed_plan_keeps_what_is_not_said_and_one_sample_takes_the_place_of_another(tmp_path):
    first = plan(limit=5, frames=7, seed=3)
    (tmp_path / "other.jsonl").touch()
    other = changed_plan(first, data=tmp_path / "other.jsonl", overrides={"frames": 9, "name": None})
    assert other == msgspec.structs.replace(first, data=str(tmp_path / "other.jsonl"), frames=9)
    drawn = changed_plan(first, overrides={"sample": 4, "where": {}, "judge_models": ()})
    assert (drawn.limit, drawn.sample, drawn.frames) == (None, 4, 7)
    assert changed_plan(first, overrides={}).limit == 5
    assert changed_plan(first, model="scripted:B", overrides={}).model == "scripted:B"
    with pytest.raises(UsageError, match="rules of its protocol written out"):
        changed_plan(first, overrides={"protocol": "plain"})


def test_questions_and_media_that_were_fetched_are_taken_where_none_are_named(tmp_path):
    with pytest.raises(UsageError, match="vidence get mmvu"):
        make_plan("mmvu", data=None, model="baseline:constant", overrides={}, cache=tmp_path)
    found = get.Got(data=str(tmp_path / "q.json"), media=str(tmp_path), release="hf:a/b@c")
    get.note(tmp_path, "mmvu", found)
    made = make_plan("mmvu", data=None, model="baseline:constant", overrides={}, cache=tmp_path)
    assert (made.data, made.media) == (str(tmp_path / "q.json"), str(tmp_path))
    own = make_plan("mmvu", data=None, model="baseline:constant", overrides={"media": "/"}, cache=tmp_path)
    assert own.media == "/"


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"judge": "humanpcr"}, "--judge humanpcr needs a judge model"),
        ({"judge_panel": "mean"}, "--set judge_panel mean needs a judge model"),
        ({"judge_prompts_dir": "words"}, "--judge-prompts-dir words needs a judge model"),
        ({"memory": "/no/such/folder/m.sqlite"}, "there is no folder /no/such/folder for the reply memory"),
    ],
)
def test_settings_that_would_say_nothing_are_refused(overrides, said):
    with pytest.raises(UsageError, match=said):
        plan(**overrides)


def test_a_mapping_of_columns_is_kept_whole():
    assert "question=q" in str(plan(map="item_id=i,question=q,answer=a").map)
    assert plan(map=None).map is None


def test_a_name_of_the_hub_that_is_no_path_is_answered_with_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        DataError, match="fetched with vidence get hf:lab/set, and then named with --data hf:lab/set"
    ):
        make_plan("table", data=Path("lab/set"), model="baseline:constant", overrides={})
    (tmp_path / "lab" / "set").mkdir(parents=True)
    found = make_plan("table", data=Path("lab/set"), model="baseline:constant", overrides={})
    assert found.data == str(tmp_path / "lab" / "set")


def test_a_benchmark_with_a_layout_of_its_own_takes_no_mapping():
    with pytest.raises(UsageError, match="has its own layout and takes no --map"):
        make_plan("mmvu", data=Path("q"), model="baseline:constant", overrides={"map": "question=q"})


def test_a_new_folder_is_the_first_of_its_name_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = plan()
    first = default_folder(made)
    assert new_folder(made) == first
    first.mkdir(parents=True)
    assert new_folder(made) == first.with_name(f"{first.name}-2")
    for n in range(2, MOST_FOLDERS):
        first.with_name(f"{first.name}-{n}").mkdir()
    assert new_folder(made).name == f"{first.name}-{MOST_FOLDERS}"
    new_folder(made).mkdir()
    with pytest.raises(UsageError, match="like it are there already; name a folder with --out"):
        new_folder(made)


def test_a_run_is_named_after_what_is_asked_and_who_answers():
    def named(model: str) -> str:
        made = make_plan("table", data=Path("q.jsonl"), model=model, overrides={"name": "label"})
        name, _, digest = run_name(made).rpartition("-")
        assert len(digest) == 8
        return name

    assert named("openai:lab/gpt_4.1-mini") == "table-openai-gpt_4.1-mini"
    assert named("openai:a b+c") == "table-openai-a-b-c"
    assert named("openai:" + "x" * 80) == ("table-openai-" + "x" * 80)[:60]
