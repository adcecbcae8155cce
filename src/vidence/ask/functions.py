"""Python functions as plug-ins: found in a file, or given by a program, and what tells one from another.

The plug-in ``python`` of each kind makes of a function what its contract wants. Its argument is
``FILE.py:NAME``, or the name of something that this process was given (`give`). The replies of a function are
remembered under a digest of its source (Note [what a function is]).
"""

import difflib
import functools
import hashlib
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta

from vidence.catalog import FUNCTION, CodePath
from vidence.errors import UnknownNameError, UsageError, cause
from vidence.records import Record

# Note [what a function is]
# -------------------------
# A reply may be taken out of the memory only where the function would give it again. Of a plain function the
# source says what it does, but for what it reads from outside (globals, defaults that are objects, other
# functions); the documentation says so. Of a file all bytes count. A lambda, a function inside another one, a
# bound method and an object with __call__ hold values that no source shows: each gets a digest by chance, so
# that nothing is remembered beyond this process, unless the user names it, and so vouches for it.


class FunctionSettings(Record):
    """The options of every plug-in ``python``."""

    positional: ClassVar[str] = "function"

    function: Annotated[CodePath, Meta(description="FILE.py:NAME of the function")]


@dataclass(frozen=True, kw_only=True)
class VouchedName:
    """A thing with a name that its user vouches for: the same name stands for the same replies."""

    name: str
    thing: object


@dataclass(frozen=True, kw_only=True)
class FunctionSource:
    """What a name stands for; `name` is for people, `digest` tells it from others of that name."""

    name: str
    digest: str
    thing: object
    threads: int = 1
    """How many calls of a model may run concurrently, unless it is a coroutine function."""

    @property
    def identity(self) -> str:
        """What its replies are remembered under."""
        return f"{FUNCTION}:{self.name}@{self.digest}"

    @property
    def version(self) -> int:
        """The digest as a number, since another source may give another result."""
        return int(hashlib.sha256(self.digest.encode()).hexdigest()[:7], 16) + 1

    def function(self, kind: str, *, expected: str) -> Callable[..., object]:
        """The thing as a function.

        Raises:
            UsageError: it cannot be called, or it is a class; `expected` says what would do.
        """
        if isinstance(self.thing, type):
            raise UsageError(
                f"the {kind} is the class {self.thing.__name__}; expected {expected}, not its class"
            )
        if not callable(self.thing):
            raise UsageError(f"the {kind} is {repr(self.thing)[:80]}; expected {expected}")
        return self.thing


Offered: TypeAlias = Mapping[str, tuple[str, Callable[..., object]]]
"""What a function may take, by the names of its parameters: what each is, and how it is made."""

# What else people call what a function may take.
_MEANT = {
    "frames": "images", "pictures": "images", "video": "images", "text": "prompt", "question": "prompt",
    "options": "choices", "response": "text", "answer": "text", "times": "times_s", "timestamps": "times_s",
    "budget": "n_frames", "num_frames": "n_frames", "subject": "question",
}  # fmt: skip
_VOUCHED, _ONCE = "named", "once-"  # digests of what has a name of the user's, and of what has none
_given: dict[str, FunctionSource] = {}  # what this process was given, by the argument of its spec


def named(name: str, thing: object) -> VouchedName:
    """A function or an object under a name of the user's own.

    Args:
        name: letters, digits, ``.``, ``_`` and ``-``; it must change whenever the replies may.
        thing: a model, selector, parser or strategy: a function, or what the contract says.

    Raises:
        UsageError: other signs in the name, or nothing to name.
    """
    if not name or not all(c.isalnum() or c in "._-" for c in name):
        raise UsageError(
            f"the name {name!r} holds other characters; expected letters, digits, '.', '_' and '-'"
        )
    if isinstance(thing, str | VouchedName):
        raise UsageError(f"{thing!r} has a name; named() is for functions and objects")
    return VouchedName(name=name, thing=thing)


def give(thing: object, *, chance: str, threads: int = 1) -> str:
    """Make a thing known to this process; what a plan says of it, for example ``python:answer@0d5c...``.

    Args:
        thing: a function, an object, or one of them with a name. The same one given again keeps its name.
        chance: drawn by chance; it stands for what a source does not show.
        threads: how many calls of a model may run concurrently.
    """
    if isinstance(thing, VouchedName):
        result = FunctionSource(name=thing.name, digest=_VOUCHED, thing=thing.thing, threads=threads)
    else:
        same = [entry for entry in _given.values() if entry.thing is thing and entry.digest != _VOUCHED]
        digest = _digest(thing) or (same[0].digest if same else f"{_ONCE}{chance}")
        result = FunctionSource(name=_name_of(thing), digest=digest, thing=thing, threads=threads)
    _given[f"{result.name}@{result.digest}"] = result
    return result.identity


def _name_of(thing: object) -> str:
    name = getattr(thing, "__name__", "") or type(thing).__name__
    return "lambda" if name == "<lambda>" else name


def _digest(thing: object) -> str | None:
    """What tells a thing from others; None if nothing but the thing itself does."""
    identity = getattr(thing, "identity", None)  # a model says itself what its replies depend on
    if isinstance(identity, str) and identity and not isinstance(thing, type):
        return _hash(identity.encode())
    if not inspect.isfunction(thing) or thing.__name__ == "<lambda>" or thing.__closure__:
        return None
    try:
        return _hash(textwrap.dedent(inspect.getsource(thing)).encode())
    except (OSError, TypeError, SyntaxError):  # typed into a shell that keeps no source
        return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


# ------------------------------------------------------------------------------------ found by name


def find(kind: str, argument: str) -> FunctionSource:
    """What the argument of a spec ``python:ARGUMENT`` stands for.

    Raises:
        UsageError: there is no such file or function, the file cannot be loaded, or the thing was given in
            another process.
    """
    path, colon, name = argument.rpartition(":")
    if not colon and not argument.endswith(".py"):
        if argument in _given:
            return _given[argument]
        raise UsageError(
            f"the {kind} {FUNCTION}:{argument} is a Python function of the program that named it, and is not "
            "known here; call vidence.evaluate with it again, or keep it in a file and name FILE.py:NAME"
        )
    if not path.endswith(".py"):
        raise UsageError(
            f"{argument!r} names no function; expected FILE.py:NAME, for example models.py:answer"
        )
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({cause(error)}); expected FILE.py:NAME of a {kind}"
        ) from error
    module = _loaded(file.resolve(), _hash(content))
    if name not in vars(module):
        own = [key for key, value in vars(module).items() if _is_own(key, value, module)]
        raise UnknownNameError(f"function in {path}", name, own)
    return FunctionSource(name=f"{file.name}:{name}", digest=_hash(content), thing=vars(module)[name])


def _is_own(name: str, value: object, module: ModuleType) -> bool:
    is_here = getattr(value, "__module__", None) == module.__name__
    return not name.startswith("_") and callable(value) and is_here


@functools.cache
def _loaded(file: Path, digest: str) -> ModuleType:
    """The module of a file; loaded once for each content, its neighbours as a script would find them."""
    name = f"vidence_function_{file.stem}_{_hash(f'{file} {digest}'.encode())}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} is not a Python file; expected FILE.py:NAME")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UsageError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(file.parent))
    return module


# --------------------------------------------------------------------------------- called by keywords


@dataclass(frozen=True, kw_only=True)
class Call:
    """A function, and which of the things on offer it takes: those that its parameters name."""

    function: Callable[..., object]
    names: tuple[str, ...]
    owner: str
    offered: Offered

    @classmethod
    def of(
        cls, result: FunctionSource, kind: str, *, offered: Offered, returns: str, attributes: Sequence[str]
    ) -> "Call":
        """Look at the parameters of a function.

        Args:
            result: the function.
            kind: what it is to be.
            offered: what it may take.
            returns: what it must return, in words.
            attributes: what an object has that does without a function.

        Raises:
            UsageError: it is no function, or takes something else; the message says what is expected.
        """
        takes = "".join(f"\n  {name}: {what}" for name, (what, _) in offered.items())
        expected = f"a function that returns {returns}, with any of these parameters:{takes}\n"
        expected += f"or an object with {', '.join(attributes)} (see vidence.contracts)"
        function = result.function(kind, expected=expected)
        owner = f"the {kind} {result.name}()"
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError) as error:
            raise UsageError(f"{owner} does not say what it takes ({error}); expected {expected}") from error
        taken: list[str] = []
        for name, parameter in parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if name in offered and parameter.kind is not parameter.POSITIONAL_ONLY:
                taken.append(name)
            elif parameter.default is parameter.empty:
                raise UsageError(f"{owner} takes {name!r}.{_near(name, offered)} Expected {expected}")
        return cls(function=function, names=tuple(taken), owner=owner, offered=offered)

    @property
    def is_async(self) -> bool:
        """Whether it is a coroutine function, so that it may wait on the event loop."""
        called = getattr(self.function, "__call__", None)  # noqa: B004 - an object with an async __call__
        inner = getattr(self.function, "func", self.function)  # of functools.partial
        return any(map(inspect.iscoroutinefunction, (inner, called)))

    def __call__(self, *sources: object) -> object:
        """What the function returns; only what it takes is made, of `sources`."""
        return self.function(**{name: self.offered[name][1](*sources) for name in self.names})

    def wrong(self, returned: object, *, expected: str) -> str:
        """What to say of something else than what a function should return."""
        return f"{self.owner} returned {type(returned).__name__} {repr(returned)[:80]}; expected {expected}"


def has_all(thing: object, attributes: Iterable[str]) -> bool:
    """Whether an object has what its contract wants; a class has it, but is none."""
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in attributes)


def _near(name: str, offered: Iterable[str]) -> str:
    words = {**{word: meant for word, meant in _MEANT.items() if meant in offered}, **{n: n for n in offered}}
    near = difflib.get_close_matches(name, words, n=1)
    return f" Did you mean {words[near[0]]!r}?" if near else ""
