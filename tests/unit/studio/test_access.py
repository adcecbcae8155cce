"""Who may see what: every address as every role, other hosts and sites, forms without their token."""

import html
import re
import tempfile
from pathlib import Path
from uuid import UUID

import pytest

from conftest import IS_THOROUGH
from servers.studio import PASSWORD, studio
from subjects.board_studio import open_boards
from subjects.hidden_board import SENTINEL, hidden_split, open_board, send, write_judge
from subjects.open_study import draw_study, plain
from vidence.errors import UsageError
from vidence.studio.access import ANYONE, ROLES, SAFE, refuse_open_routes, route, rules
from vidence.studio.accounts import user_of
from vidence.studio.settings import current
from vidence.studio.urls import urlpatterns
from vidence.studio.workflow import Act, act
from videos.stamped import write

EVERYBODY = dict.fromkeys((*ROLES, "nobody"), 200)
SIGNED_IN = {**dict.fromkeys(ROLES, 200), "nobody": 302}
IN_PROJECT = SIGNED_IN
OPERATORS = {**dict.fromkeys(ROLES, 403), "operator": 200, "nobody": 302}
AUTHORS = {**dict.fromkeys(ROLES, 403), "author": 200, "nobody": 302}
TRIERS = {**IN_PROJECT, "researcher": 403, "operator": 403}
RESEARCHERS = {**dict.fromkeys(ROLES, 403), "researcher": 200, "nobody": 302}
NOTHING_FOR_RESEARCHERS = {**RESEARCHERS, "researcher": 404}  # no such run, set or question
OPERATORS_OF_ALL = {
    **dict.fromkeys(ROLES, 403),
    "nobody": 302,
}  # the operator of the test is one of a project
NOTHING = {**dict.fromkeys(ROLES, 404), "nobody": 302}  # no such token
CLOSED_TO_GET = dict.fromkeys((*ROLES, "nobody"), 405)
CLOSED = {**dict.fromkeys(ROLES, 403), "nobody": 403}
ABSENT = dict.fromkeys((*ROLES, "nobody"), 404)
POSTED = {**dict.fromkeys(ROLES, 405), "nobody": 405}
# What each address answers to GET, by role. An address that is not here fails the test: add it with its line.
TABLE = {
    "start": SIGNED_IN,
    "enter": CLOSED,
    "sign-in": EVERYBODY,
    "sign-out": CLOSED_TO_GET,
    "static": EVERYBODY,
    "project": IN_PROJECT,
    "item": IN_PROJECT,
    "work": SIGNED_IN,
    **dict.fromkeys(("hints", "try-hints"), TRIERS),
    **dict.fromkeys(("next", "draw", "claim", "release", "expire", "done"), POSTED),
    "review": {**dict.fromkeys(ROLES, 403), "reviewer": 200, "meta": 200, "nobody": 302},
    "review-edit": {**dict.fromkeys(ROLES, 403), "reviewer": 409, "meta": 409, "nobody": 302},
    "rates": {**SIGNED_IN, "author": 403, "reviewer": 403},
    "drawn-sets": {**dict.fromkeys(ROLES, 403), "reviewer": 200, "operator": 200, "nobody": 302},
    "drawn-questions": {**dict.fromkeys(ROLES, 403), "reviewer": 404, "operator": 404, "nobody": 302},
    "health": OPERATORS,
    "people": OPERATORS,
    **dict.fromkeys(("accounts", "new-project"), OPERATORS_OF_ALL),
    "password": SIGNED_IN,
    "guidelines": IN_PROJECT,
    "qualification": IN_PROJECT,
    "trials": OPERATORS,
    "time": {**IN_PROJECT, "researcher": 403},
    "ledger": OPERATORS,
    "beat": dict.fromkeys((*ROLES, "nobody"), 405),
    "releases": OPERATORS,
    "intake": {**OPERATORS, "author": 200},
    "upload": {**OPERATORS, "author": 404, "operator": 404},  # a file without a name
    **dict.fromkeys(("new-item", "edit-item", "item-checks"), AUTHORS),
    "board-sets": SIGNED_IN,
    **dict.fromkeys(("board-set", "board-tracks", "board-shots", "board-cards"), NOTHING),
    **dict.fromkeys(("board-line-up", "board-false-cards", "board-counts", "board-crop"), NOTHING),
    **dict.fromkeys(("runs", "run-lines", "compare-report"), RESEARCHERS),
    "compare": {**RESEARCHERS, "researcher": 302},  # to the list, where runs are ticked
    **dict.fromkeys(("run", "run-items", "run-report", "run-diagnosis", "run-item"), NOTHING_FOR_RESEARCHERS),
    **dict.fromkeys(("run-item-text", "made", "questions", "question"), NOTHING_FOR_RESEARCHERS),
    "studies": SIGNED_IN,
    "new-study": OPERATORS_OF_ALL,
    "study-status": OPERATORS_OF_ALL,
    "study-report": OPERATORS_OF_ALL,
    # Participants have no role: of a study that is not there everybody is told so.
    **dict.fromkeys(("study-join", "study-join-account", "study-next", "study-leave", "study-trial"), ABSENT),
    **dict.fromkeys(("study-told", "study-picture", "study-once"), ABSENT),
    "study-view": POSTED,
    "study-link": ABSENT,
    **dict.fromkeys(("study-media-file", "study-media-frames", "study-media-still"), ABSENT),
    **dict.fromkeys(("study-media-strip", "study-media-copy", "study-media-copy-file"), ABSENT),
    "study-media-copy-frames": ABSENT,
    **dict.fromkeys(("media-file", "media-frames", "media-still", "media-strip"), NOTHING),
    **dict.fromkeys(("media-copy", "media-copy-file", "media-copy-frames"), NOTHING),
    "board": SIGNED_IN,
    "submit": {**dict.fromkeys(ROLES, 403), "submitter": 200, "nobody": 302},
}
OF_SUBMITTERS = frozenset({"start", "enter", "sign-in", "sign-out", "static", "password", "board", "submit"})
"""What there is for people who submit to the board alone; no project is there for them."""

# Who gets past the door with a form, by address; the others are told 403, and who has not signed in 401.
LOOKERS, WORKERS = frozenset({"reviewer", "meta"}), frozenset({"author", "reviewer", "meta"})
ALL, LEADERS = frozenset(ROLES) - {"submitter"}, frozenset({"operator"})
EVERYONE = frozenset({*ROLES, "nobody"})
CHANGES = {
    **dict.fromkeys(("sign-out", "password", "done"), frozenset(ROLES)),
    "submit": frozenset({"submitter"}),
    **dict.fromkeys(("beat", "guidelines", "qualification"), ALL),
    **dict.fromkeys(("next", "draw", "claim", "release", "review", "review-edit"), LOOKERS),
    **dict.fromkeys(("expire", "health", "people", "trials", "releases"), LEADERS),
    **dict.fromkeys(("study-join", "study-join-account", "study-next", "study-leave"), EVERYONE),
    **dict.fromkeys(("study-trial", "study-view"), EVERYONE),
    "studies": ALL,
    **dict.fromkeys(
        ("accounts", "new-project", "new-study", "study-status"), frozenset()
    ),  # of operators of all projects
    **dict.fromkeys(("new-item", "edit-item"), frozenset({"author"})),
    **dict.fromkeys(("intake", "upload"), LEADERS | {"author"}),
    "time": WORKERS | LEADERS,
    "try-hints": WORKERS,
    "drawn-questions": LEADERS | {"reviewer"},
    # Sets, boards and their rows: whoever may not is told so by the page (`test_boards.py`).
    **dict.fromkeys(("board-sets", "board-set", "board-tracks", "board-shots", "board-cards"), ALL),
    **dict.fromkeys(("board-line-up", "board-false-cards", "board-counts"), ALL),
}


def expected(name, role):
    """What an address answers to GET."""
    where, view = named()[name]
    if role != "submitter" or name in OF_SUBMITTERS or TABLE[name] is ABSENT:
        return TABLE[name][role]
    if "GET" not in view.callback.methods:
        return 405
    return 404 if "<slug:project>" in where else 403


def named():
    """Every address by its name, with its pattern."""
    return {one.name: (where, one) for where, one in rules(urlpatterns)}


@pytest.fixture
def places(team):
    """Two projects, each with an item; one person of each role in the first, and nobody in the second."""
    films, others = team.project("films"), team.project("others")
    from vidence.studio.projects import add_items
    from vidence.studio.records.items import ItemRow

    for project in (films, others):
        add_items(project, [f"{project.slug}-1"], kinds={})
    for role in ROLES:
        team.user(role.title(), role, project="films")
    items = {one.project.slug: one for one in ItemRow.objects.all()}
    return {slug: {"project": slug, "item": item.public} for slug, item in items.items()}


def without_tokens(answer):
    """A page without what is new in each answer."""
    return re.sub(r'(csrfmiddlewaretoken" value=)"\w+"', r"\1", answer.content.decode())


def addresses(values):
    """Every address with its parts filled in; a part that no test knows fails."""
    from vidence.studio.assets import edition

    unknown = {
        "made_set": UUID(int=1),
        "video": "north",
        "token": "a" * 32,
        "run": "no-such",
        "diagnosis": "no-such",
        "place": "no-such",
        "index": 0,
        "study": UUID(int=1),
        "key": "no-such",
        "at": 0,
    }
    known = {**unknown, **values, "name": f"{edition()}/studio.css"}
    found = {}
    for name, (where, _) in named().items():
        parts = re.findall(r"<(?:\w+:)?(\w+)>", where)
        missing = [one for one in parts if one not in known]
        assert not missing, f"{where}: say in this test what {missing} can be"
        found[name] = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda part: str(known[part[1]]), where)
    return found


def test_every_address_is_in_the_tables():
    assert set(named()) == set(TABLE)
    assert changing() - {"sign-in"} == CHANGES.keys()


@pytest.mark.parametrize("role", [*ROLES, "nobody"])
def test_each_role_sees_its_pages_and_no_other(team, places, role):
    client = team.client() if role == "nobody" else team.signed_in(role.title())
    team.project("zanzibar")
    answers = {name: client.get(where) for name, where in addresses(places["films"]).items()}
    got = {name: answer.status_code for name, answer in answers.items()}
    assert got == {name: expected(name, role) for name in TABLE}
    for name, answer in answers.items():  # no page names a project of others
        assert "zanzibar" not in answer.content.decode().lower(), name


def changing():
    """The addresses that change something."""
    return {name for name, (_, one) in named().items() if not one.callback.methods <= set(SAFE)}


@pytest.mark.parametrize("role", [*ROLES, "nobody"])
def test_each_role_changes_what_is_its_own_and_nothing_else(team, places, role):
    known = addresses(places["films"])
    client = team.client() if role == "nobody" else team.signed_in(role.title())
    before = contents()
    for name in sorted(changing() - {"sign-in"}):
        if role not in CHANGES[name]:
            is_absent = role == "submitter" and "<slug:project>" in named()[name][0]
            refused = 401 if role == "nobody" else 404 if is_absent else 403
            assert client.post(known[name]).status_code == refused, name
    assert contents() == before
    for name in sorted(changing() - {"sign-in", "sign-out"}):
        if role in CHANGES[name]:
            assert client.post(known[name]).status_code not in (401, 403, 405), name


@pytest.mark.parametrize("role", ROLES)
def test_another_project_is_not_there_and_nothing_of_it_is_changed(team, places, role):
    client = team.signed_in(role.title())
    before = contents()
    there = addresses(places["others"])
    absent = addresses({"project": "films", "item": places["others"]["item"]})
    for name in sorted(changing()):
        where = named()[name][0]
        if "<slug:project>" in where:
            assert client.post(there[name]).status_code == 404, name
        if "<uuid:item>" in where and role in CHANGES[name]:
            assert client.post(absent[name], {"act": "say", "words": "x"}).status_code == 404, name
    assert contents() == before
    for name, where in there.items():
        if "<slug:project>" in named()[name][0]:
            nothing = client.get(where.replace("others", "no-such-project"))
            found = client.get(where)
            status = 404 if "GET" in named()[name][1].callback.methods else 405
            assert (found.status_code, without_tokens(found)) == (status, without_tokens(nothing)), name
    assert "others" not in client.get("/").content.decode()


def test_what_a_form_names_is_of_its_project(team, places):
    """Entries, corrections, people, trial items and versions of another project, by their public names."""
    from datetime import timedelta

    from vidence.studio.accounts import project_of
    from vidence.studio.records.items import ItemRow
    from vidence.studio.rules.spans import Span
    from vidence.studio.times import file_correction
    from vidence.studio.training import Trial, add_trial

    others, eve = project_of("others"), team.user("Eve", "author", project="others")
    item = ItemRow.objects.get(project=others)
    act(item, Act(kind="submit", role="author", by=eve.pseudonym, content={"question": "Which?"}))
    hour = Span(kind="active", start=team.clock() - timedelta(hours=1), end=team.clock())
    named_there = {
        "time": {
            "act": "approve",
            "correction": file_correction(eve, others, hour, reason="watched on paper").public,
        },
        "people": {"user": eve.public, "roles": "operator"},
        "trials": {
            "act": "retire",
            "trial": add_trial(
                others, Trial(role="reviewer", words="Which?", options=("a", "b"), right="a")
            ).public,
        },
    }
    client, known, before = team.signed_in("Operator"), addresses(places["films"]), contents()
    for name, said in named_there.items():
        assert client.post(known[name], said).status_code == 404, name
    assert contents() == before


@pytest.mark.parametrize("role", ROLES)
def test_what_is_of_others_is_asked_of_the_database_as_what_is_not_there(team, places, role):
    """Work stands for time: an item of others takes the queries of one that there is not, and no more."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client = team.signed_in(role.title())
    swapped = {**places["films"], "item": places["others"]["item"]}
    nothing = {**places["films"], "item": UUID(int=7)}
    there, absent = addresses(swapped), addresses(nothing)
    n_compared = 0
    for name, where in there.items():
        if where == absent[name] or "GET" not in named()[name][1].callback.methods:
            continue
        client.get(where)
        found = []
        for one in (where, absent[name]):
            with CaptureQueriesContext(connection) as asked:
                answer = client.get(one)
            found.append((answer.status_code, without_tokens(answer), len(asked)))
        assert found[0] == found[1], name
        assert found[0][0] == (403 if expected(name, role) == 403 else 404), name
        n_compared += 1
    assert n_compared >= 3


def test_nothing_hidden_is_at_any_address_for_anybody(
    team, places, tmp_path, tmp_path_factory, caplog, capfd, monkeypatch
):
    """With a board that was scored: bodies, headers, errors, logs, temporary files, rows and exports."""
    from vidence.studio.bridge.files import export_studio
    from vidence.studio.leaderboard import board_here
    from vidence.studio.scoring import write_strata

    split = hidden_split(tmp_path_factory.mktemp("hidden"), 12, n_open=2)
    secrets = {SENTINEL, *re.findall(r"[0-9a-f]{64}", (split.vault / "answers.jsonl").read_text())}
    assert len(secrets) == 13
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    caplog.set_level("INFO")
    board = open_board(team, split, tmp_path / "cache", last_day=team.clock())
    letters = {name: said for name, said in split.key.items() if len(said) == 1}
    words = {name: "a hand, a foot" for name in split.key if name not in letters}
    members = [board.member(name, "red") for name in ("Ann", "Ada")]
    sent = {
        "right": split.submission({**letters, **words}),
        "wrong": split.submission({**dict.fromkeys(letters, "A"), **words}),
        "broken": split.submission({name: "Q" for name in split.key}) + b"{",
        "outside": split.submission({name: "Q" for name in split.key}),
    }
    answers = [send(members[0], content) for content in sent.values()]
    assert board.score(**write_judge(tmp_path)) == ["", ""]
    team.clock.move(24 * 3600)
    assert write_strata(board.vault(), board_here(), team.clock()) == 1
    team.user("Uma", *ROLES, project="films")
    team.user("Olga", "operator")
    names = [*(role.title() for role in ROLES if IS_THOROUGH), "Uma", "Olga"]
    people = [team.client(), *map(team.signed_in, names), *members]
    for client in people:
        for name, where in addresses(places["films"]).items():
            answers.append(client.get(where))
            if IS_THOROUGH:
                answers.append(client.get(where, headers={"accept": "application/json"}))
            if name != "sign-out":
                answers.append(client.post(where, {"act": "x", "answers": "x"}))
    export_studio(tmp_path / "out")
    files = [one for folder in (tmp_path / "out", temporary) for one in folder.rglob("*") if one.is_file()]
    printed = capfd.readouterr()
    said = [
        *(f"{answer.headers}{b''.join(answer).decode(errors='replace')}" for answer in answers),
        *(one.read_text(errors="replace") for one in files),
        *(caplog.text, printed.out, printed.err, repr(contents())),
    ]
    assert "table-001" in said[-1], "the submissions are there"
    for text in said:
        assert [one for one in secrets if one in text] == []


@pytest.fixture
def broken(street, questions, tmp_path):
    """A team whose runs and files of questions are damaged, people of each role, one leader, and a study."""
    media, runs, drawn = tmp_path / "media & more", tmp_path / "runs", tmp_path / "drawn"
    for folder in (media, runs / "one", runs / "two", drawn):
        folder.mkdir(parents=True)
    (runs / "one" / "plan.toml").write_text("model = ")
    (runs / "two" / "run.sqlite").write_text("no database")
    (runs / "items.jsonl").write_text('{"item_id": 1}\n')
    for path in questions.iterdir():
        (drawn / path.name).symlink_to(path)
    paths = (street.config, runs, tmp_path / "absent.jsonl")
    with studio("team", tmp_path / "data", paths=paths, media_roots=(media,)) as made:
        from vidence.studio.projects import add_project
        from vidence.studio.studies import open_study

        add_project("films", "mmvu", media_root=str(media))
        for role in ROLES:
            made.user(role.title(), role, project="films")
        made.user("Leader", *ROLES)
        yield made, media, open_study(draw_study(drawn, plain()), is_recruited=True)


def test_no_one_is_told_where_files_of_the_server_lie(broken, street, tmp_path, monkeypatch):
    """Every address by every role where what it needs is damaged or gone, and what forms answer to it."""
    from vidence.studio.accounts import project_of
    from vidence.studio.bridge.indexing import Indexer
    from vidence.studio.bridge.places import find_places
    from vidence.studio.intake import add_medium, new_item
    from vidence.studio.media import token_of

    def in_turn(indexer, places):  # the test's own thread holds the database
        for place in places:
            if place.kind == "run":
                indexer._index(place)

    monkeypatch.setattr(Indexer, "freshen", in_turn)
    team, media, study = broken
    films = project_of("films")
    write(media / "film.mp4", numbers=range(6))
    token = token_of(media / "film.mp4", roots=[media], project="films")
    author = user_of("Author")
    medium = add_medium(films, "film.mp4", kind="video")
    item = new_item(films, [medium], kind="open", form="mmvu", author=author, quota=0)
    boards = open_boards(street, team.signed_in("Leader"), project="films")
    (media / "film.mp4").write_text("no film")
    (media / "other.mp4").write_text("no film")
    (tmp_path / "drawn" / "study.toml").write_text("title = ")
    for path in street.people.rglob("*.jsonl"):
        path.write_text("no row")
    street.config.write_text(street.config.read_text() + "[what]\n")
    places = find_places(current().settings.paths)
    at = {"project": "films", "item": item.public, "token": token, "study": study.public, "key": study.key}
    all_at = [
        addresses({**at, "made_set": boards.made.public, "place": one.id, "run": one.id}) for one in places
    ]
    wheres = sorted({(name, where) for found in all_at for name, where in found.items()})
    forms = [
        {"act": "make", "slug": "new", "title": "New", "protocol": "mmvu", "media": "/elsewhere"},
        {"act": "take", "path": "video:other.mp4", "set": "x", "project": "films"},
        {"act": "release", "version": "1.0", "name": "x", "source": "title =", "text": "x"},
    ]
    seen = {}
    for name in ("", *(role.title() for role in ROLES), "Leader"):
        client = team.signed_in(name) if name else team.client()
        for label, where in wheres:
            answers = [client.get(where), client.get(where, headers={"accept": "application/json"})]
            if label != "sign-out":
                answers += [client.post(where, form) for form in forms]
            for answer in answers:
                seen[(name, label)] = seen.get((name, label), "") + b"".join(answer).decode(errors="replace")
    folders = (str(tmp_path), html.escape(str(tmp_path)), tempfile.gettempdir() + "/", f"{Path.home()}/")
    assert [at for at, text in seen.items() if any(one in text for one in folders)] == []
    told = "".join(seen.values())
    for words in ("media & more/film.mp4", "media &amp; more, or below", "runs/two", "<code>data</code>: "):
        assert words in told, words


def test_one_who_only_looks_sees_no_page_of_operators(view):
    client = view.signed_in()
    assert client.get("/").status_code in (200, 302)
    assert client.get("/health").status_code == 403


@pytest.mark.parametrize("mode", ["view", "solo"])
def test_nobody_else_gets_in_where_one_person_is(tmp_path, mode):
    with studio(mode, tmp_path) as made:
        for name, where in addresses({"project": "films", "item": UUID(int=0)}).items():
            usual = 403 if "GET" in named()[name][1].callback.methods else 405
            usual = 404 if TABLE[name] is ABSENT else usual
            status = {"static": 200, "sign-in": 404}.get(name, usual)
            assert made.client().get(where).status_code == status, name


def test_no_get_changes_a_row(team, places):
    from django.db import connection

    from vidence.studio.upkeep import count_tables

    team.user("Uma", *ROLES, project="films")
    names = [role.title() for role in ROLES] if IS_THOROUGH else ["Uma"]
    clients = [team.client(), *map(team.signed_in, names)]
    before = count_tables(connection), contents()
    for client in clients:
        for where in addresses(places["films"]).values():
            for ask in (client.get, client.head, client.options)[: 3 if IS_THOROUGH else 1]:
                ask(where)
    assert (count_tables(connection), contents()) == before


def test_strangers_add_no_row_to_any_table(team, places):
    """300 requests of all that they may ask for, each with another cookie, and of what is not there."""
    from django.db import connection

    from vidence.studio.upkeep import count_tables

    team.user("Ada", "author")
    public = [name for name, (_, one) in named().items() if one.callback.roles >= ANYONE]
    assert len(public) >= 20
    wheres = ["/", "/nothing", *(addresses(places["films"])[name] for name in public)]
    before = count_tables(connection), contents()
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    for n in range(300):
        client = team.client()
        client.cookies[current().cookie] = "a" * 32
        client.get(wheres[n % len(wheres)])
        assert set(client.cookies) <= {current().cookie, f"{current().cookie}_form"}
    assert (count_tables(connection), contents()) == before
    assert "django_session" not in tables


def contents():
    """Every row of the studio."""
    from django.apps import apps

    models = apps.get_app_config("studio").get_models(include_auto_created=True)
    return {one.__name__: sorted(map(repr, one.objects.values_list())) for one in models}


def test_every_change_needs_the_token_of_its_session(team, places):
    team.user("Ada", "operator")
    client, other = team.client(enforce_csrf_checks=True), team.client(enforce_csrf_checks=True)
    for one in (client, other):
        page = one.get("/sign-in").content.decode()
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page)[1]
        said = {"username": "Ada", "password": PASSWORD}
        assert one.post("/sign-in", said).status_code == 403
        assert one.post("/sign-in", {**said, "csrfmiddlewaretoken": token}).status_code == 302
    strange = re.search(r'csrfmiddlewaretoken" value="(\w+)"', other.get("/").content.decode())[1]
    before = contents()
    changing = [name for name, (_, one) in named().items() if not one.callback.methods <= set(SAFE)]
    for name, where in addresses(places["films"]).items():
        if name not in changing:
            assert client.post(where).status_code in (403, 405), name
            continue
        for token in ("", strange, "a" * 32, "a" * 64)[: 4 if IS_THOROUGH else 2]:
            assert client.post(where, {"csrfmiddlewaretoken": token}).status_code == 403, name
    assert contents() == before
    assert client.get("/").status_code == 200


def test_another_host_is_refused(team):
    for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "127.0.0.1@evil", ""]:
        for where in ("/", "/sign-in", "/nothing"):
            answer = team.client().get(where, headers={"host": host})
            assert answer.status_code == 400
            assert b"evil" not in answer.content
            assert "default-src 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"host": "evil.example"}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:99"}, 403),
    ],
)
def test_no_address_takes_a_form_of_another_host_or_site(team, places, said, status):
    team.user("Ada", *ROLES)
    client = team.client(enforce_csrf_checks=True)
    page = client.get("/sign-in").content.decode()
    form = {"csrfmiddlewaretoken": re.search(r'token" value="(\w+)"', page)[1]}
    client.post("/sign-in", {"username": "Ada", "password": PASSWORD, **form})
    form["csrfmiddlewaretoken"] = re.search(r'token" value="(\w+)"', client.get("/").content.decode())[1]
    before, known = contents(), addresses(places["films"])
    for name in sorted(changing()):
        assert client.post(known[name], form, headers=said).status_code == status, name
    assert contents() == before
    assert client.post(known["sign-out"], form).status_code == 302


def test_an_address_without_a_rule_is_refused_at_the_start():
    from django.urls import include, path

    def open_to_all(request):
        raise AssertionError

    refuse_open_routes([route("a", open_to_all, name="a", roles=ANYONE)])
    refuse_open_routes(urlpatterns)
    for bad in (
        path("a", open_to_all, name="a"),
        route("a", open_to_all, name="a", roles=()),
        route("a", open_to_all, name="a", roles={"root"}),
        path("a/", include([path("b", open_to_all)])),
    ):
        with pytest.raises(UsageError, match="who may see it"):
            refuse_open_routes([bad])
