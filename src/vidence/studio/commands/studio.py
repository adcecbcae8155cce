"""Make and review questions in the browser: alone, or as a team."""

import sys
import webbrowser
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from vidence.console.flags import FILE, FOLDER, argument, command, flag
from vidence.engine.environment import cache_root
from vidence.errors import UsageError
from vidence.media.whole import own_folder
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.studio.bodies import Application
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings
    from vidence.studio.upkeep import Copied

SECTION = "Make"

DATABASE_VARIABLE = "VIDENCE_STUDIO_DATABASE"
"""The address of a Postgres database, which holds a password and so is no argument."""
_MOST_NAMED = 20

EXISTING = click.Path(path_type=Path, exists=True, file_okay=False)
PORT = flag("Default: any free port.", type=click.IntRange(0, 65535))
OPENED = flag("Open the address in a browser (default).", "--open/--no-open")
_HOST = flag("Address to listen on.", metavar="ADDRESS")
_MEDIA = flag("Folder of videos; may be given several times.", "--media-root", metavar="DIR", type=EXISTING)


class Folder(Record):
    """A studio's folder."""

    folder: Annotated[Path, argument("DIR", type=FOLDER)]


class Kept(Folder):
    """A studio's folder and database."""

    database: Annotated[
        str,
        flag(
            f"postgres://USER:PASSWORD@HOST/NAME in place of SQLite; better set in {DATABASE_VARIABLE}.",
            metavar="URL",
            envvar=DATABASE_VARIABLE,
        ),
    ] = ""

    def open(self) -> None:
        """Configure this process for the studio."""
        need_studio()
        from vidence.studio.settings import StudioSettings

        data, cache = self.folder.resolve(), cache_root()
        with_secret(StudioSettings(mode="team", data=data, database=self.database, cache_root=cache))

    def open_there(self) -> None:
        """Configure this process for an existing studio.

        Raises:
            UsageError: the folder does not exist.
        """
        if not self.folder.is_dir():
            raise UsageError(f"{self.folder} is not there; expected the folder of a studio")
        self.open()


def need_studio() -> None:
    """Check that the extra ``studio`` is installed.

    Raises:
        UsageError: it is not; the message has the command that installs it.
    """
    from importlib.util import find_spec

    from vidence.installation import adding

    absent = [name for name in ("django", "django_htmx", "uvicorn", "argon2") if find_spec(name) is None]
    if absent:
        raise UsageError(f"the studio needs {', '.join(absent)}; add it with: {adding('studio')}")


def there(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return absolute paths.

    Raises:
        UsageError: a path does not exist.
    """
    pair = tuple(paths)
    for path in pair:
        if not path.exists():
            raise UsageError(
                f"there is nothing at {path}; give a run, a folder of runs, or a file of questions"
            )
    return tuple(path.resolve() for path in pair)


def start_alone(
    settings: "StudioSettings",
    bind: "Bind",
    *,
    said: str,
    is_opened: bool = False,
    before: Callable[[], None] | None = None,
) -> None:
    """Serve one person until Ctrl-C, and print an address that admits one browser.

    Args:
        settings: of the studio.
        bind: where it listens.
        said: text printed before the address.
        is_opened: whether to open a browser as well.
        before: called before serving, to fill the database.
    """
    from vidence.studio.serving import address, listen, new_ticket, refuse_unsafe, serve

    refuse_unsafe(bind, has_accounts=False)
    ticket = new_ticket()
    listening = listen(bind)
    door = f"{address(bind, listening)}/enter?ticket={ticket}"
    click.echo(f"{said}: {door}")
    click.echo("The address works once; Ctrl-C stops the server.")
    # The pages take a second or two to load; a browser that asks meanwhile waits in the queue of the socket.
    from vidence.studio.app import configure
    from vidence.studio.upkeep import migrate

    application = configure(settings, ticket=ticket)
    migrate()
    if before is not None:
        before()
    serve(application, listening, on_start=[lambda: _open(door)] if is_opened else ())


def _open(door: str) -> None:
    """Open an address in a browser, if there is one."""
    if not webbrowser.open(door):
        click.echo("No browser could be opened; open the address by hand.", err=True)


def with_secret(settings: "StudioSettings", *, ticket: str = "") -> "Application":
    """Return the application of a studio; its folder and secret are created if they do not exist.

    Args:
        settings: of the studio.
        ticket: the one-time ticket that admits a browser; empty for none.
    """
    from vidence.studio.app import configure
    from vidence.studio.upkeep import migrate, refuse_unsafe_folder, secret_of

    _own(settings.data)
    refuse_unsafe_folder(settings.data, has_database=not settings.database)
    application = configure(settings, secret=secret_of(settings.data), ticket=ticket)
    migrate()
    return application


def _own(data: Path) -> None:
    """Create a studio's folder, or check that a folder is one."""
    from vidence.studio.database import SQLITE_FILE

    own_folder(data, ".vidence-studio", SQLITE_FILE, mode=0o700)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))


def _listed(roles: str) -> list[str]:
    return [part.strip() for part in roles.split(",") if part.strip()]


class Demo(Record):
    """Where the demonstration is created, and how it is opened."""

    folder: Annotated[Path | None, argument("[DIR]", type=FOLDER)] = None
    port: Annotated[int, PORT] = 0
    is_opened: Annotated[bool, OPENED] = True


@click.group(invoke_without_command=True)
@click.pass_context
def studio(context: click.Context) -> None:
    """View runs, make and review questions in the browser, alone or as a team.

    Without a subcommand it opens a demonstration, as `vidence studio demo` does.
    """
    if context.invoked_subcommand is None:
        _demonstrate_in(Demo())


@command("demo", group=studio)
def demonstrate(given: Demo) -> None:
    """Open an example studio: runs of simulated models, a review, boards, a study under way, a leaderboard.

    It is created in DIR and kept; without DIR, in a temporary folder that is removed at the end.
    """
    _demonstrate_in(given)


def _demonstrate_in(given: Demo) -> None:
    need_studio()
    import tempfile

    if given.folder is not None:
        _demonstrate(given.folder.resolve(), given)
        return
    with tempfile.TemporaryDirectory(prefix="vidence-studio-", ignore_cleanup_errors=True) as text:
        _demonstrate(Path(text), given)


def _demonstrate(folder: Path, given: Demo) -> None:
    from vidence.engine.environment import Environment, environment, now
    from vidence.studio import demonstration
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings

    cache = folder / "cache"
    if not demonstration.is_made(folder):
        click.echo(f"rendering videos, asking simulated models and making a set in {folder} ...")
        made_with = Environment(cache_root=cache, n_workers=environment().n_workers)
        if lacks := demonstration.make_material(folder, environment=made_with, now=now()):
            click.echo(lacks, err=True)
    data = folder / demonstration.STUDIO
    settings = StudioSettings(
        mode="solo",
        data=data,
        paths=demonstration.paths_of(folder),
        media_roots=(folder / demonstration.WORLD,),
        cache_root=cache,
    )
    start_alone(
        settings,
        Bind(port=given.port),
        said="vidence studio",
        is_opened=given.is_opened,
        before=lambda: demonstration.fill(folder),
    )


class Alone(Folder):
    """A studio for one person."""

    paths: Annotated[tuple[Path, ...], argument("[PATH]...")] = ()
    host: Annotated[str, _HOST] = "127.0.0.1"
    port: Annotated[int, PORT] = 0
    media_roots: Annotated[tuple[Path, ...], _MEDIA] = ()
    first: Annotated[
        str,
        flag(
            "Open this board of the set that PATH makes, with a button that ends the command.",
            metavar="VIDEO/BOARD",
        ),
    ] = ""


@command("open", group=studio)
def open_alone(given: Alone) -> None:
    """Open the studio in DIR for one person on this machine; DIR is created if it does not exist."""
    need_studio()
    from vidence.studio.serving import Bind, refuse_unsafe
    from vidence.studio.settings import StudioSettings

    folder, bind = given.folder, Bind(host=given.host, port=given.port)
    refuse_unsafe(bind, has_accounts=False)
    _own(folder)
    settings = StudioSettings(
        mode="solo",
        data=folder.resolve(),
        paths=there(given.paths),
        media_roots=tuple(path.resolve() for path in given.media_roots),
        cache_root=cache_root(),
        first=given.first,
    )
    start_alone(settings, bind, said="vidence studio", is_opened=bool(given.first))


class Reached(Record):
    """How other machines reach a server."""

    host: Annotated[str, _HOST] = "127.0.0.1"
    port: Annotated[int, flag("Port to listen on; 0: any free one.", type=click.IntRange(0, 65535))] = 8000
    names: Annotated[
        tuple[str, ...],
        flag("Host name that browsers use; needed for other machines.", "--name", metavar="HOST"),
    ] = ()
    tls: Annotated[
        tuple[Path, Path] | None,
        flag("Serve over TLS with this certificate chain and key (PEM).", metavar="CERT KEY", nargs=2),
    ] = None
    behind_proxy: Annotated[bool, flag("Trust the X-Forwarded headers of a proxy that terminates TLS.")] = (
        False
    )

    def bind(self) -> "Bind":
        """Return where the server listens.

        Raises:
            UsageError: the connection would be unsafe, a host name is missing, or TLS cannot be used.
        """
        from vidence.studio.serving import Bind, Tls, refuse_unsafe, try_tls

        secured = None if self.tls is None else Tls(certificate=self.tls[0], key=self.tls[1])
        bind = Bind(host=self.host, port=self.port, tls=secured, is_behind_proxy=self.behind_proxy)
        refuse_unsafe(bind, has_accounts=True)
        if not (bind.is_loopback and not self.behind_proxy) and not self.names:
            raise UsageError(
                "browsers on other machines need a host name; add --name HOST, such as studio.lab.example"
            )
        if secured is not None:
            try_tls(secured)
        return bind


class Team(Kept):
    """A studio for a team, and how to reach it."""

    paths: Annotated[tuple[Path, ...], argument("[PATH]...")] = ()
    reached: Reached
    media_roots: Annotated[tuple[Path, ...], _MEDIA] = ()


@command("serve", group=studio)
def serve_team(given: Team) -> None:
    """Serve the studio in DIR to a team with accounts; other machines need TLS."""
    need_studio()
    from vidence.studio.serving import address, listen, serve
    from vidence.studio.settings import LOOPBACK, StudioSettings

    bind = given.reached.bind()
    application = with_secret(
        StudioSettings(
            mode="team",
            data=given.folder.resolve(),
            database=given.database,
            cache_root=cache_root(),
            paths=there(given.paths),
            media_roots=tuple(path.resolve() for path in given.media_roots),
            hosts=(*LOOPBACK, *given.reached.names),
            is_tls=bind.tls is not None,
            is_behind_proxy=bind.is_behind_proxy,
        )
    )
    listening = listen(bind)
    click.echo(f"vidence studio: {address(bind, listening)}/")
    click.echo("Ctrl-C stops the server.")
    serve(application, listening, tls=bind.tls)


class User(Record):
    """A change to an account."""

    act: Annotated[Literal["add", "list", "roles", "password", "close"], argument()]
    place: Kept
    name: Annotated[str, argument()] = ""
    roles: Annotated[
        str, flag("Roles: researcher, author, reviewer, meta, operator, submitter.", metavar="ROLE,…")
    ] = ""
    project: Annotated[str, flag("Only in this project (default: in all).", metavar="SLUG")] = ""
    shown: Annotated[str, flag("The name on pages (default: NAME).", metavar="NAME")] = ""
    pseudonym: Annotated[str, flag("The name in files (default: p001, p002, ...).", metavar="NAME")] = ""
    team: Annotated[str, flag("The team of a new submitter on the board.")] = ""
    password_stdin: Annotated[bool, flag("Read the password from the first line of standard input.")] = False


@command("user", group=studio)
def change_user(given: User) -> None:
    """Add the account NAME to the studio DIR, change its roles or password, close it, or list all accounts.

    `add` and `password` ask for the password; `roles` replaces all roles. Closing an account or changing its
    password ends its sessions; its work stays.
    """
    act, name, roles, project = given.act, given.name, given.roles, given.project
    if (act != "list") != bool(name):
        raise UsageError("name the account: vidence studio user ACT DIR NAME; `list` alone names none")
    if act in ("add", "roles") and not roles:
        raise UsageError(f"no roles for {name}; add --roles ROLE,…")
    given.place.open()
    from vidence.studio import accounts

    where = f" in {project}" if project else ""
    if act == "add":
        password = _password(from_stdin=given.password_stdin)
        profile = accounts.Profile(shown=given.shown, pseudonym=given.pseudonym, team=given.team)
        user = accounts.add_user(name, password, roles=_listed(roles), project=project, profile=profile)
        click.echo(f"{user.name} is {user.pseudonym} in files: {roles}{where}")
    elif act == "roles":
        named = accounts.project_of(project) if project else None
        accounts.set_roles(accounts.user_of(name), named, _listed(roles))
        click.echo(f"{name}: {roles}{where}")
    elif act == "password":
        accounts.set_password(accounts.user_of(name), _password(from_stdin=given.password_stdin))
        click.echo(f"{name} has a new password")
    elif act == "close":
        accounts.close_account(accounts.user_of(name))
        click.echo(f"{name} is closed")
    else:
        _list_users()


def _list_users() -> None:
    from vidence.studio.records.people import UserRow

    for user in UserRow.objects.order_by("key").prefetch_related("memberships__project"):
        users = [
            f"{', '.join(membership.roles)}{f' in {membership.project.slug}' if membership.project else ''}"
            for membership in user.memberships.all()
        ]
        state = "" if user.is_active else " (closed)"
        click.echo(f"{user.name}  {user.pseudonym}  {'; '.join(users)}{state}")


class Project(Kept):
    """A project to create."""

    slug: Annotated[str, argument()]
    protocol: Annotated[str, flag("A protocol's name, or FILE.toml.", metavar="NAME")]
    title: Annotated[str, flag("Title on pages (default: SLUG).")] = ""
    media_root: Annotated[Path | None, flag("Folder of the videos.", type=EXISTING)] = None
    languages: Annotated[str, flag("Languages of the items, the default first.", metavar="TAG,…")] = ""


@command("project", group=studio)
def add_project(given: Project) -> None:
    """Create the project SLUG with a review protocol in the studio DIR."""
    given.open()
    from vidence.studio import projects

    root = "" if given.media_root is None else str(given.media_root.resolve())
    languages = projects.languages_in(given.languages)
    project = projects.add_project(
        given.slug, given.protocol, title=given.title, media_root=root, languages=languages
    )
    click.echo(f"{project.slug}: {project.protocol.title}")


class Backup(Kept):
    """Where to write a backup."""

    to: Annotated[Path | None, flag("Backup file (default: in DIR/backups).", metavar="FILE")] = None


@command("backup", group=studio)
def back_up(given: Backup) -> int:
    """Back up the database of DIR, even while in use, and check the copy."""
    given.open_there()
    from vidence.studio.settings import now
    from vidence.studio.upkeep import backup

    return _copied(backup(given.folder, to=given.to, at=now()))


def _copied(done: "Copied") -> int:
    """Print the result of a copy, and return the exit code."""
    for fault in done.unsure:
        click.echo(fault)
    click.echo(done)
    return 1 if done.unsure else 0


@command("verify", group=studio)
def verify_studio(given: Kept) -> int:
    """Check the database of DIR for damage, rows changed by hand, broken chains and wrong states.

    The exit code is 1 if there are faults.
    """
    given.open_there()
    from django.db import connection

    from vidence.studio.seals import content_of, not_covered
    from vidence.studio.upkeep import verify

    faults = list(verify())
    for fault in faults:
        click.echo(fault)
    for words in not_covered():
        click.echo(f"not covered: {words}")
    click.echo(f"no faults, content {content_of(connection)}" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


class Restore(Folder):
    """A backup to restore."""

    copy: Annotated[Path, argument("BACKUP", type=FILE)]


@command("restore", group=studio)
def restore_studio(given: Restore) -> int:
    """Restore a backup to the studio DIR, and check it; DIR must not contain a studio yet.

    A backup whose rows were changed by hand is restored, too: the rows are listed, and the exit code is 1.
    """
    need_studio()
    import shutil

    from vidence.media.whole import make_private, temporary_beside
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings
    from vidence.studio.upkeep import restore, without_studio

    folder, copy = given.folder.resolve(), given.copy
    if not copy.is_file():
        raise UsageError(f"{copy} is not there; expected a copy that vidence studio backup made")
    without_studio(folder)
    part = temporary_beside(folder / "restored")
    make_private(part)
    try:
        configure(StudioSettings(mode="team", data=part))
        return _copied(restore(folder, copy))
    finally:
        shutil.rmtree(part, ignore_errors=True)


class Export(Kept):
    """The folder to export to."""

    out: Annotated[Path, argument("OUT", type=FOLDER)]


@command("export", group=studio)
def export_files(given: Export) -> None:
    """Export all projects of the studio DIR as files in OUT, with pseudonyms and without passwords.

    Each project becomes a folder of `vidence items review` with its questions. Exporting again gives the
    same bytes.
    """
    given.open_there()
    from vidence.studio.bridge.files import export_studio
    from vidence.text import some

    out = given.out
    done = export_studio(out)
    click.echo(f"{out}: {done.n_files} files")
    if done.no_questions:
        listed = some(done.no_questions, most=_MOST_NAMED)
        click.echo(f"no questions of the item format, so only in revisions.jsonl: {listed}", err=True)


class Import(Kept):
    """The files to import, and the project."""

    what: Annotated[tuple[str, ...], argument("PATH...")]
    project: Annotated[str, flag("Project that gets the questions and reviews.", metavar="SLUG")] = ""
    data: Annotated[Path | None, flag("The questions of the benchmark PATH.")] = None
    part: Annotated[str | None, flag("Split of the benchmark.", metavar="SPLIT")] = None
    by: Annotated[str, flag("Pseudonym of the author of imported questions.")] = "import"


@command("import", group=studio)
def import_files(given: Import) -> None:
    """Import files into the studio DIR; importing the same files again changes nothing.

    PATH is a folder of `vidence items review` (an export has one per project), a set of `vidence make`, a
    file of questions or a benchmark's name. Imported questions wait for their first review. The project must
    exist, except for a review folder, which creates it.
    """
    given.open()
    for name in given.what:
        click.echo(f"{name}: {_import(name, given)}")


def _import(what: str, given: Import) -> str:
    """Import one path, and return a summary."""
    from vidence.studio.bridge import recorded_files

    path, project = Path(what), given.project
    if not project:
        raise UsageError(f"no project for {what}; add --project SLUG")
    if recorded_files.is_review(path):
        taken = recorded_files.take_review(path, slug=project)
        return f"{taken.n_new:,} new events, {taken.n_same:,} already there"
    from vidence.engine.question_set import QuestionSet
    from vidence.studio.accounts import project_of

    row = project_of(project)
    read = QuestionSet(
        what=str(recorded_files.questions_in(path)), data=given.data, split=given.part or None
    ).load()
    recorded_files.refuse_root(row, read.loaded.media_root)
    taken = recorded_files.take_items(row, read.items, by=given.by)
    return f"{taken.n_new:,} new questions, {taken.n_same:,} already there; media below {row.media_root}"
