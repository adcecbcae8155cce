"""The lines of a configuration that add what hints say is missing, to be pasted at its end."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from vidence.make.herbench.config import HerbenchConfig
from vidence.make.herbench.hints import (
    ASKED,
    CARD_WRITER,
    COUNTED,
    SCENE_WRITER,
    SCENES,
    TASK_WRITER,
    Tables,
)

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
_LINES: Final[Mapping[str, tuple[tuple[str, str, str], ...]]] = MappingProxyType(
    {
        "[[logs]]": (
            ("[[logs]]", 'format = "plain"', "or epic, hd-epic"),
            ("[[logs]]", 'path = "log.csv"', "video_id,start,end,narration,verb,noun"),
        ),
        "[tracking]": (
            ("[tracking]", 'detector = "hog"', "a last resort; better rfdetr:FILE or boxes:FILE"),
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
)
_ORDER: Final = ("[[logs]]", "[tracking]", "[shots]", "[cards]", "[scenes]", "[models]", "[people]")


def lines_that_add(missing: Iterable[Tables], config: HerbenchConfig, *, path: Path) -> tuple[str, ...]:
    """What to write into a configuration so that nothing is missing; nothing where no line helps.

    Lines for a table that is there already stand behind a comment that says so: TOML has each table once.

    Args:
        missing: what tasks lack, as `hints.lacks` says it.
        config: the configuration.
        path: its file, for the command that writes sheets.
    """
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    for one in dict.fromkeys(name for tables in missing for name in tables):
        for table, line, use in _LINES.get(one, ()):
            if not (table == "[models]" and line.partition(" ")[0] in config.models):
                wanted[table][line] = use
    if not wanted:
        return ()
    has = {table for table in _ORDER if getattr(config, table.strip("[]"))}
    written = [text for table in _ORDER if table not in has for text in _table(table, wanted[table])]
    for table in sorted(has & {name for name, lines in wanted.items() if lines}, key=_ORDER.index):
        written += [f"# into the {table} that is there:", *_table("", wanted[table])]
    said = "\n".join(("Lines that add all this, for the end of the file:", *written))
    if not any(SHEETS in line for lines in wanted.values() for line in lines):
        return (said,)
    sheets = path.parent / SHEETS
    return (
        f"{said}\nWhat lies in {sheets} is written by `vidence make herbench {path} --sheets {sheets}` and "
        "filled in by people; this command then says what is left to do.",
    )


def _table(heading: str, lines: Mapping[str, str]) -> list[str]:
    written = [f"{line:44}# {use}" for line, use in lines.items()]
    return [*([heading] if heading else []), *written] if written else []
