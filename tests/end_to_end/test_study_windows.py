"""Point-light clips are judged by people on sheets, and made again from the windows that they gave."""

import csv

from vidence.media.lights import lights_path, read_lights

MAP = """label,set,intention,group,file
walk,single,to get there,locomotion,walker:walk?duration_s=2
jump,single,to reach,reach,walker:jump?duration_s=2
wave,single,to greet,contact,walker:wave?duration_s=2
"""
CONFIG = """name = "lights"
map = "map.csv"
[clips.stimulus]
width_px = 64
height_px = 64
dot_radius_px = 1.5
"""
STUDY = """preset = "windows"
items = "actpld"
data = "../made/lights"
where = { task = "3afc", target = "label" }
n_people = 2
"""
SAYS = {"walk": ("part", "0.5-1.5"), "jump": ("no", ""), "wave": ("yes", "")}


def clips(folder):
    made = folder / "made/lights"
    with (made / "clips.csv").open(newline="") as file:
        rows = {row["label"]: made / row["path"] for row in csv.DictReader(file)}
    return {label: len(read_lights(lights_path(path)).frames) for label, path in rows.items()}


def test_windows_of_people_change_what_is_cut(vidence):
    (vidence.folder / "map.csv").write_text(MAP)
    (vidence.folder / "lights.toml").write_text(CONFIG)
    done = vidence("make", "actpld", "lights.toml")
    assert done.code == 0, done.err
    before = clips(vidence.folder)
    (vidence.folder / "shows").mkdir()
    (vidence.folder / "shows/study.toml").write_text(STUDY)
    done = vidence("study", "draw", "shows", "--sheets", "2")
    assert done.code == 0, done.err
    sheets = []
    for path in sorted((vidence.folder / "shows/sheets").glob("*.csv")):
        rows = list(csv.DictReader(path.read_text().splitlines(keepends=True)))
        assert {row["label"] for row in rows} == set(SAYS)
        for row in rows:
            row["shows"], row["window"] = SAYS[row["label"]]
        with path.open("w", newline="") as file:
            sheet = csv.DictWriter(file, rows[0])
            sheet.writeheader()
            sheet.writerows(rows)
        sheets += ["--sheet", path.relative_to(vidence.folder)]
    done = vidence("study", "close", "shows", *map(str, sheets))
    assert done.code == 0, done.err
    text = CONFIG.replace("[clips", 'windows = "shows/labels/windows.csv"\n[clips', 1)
    (vidence.folder / "lights.toml").write_text(text)
    done = vidence("make", "actpld", "lights.toml")
    assert done.code == 0, done.err
    assert clips(vidence.folder) == {"walk": 30, "wave": before["wave"]}
    assert before["walk"] == 60
