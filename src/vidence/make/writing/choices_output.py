"""Questions as drafts, items and rows of HumanPCR's format, and the calls that they came from."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.benchmarks.humanpcr import DIMENSIONS
from vidence.errors import StoreError, cause
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.output import ITEMS_FILE, item_of_draft, json_lines, link_folder
from vidence.make.writing.choices_config import Plan
from vidence.make.writing.choices_options import in_order
from vidence.make.writing.gathering import MEDIA_FOLDER, Pair, generator
from vidence.media.whole import write_into
from vidence.records import Item, Provenance, Record

CALLS_FILE: Final = "calls.jsonl"
_LEVEL_FILES: Final = {"perception": "human-p.jsonl", "comprehension": "human-c.jsonl"}
FOR_PEOPLE: Final = "for_people"


class Call(Record, omit_defaults=True):
    """The origin of a question: its record, the template or call, its writer and checker."""

    item_id: str
    record: str
    source_split: str
    way: str
    label: str
    template: str = ""
    is_seed: bool = True
    written_by: str = ""
    options_by: str = ""
    checked_by: str = ""
    judged_by: str = ""
    prompts: tuple[str, ...] = ()
    n_together: int = 1
    n_tries: int = 1


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question in progress: record, task, text, wrong choices, and origin.

    `for_people` says why a person should look at it in any case.
    """

    pair: Pair
    text: str
    call: Call
    given: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    for_people: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return its unique name."""
        return self.pair.key


def draft_of(question: Question, *, name: str, seed: int) -> Draft:
    """Return a question as a draft for the gates, with a drawn order of choices."""
    pair, record = question.pair, question.pair.record
    home = pair.order.home
    rng = generator(seed, "order", question.key)
    choices, right = in_order(record.label, question.wrong, rng=rng)
    tags = {
        "level": home.level,
        "dimension": home.dimension,
        "way": question.call.way,
        "source": record.source,
        **({"difficulty": home.task.difficulty} if home.task.difficulty else {}),
        **({FOR_PEOPLE: ", ".join(question.for_people)} if question.for_people else {}),
    }
    return Draft(
        draft_id=question.key,
        task=pair.order.title,
        structure=question.call.way,
        question=question.text,
        choices=choices,
        answer_index=right,
        evidence=(),
        truth=record.truth,
        tags=tags,
        facts={"annotated": record.caption} if record.caption else {},
        media=record.media,
        source_id=record.source_id,
        benchmark=name,
    )


def item_of(draft: Draft, *, licence: str, maker: str) -> Item:
    """Return a draft as an item under its own id."""
    provenance = Provenance(source=draft.tags["source"], licence=licence, maker=maker)
    return item_of_draft(draft, item_id=draft.draft_id, provenance=provenance)


def humanpcr_rows(items: Sequence[Item]) -> dict[str, list[dict[str, object]]]:
    """Return the rows of each file that `vidence run humanpcr` reads; other levels have none."""
    rows: dict[str, list[dict[str, object]]] = defaultdict(list)
    for item in items:
        level, dimension = item.tags["level"], item.tags["dimension"]
        if dimension not in DIMENSIONS.get(level, {}) or level not in _LEVEL_FILES:
            continue
        rows[_LEVEL_FILES[level]].append(
            {
                "id": item.item_id,
                "level": level,
                "dimension": dimension,
                "task": item.tags["task"],
                "media": [msgspec.to_builtins(medium) for medium in item.media],
                "question": item.question,
                "options": list(item.choices),
                "answer": item.answer,
                "source": item.tags["source"],
                "source_id": item.source_id,
            }
        )
    return dict(rows)


def write_set(items: Sequence[Item], calls: Mapping[str, Call], out: Path) -> tuple[Path, ...]:
    """Write items, calls and the files in HumanPCR's format; those that are no more are removed.

    Raises:
        StoreError: something cannot be written.
    """
    contents = {
        ITEMS_FILE: json_lines(items),
        CALLS_FILE: json_lines([calls[item.item_id] for item in items]),
        **{name: json_lines(rows) for name, rows in humanpcr_rows(items).items()},
    }
    paths = write_into(out, contents)
    for name in _LEVEL_FILES.values():
        if name not in contents:
            (out / name).unlink(missing_ok=True)
    return paths


def link_media(plan: Plan, used: Collection[str], *, root: Path, out: Path) -> None:
    """Link ``media/SOURCE`` to each source's media folder.

    Raises:
        UsageError: something else is there.
        StoreError: a link cannot be made.
    """
    for source in plan.config.records:
        if source.name not in used or not source.media:
            continue
        link, target = out / MEDIA_FOLDER / source.name, root / source.media
        try:
            link_folder(link, target)
        except OSError as error:
            raise StoreError(f"cannot link {link} to {target}: {cause(error)}") from error
