"""What people say of clips becomes windows: most decide, times are medians; and the file is read back."""

from vidence.records import Item
from vidence.study.labels import write_labels
from vidence.study.study import PlannedTrial, Response, read_study
from vidence.study.windows import read_windows


def test_most_people_decide_and_times_are_medians(tmp_path):
    (tmp_path / "study.toml").write_text('preset = "windows"\nitems = "actpld"\n')
    said = {
        "walk/label": ["yes", "yes", "no"],
        "wave/intention": ["part 0.5-2", "part 1-1.5", "part 0.9-1.9"],
        "jump/label": ["part 1-2", "no"],
        "meet/label/description": ["no", "no"],
        "run": ["part 1-2", "part 2-3", "yes"],
    }
    items = {name: Item(item_id=name, question="?", answer="x", answer_kind="text") for name in said}
    responses = []
    for item_id, own in said.items():
        for n, words in enumerate(own):
            shows, _, window = words.partition(" ")
            trial = PlannedTrial(place=n, phase="windows", item_id=item_id, condition="whole")
            values = {"shows": shows, **({"window": window} if window else {})}
            responses.append(Response(participant=f"P0{n}", trial=trial, values=values))
    paths = write_labels(read_study(tmp_path), responses, items=items)
    assert [path.name for path in paths] == ["windows.csv", "ratings.csv"]
    found = {
        name: (one.shows, one.start_s, one.end_s, one.n_agree, one.n_people)
        for name, one in read_windows(paths[0]).items()
    }
    assert found == {
        "walk": ("yes", None, None, 2, 3),
        "wave": ("part", 0.9, 1.9, 3, 3),
        "jump": ("unsettled", None, None, 1, 2),
        "meet": ("no", None, None, 2, 2),
        "run": ("part", 1.5, 2.5, 2, 3),
    }
