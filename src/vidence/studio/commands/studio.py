"""Make and review questions in the browser: alone, or as a team."""

import sys
import webbrowser
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from vidence.console.flags import PATH
from vidence.engine.environment import cache_root
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.studio.bodies import Application
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings

SECTION = "Make"

F = TypeVar("F", bound=Callable[..., object])
DATABASE_VARIABLE = "VIDENCE_STUDIO_DATABASE"
"""The address of a Postgres database, which holds a password and so is no argument."""
_MOST_NAMED = 20

_data = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
_port = click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any that is free.")
_host = click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where it listens."
)
_media = click.option(
    "--media-root",
    "media_roots",
    metavar="DIR",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where videos lie; more than one may be given.",
)
_database = click.option(
    "--database",
    metavar="URL",
    default="",
    envvar=DATABASE_VARIABLE,
    help=f"postgres://USER:PASSWORD@HOST/NAME in place of SQLite; better said in {DATABASE_VARIABLE}.",
)
_project = click.option("--project", metavar="SLUG", default="", help="In this one only; default: in all.")
_opened = click.option(
    "--open/--no-open", "is_opened", default=True, help="Open the address in a browser (default)."
)
_project_in = click.option("--project", metavar="SLUG", default="", help="Where questions and reviews go.")
_stdin = click.option(
    "--password-stdin", is_flag=True, help="The password is the first line of the input, and nobody is asked."
)


def need_studio() -> None:
    """See that the extra ``studio`` is installed.

    Raises:
        UsageError: it is not; the message has the command that adds it.
    """
    from importlib.util import find_spec

    from vidence.installation import adding

    absent = [name for name in ("django", "django_htmx", "uvicorn", "argon2") if find_spec(name) is None]
    if absent:
        raise UsageError(f"the studio needs {', '.join(absent)}; add it with: {adding('studio')}")


def there(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The whole paths of what is shown.

    Raises:
        UsageError: there is nothing at one.
    """
    found = tuple(paths)
    for path in found:
        if not path.exists():
            raise UsageError(
                f"there is nothing at {path}; give a run, a folder of runs, or a file of questions"
            )
    return tuple(path.resolve() for path in found)


def start_alone(
    settings: "StudioSettings",
    bind: "Bind",
    *,
    said: str,
    is_opened: bool = False,
    before: Callable[[], None] | None = None,
) -> None:
    """Serve one person until Ctrl-C, and print the address that lets one browser in.

    Args:
        settings: of the studio.
        bind: where it listens.
        said: before the address.
        is_opened: whether a browser is opened as well.
        before: what is to be written into the database first.
    """
    from vidence.studio.app import configure
    from vidence.studio.serving import address, listen, new_ticket, refuse_unsafe, serve
    from vidence.studio.upkeep import migrate

    refuse_unsafe(bind, has_accounts=False)
    ticket = new_ticket()
    application = configure(settings, ticket=ticket)

    migrate()
    if before is not None:
        before()
    listening = listen(bind)
    door = f"{address(bind, listening)}/enter?ticket={ticket}"
    click.echo(f"{said}: {door}")
    click.echo("The address works once; Ctrl-C stops the server.")
    serve(application, listening, on_start=[lambda: _open(door)] if is_opened else ())


def _open(door: str) -> None:
    """Open an address where there is a browser; it is printed in any case."""
    if not webbrowser.open(door):
        click.echo("No browser could be opened; open the address yourself.", err=True)


def _application(settings: "StudioSettings") -> "Application":
    """The application of a studio with accounts, its database up to date; its folder is made if need be."""
    from vidence.studio.app import configure
    from vidence.studio.upkeep import migrate, refuse_unsafe_folder, secret_of

    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    refuse_unsafe_folder(settings.data, has_database=not settings.database)
    application = configure(settings, secret=secret_of(settings.data))
    migrate()
    return application


def _of_folder(folder: Path, database: str) -> None:
    """Have the studio of a folder in this process."""
    need_studio()
    from vidence.studio.settings import StudioSettings

    data = folder.resolve()
    _application(StudioSettings(mode="team", data=data, database=database, cache_root=cache_root()))


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    found: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return found


def _listed(roles: str) -> list[str]:
    return [one.strip() for one in roles.split(",") if one.strip()]


@click.group(invoke_without_command=True)
@click.pass_context
def studio(context: click.Context) -> None:
    """Look at runs, make and review questions in the browser: for one person, or for a team.

    Without a subcommand it opens a demonstration, as `vidence studio demo` does.
    """
    if context.invoked_subcommand is None:
        context.invoke(demonstrate)


@studio.command("demo")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False))
@_port
@_opened
def demonstrate(*, folder: Path | None = None, port: int = 0, is_opened: bool = True) -> None:
    """Open a studio to try: planted videos, runs of simulated models, questions in every state of a review.

    Made in DIR, and kept there; without DIR in a folder that is removed in the end.
    """
    need_studio()
    import tempfile

    if folder is not None:
        _demonstrate(folder.resolve(), port=port, is_opened=is_opened)
        return
    with tempfile.TemporaryDirectory(prefix="vidence-studio-", ignore_cleanup_errors=True) as made:
        _demonstrate(Path(made), port=port, is_opened=is_opened)


def _demonstrate(folder: Path, *, port: int, is_opened: bool) -> None:
    from vidence.engine.environment import Environment, environment, now
    from vidence.studio import demonstration
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings

    cache = folder / "cache"
    if not demonstration.is_made(folder):
        click.echo(f"rendering videos and asking simulated models in {folder} ...")
        made_with = Environment(cache_root=cache, n_workers=environment().n_workers)
        demonstration.make_material(folder, environment=made_with, now=now())
    data = folder / demonstration.STUDIO
    data.mkdir(exist_ok=True, mode=0o700)
    settings = StudioSettings(
        mode="solo",
        data=data,
        paths=(folder / demonstration.RUNS,),
        media_roots=(folder / demonstration.WORLD,),
        cache_root=cache,
    )
    start_alone(
        settings,
        Bind(port=port),
        said="vidence studio",
        is_opened=is_opened,
        before=lambda: demonstration.fill(folder),
    )


@studio.command("open")
@_data
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PATH)
@_host
@_port
@_media
def open_alone(
    *,
    folder: Path,
    paths: tuple[Path, ...],
    host: str,
    port: int,
    media_roots: tuple[Path, ...],
) -> None:
    """Open the studio in DIR for one person on this machine; DIR is made where it is not there."""
    need_studio()
    from vidence.studio.serving import Bind, refuse_unsafe
    from vidence.studio.settings import StudioSettings

    bind = Bind(host=host, port=port)
    refuse_unsafe(bind, has_accounts=False)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings = StudioSettings(
        mode="solo",
        data=folder.resolve(),
        paths=there(paths),
        media_roots=tuple(path.resolve() for path in media_roots),
        cache_root=cache_root(),
    )
    start_alone(settings, bind, said="vidence studio")


@studio.command("serve")
@_data
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PATH)
@_host
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Where it listens."
)
@click.option(
    "--name",
    "names",
    metavar="HOST",
    multiple=True,
    help="A name under which browsers ask for it; needed beyond this machine.",
)
@click.option(
    "--tls",
    type=PATH,
    nargs=2,
    metavar="CERT KEY",
    help="Speak TLS: the certificate with its chain, and its key, in PEM.",
)
@click.option("--behind-proxy", is_flag=True, help="A proxy stands in front, speaks TLS, and is believed.")
@_database
@_media
def serve_team(
    *,
    folder: Path,
    paths: tuple[Path, ...],
    host: str,
    port: int,
    names: tuple[str, ...],
    tls: tuple[Path, Path] | None,
    behind_proxy: bool,
    database: str,
    media_roots: tuple[Path, ...],
) -> None:
    """Serve the studio in DIR to a team: with accounts, and beyond this machine only with TLS."""
    need_studio()
    from vidence.studio.serving import Bind, Tls, address, listen, refuse_unsafe, serve, try_tls
    from vidence.studio.settings import LOOPBACK, StudioSettings

    secured = None if tls is None else Tls(certificate=tls[0], key=tls[1])
    bind = Bind(host=host, port=port, tls=secured, is_behind_proxy=behind_proxy)
    refuse_unsafe(bind, has_accounts=True)
    if not (bind.is_loopback and not behind_proxy) and not names:
        raise UsageError(
            "under which name do browsers ask for it? Say --name HOST, such as studio.lab.example"
        )
    if secured is not None:
        try_tls(secured)
    application = _application(
        StudioSettings(
            mode="team",
            data=folder.resolve(),
            database=database,
            cache_root=cache_root(),
            paths=there(paths),
            media_roots=tuple(path.resolve() for path in media_roots),
            hosts=(*LOOPBACK, *names),
            is_tls=tls is not None,
            is_behind_proxy=behind_proxy,
        )
    )
    listening = listen(bind)
    click.echo(f"vidence studio: {address(bind, listening)}/")
    click.echo("Ctrl-C stops the server.")
    serve(application, listening, tls=secured)


@studio.command("user")
@click.argument("act", type=click.Choice(["add", "list", "roles", "password", "close"]))
@_data
@click.argument("name", required=False, default="")
@click.option(
    "--roles", metavar="ROLE,…", default="", help="Of researcher, author, reviewer, meta, operator."
)
@_project
@click.option("--shown", metavar="NAME", default="", help="The name on pages (default: NAME).")
@click.option("--pseudonym", metavar="NAME", default="", help="The name in files (default: p001, p002, ...).")
@_stdin
@_database
def change_user(
    *,
    act: str,
    folder: Path,
    name: str,
    roles: str,
    project: str,
    shown: str,
    pseudonym: str,
    password_stdin: bool,
    database: str,
) -> None:
    """Add an account NAME to the studio DIR, or give it other roles or another password, close it, list all.

    `add` and `password` ask for the password; `roles` takes the other roles away. With another password, or
    when it is closed, the sessions of an account end; what it did stays.
    """
    if (act != "list") != bool(name):
        raise UsageError("name the account: vidence studio user ACT DIR NAME; `list` alone names none")
    if act in ("add", "roles") and not roles:
        raise UsageError(f"which roles has {name}? Say --roles")
    _of_folder(folder, database)
    from vidence.studio import accounts

    where = f" in {project}" if project else ""
    if act == "add":
        password = _password(from_stdin=password_stdin)
        profile = accounts.Profile(shown=shown, pseudonym=pseudonym)
        user = accounts.add_user(name, password, roles=_listed(roles), project=project, profile=profile)
        click.echo(f"{user.name} is {user.pseudonym} in files: {roles}{where}")
    elif act == "roles":
        named = accounts.project_of(project) if project else None
        accounts.set_roles(accounts.user_of(name), named, _listed(roles))
        click.echo(f"{name}: {roles}{where}")
    elif act == "password":
        accounts.set_password(accounts.user_of(name), _password(from_stdin=password_stdin))
        click.echo(f"{name} has another password")
    elif act == "close":
        accounts.close_account(accounts.user_of(name))
        click.echo(f"{name} is closed")
    else:
        _list_users()


def _list_users() -> None:
    from vidence.studio.records.people import UserRow

    for user in UserRow.objects.order_by("key").prefetch_related("memberships__project"):
        said = [
            f"{', '.join(one.roles)}{f' in {one.project.slug}' if one.project else ''}"
            for one in user.memberships.all()
        ]
        state = "" if user.is_active else " (closed)"
        click.echo(f"{user.name}  {user.pseudonym}  {'; '.join(said)}{state}")


@studio.command("project")
@_data
@click.argument("slug")
@click.option("--protocol", required=True, metavar="NAME", help="A protocol's name, or FILE.toml.")
@click.option("--title", default="", help="Its name on pages (default: SLUG).")
@click.option(
    "--media-root",
    "media_root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder in which its videos lie.",
)
@click.option("--languages", metavar="TAG,…", default="", help="What items are written in, the usual first.")
@_database
def add_project(
    *,
    folder: Path,
    slug: str,
    protocol: str,
    title: str,
    media_root: Path | None,
    languages: str,
    database: str,
) -> None:
    """Begin a project SLUG in the studio DIR under a protocol."""
    _of_folder(folder, database)
    from vidence.studio import projects

    root = "" if media_root is None else str(media_root.resolve())
    named = projects.languages_in(languages)
    project = projects.add_project(slug, protocol, title=title, media_root=root, languages=named)
    click.echo(f"{project.slug}: {project.protocol.title}")


@studio.command("backup")
@_data
@click.option("--to", type=PATH, metavar="FILE", help="Default: in DIR/backups.")
@_database
def back_up(*, folder: Path, to: Path | None, database: str) -> None:
    """Copy the database of DIR while it is in use, and check the copy."""
    _of_folder(_there(folder), database)
    from vidence.studio.settings import now
    from vidence.studio.upkeep import backup

    done = backup(folder, to=to, at=now())
    click.echo(f"{done.path}: {sum(done.n_rows.values())} rows in {len(done.n_rows)} tables, checked")


@studio.command("verify")
@_data
@_database
def verify_studio(*, folder: Path, database: str) -> int:
    """Check the database of DIR: damage, chains of hashes, states; the exit code is 1 where it has faults."""
    _of_folder(_there(folder), database)
    from vidence.studio.upkeep import verify

    faults = list(verify())
    for fault in faults:
        click.echo(fault)
    click.echo("nothing is wrong" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


@studio.command("restore")
@_data
@click.argument("copy", metavar="BACKUP", type=click.Path(path_type=Path, dir_okay=False))
def restore_studio(*, folder: Path, copy: Path) -> None:
    """Make the studio DIR of a copy that `backup` made, and check it; DIR must hold no studio yet."""
    need_studio()
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings
    from vidence.studio.upkeep import restore, without_studio

    if not copy.is_file():
        raise UsageError(f"{copy} is not there; expected a copy that vidence studio backup made")
    without_studio(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    configure(StudioSettings(mode="team", data=folder.resolve()))
    done = restore(folder, copy)
    for name, n in sorted(done.n_rows.items()):
        click.echo(f"{n:>9,}  {name}")
    click.echo(f"{done.path}: {sum(done.n_rows.values()):,} rows in {len(done.n_rows)} tables, checked")


@studio.command("export")
@_data
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path, file_okay=False))
@_database
def export_files(*, folder: Path, out: Path, database: str) -> None:
    """Write all projects of the studio DIR as files into OUT: people by pseudonym, no passwords.

    Each is a folder of `vidence review` with its questions; the same studio gives the same bytes.
    """
    _of_folder(_there(folder), database)
    from vidence.studio.bridge.files import export_studio
    from vidence.text import some

    done = export_studio(out)
    click.echo(f"{out}: {done.n_files} files")
    if done.no_questions:
        listed = some(done.no_questions, most=_MOST_NAMED)
        click.echo(f"no questions of the item format, so only in revisions.jsonl: {listed}", err=True)


@studio.command("import")
@_data
@click.argument("what", metavar="PATH...", nargs=-1, required=True)
@_project_in
@click.option("--data", type=PATH, help="A benchmark's questions, where PATH is its name.")
@click.option("--part", metavar="SPLIT", help="The part of the benchmark.")
@click.option("--by", default="import", show_default=True, help="Under which pseudonym questions come in.")
@_database
def import_files(
    *,
    folder: Path,
    what: tuple[str, ...],
    project: str,
    data: Path | None,
    part: str | None,
    by: str,
    database: str,
) -> None:
    """Take files into the studio DIR; a second time nothing is new.

    PATH is a folder of `vidence review` (as an export has one for each project), a set of `vidence make`, or
    a file of questions or a benchmark's name. Questions come in as submitted, and wait for their first look.
    The project must be there; for a review it is made.
    """
    _of_folder(folder, database)
    for one in what:
        click.echo(f"{one}: {_import(one, project=project, data=data, part=part, by=by)}")


def _import(what: str, *, project: str, data: Path | None, part: str | None, by: str) -> str:
    """Take one path in; what became of it."""
    from vidence.studio.bridge import recorded_files

    path = Path(what)
    if not project:
        raise UsageError(f"into which project does {what} go? Say --project SLUG")
    if recorded_files.is_review(path):
        taken = recorded_files.take_review(path, slug=project)
        return f"{taken.n_new:,} events new, {taken.n_same:,} there already"
    from vidence.engine.question_set import QuestionSet
    from vidence.studio.accounts import project_of

    row = project_of(project)
    read = QuestionSet(what=str(recorded_files.questions_in(path)), data=data, split=part or None).load()
    recorded_files.refuse_root(row, read.loaded.media_root)
    taken = recorded_files.take_items(row, read.items, by=by)
    return f"{taken.n_new:,} questions new, {taken.n_same:,} there already; media below {row.media_root}"


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        raise UsageError(f"{folder} is not there; expected the folder of a studio")
    return folder
