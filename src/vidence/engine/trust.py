"""What files from others may not decide alone: where keys are sent, which models are asked, which code runs.

Plans in run folders and configurations are data (docs/design/trust.md). What they name is compared with what
the user has allowed: on an earlier command line, with ``--trust``, or in the settings file.
"""

import hashlib
import ipaddress
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from vidence.ask.files import json_or_none
from vidence.ask.models.http import HttpSettings
from vidence.catalog import Spec, argument_field, names, settings_type
from vidence.engine.config_file import read_config
from vidence.engine.environment import Environment
from vidence.engine.plan import PLAN_FILE, Plan, read_plan
from vidence.engine.specs import code_file, fields_of, named_specs
from vidence.errors import TrustError, UsageError, cause
from vidence.media.address import Address, is_address, place
from vidence.records import Record

_log = logging.getLogger(__name__)
SAID_FILE: Final = "said.jsonl"
_NO: Final = frozenset({"", "0", "false"})
_PORTS: Final = {"https": 443, "http": 80}


class UserSettings(Record):
    """The user's settings file: what any plan or configuration may do without a flag."""

    hosts: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Servers that each key's environment variable may be sent to; https by default."""
    code: tuple[str, ...] = ()
    """Checkpoints whose own Python code may run."""
    media: tuple[str, ...] = ()
    """Buckets, hub data sets and servers that plans may read media from."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """A thing that needs the user's permission.

    `name` identifies it, `words` describe it in messages, `entry` is the settings entry that would allow it
    (empty: none).
    """

    name: str
    words: str
    entry: str = ""


# ------------------------------------------------------------------------------- what a file wants


def needs_of_plan(plan: Plan, *, folder: Path, environment: Environment) -> tuple[Need, ...]:
    """Return what a plan needs permission for, without duplicates."""
    specs = [("model", plan.model), *(("model", spec) for spec in plan.judge_models)]
    specs += [("selector", plan.selector), ("strategy", plan.strategy)]
    return (
        *dict.fromkeys(need for kind, spec in specs for need in needs_of_spec(kind, spec, base=plan.model)),
        *needs_of_parsers(plan),
        *(needs_of_memory(plan, folder=folder, environment=environment) if plan.memory else ()),
        *(needs_of_media(plan) if plan.media or plan.media_at else ()),
    )


def needs_of_parsers(plan: Plan) -> tuple[Need, ...]:
    """Return the code that a plan's parsers run; a parser can be a function in a file."""
    specs = (plan.parser, plan.text_parser)
    return tuple(dict.fromkeys(need for spec in specs for need in needs_of_spec("parser", spec)))


def needs_of_memory(plan: Plan, *, folder: Path, environment: Environment) -> tuple[Need, ...]:
    """Return the reply cache's file, if the plan puts it outside the run and cache folders."""
    if not plan.memory:
        return ()
    memory = Path(plan.memory).resolve()
    if any(memory.is_relative_to(own.resolve()) for own in (folder, environment.cache_root)):
        return ()
    return (Need(name=f"memory {memory}", words=f"to write remembered replies into {memory}"),)


def needs_of_media(plan: Plan) -> tuple[Need, ...]:
    """Return the buckets and servers of a plan's media, with their credentials' names."""
    places = [place(text) for text in (plan.media or "", *plan.media_at) if is_address(text)]
    origins = dict.fromkeys(entry.origin for entry in places if isinstance(entry, Address))
    return tuple(
        Need(
            name=f"media {origin}", words=f"to read media from {origin}", entry=f"media = [{_quoted(origin)}]"
        )
        for origin in origins
    )


def needs_of_spec(kind: str, spec_text: str, *, base: str = "") -> Iterator[Need]:
    """Yield what a spec, and the models it names, need permission for; `base` as for `named_specs`."""
    for inner, spec in named_specs(kind, spec_text, base=base):
        known = settings_type(inner, spec.name) if spec.name in names(inner) else None
        if known is None:
            continue
        if {"base_url", "api_key_env"} & set(known.__struct_fields__):
            yield from _server(spec, known)
        for field in fields_of(known, "is_code"):
            given = spec.argument if field == argument_field(known) else ""
            if file := code_file(given or spec.options.get(field, "")):
                yield Need(
                    name=f"code {spec.name} {file} {_digest(Path(file))}",
                    words=f"to run the Python code of the file {file}",
                    entry=f"code = [{_quoted(file)}]",
                )
        asked = spec.options.get("trust_remote_code", "").strip().lower()
        if asked not in _NO:
            yield _code(spec, "to run the Python code")
        if spec.options.get("engine", "").strip().replace(" ", "") not in {"", "{}"}:
            yield _code(spec, f"to start, with the arguments {spec.options['engine']}, the engine")


def _server(spec: Spec, known: type[Record]) -> Iterator[Need]:
    own_address, own_keys = "", tuple[str, ...]()
    if issubclass(known, HttpSettings):
        own_address, own_keys = known.own_address, known.own_keys
    address, given = spec.options.get("base_url", ""), spec.options.get("api_key_env", "")
    variable = given or next(iter(own_keys), "")
    is_own_key = not given or given in own_keys
    if is_own_key and (not address or _is_loopback(address)):
        return
    origin = origin_of(address or own_address)
    if is_own_key and origin == origin_of(own_address):
        return
    yield Need(
        name=f"key {variable} {origin}",
        words=f"to ask {origin}, with the key in {variable}",
        entry=f"[hosts] {variable} = [{_quoted(origin)}]",
    )


def _code(spec: Spec, words: str) -> Need:
    options = "&".join(f"{k}={spec.options[k]}" for k in ("revision", "engine") if k in spec.options)
    return Need(
        name=f"code {spec.name}:{spec.argument} {options} {_digest(Path(spec.argument))}",
        words=f"{words} of the checkpoint {spec.argument}",
        entry=f"code = [{_quoted(spec.argument)}]",
    )


def _digest(path: Path) -> str:
    """Return the hash of the code in a file or folder; empty without readable code."""
    try:
        files = sorted(path.glob("**/*.py")) if path.is_dir() else [path] if path.suffix == ".py" else []
        contents = [file.read_bytes() for file in files]
    except OSError:  # loading it says so
        return ""
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16] if files else ""


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address, https by default; the text itself if it is not an address.

    >>> origin_of("http://H.example:8000/v1"), origin_of("h.example"), origin_of("https://h.example:443/")
    ('http://h.example:8000', 'https://h.example', 'https://h.example')
    """
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        port = parts.port
    except ValueError:
        return address
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}" + ("" if port in {None, _PORTS.get(parts.scheme)} else f":{port}")


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# -------------------------------------------------------------------------- what the user has said


def taken_up(folder: Path, *, environment: Environment, is_trusted: bool) -> Plan:
    """Return the plan of a run folder that is to be resumed.

    Raises:
        StoreError: not a run folder.
        TrustError: it needs the user's permission.
    """
    plan, _ = read_plan(folder)
    needs = needs_of_plan(plan, folder=folder, environment=environment)
    check(needs, source=folder / PLAN_FILE, environment=environment, is_trusted=is_trusted)
    return plan


def repeated(
    plan: Plan, written: Plan, *, source: Path, folder: Path, environment: Environment, is_trusted: bool
) -> None:
    """Check that the user has allowed what a plan from a file needs.

    Settings from the command line are allowed.

    Args:
        plan: what will be asked, in `folder`.
        written: the plan in the file.
        source: the file.
        folder: the run folder.
        environment: as for `check`.
        is_trusted: as for `check`.

    Raises:
        TrustError: it needs the user's permission.
    """
    of_file = needs_of_plan(written, folder=folder, environment=environment)
    wanted = needs_of_plan(plan, folder=folder, environment=environment)
    from_file = [need for need in wanted if need in of_file]
    check(from_file, source=source, environment=environment, is_trusted=is_trusted)
    remember((need for need in wanted if need not in of_file), environment=environment)


def begun(plan: Plan, *, folder: Path, environment: Environment) -> None:
    """Record what the user named in a plan of their own, so that it can be resumed without a flag."""
    remember(needs_of_plan(plan, folder=folder, environment=environment), environment=environment)


def check(needs: Iterable[Need], *, source: Path, environment: Environment, is_trusted: bool) -> None:
    """Check that the user has allowed what a file needs; a permission given now is recorded.

    Args:
        needs: what it needs.
        source: the file.
        environment: holds the user's settings and earlier permissions.
        is_trusted: whether the user gives permission now.

    Raises:
        TrustError: a permission is missing; nothing was asked.
        UsageError: the settings file is invalid.
    """
    wanted = tuple(needs)
    if not wanted:
        return
    if is_trusted:
        remember(wanted, environment=environment)
        return
    settings, result = read_settings_file(environment.settings_file), _said(environment)
    missing = [need for need in wanted if need.name not in result and not _is_allowed(need, settings)]
    if not missing:
        return
    listed = "".join(f"\n  {need.words}" for need in missing)
    entries = "".join(f"\n  {need.entry}" for need in missing if need.entry)
    place = environment.settings_file
    settings_words = f", or allow it for all files in {place}:{entries}" if entries and place else ""
    raise TrustError(
        f"{source} needs your consent for:{listed}\n"
        "A plan or configuration that you did not write can send keys away and run code. To allow exactly "
        f"this, now and later, add --trust (in Python trust=True){settings_words}"
    )


def remember(needs: Iterable[Need], *, environment: Environment) -> None:
    """Record permissions in the user's folder, so that they need not be given again."""
    root = environment.state_root
    if root is None:
        return
    new = [need.name for need in needs if need.name not in _said(environment)]
    if not new:
        return
    lines = b"".join(msgspec.json.encode(name) + b"\n" for name in new)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(root / SAID_FILE, flags, 0o600), "ab", buffering=0) as file:
            file.write(lines)
    except OSError as error:
        _log.warning("%s cannot be written (%s): resuming this run will need --trust", root, error.strerror)


def _said(environment: Environment) -> frozenset[str]:
    if environment.state_root is None:
        return frozenset()
    try:
        lines = (environment.state_root / SAID_FILE).read_bytes().splitlines()
    except OSError:  # nothing was said yet
        return frozenset()
    # Of half a line, where the disk was full, nothing is read: it is asked for again.
    return frozenset(name for line in lines if (name := json_or_none(line, str)) is not None)


def _is_allowed(need: Need, settings: UserSettings) -> bool:
    what, _, rest = need.name.partition(" ")
    if what == "key":
        variable, _, origin = rest.partition(" ")
        return origin in map(origin_of, settings.hosts.get(variable, ()))
    if what == "media":
        return rest in {medium.rstrip("/") for medium in settings.media}
    return what == "code" and any(need.entry == f"code = [{_quoted(name)}]" for name in settings.code)


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def read_settings_file(path: Path | None) -> UserSettings:
    """Read the user's settings; defaults if there is no file.

    Raises:
        UsageError: the file cannot be read or is invalid.
    """
    if path is None:
        return UserSettings()
    try:
        path.stat()
    except FileNotFoundError:
        return UserSettings()
    except OSError as error:
        raise UsageError(f"the settings {path} cannot be read: {cause(error)}") from error
    return read_config(path, UserSettings)
