"""``vidence videos scenes`` as a user runs it."""

import json
import shutil
from urllib.parse import quote

import pytest

from subjects.scene_sources import SCENES
from videos.samples import squares, write_video

TABLE = "entity,category,top,bag\np1,person,black,red\np2,person,black,blue\np3,person,white,blue\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(
        TABLE.replace("bag", "bag,hat").replace("red", "red,no").replace("blue", "blue,yes")
    )
    return tmp_path


def test_from_a_table_to_a_proof(vidence, folder):
    done = vidence(
        "videos", "scenes", "table:people.csv?complete=person", "--out", "scenes.jsonl", "--json", "said.json"
    )
    assert done.code == 0, done.err
    assert "1 scene, 3 entities and events, 9 facts; complete: person; truth: table" in done.out
    said = json.loads((folder / "said.json").read_text())
    assert said["scenes"] == ["people"]
    assert said["complete"] == ["person"]
    (folder / "mine.txt").write_text('scene = "people"\ncount(person(top == "black", bag == "blue"))\n')
    done = vidence("items", "prove", "mine.txt", "--scenes", "scenes.jsonl")
    assert done.code == 0, done.out
    assert "proven: 1; 2 conditions" in done.out


def test_a_model_proposes_and_a_person_confirms(vidence, folder):
    write_video(folder / "clip.mp4", squares())
    shutil.copy(SCENES / "model" / "words.toml", folder / "words.toml")
    lines = [f'{{"entity":"p{n}","category":"person"}}' for n in (1, 2)]
    lines += [
        f'{{"fact":"attribute","of":"p{n}","name":"top","value":"{top}"}}'
        for n, top in ((1, "black"), (2, "red"))
    ]
    spec = f"model:clip.mp4?vocabulary=words.toml&model=scripted:{quote(quote(chr(10).join(lines)))}"
    done = vidence("videos", "scenes", spec, "--out", "scenes.jsonl")
    assert done.code == 0, done.err
    assert "note: proposed by a model, not confirmed by a person" in done.out + done.err
    assert "complete: nothing; truth: model" in done.out
    with (folder / "scenes.jsonl").open("a") as file:
        file.write('{"complete":"person"}\n')
    (folder / "mine.txt").write_text('scene = "clip"\ncount(person(top == "black"))\n')
    done = vidence("items", "prove", "mine.txt", "--scenes", "scenes.jsonl")
    assert done.code == 0, done.out
    assert "warning, unconfirmed-fact: a person has to confirm p1.top=black" in done.out
    text = (folder / "scenes.jsonl").read_text()
    (folder / "scenes.jsonl").write_text(text.replace('"by":"model:', '"by":"person:1, model:'))
    done = vidence("items", "prove", "mine.txt", "--scenes", "scenes.jsonl")
    assert "unconfirmed" not in done.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("table:absent.csv", "--out", "s.jsonl"), "there is no table at"),
        (("tabel:people.csv", "--out", "s.jsonl"), "Did you mean 'table'"),
        (("table:people.csv", "--out", "s.txt"), "expected a name that ends in .jsonl"),
        (("table:people.csv?complete=hat2", "--out", "s.jsonl"), "covers nothing here"),
        (("tracks:people.csv?fps=30&identities=true", "--out", "s.jsonl"), "expected frame,id"),
        (("model:absent.mp4?vocabulary=absent.toml&model=scripted:x", "--out", "s.jsonl"), "absent.toml"),
    ],
)
def test_bad_input_ends_with_2_and_writes_nothing(vidence, folder, words, says):
    done = vidence("videos", "scenes", *words)
    assert done.code == 2
    assert says in done.err
    assert not (folder / "s.jsonl").exists()
