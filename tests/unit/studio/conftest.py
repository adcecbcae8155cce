"""Studios for one test each; what is written in them is taken back."""

import shutil

import pytest

from servers.studio import configured, studio

configured()  # before tests import tables

from subjects.board_studio import Boards, open_boards  # noqa: E402
from subjects.open_study import Person, draw_study, link_of, plain, write_questions  # noqa: E402
from subjects.street_set import StreetSet  # noqa: E402


@pytest.fixture
def team(tmp_path):
    """A studio with accounts."""
    with studio("team", tmp_path) as made:
        yield made


@pytest.fixture
def solo(tmp_path):
    """A studio of one person."""
    with studio("solo", tmp_path) as made:
        yield made


@pytest.fixture
def view(tmp_path):
    """A studio that only shows."""
    with studio("view", tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def drawn_street(tmp_path_factory):
    """A small set, made once."""
    street = StreetSet(tmp_path_factory.mktemp("street")).draw()
    street.make()
    return street


@pytest.fixture
def street(drawn_street, tmp_path):
    """The same set in a folder of its own."""
    shutil.copytree(drawn_street.folder, tmp_path / "street", symlinks=True)
    return StreetSet(tmp_path / "street")


@pytest.fixture
def boards(street, tmp_path):
    """The boards of the set, opened by the one person of a studio."""
    with studio("solo", tmp_path / "studio", paths=(street.config,)) as made:
        yield open_boards(street, made.signed_in())


@pytest.fixture
def two_boards(street, tmp_path):
    """The boards of the set as an operator (p001) and an author (p002) of a team have them open."""
    with studio("team", tmp_path / "studio", paths=(street.config,)) as made:
        made.project("films")
        made.user("Olga", "operator", project="films")
        made.user("Ada", "author", project="films")
        first = open_boards(street, made.signed_in("Olga"), project="films")
        yield first, Boards(street=street, made=first.made, client=made.signed_in("Ada"))


@pytest.fixture(scope="session")
def questions(tmp_path_factory):
    """Clips and questions, made once."""
    folder = tmp_path_factory.mktemp("questions")
    write_questions(folder)
    return folder


@pytest.fixture
def opened(questions, tmp_path, solo):
    """Open a study in a folder of its own; the row."""

    def make(text=None, *, name="study", before=None, **more):
        from vidence.studio.studies import open_study

        folder = tmp_path / name
        folder.mkdir()
        for path in questions.iterdir():
            (folder / path.name).symlink_to(path)
        for path, words in (before or {}).items():
            (folder / path).write_text(words)
        return open_study(draw_study(folder, text or plain()), **more)

    return make


@pytest.fixture
def people(solo):
    """Browsers with a link each to a study."""

    def make(study, n=1):
        from vidence.studio.studies import invite

        return [Person(solo.client(), link_of(study, one.key)) for one in invite(study, n)]

    return make
