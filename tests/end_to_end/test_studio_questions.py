"""A made set is reviewed on pages, and released by what was said there."""

import json
import re

import pytest

from servers.studio import configured, studio

configured()  # before tests import tables

from subjects.reviewed import Reviewed  # noqa: E402
from vidence.make.review.files import read_reviews  # noqa: E402
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
    assert b"were imported" in olga.post(address, {"act": "take"}).content
    for name, said in verdicts(one.reviews).items():
        item = ItemRow.objects.get(item_id=name)
        base = f"/projects/kitchens/items/{item.public}"
        assert bob.post(f"{base}/claim").status_code == 302
        sent = {f"check:{name}": said[name] for name in CHECKS}
        sent |= {"act": said["verdict"], "message": said["note"], "seen": item.lock_version + 1}
        assert bob.post(f"{base}/review", sent).status_code == 302
    answer = olga.post(address, {"act": "write"})
    assert b"make the set again" in answer.content


@pytest.fixture
def place(tmp_path):
    one = begun(tmp_path / "seen")
    with studio("team", tmp_path / "studio", paths=(one.config,)) as made:
        yield made, one, opened(made, one)


def test_what_is_decided_on_pages_is_released_as_they_say_beforehand(place):
    made, one, address = place
    olga, rules = made.signed_in("Olga"), one.config.read_text()

    def words():
        return re.sub(r"(<[^>]+>|\s)+", " ", olga.get(address).content.decode())

    page = words()
    assert "As set by [review] in config.toml." in page
    assert "is 70 % or less" in page
    n_drawn = len(verdicts(one.reviews))
    assert f"Plan: {n_drawn} of" in page
    assert "are released with them" in page
    one.config.write_text(rules.replace("most_rejected = 0.7", "most_rejected = 0.1"))
    page = words()
    assert "is 10 % or less" in page
    assert "held back anyway" in page
    one.config.write_text(rules)
    looked_at(made, one, address)
    one.make()
    total = json.loads((one.folder / "out" / "review" / "result.json").read_text())["tasks"][-1]
    assert total["n_sample_rejected"] + total["n_queued_rejected"] == len(SAID)
    assert (one.release() / "items.jsonl").read_text().count("\n") == one.account()["release"]["n_out"] > 3
