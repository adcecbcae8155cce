"""Plans: defaults, TOML, refusal of what makes no sense."""

import errno
import math
import os
import re
import subprocess
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from vidence.engine.caller_objects import AnyOverrides, AnyParser, AnySelector, AnyStrategy
from vidence.engine.plan import (
    ExtractFlag,
    Facts,
    Plan,
    PlanOverrides,
    SamplingFlags,
    git_revision,
    machine_facts,
    plan_flags,
    plan_settings,
    read_plan,
    read_setting,
    read_source,
    write_plan,
)
from vidence.engine.prepare import changed_plan
from vidence.errors import StoreError, UnknownNameError, UsageError
from vidence.records import Sampling

PLAN = Plan(
    benchmark="table",
    data="questions.jsonl",
    split="all",
    model="openai:m?base_url=http://localhost:1/v1",
    selector="midpoints",
    frames=16,
    style="direct",
    prompts="plain",
    layout="images",
    frame_times=False,
    size="short:720",
    jpeg_quality=85,
    sampling=Sampling(temperature=None, max_tokens=None, seed=3),
    parser="robust",
    headline="micro",
    where={"task": 'counting = "hard"'},
    sample=10,
)
FACTS = Facts(
    **machine_facts(),
    benchmark_version=1,
    benchmark_revision="",
    content_hash="abc",
    prompts_digest="def",
    selector_version=1,
    model_identity="openai:m",
    citation='A "quoted" title\nin two lines',
    licence="CC",
    n_items=3,
    n_planned=3,
    notes=("one", "two"),
    started_at="2026-11-21T00:00:00+00:00",
)


@pytest.mark.parametrize("sampling", [PLAN.sampling, Sampling(), Sampling(temperature=1.0, top_p=0.9)])
def test_a_plan_survives_toml(tmp_path: Path, sampling: Sampling):
    plan = msgspec.structs.replace(PLAN, sampling=sampling)
    write_plan(tmp_path, plan, FACTS)
    assert read_plan(tmp_path) == (plan, FACTS)


def test_a_folder_without_a_plan_says_so(tmp_path: Path):
    with pytest.raises(StoreError, match=r"not a run folder: plan\.toml is missing"):
        read_plan(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("this is not toml", "not readable as TOML"),
        pytest.param("a = " + "[" * 5000, "not readable as TOML: maximum recursion depth", id="deep"),
        pytest.param("a = " + "9" * 5000, "not readable as TOML: Exceeds the limit", id="digits"),
        pytest.param("a." * 5000 + "a = 1", "not readable as TOML: a key has more than 64 parts", id="parts"),
        ('[plan]\nformat = "vidence-plan/1"\nsampling = 3', r"plan\.toml: (Expected|Object missing)"),
        ("", "has format None"),
        ("plan = 3", "has format None"),
        ('[plan]\nformat = "vidence-plan/0"', "has format 'vidence-plan/0'"),
        ('[plan]\nformat = "vidence-plan/1"\nbenchmark = 7', "Expected `str`"),
    ],
)
def test_a_bad_plan_file_says_what_is_wrong(tmp_path: Path, text: str, message: str):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(StoreError, match=message):
        read_plan(tmp_path)


def test_a_folder_that_is_a_file_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"/file is a file; give the folder that `vidence run` wrote"):
        read_plan(tmp_path / "file")


def test_a_plan_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_plan(tmp_path, PLAN, FACTS)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"cannot write .*plan\.toml: .*No space left"):
        write_plan(tmp_path, msgspec.structs.replace(PLAN, frames=3), FACTS)
    assert read_plan(tmp_path) == (PLAN, FACTS)


def test_a_plan_from_before_frames_had_its_name_is_read(tmp_path: Path):
    write_plan(tmp_path, PLAN, FACTS)
    path = tmp_path / "plan.toml"
    path.write_text(path.read_text().replace("\nframes = 16\n", "\nn_frames = 16\n"))
    assert "n_frames" in path.read_text()
    assert read_plan(tmp_path) == (PLAN, FACTS)


def test_a_path_that_is_no_text_cannot_be_written_down(tmp_path: Path):
    with pytest.raises(StoreError, match="cannot write"):
        write_plan(tmp_path, msgspec.structs.replace(PLAN, data="questions-\udcff.jsonl"), FACTS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repeats": 0}, "repeats is 0"),
        ({"concurrency": -1}, "concurrency is -1"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"decode_timeout_s": float("inf")}, "decode_timeout_s is inf"),
        ({"limit": -1, "sample": None}, "limit is -1"),
        ({"sample": 0}, "sample is 0"),
        ({"max_cost": -1.0, "price_in": 1.0}, "max_cost is -1"),
        ({"limit": 3}, "limit and sample exclude each other"),
        ({"sample_by": "task=3"}, "sample and sample_by exclude each other"),
        ({"price_in": math.inf}, "price_in is inf"),
        ({"judge_price_out": -1.0}, "judge_price_out is -1"),
        ({"max_cost": 1.0}, "max_cost needs prices"),
        ({"jpeg_quality": 0}, "jpeg_quality is 0"),
        ({"name": "two\nlines"}, "name is 'two.*nlines'; expected one line of at most 60 printable"),
        ({"name": "n" * 61}, "at most 60"),
        ({"name": " x"}, "without space around"),
        ({"jpeg_quality": 96}, "expected 1 to 95"),
        *(
            ({"sample": None, "sample_by": by}, "expected TAG=N")
            for by in ("a=0", "a", "=3", "a=+3", "a=2.5", "a=²")
        ),
        ({"audio": "loud"}, "audio is 'loud'; expected"),
        ({"judge_panel": "best"}, "judge_panel 'best'; expected one of"),
        ({"judge_models": ("a:b", "a:b")}, "a judge model is named twice: a:b, a:b"),
    ],
)
def test_impossible_plans_are_refused(changes: dict[str, object], message: str):
    with pytest.raises(UsageError, match=message):
        msgspec.structs.replace(PLAN, **changes)


def test_the_git_revision_is_of_this_checkout_or_empty():
    revision = git_revision()
    assert revision == "" or len(revision.rstrip("+")) >= 7


def test_outside_git_there_is_no_revision(monkeypatch: pytest.MonkeyPatch):
    def no_git(command: list[str], **settings: object) -> None:  # no git, or a checkout that does not hold us
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(subprocess, "run", no_git)
    assert git_revision() == ""


def test_the_typed_overrides_are_the_settings_of_a_plan():
    kinds = get_type_hints(Plan) | get_type_hints(SamplingFlags) | get_type_hints(ExtractFlag)
    for name in ("format", "benchmark", "data", "study", "model", "sampling", "listed", "judge_listed"):
        del kinds[name]
    assert get_type_hints(PlanOverrides) == {name: kind | None for name, kind in kinds.items()}
    kinds |= {"selector": AnySelector, "parser": AnyParser, "strategy": AnyStrategy}  # or what is none yet
    assert get_type_hints(AnyOverrides) == {name: kind | None for name, kind in kinds.items()}


def test_every_flag_is_a_field_with_help_and_a_type_that_the_command_line_reads():
    flags = {one.field: one for one in plan_flags()}
    assert flags["frames"].flag == "--frames"
    assert (flags["limit"].kind, flags["judge_models"].kind, flags["allow_missing"].kind) == (int, str, bool)
    assert flags["judge_models"].is_many
    assert all(one.help.endswith((".", ")", "...")) for one in flags.values())
    fields = {*Plan.__struct_fields__, *SamplingFlags.__struct_fields__, *ExtractFlag.__struct_fields__}
    without = {
        "format",
        "benchmark",
        "data",
        "study",
        "model",
        "sampling",
        "headline",
        "listed",
        "judge_listed",
    }
    assert flags.keys() | plan_settings().keys() == fields - without
    assert not flags.keys() & plan_settings().keys()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("timeout_s", "900", 900.0),
        ("media_inside", "true", True),
        ("model_seed", "7", 7),
        ("audio", "keep", "keep"),
    ],
)
def test_a_setting_without_a_flag_is_read_from_a_text(name: str, text: str, value: object):
    assert read_setting(name, text) == value


def test_a_setting_that_cannot_be_read_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'timeout_s'"):
        read_setting("timeout", "3")
    with pytest.raises(UsageError, match="--set timeout_s=long cannot be read"):
        read_setting("timeout_s", "long")


def test_the_default_that_the_help_of_a_flag_names_is_the_one_that_is_taken():
    named = {
        name: float(said[1]) * {"": 1, "m": 60}[said[2]]
        for name, text in ({one.field: one.help for one in plan_flags()} | plan_settings()).items()
        if (said := re.search(r"\(default (\d+)(m?)\)", text))
    }
    assert named.keys() >= {"concurrency", "timeout_s", "attempts", "decode_timeout_s", "patience_s", "seed"}
    assert named == {one.name: one.default for one in msgspec.structs.fields(Plan) if one.name in named}


@pytest.mark.parametrize(
    "sampling",
    [{"temperature": -1.0}, {"temperature": float("nan")}, {"top_p": 5.0}, {"top_p": 0.0}, {"max_tokens": 0}],
)
def test_what_no_model_can_draw_with_is_refused(sampling):
    with pytest.raises(UsageError, match=f"{next(iter(sampling))} is .*; expected"):
        msgspec.structs.replace(PLAN, sampling=Sampling(**sampling))
    loose = Sampling(temperature=None, top_p=1.0, max_tokens=None)
    assert msgspec.structs.replace(PLAN, sampling=loose).sampling == loose


def test_what_lies_at_the_edge_of_what_can_be_is_taken():
    edge = msgspec.structs.replace(
        PLAN, jpeg_quality=1, sample=None, sample_by="a=b=3", max_cost=1.0, judge_price_out=0.1, patience_s=0
    )
    assert edge.stratum == ("a=b", 3)
    assert PLAN.stratum is None
    for name in ("price_in", "price_out", "judge_price_in"):
        assert msgspec.structs.replace(PLAN, max_cost=1.0, **{name: 0.1}).max_cost == 1.0


def test_lines_that_are_left_out_are_counted_beside_the_questions():
    one, two = (msgspec.structs.replace(FACTS, problems=("line 3: no answer",) * n) for n in (1, 2))
    assert msgspec.structs.replace(FACTS, problems=()).left_out == ""
    assert f"Left out: 1 line that could not be used, beside {FACTS.n_items:,} questions" in one.left_out
    assert f"Left out: 2 lines that could not be used, beside {FACTS.n_items:,} questions" in two.left_out
    assert two.left_out.endswith("the first is line 3: no answer.")


def test_a_plan_is_read_from_its_file_or_from_its_folder(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no plan"):
        read_source(tmp_path)
    write_plan(tmp_path, PLAN, FACTS)
    for place in (tmp_path, tmp_path / "plan.toml"):
        source, plan, facts = read_source(place)
        assert (source, plan, facts) == (tmp_path / "plan.toml", PLAN, FACTS)


def test_a_plan_keeps_the_listed_prices_of_its_model_and_given_ones_win():
    listed = changed_plan(PLAN, model="openai:gpt-4.1", overrides={"max_cost": 1.0})
    assert (listed.prices, listed.prices.input) == (listed.listed, 2.0)
    given = changed_plan(listed, overrides={"price_in": 7.0, "price_out": 9.0})
    assert (given.prices.input, given.prices.output, given.prices.cached) == (7.0, 9.0, None)
    with pytest.raises(UsageError, match=r"list prices` has none for openai:mine, or .*; give price_in and"):
        changed_plan(listed, model="openai:mine", overrides={})
    judged = changed_plan(listed, overrides={"judge_models": ("openai:gpt-4o", "openai:gpt-4o-2024-08-06")})
    assert judged.judge_prices.output == 10.0
    assert changed_plan(PLAN, model="scripted:A", overrides={}).prices is None
