"""Explain what a configuration lacks for a task: the lines to add, the deciding settings."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from vidence.catalog import parse_spec
from vidence.installation import packaged
from vidence.make.herbench.config import HerbenchConfig
from vidence.make.herbench.sources import Source
from vidence.make.pipeline.material import Dropped, Material, Task
from vidence.records import by_key
from vidence.text import quoted

Tables: TypeAlias = tuple[str, ...]
"""What is to be added to a configuration: the headings of tables, or words where a table is not enough."""

NEED_TRACKS: Final = ("tracked", "chosen", "a_cards", "b_cards", "crops")
ASKED: Final = "tasks"
"""The name of the model that tasks ask."""
NO_FILE: Final = "the file of the video"
CARD_WRITER: Final = "model or file in [cards]"
SCENES: Final = "[scenes] or scene_cards"
SCENE_WRITER: Final = "model in [scenes] or scene_cards"
"""Shots are described by a model, or by people in `scene_cards` of a source."""
TASK_WRITER: Final = f"{ASKED} in [models]"
COUNTED: Final = "people's counts"
"""Who answers for how many people there are: a detector misses some."""
_MOST_NAMED: Final = 6

# Of which stages the accounts say why a part of the material is not there.
_STAGES: Final[Mapping[str, Tables]] = {
    "tracked": ("tracks", "watching"),
    "chosen": ("tracks", "watching"),
    "a_cards": ("cards", "crops", "tracks", "watching"),
    "b_cards": ("cards", "crops", "tracks", "watching"),
    "crops": ("crops", "tracks", "watching"),
    "shots": ("watching",),
    "scene_cards": ("scenes", "scene-pictures", "watching"),
    "false_scene_cards": ("false-scenes",),
    "events": ("events",),
}

SHEETS: Final = "sheets"
"""The folder that the lines take sheets from, beside the configuration."""
_CARDS = ("[cards]", f'file = "{SHEETS}/{{video_id}}/cards.csv"', "filled in by people; or model")
_SCENES = (
    (
        "[scenes]",
        'model = "writer"',
        f"or people: scene_cards = '{SHEETS}/{{video_id}}/scenes.csv' in [[sources]]",
    ),
    ("[models]", 'writer = "openai:gpt-4o"', "any model that sees pictures"),
)
# Table, line, and what it is for, by what is missing.
_LINES: Final[Mapping[str, tuple[tuple[str, str, str], ...]]] = {
    "[[logs]]": (
        ("[[logs]]", 'format = "plain"', "or epic, hd-epic"),
        ("[[logs]]", 'path = "log.csv"', "video_id,start,end,narration,verb,noun"),
    ),
    "[tracking]": (
        ("[tracking]", 'detector = "hog"', "a last resort; better rfdetr:FILE, owlv2:FILE or boxes:FILE"),
    ),
    COUNTED: (
        (
            "[people]",
            'folder = "people"',
            "with counts.csv; or tracks in [[sources]]; or [tasks.rlpc.options] count = 'paper'",
        ),
    ),
    "[cards]": (_CARDS,),
    CARD_WRITER: (_CARDS,),
    "[shots]": (("[shots]", 'detector = "content"', "or transnetv2"),),
    SCENES: _SCENES,
    SCENE_WRITER: _SCENES,
    TASK_WRITER: (("[models]", f'{ASKED} = "openai:gpt-4o?temperature=0"', "who writes questions"),),
}
_ORDER: Final = ("[[logs]]", "[tracking]", "[shots]", "[cards]", "[scenes]", "[models]", "[people]")


def tables_for(part: str, source: Source, config: HerbenchConfig) -> Tables:
    """What must be added so that a source can have a part of the material; nothing if it can.

    >>> from vidence.make.herbench.config import HerbenchConfig, SourceRule
    >>> from vidence.make.pipeline.material import VideoSource
    >>> from pathlib import Path
    >>> rule, size = SourceRule(path="a.mp4"), {"n_frames": 9, "fps": 3.0, "width_px": 8, "height_px": 8}
    >>> video = VideoSource(video_id="a", path="a.mp4", duration_s=3.0, **size)
    >>> source = Source(video=video, file=Path("a.mp4"), rule=rule)
    >>> tables_for("a_cards", source, HerbenchConfig(name="set", sources=(rule,)))
    ('[tracking]', '[cards]')
    """
    if part == "events":
        if source.events:
            return ()
        return ("events of it in a log of [[logs]]",) if config.logs else ("[[logs]]",)
    if source.file is None:
        return (NO_FILE,)
    rule, values, entries = source.rule, source.laid_over, []
    tracking = config.tracking if config.tracking and (config.tracking.detector or rule.detections) else None
    if part in NEED_TRACKS and not (tracking or rule.tracks):
        entries.append("[tracking]")
    if (
        part in ("a_cards", "b_cards", "crops")
        and config.cards is None
        and not (rule.cards or "cards" in values)
    ):
        entries.append("[cards]")
    step = config.cards
    if (
        part in ("a_cards", "b_cards")
        and step
        and not (step.model or step.file or rule.cards or "cards" in values)
    ):
        entries.append(CARD_WRITER)
    if part in ("shots", "scene_cards") and config.shots is None:
        entries.append("[shots]")
    is_given = rule.scene_cards or "scene_cards" in values
    if part == "scene_cards" and not is_given and (config.scenes is None or not config.scenes.model):
        entries.append(SCENES if config.scenes is None else SCENE_WRITER)
    return tuple(entries)


def lacks(task: Task, source: Source, config: HerbenchConfig) -> Tables:
    """What must be added so that a task can ask about a source; nothing if it can."""
    tables = [table for part in task.needs for table in tables_for(part, source, config)]
    if task.asks and ASKED not in config.models:
        tables.append(TASK_WRITER)
    if source.file is not None and wants_people(task, source) and config.people is None:
        tables.append(COUNTED)
    return tuple(dict.fromkeys(tables))


def eyes_for(task: Task, source: Source, config: HerbenchConfig) -> Tables:
    """Who sees what a task asks about in a source, by name: a log, tracks, detectors, a tracker, counts."""
    tracking, shots, needs, eyes = config.tracking, config.shots, task.needs, []
    if "events" in needs and source.events:
        eyes.append("log")
    if "tracked" in needs and source.rule.tracks:
        eyes.append("given tracks")
    elif "tracked" in needs and tracking is not None:
        specs = ("boxes" if source.rule.detections else tracking.detector, tracking.tracker)
        eyes += [parse_spec(spec).name for spec in specs if spec]
    if "shots" in needs and shots is not None:
        eyes.append(parse_spec(shots.detector).name)
    if wants_people(task, source) and config.people is not None:
        eyes.append("counts")
    return tuple(eyes)


def wants_people(task: Task, source: Source) -> bool:
    """Whether a task wants people to answer for the tracks of a source, which a detector is to find."""
    return task.wants_people and not source.rule.tracks


def lacked_by_all(task: Task, sources: Sequence[Source], config: HerbenchConfig) -> Tables:
    """What must be added so that a task can ask about anything: that of the source which lacks least."""
    entries = [lacks(task, source, config) for source in sources]
    return min(entries, key=len, default=())


def additions(lacking: Mapping[str, Tables]) -> tuple[str, ...]:
    """What to add for which tasks, in sentences, the addition that serves most tasks first.

    >>> additions({"RLPC": ("[tracking]",), "AC": ("[[logs]]",), "FAM": ("[[logs]]",)})
    ('Add [[logs]] for AC and FAM (2 tasks).', 'Add [tracking] for RLPC (1 task).')
    """
    by_tables = by_key((tables, task) for task, tables in lacking.items() if tables)
    order = sorted(by_tables.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(
        f"Add {listed(tables)} for {listed(tasks)} ({len(tasks)} task{'s' * (len(tasks) > 1)})."
        for tables, tasks in order
    )


def listed(words: Iterable[str]) -> str:
    """Words as they are listed in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def named(words: Sequence[str], *, most: int = _MOST_NAMED) -> str:
    """Some words, and how many more there are.

    >>> named(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return listed([*words[:most], f"{len(words) - most:,} more"] if len(words) > most else words)


@cache
def deciding() -> Mapping[str, str]:
    """The setting that decides about a reason for which something was dropped, by reason."""
    return packaged("vidence.make.herbench", "decided_by.toml", dict[str, str])


def decides(reason: str, task: str) -> str:
    """The setting that decides about a reason, for a task by its short name; empty if none does.

    >>> decides("over-total", "AC")
    '[tasks.ac] total'
    """
    return deciding().get(reason, "").replace("NAME", task.lower())


def why_none(task: Task, materials: Sequence[Material], dropped: Sequence[Dropped]) -> str:
    """Why a task that lacks nothing gave no question: the decisive reason, and what decides it.

    It is the most frequent one of the last stage that a draft of the task came to.

    Where some videos have all that the task needs, theirs count: that others, such as logs without a film,
    lack it decides nothing. Of a part that no video has the accounts of the steps that make it count.
    """
    mine = [entry for entry in dropped if _is_of(entry, task.code)]
    own = [entry.reason for entry in mine]
    lacking = {_lack(part) for part in task.needs}
    late = [entry.reason for entry in mine if entry.stage == mine[-1].stage not in ("pairs", "drafts")]
    reasons = Counter(late or [reason for reason in own if reason not in lacking] or own)
    absent = [part for part in task.needs if not any(getattr(material, part) for material in materials)]
    n_full = sum(all(getattr(material, part) for part in task.needs) for material in materials)
    absent += [part for part in _STAGES if part not in task.needs and 0 < n_full == own.count(_lack(part))]
    about, lack = f"{task.code}: no question", ""
    if absent:
        lack = _lack(absent[0])
        about = f"{task.code}: {lack.replace('-', ' ', 1)}"
        why = Counter(entry.reason for entry in dropped if entry.stage in _STAGES.get(absent[0], ()))
        reasons = why or Counter(reason for reason in own if reason == lack and lack in deciding())
    if not reasons:
        return f"{about}; nothing was found that it could ask about."
    reason, n = reasons.most_common(1)[0]
    setting, colon, advice = (decides(reason, task.code) or decides(lack, task.code)).partition(": ")
    return f"{about}; most often {reason} ({n:,} of {reasons.total():,})" + (
        f", which {setting} decides{colon}{advice}." if setting else "; dropped.jsonl has every case."
    )


def _lack(part: str) -> str:
    """The reason for which a task gives no question about a video without a part of the material."""
    return f"no-{part.replace('_', '-')}"


def _is_of(gone: Dropped, code: str) -> bool:
    """Whether something that was dropped is of a task; pairs that only sum up its drafts are not."""
    if gone.stage == "pairs":
        return gone.what.endswith(f": {code}") and gone.reason != "no-draft"
    return gone.what.startswith((f"{code}: ", f"{code}-"))


def lines_that_add(missing: Iterable[Tables], config: HerbenchConfig, *, path: Path) -> tuple[str, ...]:
    """What to write into a configuration so that nothing is missing; nothing if no line helps.

    Lines for a table that is there already stand behind a comment that says so: TOML has each table once.

    Args:
        missing: what tasks lack, as `hints.lacks` says it.
        config: the configuration.
        path: its file, for the command that writes sheets.
    """
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    for word in dict.fromkeys(name for tables in missing for name in tables):
        for table, line, use in _LINES.get(word, ()):
            if not (table == "[models]" and line.partition(" ")[0] in config.models):
                wanted[table][line] = use
    if not wanted:
        return ()
    has = {table for table in _ORDER if getattr(config, table.strip("[]"))}
    written = [text for table in _ORDER if table not in has for text in _table(table, wanted[table])]
    for table in sorted(has & {name for name, lines in wanted.items() if lines}, key=_ORDER.index):
        written += [f"# into the {table} that is there:", *_table("", wanted[table])]
    message = "\n".join(("Lines that add all this, for the end of the file:", *written))
    if not any(SHEETS in line for lines in wanted.values() for line in lines):
        return (message,)
    sheets = path.parent / SHEETS
    return (
        f"{message}\nWhat lies in {sheets} is written by `vidence make herbench {quoted(path)} --sheets "
        f"{quoted(sheets)}` and "
        "filled in by people; this command then says what is left to do.",
    )


def _table(heading: str, lines: Mapping[str, str]) -> list[str]:
    written = [f"{line:44}# {use}" for line, use in lines.items()]
    return [*([heading] if heading else []), *written] if written else []
