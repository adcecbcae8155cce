"""The words in which tasks ask models: ``task_*.txt``, which files of the user can replace."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Self

from vidence.errors import UsageError

# What each template can use, and what it means.
ASK_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "notes": "what is known of the person's behaviour, as a block",
        "topic": "what to ask about",
        "n_pictures": "how many pictures are shown, 0 for none",
    }
)
SYSTEM_VARIABLES: Mapping[str, str] = MappingProxyType({"n_pictures": ASK_VARIABLES["n_pictures"]})
REPAIR_VARIABLES: Mapping[str, str] = MappingProxyType(
    {"earlier": "the reply that cannot be used, as a block", "problem": "what is wrong with it"}
)
# What must stand in a template once, as it is: it is data of others, and marked as such.
_SHOWN = {"notes", "earlier"}


@dataclass(frozen=True, kw_only=True)
class TaskPrompts:
    """The templates of one task: ``ask``, ``system`` and ``repair``, each as a function that fills it.

    `label` says which question template it is, with the SHA-256 over all that are in effect.
    """

    label: str
    _fillers: Mapping[str, Callable[[Mapping[str, object]], str]]

    @classmethod
    def load(cls, task: str, *, folder: str = "") -> Self:
        """Read ``task_TASK.txt``, ``task_system.txt`` and ``task_repair.txt``.

        Args:
            task: the name of the task.
            folder: a folder with files that replace those; empty for none.

        Raises:
            UsageError: the folder has none of the files, or a template has an error or lacks its block.
        """
        from vidence.ask.prompting.parsing import parse_template

        names = {"ask": f"task_{task}.txt", "system": "task_system.txt", "repair": "task_repair.txt"}
        known = {"ask": ASK_VARIABLES, "system": SYSTEM_VARIABLES, "repair": REPAIR_VARIABLES}
        own = _own(Path(folder), tuple(names.values())) if folder else {}
        digest = hashlib.sha256()
        fillers = {}
        for part, name in names.items():
            text, place = own.get(name) or (_brought(name), name)
            digest.update(f"{part} {len(text.encode())}\n{text}".encode())
            fillers[part] = parse_template(text, place=place, variables=known[part])
            _check(fillers[part], known[part], place=place)
        origin = "own" if names["ask"] in own else "vidence"
        return cls(
            label=f"{origin}/{names['ask']} sha256:{digest.hexdigest()}", _fillers=MappingProxyType(fillers)
        )

    def ask(self, *, notes: str, topic: str, n_pictures: int) -> str:
        """The question to the model."""
        return self._fillers["ask"]({"notes": notes, "topic": topic, "n_pictures": n_pictures})

    def system(self, *, n_pictures: int) -> str:
        """What the model is told before."""
        return self._fillers["system"]({"n_pictures": n_pictures})

    def repair(self, *, earlier: str, problem: str) -> str:
        """What is said when a reply could not be used."""
        return self._fillers["repair"]({"earlier": earlier, "problem": problem})


def _brought(name: str) -> str:
    return (resources.files("vidence.make") / "templates" / name).read_text("utf-8")


def _own(folder: Path, names: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """The texts of a user's folder with their places, by name; other files are left alone."""
    found = {}
    for name in names:
        path = folder / name
        if path.is_file():
            try:
                found[name] = (path.read_text("utf-8"), str(path))
            except (OSError, UnicodeDecodeError) as error:
                raise UsageError(f"{path} cannot be read as UTF-8 text: {error}") from error
    if not found:
        raise UsageError(f"{folder} has none of {', '.join(names)}; a folder of prompts has one at least")
    return found


def _check(fill: Callable[[Mapping[str, object]], str], known: Mapping[str, str], *, place: str) -> None:
    """Fill a template once, and see that its block stands there."""
    probe: dict[str, object] = {name: f"<{name}>" for name in known}
    if "n_pictures" in known:
        probe["n_pictures"] = 1
    text = fill(probe)
    for name in _SHOWN & known.keys():
        if text.count(f"<{name}>") != 1:
            raise UsageError(
                f"{place} shows {{{{ {name} }}}} {text.count(f'<{name}>')} times; it must stand there once"
            )
