"""Draw a study: items of a dataset or replies of runs, with practice and catch trials set apart."""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec

from vidence.ask.benchmarks.question_files import said_answer, seen_from
from vidence.ask.fetching.address import is_address as is_on_hub
from vidence.catalog import create, is_known, names
from vidence.contracts import Loaded
from vidence.engine.environment import Environment
from vidence.engine.plan import Plan, PlanOverrides, read_plan
from vidence.engine.prepare import (
    NOBODY,
    changed_plan,
    choose_items,
    load_questions,
    make_plan,
    media_root_of,
)
from vidence.engine.samples import DRAWN_FILE, no_such_tag, read_draw, strata
from vidence.errors import DataError, MissingMediaError, UsageError
from vidence.explain.errors.packet import KEY_FILE, PACKET_FILE, rows_as_jsonl
from vidence.media.address import Address, is_address
from vidence.media.files import located
from vidence.media.whole import own_folder, write_file
from vidence.records import Item, Record
from vidence.report.checked import LABELS_FOLDER
from vidence.study.dots import DOTS_FOLDER, light_sources, shows_dots, write_dots
from vidence.study.folder import ANSWER_FILES
from vidence.study.forms import options_of
from vidence.study.problems import catch_field, misfits, problems
from vidence.study.replies import (
    DrawnReplies,
    Stimulus,
    draw_replies,
    reply_trials,
    shows_replies,
    write_replies,
)
from vidence.study.study import STUDY_MARK, Draw, Study, StudyFile
from vidence.study.videos import write_videos
from vidence.tables.table import several
from vidence.text import quoted

ITEMS_FILE: Final = "drawn.jsonl"
FRAMES_FILE: Final = "frames.json"
_WRITTEN: Final = frozenset(
    (DRAWN_FILE, ITEMS_FILE, FRAMES_FILE, PACKET_FILE, KEY_FILE, DOTS_FOLDER, LABELS_FOLDER, *ANSWER_FILES)
)
"""What a study writes beside its study.toml, where the user's own files lie, too."""
_LOOKS: Final = "scripted:"
"""A model that looks at media, so that those which are missing are found."""
_CATCH: Final = ("amber", "indigo", "scarlet", "emerald")
"""The choices of catch trials that no file has."""
ThingT = TypeVar("ThingT", bound=Hashable)


class Drawn(Record, omit_defaults=True):
    """What was drawn for a study, by ids.

    `study_sha256` is that of the study.toml by which it was drawn. `asked` are in the order of the set; a
    phase whose trials show something else, such as pairs, has its own in `by_phase`. `catch` has the right
    answer to each catch trial, `n_choices` how many choices an item has, where it has any.
    """

    format: Literal["vidence-drawn/1"] = "vidence-drawn/1"
    study_sha256: str
    benchmark: str
    asked: tuple[Stimulus, ...]
    by_phase: dict[str, tuple[Stimulus, ...]] = msgspec.field(default_factory=dict)
    practice: tuple[Stimulus, ...] = ()
    catch: dict[str, str] = msgspec.field(default_factory=dict)
    n_choices: dict[str, int] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def shown_in(self, phase: str) -> tuple[Stimulus, ...]:
        """Return what the trials of a phase show."""
        return self.by_phase.get(phase, self.asked)


@dataclass(frozen=True, kw_only=True)
class DrawnStudy:
    """A drawn study with its items; media paths are relative to the study folder."""

    drawn: Drawn
    items: tuple[Item, ...]
    replies: DrawnReplies | None = None


# --------------------------------------------------------------------------- the set


def study_plan(file: StudyFile, *, model: str = NOBODY, cache_root: Path | None = None) -> Plan:
    """Return the plan with which `vidence run` would run a model on the whole dataset of a study.

    It is that of the benchmark's own protocol. Without `Study.items`, the questions are those of the first
    run.

    Raises:
        UsageError: the study names neither, or something that does not exist.
        DataError: a benchmark that was not fetched; the message has the command that does.
    """
    study = file.study
    overrides: PlanOverrides = {
        "split": study.split or None,
        "media": _place(file.folder, study.media) or None,
        "where": study.where or None,
        "allow_missing": study.allow_missing or None,
    }
    if study.items:
        if study.protocol:
            overrides["protocol"] = study.protocol
        is_benchmark = is_known("benchmark", study.items)
        data = _place(file.folder, study.data if is_benchmark else study.items)
        if not is_benchmark and not Path(data).exists():
            raise UsageError(
                f"items of {file.path} is {study.items!r}, and there is no file {data}; give a file of items "
                f"or a benchmark: {', '.join(names('benchmark'))}"
            )
        name = study.items if is_benchmark else "table"
        path = Path(data) if data else None
        return make_plan(name, data=path, model=model, overrides=overrides, cache=cache_root)
    if not study.runs:
        raise UsageError(
            f"{file.path} names no questions; set items to a benchmark or a file of items, or runs to run "
            "folders"
        )
    plan = read_plan(file.folder / study.runs[0])[0]
    all_of_it = {"limit": None, "sample": None, "sample_by": None, "recorded_only": False}
    whole = msgspec.structs.replace(plan, **all_of_it, repeats=1, shuffle_choices=False, name="")
    return changed_plan(whole, model=model, overrides=overrides)


def _place(folder: Path, text: str) -> str:
    """Resolve a path of study.toml against its folder; URLs stay as they are."""
    return text if not text or is_address(text) or is_on_hub(text) else str(folder.resolve() / text)


@dataclass(frozen=True, kw_only=True)
class _Set:
    """Questions with the plan by which they are asked."""

    plan: Plan
    loaded: Loaded

    def usable(self) -> Sequence[Item]:
        """Return the questions that can be drawn."""
        model = create("model", _LOOKS if self.plan.allow_missing else NOBODY)
        return choose_items(self.loaded, self.plan, model=model)[0]

    def check_media(self, items: Sequence[Item]) -> None:
        """Check that all media of some questions exist.

        Raises:
            MissingMediaError: some are not; the message lists them.
        """
        some = replace(self.loaded, items=tuple(items))
        try:
            if items:
                choose_items(some, self.plan, model=create("model", _LOOKS))
        except MissingMediaError as error:
            words = str(error).replace("--allow-missing", "allow_missing = true in study.toml")
            raise MissingMediaError(words, error.missing) from error

    def seen_from(self, folder: Path, items: Iterable[Item]) -> list[Item]:
        """Rewrite media paths of items relative to a folder."""
        root = media_root_of(self.plan, self.loaded)
        if not isinstance(root, Address):
            return [seen_from(folder, item, root) for item in items]
        return [
            msgspec.structs.replace(
                item, media=tuple(msgspec.structs.replace(m, path=str(located(root, m))) for m in item.media)
            )
            for item in items
        ]


def _load(plan: Plan) -> _Set:
    return _Set(plan=plan, loaded=load_questions(plan))


# --------------------------------------------------------------------------- drawing


def draw(file: StudyFile, *, environment: Environment) -> DrawnStudy:
    """Draw a study: items or replies, practice items, catch trials.

    It depends on study.toml, the set and the runs alone; a question that is added to the set moves no other
    past another.

    Raises:
        UsageError: the study cannot be put to people as it is; the message has all that is wrong.
        DataError: questions or runs cannot be read; `MissingMediaError` lists media that do not exist.
    """
    if texts := problems(file):
        raise UsageError(_listed(file, texts))
    study = file.study
    main = _load(study_plan(file, cache_root=environment.cache_root))
    known = {item.item_id: item for item in main.usable()}
    pool = [Stimulus(item_id=i) for i in ranked(known, f"items/{study.draw.seed}")]
    n_practice = 0 if study.practice.items else study.practice.n
    replies, by_phase = None, dict[str, tuple[Stimulus, ...]]()
    if shows_replies(study):
        replies = draw_replies(file, among=known, cache_root=environment.cache_root)
        by_phase = {phase.name: reply_trials(study, phase, replies.packet) for phase in study.phases}
        fields = dict.fromkeys(reply.item_id for reply in replies.packet.key.drawn if reply.row)
        pool = [Stimulus(item_id=i) for i in fields]
    wanted = Draw() if replies is not None else study.draw
    asked, practice = drawn_from(pool, wanted, known, n_practice=n_practice)
    places = {item_id: place for place, item_id in enumerate(known)}
    asked = sorted(asked, key=lambda stimulus: places[stimulus.item_id])
    chosen = {stimulus.item_id: known[stimulus.item_id] for stimulus in (*asked, *practice)}
    main.check_media(list(chosen.values()) if shows_media(study) else [])
    items = main.seen_from(file.folder, chosen.values())
    extra = _of_file(file, study.practice.items, study.practice.n, environment=environment)
    practice += [Stimulus(item_id=item.item_id) for item in extra]
    caught = _catch_items(file, environment=environment)
    items += [*extra, *caught]
    if texts := (*_twice(items), *misfits(file, items, [stimulus.item_id for stimulus in asked])):
        raise UsageError(_listed(file, texts))
    if shows_dots(study):
        light_sources(file.folder, items)
    drawn = Drawn(
        study_sha256=file.sha256,
        benchmark=main.plan.benchmark,
        asked=tuple(asked),
        by_phase=by_phase,
        practice=tuple(practice),
        catch={item.item_id: item.answer for item in caught},
        n_choices={item.item_id: len(item.choices) for item in items if item.answer_kind == "choice"},
        notes=main.loaded.notes,
    )
    return DrawnStudy(drawn=drawn, items=tuple(items), replies=replies)


def shows_media(study: Study) -> bool:
    """Whether a phase shows anything of the media."""
    return any(phase.condition != "none" for phase in study.phases)


def _listed(file: StudyFile, texts: Sequence[str]) -> str:
    return f"{file.path} cannot be shown to people as it is:" + "".join(f"\n  {name}" for name in texts)


def drawn_from(
    pool: Sequence[Stimulus], wanted: Draw, items: Mapping[str, Item], *, n_practice: int = 0
) -> tuple[list[Stimulus], list[Stimulus]]:
    """Return the items to ask and those set aside for practice.

    Args:
        pool: what can be drawn, in the order in which it is.
        wanted: how many, and of which tag.
        items: the items of the pool by id.
        n_practice: how many are set aside.

    Raises:
        UsageError: there are too few, or the number cannot be the same for each value of the tag.
    """
    own, by = [items[stimulus.item_id] for stimulus in pool], wanted.by
    groups = strata(own, by) if by else {"": list(range(len(pool)))}
    if not groups:
        raise no_such_tag(by, own)
    least = min(map(len, groups.values()))
    n = wanted.n or (len(groups) * least if by else len(pool) - n_practice)
    if n < 1 or n + n_practice > len(pool):
        apart = f" and {several(n_practice, 'trial')} of practice set aside" if n_practice else ""
        raise UsageError(
            f"{max(n, 1):,} are to be drawn{apart}, but there are {len(pool):,}; set n of [draw] to "
            f"{max(0, len(pool) - n_practice):,} at most, draw of a larger set, or name a file of items in "
            "[practice]"
        )
    each, rest = divmod(n, len(groups))
    if rest or each > least:
        sizes = ", ".join(f"{value} ({len(places)})" for value, places in sorted(groups.items()))
        raise UsageError(
            f"{n} are to be drawn, the same number of each of the {len(groups)} values of {by!r}: {sizes}; "
            f"set n of [draw] to a multiple of {len(groups)}, and to {len(groups) * least} at most"
        )
    chosen = {place for places in groups.values() for place in places[:each]}
    left = [stimulus for place, stimulus in enumerate(pool) if place not in chosen]
    return [pool[place] for place in sorted(chosen)], left[:n_practice]


def ranked(things: Iterable[ThingT], salt: str, *, name: Callable[[ThingT], str] = str) -> list[ThingT]:
    """Sort by a salted hash, so that adding an element keeps the order of the others."""
    return sorted(things, key=lambda entry: hashlib.sha256(f"study/{salt}/{name(entry)}".encode()).digest())


# --------------------------------------------------------------------------- practice and catch trials


def _of_file(file: StudyFile, name: str, n: int, *, environment: Environment) -> list[Item]:
    """Items of a file of practice or catch trials: the first `n`, or all where that is 0."""
    if not name:
        return []
    data = file.folder.resolve() / name
    if not data.is_file():
        raise UsageError(f"{file.path}: there is no file {data}; give a file of items beside study.toml")
    own = _load(make_plan("table", data=data, model=NOBODY, overrides={}, cache=environment.cache_root))
    items = own.usable()
    if len(items) < n:
        raise UsageError(f"{data} has {several(len(items), 'item')}, {n} are wanted; add some, or want fewer")
    items = items[: n or None]
    own.check_media(items if shows_media(file.study) else [])
    return own.seen_from(file.folder, items)


def _catch_items(file: StudyFile, *, environment: Environment) -> list[Item]:
    """Return the items of catch trials: those of a file, or generated ones that ask for an option."""
    study = file.study
    if study.catch.items:
        items = _of_file(file, study.catch.items, 0, environment=environment)
        if len(items) < study.catch.n:
            raise UsageError(
                f"{study.catch.items} has {several(len(items), 'item')}, {study.catch.n} catch trials are "
                "wanted in each phase; add some, or want fewer"
            )
        return items
    field = catch_field(study)
    if not study.catch.n or field is None:
        return []
    catch_items = []
    for number in range(study.catch.n * len(study.phases)):
        item_id = f"catch-{number + 1}"
        expected = ranked(options_of(field) or _CATCH, f"{item_id}/{study.draw.seed}")[0]
        is_choice = field.kind == "answer"
        catch_items.append(
            Item(
                item_id=item_id,
                question=f"This trial checks that you read the questions. Please give the answer {expected}.",
                choices=_CATCH if is_choice else (),
                answer="ABCD"[_CATCH.index(expected)] if is_choice else expected,
                answer_kind="choice" if is_choice else "text",
            )
        )
    return catch_items


def _twice(items: Sequence[Item]) -> list[str]:
    twice = sorted(item_id for item_id, n in Counter(item.item_id for item in items).items() if n > 1)
    return [
        f"two items have the id {name!r}; change it in the file of practice or catch trials"
        for name in twice[:5]
    ]


# --------------------------------------------------------------------------- files


def write_items(file: StudyFile, study: DrawnStudy) -> Path:
    """Write `ITEMS_FILE` and the replies, videos and point lights of trials, each atomically.

    Raises:
        UsageError: another draw is there, to which answers may belong; or files that are not ours.
        StoreError: a file cannot be written.
    """
    path = file.folder / DRAWN_FILE
    own_folder(file.folder, STUDY_MARK, among=_WRITTEN)
    if path.exists() and read_drawn(file.folder) != study.drawn:
        raise UsageError(
            f"{path} is another draw of this study, and answers may belong to it; copy study.toml into a new "
            "folder, or remove the file if there are no answers yet"
        )
    if study.replies is not None:
        write_replies(file.folder, study.replies)
    items = (msgspec.structs.replace(item, answer=said_answer(item)) for item in study.items)
    write_file(file.folder / ITEMS_FILE, rows_as_jsonl(tuple(items)))
    write_videos(file.folder, file.study, study.items)
    if shows_dots(file.study):
        write_dots(file.folder, study.items)
    return file.folder / ITEMS_FILE


def write_drawn(file: StudyFile, study: DrawnStudy) -> tuple[Path, ...]:
    """Write the draw, with `DRAWN_FILE` last, which marks it complete; errors as `write_items`."""
    items, path = write_items(file, study), file.folder / DRAWN_FILE
    write_file(path, msgspec.json.format(msgspec.json.encode(study.drawn)) + b"\n")
    return path, items


def read_drawn(folder: Path) -> Drawn:
    """Read the draw of the study in a folder.

    Raises:
        DataError: nothing was, or the file cannot be read.
    """
    return read_draw(folder, Drawn)


def read_items(folder: Path) -> dict[str, Item]:
    """Read a study's drawn items by id, including practice and catch trials.

    Raises:
        DataError: nothing was drawn, or the file cannot be read.
    """
    path = folder / ITEMS_FILE
    if not path.exists():
        raise DataError(
            f"{folder} has no {ITEMS_FILE}: nothing is drawn yet; run vidence study draw {quoted(folder)}"
        )
    plan = make_plan("table", data=path, model=NOBODY, overrides={"strict": True})
    return {item.item_id: item for item in load_questions(plan).items}
