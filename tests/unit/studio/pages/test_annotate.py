"""Writing an item by its pages: media, the form, saves, conflicts, handing in, what came back."""

import html
import json
import re
import shutil

import pytest
from PIL import Image

from servers.studio import under
from vidence.studio.bridge.items import annotations_of, item_of
from vidence.studio.projects import add_items, add_project
from vidence.studio.records.items import ItemRow, MediumRow, RevisionRow
from vidence.studio.records.work import DraftLogRow, DraftRow
from vidence.studio.times import owed
from vidence.studio.training import Trial, add_trial
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of, to_revision
from videos.stamped import write

JSON = {"Accept": "application/json"}
PAYLOADS = (
    "<script>window.pwned=1</script>",
    "\"'><img src=x onerror=window.pwned=1>",
    "{{ 7*7 }}{% debug %}",
    "</textarea></template><svg onload=window.pwned=1>",
    "javascript:alert(1)//",
    "\u202egnp.exe",
)
BOX = {"x0": "10", "y0": "5", "x1": "30", "y1": "40.5"}
FILLED = {
    "question": "Which lens bends the light most?",
    "language": "en",
    "right-text": "the thick one",
    "wrong-0-text": "the flat one",
    "wrong-0-why": "it is the widest",
    "wrong-1-text": "the hollow one",
    "wrong-2-text": "the coloured one",
    "wrong-3-text": "none of them bends it at all",
    "step-0": "Three lenses are put into a beam.",
    "step-1": "Behind the thick one the beam crosses soonest.",
    "evidence-0-kind": "proactive",
    "evidence-0-start": "0.1",
    "evidence-0-end": "0.3",
    "evidence-0-text": "the beam behind the glass",
    "evidence-0-steps": "1, 2",
    "knowledge-0-title": "Lens",
    "knowledge-0-url": "https://en.wikipedia.org/wiki/Lens",
    "subject": "Physics",
    "textbook": "Optics",
    "chapter": "3",
    "concept": "refraction",
}


@pytest.fixture(scope="module")
def lens(tmp_path_factory):
    """A film, encoded once."""
    return write(tmp_path_factory.mktemp("lens") / "lens.mp4", numbers=range(30))


class Place:
    """A project with a film, an author, and a browser of theirs."""

    def __init__(self, team, folder, film, protocol="mmvu"):
        self.team, self.folder = team, folder
        shutil.copy(film, folder / "clips" / "lens.mp4")
        self.project = add_project("films", protocol, media_root=str(folder))
        self.ann = team.user("Ann", "author", project="films")
        self.client = team.signed_in("Ann")

    def take_in(self, *paths):
        ticked = [f"video:{one}" for one in paths or ("clips/lens.mp4",)]
        return self.client.post("/projects/films/media/", {"path": ticked})

    def begin(self, form="mmvu/mcq", media=None):
        rows = [one.public for one in MediumRow.objects.order_by("path")] if media is None else media
        return self.client.post("/projects/films/new/", {"medium": rows, "form": form})

    def post(self, address, *, client=None, headers=None, **fields):
        n = len(DraftLogRow.objects.all())
        version = fields.pop("version", None)
        if version is None:
            draft = DraftRow.objects.filter(is_closed=False).order_by("-pk").first()
            version = draft.version if draft else 0
        seen = fields.pop("seen", None) or ItemRow.objects.order_by("-pk").first().lock_version
        told = {"request": f"word-{n}", "seen": seen, **fields, "version": version}
        return (client or self.client).post(address, told, headers=headers)


@pytest.fixture
def place(team, tmp_path, lens):
    (tmp_path / "clips").mkdir()
    return Place(team, tmp_path, lens)


@pytest.fixture
def edit(place):
    """The address of the form of a new item."""
    assert place.take_in().status_code == 302
    begun = place.begin()
    assert begun.status_code == 302, begun.content.decode()
    return begun["location"]


def said(answer):
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_media_are_taken_in_with_their_facts_and_used_up_to_their_quota(place, lens):
    (place.folder / "clips" / "link.mp4").symlink_to(lens)
    (place.folder / "clips" / "bad.mp4").write_bytes(b"no film")
    bad = ("../outside.mp4", "/etc/passwd", "clips/../../x.mp4", "a\0b", "no-such.mp4", "", "clips/bad.mp4")
    for path in bad:
        assert place.take_in(path).status_code == 400, path
    assert "outside the folders" in said(place.take_in("clips/link.mp4"))
    assert MediumRow.objects.count() == 0
    (place.folder / "notes.txt").write_text("no medium")
    page = place.client.get("/projects/films/media/").content.decode()
    assert "video:clips/lens.mp4" in page
    assert "notes.txt" not in page
    place.take_in()
    row = MediumRow.objects.get()
    assert (row.path, row.kind, row.n_frames, row.duration_s, row.source_id) == (
        *("clips/lens.mp4", "video", 30, 1.0),
        "clips/lens.mp4",
    )
    assert len(row.sha256) == 64
    assert "video:clips/lens.mp4" not in place.client.get("/projects/films/media/").content.decode()
    for form in ("mmvu/3afc", "no-such/mcq", "mmvu", ""):
        assert place.begin(form).status_code == 400, form
    for media in ([], ["6f9619ff-8b86-d011-b42d-00cf4fc964ff"]):
        assert place.begin(media=media).status_code == 400, media
    assert ItemRow.objects.count() == 0
    assert [place.begin().status_code for _ in range(4)] == [302, 302, 302, 400]
    assert "3 items, which is its quota" in said(place.begin())
    assert "full" in said(place.client.get("/projects/films/media/"))
    assert ItemRow.objects.count() == 3


def test_a_save_has_a_version_and_what_no_form_has_is_refused(place, edit):
    unknown = ({"state": "accepted"}, {"author": "eve"}, {"wrong-0-is_right": "1"})
    for fields in (*unknown, {"question": "x" * 10_001}, {"request": ""}):
        answer = place.post(edit, headers=JSON, **{"question": "x", **fields})
        assert (answer.status_code, bool(json.loads(answer.content)["words"])) == (400, True), fields
    for version in ("-1", "1e3", "", "99999999999"):
        assert place.post(edit, headers=JSON, question="x", version=version).status_code == 409, version
    assert DraftLogRow.objects.count() == 0
    assert ItemRow.objects.get().state == "drafting"
    place.team.user("Eve", "author", project="films")
    place.team.user("Bob", "reviewer", project="films")
    assert place.team.signed_in("Eve").get(edit).status_code == 404
    assert place.team.signed_in("Eve").post(edit, {"question": "mine now"}).status_code == 404
    assert place.team.signed_in("Eve").get(f"{edit}/checks").status_code == 404
    assert place.team.signed_in("Bob").get(edit).status_code == 403
    assert place.team.client().get(edit).status_code == 302
    answer = place.team.client().post(edit, {"question": "x", "version": 0}, headers=JSON)
    assert answer.status_code == 401
    answer = place.post(edit, headers=JSON, question="Which lens?")
    told = json.loads(answer.content)
    assert (answer.status_code, told["version"], told.keys()) == (200, 1, {"version", "at"})
    empty, later = "The right option is empty.", "Empty parts are checked"
    panels = [place.client.get(f"{edit}/checks{asked}").content.decode() for asked in ("", "?all=1")]
    assert [(empty in panel, later in panel) for panel in panels] == [(False, True), (True, False)]
    assert "Which lens?" in place.client.get(edit).content.decode()
    assert DraftLogRow.objects.get().version == 1
    answer = place.post(edit, question="Which lens?", action="save", **{"step-1": "later", "step-0": "first"})
    assert (answer.status_code, answer["location"]) == (302, edit)
    page = place.client.get(edit).content.decode()
    assert page.index("first") < page.index("later")


def test_an_empty_form_is_calm_until_it_is_handed_in(place, edit):
    page = place.client.get(edit).content.decode()
    assert "fault-said" not in page
    assert "Empty parts are checked when you hand in." in page
    place.post(edit, **{"wrong-0-text": "a concave one"})
    page = place.client.get(edit).content.decode()
    assert "The right option is empty." in page
    assert "The question is missing." not in page
    refused = place.post(edit, version=1, action="submit").content.decode()
    assert "The question is missing." in refused
    assert "/edit/checks?all=1" in refused


def test_two_tabs_are_a_conflict_that_shows_both(place, edit):
    place.post(edit, question="Which lens is thick?", version=0)
    late = place.post(edit, headers=JSON, question="Which lens is thin?", version=0)
    assert (late.status_code, json.loads(late.content)["version"]) == (409, 1)
    page = place.post(edit, question="Which lens is thin?", version=0)
    assert page.status_code == 409
    text = page.content.decode()
    assert "<del>thick</del>" in text
    assert "<ins>thin</ins>" in text
    assert DraftRow.objects.get().version == 1
    mine = place.post(edit, question="Which lens is thin?", version=1)
    assert mine.status_code == 302
    assert [one.version for one in DraftLogRow.objects.order_by("version")] == [1, 2]


def test_hostile_words_are_shown_as_text(place, edit):
    for words in PAYLOADS:
        fields = {name: words for name in FILLED if not name.endswith(("kind", "id"))}
        place.post(edit, **fields)
        for answer in (
            place.client.get(edit),
            place.post(edit, version=0, **fields),
            place.post(edit, action="submit", **fields),
        ):
            page = answer.content.decode()
            for mark in ("<script>window", "<img src=x", "<svg onload", "49{% debug", "</template><svg"):
                assert mark not in page
            assert html.escape(words) in page or words in page


def test_what_is_whole_is_handed_in_as_a_revision(place, edit):
    answer = place.post(edit, question="Which lens?", action="submit")
    assert answer.status_code == 422
    assert "It is saved." in said(answer)
    assert "expected 4" in said(answer)
    assert (ItemRow.objects.get().state, DraftRow.objects.get().version) == ("drafting", 1)
    answer = place.post(edit, action="submit", seen=99, **FILLED)
    assert answer.status_code == 409
    assert "it has changed" in said(answer)
    assert RevisionRow.objects.count() == 0
    answer = place.post(edit, action="submit", **FILLED)
    assert answer.status_code == 302, said(answer)
    item = ItemRow.objects.get()
    assert (item.state, item.author.pseudonym) == ("submitted", place.ann.pseudonym)
    revision = to_revision(item.current, item.item_id)
    question = item_of(revision)
    assert question.choices[ord(question.answer) - ord("A")] == "the thick one"
    assert question.media[0].path == "clips/lens.mp4"
    assert question.tags["textbook"] == "Optics"
    piece = annotations_of(revision).annotations.evidence[0]
    assert (piece.first, piece.last, piece.steps) == (3, 9, (0, 1))
    assert DraftRow.objects.get().is_closed
    place.post(edit, action="submit", **FILLED)
    other = place.begin()["location"]
    assert re.search(r"A \d, B \d, C \d, D \d, E \d", re.sub(r"\s+", " ", said(place.client.get(other))))


def test_handing_in_twice_is_one_revision(place, edit):
    answers = [
        place.post(edit, action="submit", version=0, request="same", seen=1, **FILLED) for _ in range(2)
    ]
    assert [one.status_code for one in answers] == [302, 302]
    assert RevisionRow.objects.count() == len(owed(place.project)) == 1
    late = place.post(edit, headers=JSON, version=1, question="more")
    assert (late.status_code, json.loads(late.content)["closed"]) == (409, True)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda source: source.replace("[qualification]", "").replace('"expert"', '"expertise"'), 302),
        (lambda source: f"{source}pass_mark = 1.0\n", 409),
    ],
)
def test_a_form_that_was_open_under_older_rules_goes_through_or_is_told_and_loses_nothing(
    place, edit, change, status
):
    assert place.client.get(edit).status_code == 200
    source = place.project.protocol.source
    assert change(source) != source
    add_trial(place.project, Trial(role="author", words="Which?", options=("a", "b"), right="a"))
    under(place.project, change(source))
    saved = place.post(edit, headers=JSON, question="written under the old rules")
    assert json.loads(saved.content)["version"] == 1
    answer = place.post(edit, action="submit", **FILLED)
    assert answer.status_code == status, said(answer)
    if status == 302:
        assert ItemRow.objects.get().state == "submitted"
        return
    assert "qualif" in said(answer).lower() or "trial" in said(answer)
    assert FILLED["question"] in answer.content.decode()
    assert FILLED["question"] in DraftRow.objects.get(is_closed=False).body
    assert RevisionRow.objects.count() == 0


@pytest.fixture
def returned(place, edit):
    place.post(edit, action="submit", **FILLED)
    item = ItemRow.objects.get()
    check = next(one for one in protocol_of(place.project).stages[0].checks if one.field == "question")
    act(item, Act(kind="claim", by="bob", role="reviewer"))
    words = "It is not said which of the lenses in the film are meant; name the first shot."
    act(item, Act(kind="return", by="bob", role="reviewer", message=words, checks={check.id: "no"}))
    assert item.state == "returned"
    return edit


def test_what_came_back_is_marked_and_changed_or_explained(place, returned):
    page = said(place.client.get(returned))
    assert "This is your one revision" in page
    assert "It is not said which of the lenses" in page
    assert "Marked wrong by the review" in page
    assert "the thick one" in place.client.get(returned).content.decode()
    assert "bob" not in page
    other = {**FILLED, "step-0": "Three lenses are put into one beam."}
    assert "This was marked" in said(place.post(returned, action="submit", **other))
    assert RevisionRow.objects.count() == 1
    changed = {**FILLED, "question": "Which lens of the first shot bends the light most?"}
    assert "<ins>" in place.post(returned, **changed, action="submit", seen=99).content.decode()
    assert place.post(returned, action="submit", **changed).status_code == 302
    last = RevisionRow.objects.order_by("-n").first()
    assert (last.n, last.origin) == (2, "author_revise")
    first = RevisionRow.objects.get(n=1)
    orders = [json.loads(one.content)["annotations"]["order"] for one in (first, last)]
    assert orders[0] == orders[1]


def test_the_note_of_a_reviewer_stands_beside_its_field_and_the_form_opens_there(place, edit):
    from vidence.studio.access import Person
    from vidence.studio.reviewing import claim, decide
    from vidence.studio.rules.review_steps import FilledForm

    place.post(edit, action="submit", **FILLED)
    item = ItemRow.objects.get()
    name = place.team.user("Bob", "reviewer", project="films").pseudonym
    bob = Person(name=name, shown="Bob", roles={"films": frozenset({"reviewer"})})
    claim(item, bob)
    check = next(one for one in protocol_of(place.project).stages[0].checks if one.field == "question")
    words = "It is not said which of the lenses in the film are meant; name the first shot."
    given = FilledForm(checks={check.id: "no"}, notes={"question": "Which <lens>?"}, message=words)
    done = decide(item, bob, "return", given=given, minutes=1, seen=None)
    assert isinstance(done, RecordedAct), done
    page = place.client.get(edit).content.decode()
    at = page.index('id="g-question"')
    beside = page[at : page.index("</fieldset>", at)]
    assert 'id="first-marked"' in beside
    assert page.count('id="first-marked"') == 1
    assert "“Which &lt;lens&gt;?”" in beside
    assert f"{edit}#first-marked" in place.client.get("/work").content.decode()


def test_a_mark_may_be_answered_in_words(place, returned):
    answer = place.post(
        returned, action="submit", **{**FILLED, "step-0": "Three.", "changed": "There is one shot."}
    )
    assert answer.status_code == 302
    assert ItemRow.objects.get().state == "submitted"


def test_nobody_begins_what_they_cannot_hand_in(place):
    from vidence.studio.training import add_guideline

    place.take_in()
    add_guideline(place.project, "Write plainly.", by="p009")
    page = place.client.get("/projects/films/new/")
    assert page.status_code == 200
    assert "must be read first" in page.content.decode()
    assert 'disabled aria-describedby="why-closed"' in page.content.decode()
    refused = place.begin()
    assert refused.status_code == 409
    assert "must be read first" in refused.content.decode()
    assert not ItemRow.objects.exists()


def imported(place, author, kind="submit"):
    """An item of another place, with its wording; it came back where `kind` says so."""
    add_items(place.project, ["far-1"], kinds={"far-1": "mcq"})
    row = ItemRow.objects.get(item_id="far-1")
    words = {"item_id": "far-1", "question": "Which far lens?", "choices": ["thick", "thin"], "answer": "A"}
    assert isinstance(
        act(row, Act(kind="submit", role="author", by=author, content=words, origin="import")), RecordedAct
    )
    if kind == "return":
        bob = "bob"
        check = protocol_of(place.project).stages[0].checks[0].id
        for said in (
            Act(kind="claim", role="reviewer", by=bob),
            Act(kind="return", role="reviewer", by=bob, message="x" * 50, checks={check: "no"}),
        ):
            assert isinstance(act(row, said), RecordedAct)
    return row


@pytest.mark.parametrize("kind", ["submit", "return"])
def test_what_was_made_elsewhere_is_no_form_of_those_who_may_review_it(place, kind):
    row = imported(place, "theirs", kind)
    here = f"/projects/films/items/{row.public}/"
    assert place.client.get(f"{here}edit").status_code == 404
    assert place.post(f"{here}edit", question="mine now").status_code == 404
    assert "Continue writing" not in place.client.get(here).content.decode()
    assert DraftRow.objects.count() == 0
    row.refresh_from_db()
    assert row.author is None


def test_items_from_elsewhere_are_of_their_author_or_who_writes_first(place):
    row = imported(place, place.ann.pseudonym, "return")
    here = f"/projects/films/items/{row.public}/"
    assert "Continue writing" in place.client.get(here).content.decode()
    assert "Which far lens?" in place.client.get(f"{here}edit").content.decode()
    add_items(place.project, ["new-1"], kinds={"new-1": "mcq"})
    row = ItemRow.objects.get(item_id="new-1")
    edit = f"/projects/films/items/{row.public}/edit"
    assert place.post(edit, question="Which?").status_code == 302
    place.team.user("Eve", "author", project="films")
    assert place.team.signed_in("Eve").get(edit).status_code == 404


def test_a_box_is_shown_over_its_picture_where_items_are_written_read_and_reviewed(place):
    (place.folder / "plates").mkdir()
    for number in range(2):
        Image.new("RGB", (64, 48), (9, 9, 90 * number)).save(place.folder / "plates" / f"{number}.png")
    taken = place.client.post("/projects/films/media/", {"path": "images:plates"})
    assert taken.status_code == 302
    edit = place.begin()["location"]
    box = {"evidence-0-medium": "1", **{f"evidence-0-{side}": n for side, n in BOX.items()}}
    told = {name: said for name, said in FILLED.items() if not name.startswith("evidence")} | box
    told |= {"evidence-0-text": "the plate", "evidence-0-kind": "referred", "action": "submit"}
    over = place.post(edit, **told | {"evidence-0-x1": "65"})
    assert over.status_code == 422
    assert "64 x 48 pixels" in said(over)
    assert place.post(edit, **told).status_code == 302
    row = ItemRow.objects.get()
    piece = annotations_of(to_revision(row.current, row.item_id)).annotations.evidence[0]
    assert (piece.medium, piece.box) == (1, (10.0, 5.0, 30.0, 40.5))
    drawn = '<rect x="10" y="5" width="20" height="35.5"/>'
    here = f"/projects/films/items/{row.public}/"
    history = place.client.get(here).content.decode()
    assert drawn in history
    assert "picture 2, <span" in history
    place.team.user("Bob", "reviewer", project="films")
    bob = place.team.signed_in("Bob")
    assert drawn not in bob.get(f"{here}review").content.decode()
    assert bob.post(f"{here}claim").status_code == 302
    assert drawn in bob.get(f"{here}review").content.decode()


def test_frames_that_are_not_there_are_refused_and_those_that_are_go_out_in_their_order(place, edit):
    told = {**FILLED, "evidence-1-kind": "oracle", "evidence-1-text": "all is seen", "action": "submit"}
    refused = place.post(edit, **told, **{"evidence-1-frames": "7, 30"})
    assert refused.status_code == 422
    assert "There is no frame 30; they are 0 to 29." in said(refused)
    assert place.post(edit, **told, **{"evidence-1-frames": "20, 7"}).status_code == 302
    row = ItemRow.objects.get()
    revision = to_revision(row.current, row.item_id)
    assert item_of(revision).evidence[1].frames == (20, 7)
    assert annotations_of(revision).annotations.evidence[1].times_s == (0.666667, 0.233333)
