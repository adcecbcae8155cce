"""A review in the browser and the same verdicts by commands release the same set, byte by byte."""

import json
import re

import pytest

from servers.studio import configured, studio

configured()  # before tests import tables

from subjects.reviewed import Reviewed  # noqa: E402
from vidence.make.review.files import read_reviews  # noqa: E402
from vidence.make.review.recording import Filled, Recorder, write  # noqa: E402
from vidence.studio.records.boards import MadeSetRow  # noqa: E402
from vidence.studio.records.items import ItemRow  # noqa: E402

CHECKS = ("frames", "unique", "apart")
SAID = (
    {"frames": "yes", "unique": "no", "apart": "", "verdict": "reject", "note": 'Two are right, "A" and B.'},
    {"frames": "", "unique": "", "apart": "no", "verdict": "reject", "note": ""},
)
FINE = {"frames": "yes", "unique": "yes", "apart": "yes", "verdict": "accept", "note": ""}


def begun(folder):
    """A making that waits for people; its folder `out` is said in the configuration."""
    folder.mkdir()
    one = Reviewed(folder)
    one.config.write_text('out = "../out"\n' + one.config.read_text())
    one.make()
    return one


def verdicts(place):
    """What is said of each question of a review: two are rejected."""
    names = read_reviews(place).states
    return {name: SAID[n] if n < len(SAID) else FINE for n, name in enumerate(names)}


def decided(one):
    """Decide as a person does with the commands."""
    bob = Recorder(read_reviews(one.reviews), by="Bob", role="reviewer", at="2030-01-01T10:00:00.000000Z")
    for name, said in verdicts(one.reviews).items():
        checks = {check: said[check] for check in CHECKS if said[check]}
        words = Filled(item_id=name, verdict=said["verdict"], checks=checks, note=said["note"])
        assert bob.add("claim", name) + bob.add(said["verdict"], name, said=words) == ""
    write(one.reviews, [bob])


def opened(place, one):
    """The made set in a project under HERBench's protocol, and its page."""
    project = place.project("kitchens", "herbench")
    row = MadeSetRow.objects.create(
        project=project, folder=str(one.folder / "out"), people_folder=str(one.folder / "set" / "people")
    )
    place.user("Olga", "operator", project="kitchens")
    place.user("Bob", "reviewer", project="kitchens")
    return f"/projects/kitchens/questions/{row.public}"


def looked_at(place, one, address):
    """Take the questions in, decide each of them on its page, and write the verdicts."""
    olga, bob = place.signed_in("Olga"), place.signed_in("Bob")
    assert b"were taken in" in olga.post(address, {"act": "take"}).content
    for name, said in verdicts(one.reviews).items():
        item = ItemRow.objects.get(item_id=name)
        base = f"/projects/kitchens/items/{item.public}"
        assert bob.post(f"{base}/claim").status_code == 302
        sent = {f"check:{name}": said[name] for name in CHECKS}
        sent |= {"act": said["verdict"], "message": said["note"], "seen": item.lock_version + 1}
        assert bob.post(f"{base}/review", sent).status_code == 302
    answer = olga.post(address, {"act": "write"})
    assert b"make the set again" in answer.content


def contents(folder):
    """Every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def place(tmp_path):
    one = begun(tmp_path / "seen")
    with studio("team", tmp_path / "studio", paths=(one.config,)) as made:
        yield made, one, opened(made, one)


def test_both_ways_release_the_same(place, tmp_path, vidence):
    made, seen, address = place
    other = begun(tmp_path / "other")
    looked_at(made, seen, address)
    decided(other)
    found = []
    for one in (seen, other):
        one.make()
        released, about = one.folder / "again", one.folder / "about.toml"
        about.write_text('version = "1.0.0"\nwithout_licence = ["all"]\n')
        done = vidence(
            *("release", str(one.folder / "out" / "items.jsonl"), "--into", str(released)),
            *("--name", "kitchens", "--account", str(one.folder / "out" / "account.json")),
            *("--about", str(about)),
        )
        assert done.code == 0, done.err
        found.append(
            {
                "result": (one.folder / "out" / "review" / "result.json").read_bytes(),
                "items": (one.folder / "out" / "items.jsonl").read_bytes(),
                "made": contents(one.release()),
                "command": contents(released),
            }
        )
    first, second = found
    for name in ("result", "items", "made", "command"):
        assert first[name] == second[name], name
    assert len(first["made"]) > 3
    assert {"kitchens-1.0.0/items.jsonl", "kitchens-1.0.0/SHA256SUMS"} <= set(first["command"])
    total = json.loads(first["result"])["tasks"][-1]
    assert total["n_sample_rejected"] + total["n_queued_rejected"] == len(SAID)


def test_the_page_says_beforehand_what_the_limits_of_the_set_release(place):
    made, one, address = place
    olga = made.signed_in("Olga")

    def words():
        return re.sub(r"(<[^>]+>|\s)+", " ", olga.get(address).content.decode())

    page = words()
    assert "As [review] in config.toml says it." in page
    assert "is 70 % or less" in page
    n_drawn = len(verdicts(one.reviews))
    assert f"Before anybody looked: {n_drawn} of" in page
    assert "are released with them" in page
    one.config.write_text(one.config.read_text().replace("most_rejected = 0.7", "most_rejected = 0.1"))
    page = words()
    assert "is 10 % or less" in page
    assert "held back whatever is said" in page
