"""The configuration of ``vidence make choices``, resolved against its taxonomy."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from vidence.catalog import check_name
from vidence.engine.config_file import CountOrNone, read_config
from vidence.errors import UsageError
from vidence.make.gates.rules import GateRules
from vidence.make.writing.session import QuestionReview, WrittenConfig
from vidence.make.writing.taxonomy import OURS, Home, Taxonomy, TaxonomyTask, load_taxonomy
from vidence.records import Record

WRITER, OPTIONS, CHECKER, JUDGE = "writer", "options", "checker", "judge"
Way: TypeAlias = Literal["template", "model", "people"]


class SourceRules(Record, omit_defaults=True):
    """Annotations and their media. `format` is a spec of an annotation format, with its options.

    `media` is the folder that paths of media start from; without it no medium is looked at. `split` and
    `licence` hold for records that say none. `train` is refused unless `allow_train`.
    """

    name: str
    format: str
    path: str
    split: str
    licence: str = ""
    media: str = ""
    allow_train: bool = False


class TaskRules(Record, omit_defaults=True):
    """How to make one task's questions.

    `way`: filled ``template``s, a ``model`` that writes from caption and label, ``per_call`` records a call,
    or ``people``. `options`: near misses out of the label space (``labels``), or a ``model`` in a call of its
    own; those of people are theirs. `seeds` are templates, or the file that has them, `expand` how many
    more a model is asked for. `dimension`, `title`, `aspect` are needed where the taxonomy has not the task.
    `owns` are words of captions that questions may use, `names` how many things of its caption each may name,
    `confusable` pairs of labels that are taken for one another. Of each label `per_label` questions at most,
    `most` in all; 0: as many as there are.
    """

    records: str | tuple[str, ...]
    way: Way
    options: Literal["labels", "model", "people"] = "labels"
    n_choices: Annotated[int, Meta(ge=2, le=5)] = 5
    per_call: Annotated[int, Meta(ge=1, le=9)] = 3
    seeds: str | tuple[str, ...] = ()
    expand: CountOrNone = 0
    space: str = ""
    dimension: str = ""
    title: str = ""
    aspect: str = ""
    owns: tuple[str, ...] = ()
    names: CountOrNone = 0
    confusable: tuple[tuple[str, str], ...] = ()
    per_label: CountOrNone = 0
    most: CountOrNone = 0

    def __post_init__(self) -> None:
        if self.way == "template" and not self.seeds:
            raise UsageError("way is 'template' and there are no seeds; give templates, or the file of them")
        if (self.way == "people") != (self.options == "people"):
            raise UsageError(
                f"way is {self.way!r} and options {self.options!r}; people write both or neither"
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the names of the sources."""
        return (self.records,) if isinstance(self.records, str) else self.records


class ChoicesReview(QuestionReview, omit_defaults=True):
    """Like `QuestionReview`; undecided questions stay by default."""

    protocol: str = "humanpcr-pc"
    waiting: Literal["keep", "hold"] = "keep"


class ChoicesConfig(WrittenConfig, omit_defaults=True):
    """The configuration; paths start from its folder.

    `models` are asked by their roles: ``writer``, ``options``, ``checker`` (does the question point at the
    label?), ``judge`` (does a wrong choice say the same?). `templates` is a folder of prompts of your own,
    `sheet` the filled ``templates.csv``.
    """

    records: tuple[SourceRules, ...]
    tasks: Mapping[str, TaskRules]
    taxonomy: str = OURS
    gates: GateRules | None = None
    review: ChoicesReview | None = None
    templates: str = ""
    sheet: str = ""
    near: Annotated[float, Meta(gt=0, le=1)] = 0.8


@dataclass(frozen=True, kw_only=True)
class Order:
    """A task to make: its rules, and its place in the taxonomy."""

    name: str
    rules: TaskRules
    home: Home

    @property
    def aspect(self) -> str:
        """Return what the task asks about, in words."""
        return self.rules.aspect or self.home.task.aspect or self.title

    @property
    def title(self) -> str:
        """Return the task's name for people."""
        return self.home.task.title or self.name.replace("-", " ")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The configuration with its taxonomy and tasks, in order."""

    config: ChoicesConfig
    taxonomy: Taxonomy
    orders: tuple[Order, ...]


def read_plan(path: Path, *, only: tuple[str, ...] = ()) -> Plan:
    """Return the plan of a configuration.

    Raises:
        UsageError: it cannot be read, or names what is not there.
    """
    read = read_config(path, ChoicesConfig)
    _check_names(read, path)
    if read.gates is not None:
        read.gates.check_hold(read.tasks)
    taxonomy = load_taxonomy(read.taxonomy, path.parent)
    further = {
        name: (rules.dimension, TaxonomyTask(name=name, title=rules.title, aspect=rules.aspect))
        for name, rules in read.tasks.items()
        if name not in taxonomy.homes
    }
    if homeless := [name for name, (dimension, _) in further.items() if not dimension]:
        raise UsageError(
            f"{path}: the taxonomy has no task {homeless[0]!r}; give its dimension, or put it into a taxonomy"
        )
    taxonomy = taxonomy.with_tasks(further)
    if unknown := [name for name in only if name not in read.tasks]:
        raise UsageError(f"no task {unknown[0]!r} in the configuration; it has {', '.join(read.tasks)}")
    homes = taxonomy.homes
    orders = [
        Order(name=name, rules=rules, home=homes[name])
        for name, rules in read.tasks.items()
        if not only or name in only
    ]
    return Plan(config=read, taxonomy=taxonomy, orders=tuple(orders))


def _check_names(read: ChoicesConfig, path: Path) -> None:
    """Check that all referenced sources and models exist."""
    names = [source_rules.name for source_rules in read.records]
    if len(set(names)) < len(names):
        raise UsageError(f"{path}: two [[records]] have one name; expected each once: {', '.join(names)}")
    for record in read.records:
        check_name("annotation-format", record.format)
    for name, rules in read.tasks.items():
        for source in rules.sources:
            if source not in names:
                raise UsageError(f"{path}: tasks.{name} wants the records {source!r}; there are {names}")
        roles = [WRITER] if rules.way == "model" or rules.expand else []
        roles += [OPTIONS] if rules.options == "model" else []
        for role in roles:
            if role not in read.models:
                known = ", ".join(read.models) or "none"
                raise UsageError(f"{path}: tasks.{name} asks the model {role!r}; [models] has {known}")
