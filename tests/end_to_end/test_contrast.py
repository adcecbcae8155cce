"""``vidence stats contrast``, as a user runs it on recorded replies."""

import json

import pytest

from vidence.ask.benchmarks.actpld import create

FALLING, EVEN = "110" * 4 + "100" * 4, "10" * 12


def test_levels_inside_two_runs(vidence, leveled_runs):
    leveled_runs(falling=FALLING, even=EVEN)
    done = vidence(
        *("stats", "contrast", "falling", "even", "--tag", "level", "--of", "3", "--to", "1", "--trend"),
        *("--html", "c.html", "--csv", "c.csv", "--json", "c.json", "--latex", "c.tex"),
    )
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "replay:falling: level 3 less 1 is -100.0 points" in text
    assert "replay:even: level 3 less 1 is 0.0 points, which is not distinguishable from zero" in text
    assert "2 of 4 distinguishable from zero after Holm's adjustment for 2." in text
    assert max(map(len, done.out.splitlines())) <= 100
    found = json.loads((vidence.folder / "c.json").read_text())["contrasts"]["contrasts"]
    assert [one["contrast"]["estimate"]["value"] for one in found] == pytest.approx([-1, -0.5, 0, 0])
    assert "Contrasts of level" in (vidence.folder / "c.html").read_text()
    assert (vidence.folder / "c.csv").read_text().count("\n") == 5
    assert (vidence.folder / "c.tex").read_text().isascii()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--tag", "level"), "nothing to contrast; level is 1, 2, 3"),
        (("--tag", "level", "--of", "3"), "give --of and --to together"),
        (("--tag", "level", "--of", "9", "--to", "1"), "has level '9'; there is 1, 2, 3"),
        (("--tag", "nothing", "--trend"), "no question of replay:even has the tag 'nothing'"),
        (("--tag", "one", "--trend"), "one has only 'same' in replay:even; a contrast needs two values"),
    ],
)
def test_what_cannot_be_contrasted_is_refused(vidence, leveled_runs, words, says):
    leveled_runs(even=EVEN)
    done = vidence("stats", "contrast", "even", *words)
    assert (done.code, says in done.err) == (2, True), done.err
    assert "Traceback" not in done.err


def test_conditions_of_point_lights_are_compared_over_their_motions(vidence):
    motions = {"walk": "a", "run": "a", "jump": "b", "wave": "c", "hop": "d", "kick": "e"}
    rows = [
        f"{label},single,to {label},{group},walker:walk?duration_s=1&height_m=1.{60 + n},{condition}"
        for n, (label, group) in enumerate(motions.items())
        for condition in ("upright", "inverted")
    ]
    head = "label,set,intention,group,file,condition"
    (vidence.folder / "map.csv").write_text("\n".join([head, *rows]))
    (vidence.folder / "c.toml").write_text(
        'name = "c"\nmap = "map.csv"\nout = "made"\n[clips.stimulus]\nwidth_px = 64\nheight_px = 64\n'
        '[rows.inverted]\nsettings = "is_inverted=true"\n'
    )
    done = vidence("make", "actpld", "c.toml")
    assert done.code == 0, done.err
    items = create().load(vidence.folder / "made", split="label").items
    assert len({item.source for item in items}) == len(motions)
    for label in motions:
        upright, inverted = (item for item in items if item.tags["label"] == label)
        assert {*upright.choices} == {*inverted.choices}
    wrong = dict(zip("ABC", "BCA", strict=True))
    said = [(i.item_id, i.answer if i.tags["condition"] == "upright" else wrong[i.answer]) for i in items]
    replies = [{"item_id": name, "text": text} for name, text in said]
    (vidence.folder / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)))
    asked = ("--data", "made", "--split", "label", "--no-shuffle-choices", "--model", "replay:replies.jsonl")
    assert vidence("run", "actpld", *asked, "--out", "run").code == 0
    done = vidence("stats", "contrast", "run", "--tag", "condition", "--of", "inverted", "--to", "upright")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "condition inverted less upright is -100.0 points" in text
    assert "12 questions on 6 sources, 6 with more than one value" in text
