"""ActPLD's tables and figures in one command each: ``make actpld``, then ``panel --as actpld``."""

import csv
import json

import msgspec
import pytest
from PIL import Image

from conftest import IS_THOROUGH, need
from subjects.light_study import lights as few_lights
from subjects.planted_study import solve
from vidence.ask.benchmarks.actpld import create as actpld
from vidence.media.lights import lights_path

N_CLIPS = 4  # of each action
ACTIONS = {
    "single": {name: f"walker:{name}?duration_s={{}}" for name in ("walk", "run", "wave", "bow")},
    "social": {
        "meet": "walker:walk?duration_s={}+walker:wave?duration_s={}",
        "greet": "walker:bow?duration_s={}+walker:bow?duration_s={}",
        "race": "walker:run?duration_s={}+walker:run?duration_s={}",
    },
}
# Of the four clips of an action so many are right: choice of label and of intention, then descriptions.
PLANTED = {
    "m1": {
        **{"walk": (4, 4, 3, 3), "run": (3, 2, 2, 2), "wave": (2, 2, 1, 1), "bow": (0, 1, 0, 0)},
        **{"meet": (3, 3, 4, 4), "greet": (1, 2, 2, 2), "race": (0, 1, 1, 1)},
    },
    "m2": {
        **{"walk": (4, 3, 2, 2), "run": (2, 3, 3, 3), "wave": (1, 1, 1, 2), "bow": (0, 0, 1, 1)},
        **{"meet": (2, 3, 3, 3), "greet": (1, 1, 1, 1), "race": (1, 0, 2, 2)},
    },
    "m3": {
        **{"walk": (3, 4, 4, 4), "run": (4, 2, 2, 1), "wave": (2, 1, 0, 1), "bow": (1, 1, 1, 0)},
        **{"meet": (4, 2, 4, 3), "greet": (0, 1, 1, 1), "race": (1, 1, 0, 1)},
    },
}
UNREAD = ("m2", "walk-3/label")  # says nothing, so that it is in no mean
CONFIG = """
name = "lights"
map = "map.csv"
motions = "."
licence = "built-in"
[clips]
points = "13"
fewest_frames = 8
[clips.stimulus]
width_px = 64
height_px = 64
dot_radius_px = 1.2
"""
PANEL = """
title = "Lights"
[settings]
shuffle_choices = false
[[benchmarks]]
benchmark = "actpld"
name = "choices"
data = "made/lights"
[[benchmarks]]
benchmark = "actpld"
name = "logs"
data = "made/lights"
settings = { protocol = "thought-log" }
[[runs]]
folder = "runs/person"
model = "person"
people = true
"""

STUDY = """
preset = "point-light"
data = "../made/lights"
consent = ""
[draw]
n = 28
by = ""
[practice]
n = 0
"""


def write_csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def lights(vidence, begun):
    """Clips made of the built-in figure, with the replies of three models and of a person."""
    begun("lights", lambda: make_lights(vidence))


def make_lights(vidence):
    rows = [
        (f"{label}-{k}", label, set_name, f"to {label}", label, source.format(*[0.5 + k / 10] * 2))
        for set_name, actions in ACTIONS.items()
        for label, source in actions.items()
        for k in range(N_CLIPS)
    ]
    heading = ("clip_id", "label", "set", "intention", "group", "file")
    write_csv(vidence.folder / "map.csv", [heading, *rows])
    (vidence.folder / "c.toml").write_text(CONFIG)
    made = vidence("make", "actpld", "c.toml")
    assert made.code == 0, made.err
    items = actpld().load(vidence.folder / "made/lights", split="3afc").items
    for model, planted in PLANTED.items():
        lines = [{"item_id": i.item_id, "text": reply(i, planted, model)} for i in items]
        (vidence.folder / f"{model}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    labels = [i for i in items if i.tags["target"] == "label" and i.item_id != "bow-0/label"]
    said = [(i.item_id, other(i)[0] if i.item_id == "run-1/label" else i.answer) for i in labels]
    write_csv(vidence.folder / "person.csv", [("item_id", "text"), *said])
    asked = ("--split", "label", "--no-shuffle-choices", "--model", "replay:person.csv")
    vidence("run", "actpld", "--data", "made/lights", *asked, "--out", "runs/person")
    models = "".join(
        f'[[models]]\nmodel = "replay:{name}.jsonl"\nname = "{name}"\n'
        f'rows = ["actpld/{"montage" if name == "m3" else "frames"}"]\n'
        for name in PLANTED
    )
    (vidence.folder / "panel.toml").write_text(PANEL + models)


def test_the_panel_that_making_writes_gives_the_paper_as_it_lies(vidence, lights):
    """Two commands: models of the configuration, and people who described and chose, in every table."""
    (vidence.folder / "s.toml").write_text(
        f'{CONFIG}[panel]\nmodels = ["replay:m1.jsonl", "baseline:random"]\nmontages = ["replay:m3.jsonl"]\n'
    )
    made = vidence("make", "actpld", "s.toml")
    assert "vidence panel made/lights/panel.toml --as actpld" in made.out
    folder = vidence.folder / "study"
    folder.mkdir()
    solve(folder, STUDY, described)
    with (vidence.folder / "made/lights/panel.toml").open("a") as file:
        for who in ("P01", "P02"):
            log = f"{folder}/people/{who}/answers.jsonl?text=log"
            file.write(
                f'[[models]]\nmodel = "replay:{log}"\nname = "{who}"\npeople = true\n'
                'settings = { split = "label", shuffle_choices = false, recorded_only = true }\n'
            )
    done = vidence("panel", "made/lights/panel.toml", "--as", "actpld", "--json", "p.json")
    assert done.code == 0, done.err
    tables = json.loads((vidence.folder / "p.json").read_text())["tables"]
    found = {table["name"]: {line["key"]: line for line in table["lines"]} for table in tables}
    single, social = (found[f"actpld-table{n}"] for n in (2, 3))
    for who, mean in (("P01", 1.0), ("P02", 0.0)):  # words and choice of one reply
        lines = (single[f"row:{who}:label"], social[f"row:{who}:label"])
        assert [[line[f"share:{i}"]["value"] for i in (0, 1)] for line in lines] == [[mean] * 2, [1.0] * 2]
    for i, planted in enumerate((0, 2)):
        measured = 100 * single["row:m1:label"][f"share:{i}"]["value"]
        assert measured == pytest.approx(share("m1", "single", planted))
    # Who knows no words has no log, and is in no mean of descriptions.
    nearest = single["row:baseline:random:label"]
    assert (nearest["n:0"]["text"], nearest["n:1"]["text"], nearest["left:1"]["text"]) == ("16", "0", "16")
    mean = sum(share_of_both(model, "single", (2, 3)) for model in ("m1", "m3")) / 2
    assert 100 * found["actpld-table4"]["row:description"]["share:0"]["value"] == pytest.approx(mean)
    assert found["actpld-fig7-2"]["value:walk"]["people:P02"]["value"] == 0.0
    page = (vidence.folder / "runs/panel-panel/actpld.html").read_text()
    assert "P01 (choices) 28 of 28" in page
    assert page.count("People are in no point: each is the mean over the models.") == 1
    assert "No comparison with people" not in page


def described(slot, trial, item):
    """The first describes and chooses right, the second in social clips alone."""
    if trial.kind == "catch":
        return {"words": "none", "answer": trial.expected}
    letter = item.answer if slot == 0 or item.tags["set"] == "social" else other(item)[0]
    return {"words": f"It looks like {item.choices[item.letters.index(letter)]}", "answer": letter}


def other(item):
    return [letter for letter in item.letters if letter != item.answer]


def reply(item, planted, model):
    """A letter and a description, each right where it was planted so."""
    if (model, item.item_id) == UNREAD:
        return "I see."
    k, at = int(item.item_id.partition("/")[0][-1]), int(item.tags["target"] == "intention")
    right = planted[item.tags["label"]]
    said = item.answer if k < right[at + 2] else other(item)[1]
    letter = item.answer if k < right[at] else other(item)[0]
    return f"The motion looks like {item.choices[item.letters.index(said)]}.\nAnswer: {letter}"


def share(model, set_name, at):
    """What was planted, in per cent of the replies that can be read."""
    n = N_CLIPS * len(ACTIONS[set_name])
    n_right = sum(PLANTED[model][label][at] for label in ACTIONS[set_name])
    if model == UNREAD[0] and set_name == "single" and at in {0, 2}:
        n, n_right = n - 1, n_right - (at == 0)
    return 100 * n_right / n


def test_one_panel_gives_what_was_planted(vidence, lights):
    done = vidence("panel", "panel.toml", "--as", "actpld", "--json", "p.json")
    assert done.code == 0, done.err
    tables = json.loads((vidence.folder / "p.json").read_text())["tables"]
    found = {table["name"]: {line["key"]: line for line in table["lines"]} for table in tables}
    wanted = [f"actpld-table{n}" for n in (2, 3, 4)] + [f"actpld-fig{n}" for n in (4, 5, 7, 8, 9, 10)]
    assert {*wanted, "actpld-fig6-single", "actpld-fig6-social"} <= found.keys(), done.err
    page = (vidence.folder / "runs/panel-panel/actpld.html").read_text()
    assert "m2 (choices) 55 of 56 (1 unreadable);" in page
    assert "Only shares of 63 clips give these values" in page
    check_table(found["actpld-table2"], "single")
    check_table(found["actpld-table3"], "social")
    check_means(found)


def check_table(lines, set_name):
    for model in PLANTED:
        for at, target in enumerate(("label", "intention")):
            line = lines[f"row:{model}:{target}"]
            for i, planted in ((0, at), (1, at + 2)):
                assert 100 * line[f"share:{i}"]["value"] == pytest.approx(share(model, set_name, planted))
                assert line[f"share:{i}"]["estimate"]["low"] < line[f"share:{i}"]["estimate"]["high"]
    assert "row:person:label" in lines
    assert "row:person:intention" not in lines
    if set_name == "single":
        assert [lines["row:m2:label"][key]["text"] for key in ("n:0", "left:0")] == ["15", "1"]
        assert [lines["row:person:label"][key]["text"] for key in ("n:0", "left:0")] == ["15", "1"]
    assert lines["printed:0"]["share:1"]["text"] == {"single": "29.75", "social": "25.71"}[set_name]


def check_means(found):
    """Means are over the models alone, and people stand below them."""
    table4 = found["actpld-table4"]
    for set_name in ACTIONS:
        for key, at in (("row:3afc", (0, 1)), ("row:description", (2, 3))):
            mean = sum(share_of_both(model, set_name, at) for model in PLANTED) / len(PLANTED)
            assert 100 * table4[key][f"share:{list(ACTIONS).index(set_name)}"]["value"] == pytest.approx(mean)
    assert table4["people:person:3afc"]["share:1"]["value"] == 1.0
    sorted_actions = found["actpld-fig7-2"]
    assert [key.partition(":")[2] for key in sorted_actions] == ["walk", "run", "wave", "bow"]
    # 4 of 4, 3 of the 3 that were read, 3 of 4; the person has all four.
    assert sorted_actions["value:walk"]["part:label"]["value"] == pytest.approx((1 + 1 + 0.75) / 3)
    assert sorted_actions["value:walk"]["people:person"]["value"] == 1.0
    assert [key for key in found["actpld-fig4"] if key.startswith("row:")][-1] == "row:person"


def share_of_both(model, set_name, at):
    """Both targets together: each reply that can be read counts alike."""
    n = 2 * N_CLIPS * len(ACTIONS[set_name])
    n_right = sum(PLANTED[model][label][i] for label in ACTIONS[set_name] for i in at)
    if model == UNREAD[0] and set_name == "single":
        n, n_right = n - 1, n_right - (0 in at)
    return 100 * n_right / n


def folder_of_people(people, key, to):
    """The sixty printed items as a folder, those of one actor with the key of table 7 or of table 8."""
    (to / "clip").mkdir(parents=True)
    for k in range(8):
        Image.new("RGB", (16, 16)).save(to / "clip" / f"{k}.png")
    lights_path(to / "clip").write_bytes(msgspec.json.encode(few_lights(0)))
    known = {}
    clips = [("clip_id", "path", "kind", "set", "label", "intention", "label_distractors", "source_id")]
    for set_name, marked in (("social", ("table6", "table5")), ("single", (key, "table7", "table8"))):
        for i in range(30):
            rows = [people[name]["rows"][i] for name in marked]
            choices = rows[0]["choices"]
            known |= dict.fromkeys(choices)
            # What the first table marks right, or leaves without a mark; else one that it did not choose.
            right = rows[0]["choice"] if rows[0]["correct"] != 0 else None
            if right is None:
                others = [r["choice"] for r in rows[1:] if r["correct"] and r["choice"] != rows[0]["choice"]]
                right = others[0] if others else next(c for c in choices if c != rows[0]["choice"])
            wrong, name = "|".join(c for c in choices if c != right), f"{set_name}-{i + 1}"
            clips.append((name, "clip", "frames", set_name, right, "a", wrong, name))
    labels = [("label", name, name) for name in known] + [("intention", name, name) for name in "abc"]
    write_csv(to / "labels.csv", [("target", "name", "group"), *labels])
    write_csv(to / "clips.csv", clips)


@pytest.mark.parametrize(
    ("key", "single"),
    [
        ("table7", {"one": 90.00, "two": 90.00}),  # printed 90.00 and 96.67
        ("table8", {"one": 96.67, "two": 96.67}),
    ][0 if IS_THOROUGH else 1 :],
)
def test_people_of_the_paper_stand_beside_its_models(vidence, checks_dir, key, single):
    """Tables 7 and 8 mark items 17 and 18 differently for one choice: one of both printed means holds."""
    people = json.loads(need(checks_dir / "actpld" / "human_tables.json").read_text("utf-8"))["human"]
    folder_of_people(people, key, vidence.folder / "printed")
    said = {
        name: {
            f"{kind}-{row['n']}": row["choice"]
            for kind, table in zip(("social", "single"), tables, strict=True)
            for row in people[table]["rows"]
        }
        for name, tables in (("one", ("table5", "table7")), ("two", ("table6", "table8")))
    }

    def printed(slot, trial, item):
        """What the tables print; one choice was not among those that were offered."""
        if trial.kind == "catch":
            return {"words": "none", "answer": trial.expected}
        choice = said[("one", "two")[slot]][item.item_id.partition("/")[0]]
        letters = dict(zip(item.choices, item.letters, strict=True))
        return {"words": "moves", "answer": letters.get(choice, choice)}

    folder = vidence.folder / "study"
    folder.mkdir()
    text = STUDY.replace("made/lights", "printed").replace('n = 28\nby = ""\n', "")
    solve(folder, text, printed)
    runs = "".join(
        f'[[runs]]\nfolder = "study/people/{who}"\nmodel = "{name}"\npeople = true\n'
        for who, name in (("P01", "one"), ("P02", "two"))
    )
    (vidence.folder / "p.toml").write_text(f'title = "People"\n{runs}')
    views = ("--as", "actpld-table2", "--as", "actpld-table3", "--tables", "t", "--json", "p.json")
    done = vidence("panel", "p.toml", *views)
    assert done.code == 0, done.err
    tables = json.loads((vidence.folder / "p.json").read_text())["tables"]
    single_table, social_table = (
        {line["key"]: line for line in table["lines"]} for table in tables if table["name"] == "pivot:actpld"
    )
    assert shares_of(single_table) == single
    assert shares_of(social_table) == {"one": round(100 * 27 / 29, 2), "two": 100.0}
    assert [social_table["row:one:label"][key]["text"] for key in ("n:0", "left:0")] == ["29", "1"]


def shares_of(lines):
    return {name: round(100 * lines[f"row:{name}:label"]["share:0"]["value"], 2) for name in ("one", "two")}
