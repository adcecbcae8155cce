"""What to add, and which setting decides, where a task came to nothing."""

import re
from pathlib import Path

import msgspec
import pytest

import vidence.make
import vidence.seeing
from vidence.catalog import create, names
from vidence.make.herbench.config import (
    CardStep,
    HerbenchConfig,
    PeopleRules,
    SceneStep,
    SourceRule,
    TrackingRules,
)
from vidence.make.herbench.hints import (
    COUNTED,
    SCENE_WRITER,
    SCENES,
    TASK_WRITER,
    decides,
    deciding,
    lacked_by_all,
    lacks,
    lines_that_add,
    why_none,
)
from vidence.make.herbench.sources import Source
from vidence.make.pipeline.material import Dropped, Material, VideoSource

VIDEO = VideoSource(video_id="v", path="v.mp4", n_frames=9, fps=3.0, duration_s=3.0, width_px=8, height_px=8)

PATH = Path("set") / "c.toml"
BARE = HerbenchConfig(name="n", sources=(SourceRule(path="v.mp4"),))
ALL = ("[[logs]]", "[tracking]", COUNTED, "[cards]", "[shots]", SCENES, TASK_WRITER)


def source(file: Path | None = Path("v.mp4"), **rule: str) -> Source:
    return Source(video=VIDEO, file=file, rule=SourceRule(path="v.mp4", **rule))


def config(**more: object) -> HerbenchConfig:
    return HerbenchConfig(**{"name": "n", "sources": (SourceRule(path="v.mp4"),), **more})


def test_a_file_of_cards_stands_for_the_table():
    task = create("task", "mpdr")
    assert lacks(task, source(), config()) == ("[tracking]", "[cards]")
    assert lacks(task, source(cards="c.csv"), config()) == ("[tracking]",)
    assert lacked_by_all(task, [source(), source(cards="c.csv")], config()) == ("[tracking]",)
    of_people = config(cards=CardStep(file="c.csv"))
    assert lacks(task, source(), of_people) == ("[tracking]",)
    rule = SourceRule(path="other.mp4", cards="c.csv")
    of_another = config(cards=CardStep(), sources=(rule,))
    assert lacks(task, source(), of_another) == ("[tracking]", "model or file in [cards]")
    scenes = create("task", "tso")
    assert lacks(scenes, source(scene_cards="c.csv"), config()) == ("[shots]",)


def test_counts_of_people_whom_a_detector_finds_need_people():
    task, tracked = create("task", "rlpc"), config(tracking=TrackingRules())
    assert lacks(task, source(), config()) == ("[tracking]", COUNTED)
    assert lacks(task, source(), tracked) == (COUNTED,)
    assert lacks(create("task", "rlpc?count=paper"), source(), tracked) == ()
    assert lacks(task, source(tracks="mot:{video_id}.txt"), config()) == ()
    assert lacks(task, source(), config(tracking=TrackingRules(), people=PeopleRules())) == ()


def test_the_most_frequent_reason_names_its_setting():
    task = create("task", "tso")
    full = Material(source=VIDEO, shots=(object(),), scene_cards=("x",))
    gone = [
        *(Dropped(what=f"TSO: v: {i}", stage="drafts", reason="shot-too-short") for i in range(3)),
        Dropped(what="TSO-1", stage="quotas", reason="over-total"),
        Dropped(what="AC: v", stage="drafts", reason="too-few-events"),
        Dropped(what="v: TSO", stage="pairs", reason="no-draft"),
    ]
    said = why_none(task, [full], gone)
    assert said == "TSO: no question; most often over-total (1 of 1), which [tasks.tso] total decides."
    said = why_none(task, [full], [one for one in gone if one.stage != "quotas"])
    assert said == (
        "TSO: no question; most often shot-too-short (3 of 3), which [tasks.tso.options] shortest_s decides."
    )
    few = [Dropped(what="TSO: v", stage="drafts", reason="too-few-events")]
    assert why_none(task, [full], few).endswith(
        "which [[logs]] path decides: a log with more events of a video."
    )
    assert why_none(task, [full], []) == "TSO: no question; nothing was found that it could ask about."


def test_videos_that_lack_what_a_task_needs_do_not_hide_why_the_others_gave_none():
    task = create("task", "mpdr")
    need = f"no-{task.needs[0].replace('_', '-')}"
    film = Material(source=VIDEO, **dict.fromkeys(task.needs, ("x",)))
    log = Material(source=VIDEO)
    gone = [Dropped(what=f"log{i}: MPDR", stage="pairs", reason=need) for i in range(5)]
    gone.append(Dropped(what="MPDR: v: 1", stage="drafts", reason="no-such-moment"))
    assert "most often no-such-moment (1 of 1)" in why_none(task, [log, film], gone)
    assert f"most often {need} (5 of 5)" in why_none(task, [log, film], gone[:5])


def test_false_cards_that_no_video_has_are_explained_by_the_step_that_writes_them():
    task = create("task", "sva")
    film = Material(source=VIDEO, **dict.fromkeys(task.needs, ("x",)))
    gone = [
        Dropped(what=f"SVA: v: card {i}", stage="draft:SVA", reason="fits-another-shot") for i in range(3)
    ]
    gone.append(Dropped(what="SVA: v", stage="draft:SVA", reason="no-false-scene-cards"))
    decided = "which [scenes] false and false_model decides."
    said = why_none(task, [film], gone)
    assert said == f"SVA: no false-scene-cards; most often no-false-scene-cards (1 of 1), {decided}"
    gone += [Dropped(what=f"v: {i}-false", stage="false-scenes", reason="unreadable") for i in range(17)]
    said = why_none(task, [film], gone)
    assert said == f"SVA: no false-scene-cards; most often unreadable (17 of 17), {decided}"


def test_what_is_missing_of_the_material_is_explained_by_its_own_stages():
    gone = [Dropped(what="v: 1", stage="crops", reason="too-short-for-cards") for _ in range(2)]
    gone.append(Dropped(what="v: AGLT", stage="pairs", reason="no-a-cards"))
    bare = Material(source=VIDEO, tracked=object(), chosen=("1",))
    said = why_none(create("task", "aglt"), [bare], gone)
    assert said.startswith(
        "AGLT: no a-cards; most often too-short-for-cards (2 of 2), which [cards.crops] gap_s"
    )


def test_every_reason_is_one_that_something_gives_and_every_setting_exists():
    folders = (Path(vidence.make.__file__).parent, Path(vidence.seeing.__file__).parent)
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in folder.rglob("*.py")
        if path.name != "hints.py"
    )
    assert [reason for reason in deciding() if f'"{reason}"' not in code] == []
    fields = set(re.findall(r"^ +(\w+): ", code, flags=re.MULTILINE))
    for said in deciding().values():
        words = re.findall(r"\b[a-z]+_[a-z_]+\b", re.sub(r"\[[^]]*\]", "", said))
        assert [word for word in words if word not in fields] == [], said


@pytest.mark.parametrize("name", names("task"))
def test_settings_are_named_with_the_table_of_the_task(name):
    assert decides("over-total", name.upper()) == f"[tasks.{name}] total"


def test_a_table_that_is_there_is_not_begun_again():
    there = msgspec.structs.replace(BARE, scenes=SceneStep(false_model="rules"))
    (said,) = lines_that_add([(COUNTED,), (SCENE_WRITER,)], there, path=PATH)
    assert "# into the [scenes] that is there:\nmodel = " in said
    assert "\n[scenes]" not in said
    assert "\n[people]\nfolder = " in said
