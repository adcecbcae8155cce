"""From a name to a number: a benchmark is fetched from a hub on loopback, and run by its name alone."""

import gzip
import io
import json
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from huggingface_hub import constants

import vidence as package
from servers.hub import Hub
from servers.openai_stub import OpenAIStub
from subjects.samples import sample_folder
from vidence.tables.table import DASH

from .conftest import write_clip

GOLDEN = Path(__file__).parents[1] / "golden"
MMVU = (GOLDEN / "mmvu" / "validation.json").read_bytes()
MODEL = "scripted:A"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    with Hub() as server:
        yield server


@pytest.fixture
def vidence(hub, vidence):
    vidence.env.update({"HF_ENDPOINT": hub.url, "VIDENCE_GITHUB_RAW": f"{hub.url}/raw"})
    return vidence


@pytest.fixture(scope="session")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    write_clip(path)
    return path.read_bytes()


@pytest.fixture
def mmvu(hub, clip):
    """MMVU as its data set has it; the last video of the sample is not there."""
    places = [row["video"].partition("/videos/")[2] for row in json.loads(MMVU)]
    videos = {f"videos/{place}": clip + place.encode() for place in places[:-1]}
    return hub.add(
        "yale-nlp/MMVU", {"validation.json": MMVU, "README.md": b"#", **videos}, licence="cc-by-4.0"
    )


@pytest.fixture
def real(checks_dir):
    """The content of a real file of questions, where it is at hand."""

    def read(place):
        path = checks_dir / place
        if not path.exists():
            pytest.skip(f"{path} is not there; set VIDENCE_CHECKS to a folder that has it")
        return path.read_bytes()

    return read


def plan_of(folder):
    return tomllib.loads((folder / "plan.toml").read_text())


def test_fetched_and_run_in_two_commands(vidence, hub, mmvu) -> None:
    done = vidence("get", "mmvu", "--media", "--limit", "1", "--yes")
    assert done.code == 0, done.err
    assert f"hf:yale-nlp/MMVU@{mmvu}" in done.err.replace("\n", "")
    assert "licence on the hub: cc-by-4.0" in done.err
    assert "questions: 1 file" in done.err
    assert "media of these questions: 1 file" in done.err
    done = vidence("run", "mmvu", "--model", MODEL, "--limit", "1", "--out", "r", "--no-page")
    assert done.code == 0, done.err
    stored = plan_of(vidence.folder / "r")
    assert stored["plan"]["data"] == f"hf:yale-nlp/MMVU@{mmvu}"
    assert len(stored["facts"]["content_hash"]) == 64
    [trial] = vidence.trials("r").values()
    assert trial.selection.frames
    assert not [path for _, path, _ in hub.requests if path.endswith(".md")]


def test_a_video_that_is_nowhere_is_named_and_the_others_are_run(vidence, mmvu) -> None:
    done = vidence("get", "mmvu", "--media", "--yes")
    assert done.code == 3
    assert "1 video not available" in done.err
    done = vidence("run", "mmvu", "--model", MODEL, "--allow-missing", "--out", "r")
    said = "1 of 3 questions are excluded from every figure, because media are missing"
    assert done.code == 3
    assert f"media missing: {said}" in done.err.replace("\n", " ")
    report = vidence("report", "r")
    for words in (done.out, report.out, (vidence.folder / "r" / "report.html").read_text("utf-8")):
        assert f"Caution: {said}." in " ".join(words.split())
    assert vidence("resume", "r", "--no-page").code == 3


def test_a_later_release_leaves_the_run_with_the_earlier_one(vidence, hub, mmvu) -> None:
    assert vidence("get", "mmvu", "--yes").code == 0
    run = ("run", "mmvu", "--model", "baseline:constant?letter=A", "--no-page", "--out")
    assert vidence(*run, "first").code == 0
    later = hub.add("yale-nlp/MMVU", {"validation.json": MMVU.replace(b"linocut", b"woodcut")})
    assert vidence("get", "mmvu", "--yes").code == 0
    assert vidence(*run, "second").code == 0
    assert vidence("resume", "first", "--no-page").code == 0
    first, second = (plan_of(vidence.folder / name) for name in ("first", "second"))
    assert (first["plan"]["data"], second["plan"]["data"]) == (
        f"hf:yale-nlp/MMVU@{mmvu}",
        f"hf:yale-nlp/MMVU@{later}",
    )
    assert first["facts"]["content_hash"] != second["facts"]["content_hash"]
    done = vidence("compare", "first", "second")
    assert done.code == 2
    assert f"hf:yale-nlp/MMVU@{mmvu}" in done.err
    assert f"hf:yale-nlp/MMVU@{later}" in done.err


def test_an_address_and_a_folder_of_the_cache_are_data_too(vidence, hub, mmvu) -> None:
    run = ("run", "mmvu", "--model", "baseline:constant?letter=A", "--no-page", "--data")
    done = vidence(*run, "hf:yale-nlp/MMVU@main", "--out", "r")
    assert done.code == 2
    assert "fetch it with: vidence get 'hf:yale-nlp/MMVU@main'" in done.err.replace("\n", " ")
    assert vidence("get", "hf:yale-nlp/MMVU@main", "--yes").code == 0
    assert vidence(*run, "hf:yale-nlp/MMVU@main", "--out", "r").code == 0
    assert plan_of(vidence.folder / "r")["plan"]["data"] == f"hf:yale-nlp/MMVU@{mmvu}"
    folder = vidence.folder / "hf" / "datasets--yale-nlp--MMVU"
    assert vidence(*run, str(folder), "--out", "r2").code == 0


@pytest.mark.parametrize("inner", ["", "videos"])
def test_videos_may_lie_in_a_folder_that_is_named(vidence, hub, mmvu, clip, inner) -> None:
    assert vidence("get", "mmvu", "--yes").code == 0
    for row in json.loads(MMVU):
        path = vidence.folder / "mine" / "videos" / row["video"].partition("/videos/")[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(clip)
    run = ("run", "mmvu", "--model", MODEL, "--no-page", "--out", "r", "--media", f"mine/{inner}")
    done = vidence(*run)
    assert done.code == 0, done.err
    done = vidence(*run[:-1], "nowhere")
    assert done.code == 2
    assert "does not exist" in done.err


@pytest.mark.parametrize(
    ("name", "said"), [("humanpcr", "ask its authors"), ("actpld", "vidence make actpld")]
)
def test_what_was_never_released_is_said_with_what_to_do(vidence, name, said) -> None:
    for words in (("get", name), ("run", name, "--model", MODEL)):
        done = vidence(*words)
        assert done.code == 2
        assert said in done.err


def test_nothing_is_fetched_without_a_word(vidence, hub, mmvu) -> None:
    done = vidence("get", "mmvu")
    assert done.code == 2
    assert "give --yes" in done.err
    assert not [path for _, path, _ in hub.requests if "/resolve/" in path]


def test_questions_on_github_are_joined_with_videos_on_the_hub(vidence, hub, clip) -> None:
    source = json.loads((GOLDEN / "perceptioncomp" / "1-1114.json").read_text())
    names = sorted({row["video_id"] for row in source})
    hub.add("hrinnnn/PerceptionComp", {f"data/{name}.mp4": clip for name in names} | {"README.md": b"#"})
    hub.raw["hrinnnn/PerceptionComp/main/benchmark/annotations/1-1114.json"] = json.dumps(source).encode()
    done = vidence("get", "perceptioncomp", "--media", "--yes")
    assert done.code == 0, done.err
    done = vidence("run", "perceptioncomp", "--model", MODEL, "--out", "r", "--no-page")
    assert done.code == 0, done.err
    assert plan_of(vidence.folder / "r")["plan"]["media"].startswith("hf:hrinnnn/PerceptionComp@")
    hub.raw.clear()
    done = vidence("get", "perceptioncomp", "--yes")
    assert done.code == 2
    assert "name it with --questions FILE" in done.err.replace("\n", " ")
    own = vidence.folder / "own.json"
    own.write_text(json.dumps(source))
    assert vidence("get", "perceptioncomp", "--questions", str(own), "--yes").code == 0


def test_videos_in_an_archive_for_each_source_come_out(vidence, hub, clip) -> None:
    tasks = {path.name: path.read_bytes() for path in sorted((GOLDEN / "herbench").rglob("*.json"))}
    rows = [row for text in tasks.values() for row in json.loads(text)]
    places = sorted({row["video_path"] for row in rows})
    packed = {}
    for source in {Path(place).parent.name for place in places}:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for place in places:
                if Path(place).parent.name == source:
                    archive.writestr(Path(place).name, clip)
        packed[f"data/videos/{source}.zip"] = file.getvalue()
    hub.add("DanBenAmi/HERBench", {f"data/tasks/{name}": text for name, text in tasks.items()} | packed)
    done = vidence("get", "herbench", "--media", "--yes")
    assert done.code == 0, done.err
    assert "to unpack" in done.err
    done = vidence("run", "herbench", "--model", MODEL, "--out", "r", "--no-page")
    assert done.code == 0, done.err


def test_the_real_questions_of_mmvu_find_their_videos(vidence, hub, real) -> None:
    text = gzip.decompress(real("mmvu/validation.json.gz"))
    places = {row["video"].partition("/videos/")[2] for row in json.loads(text)}
    hub.page = 1_000
    hub.add("yale-nlp/MMVU", {"validation.json": text} | {f"videos/{one}": one.encode() for one in places})
    done = vidence("get", "mmvu", "--media", "--where", "subject=Art", "--yes")
    assert done.code == 0, done.err
    assert "1,000 questions" in done.err
    run = ("run", "mmvu", "--model", "baseline:constant?letter=A", "--no-page")
    done = vidence(*run, "--where", "subject=Art", "--out", "r")
    assert done.code == 0, done.err
    assert plan_of(vidence.folder / "r")["facts"]["n_items"] == 1_000


def test_the_real_questions_of_perceptioncomp_find_their_videos(vidence, hub, real) -> None:
    text = real("perceptioncomp/annotations_1-1114.json")
    names = {row["video_id"] for row in json.loads(text)}
    hub.page = 1_000
    hub.add("hrinnnn/PerceptionComp", {f"data/{one}.mp4": one.encode() for one in names})
    hub.raw["hrinnnn/PerceptionComp/main/benchmark/annotations/1-1114.json"] = text
    done = vidence("get", "perceptioncomp", "--media", "--yes")
    assert done.code == 0, done.err
    assert f"media of these questions: {len(names)} files" in done.err


class Typed(io.StringIO):
    """A terminal on which something was typed."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 130), ("", 130)])
def test_somebody_at_a_terminal_is_asked_before_anything_is_fetched(
    vidence, hub, mmvu, monkeypatch, typed, code
) -> None:
    monkeypatch.setattr(sys, "stdin", Typed(typed))
    done = vidence("get", "mmvu")
    assert done.code == code
    assert "Fetch the questions? [y/N]" in done.err
    assert bool([path for _, path, _ in hub.requests if "/resolve/" in path]) == (code == 0)


def test_the_run_says_what_its_questions_were_fetched_from(vidence, mmvu) -> None:
    assert vidence("get", "mmvu", "--yes").code == 0
    run = ("run", "mmvu", "--model", "baseline:constant?letter=A")
    assert vidence(*run, "--out", "r").code == 0
    facts = plan_of(vidence.folder / "r")["facts"]
    assert (facts["release"], facts["release_licence"]) == (f"hf:yale-nlp/MMVU@{mmvu}", "cc-by-4.0")
    assert facts["fetched_at"].startswith("20")
    page = (vidence.folder / "r" / "report.html").read_text()
    assert f"hf:yale-nlp/MMVU@{mmvu}" in page
    assert "cc-by-4.0" in page
    own = vidence.folder / "validation.json"
    own.write_bytes(MMVU)
    assert vidence(*run, "--data", str(own), "--out", "own", "--no-page").code == 0
    assert plan_of(vidence.folder / "own")["facts"]["release"] == ""


def test_what_was_fetched_is_diagnosed_and_audited(vidence, mmvu, monkeypatch) -> None:
    done = vidence("diagnose", "modality", "mmvu", "--model", MODEL)
    assert done.code == 2
    assert "mmvu was not fetched: run vidence get mmvu --media" in done.err
    assert "mmvu was not fetched" in vidence("items", "audit", "mmvu").err
    chosen = ("--where", "question_type=multiple-choice")
    assert vidence("get", "mmvu", "--media", *chosen, "--yes").code == 0
    done = vidence("diagnose", "modality", "mmvu", "--model", MODEL, *chosen, "--out", "d", "--no-page")
    assert done.code == 0, done.err
    done = vidence("items", "audit", "mmvu", "--out", "a", "--no-page")
    assert done.code == 0, done.err
    assert "mmvu" in done.out
    monkeypatch.chdir(vidence.folder)
    monkeypatch.setenv("VIDENCE_CACHE", vidence.env["VIDENCE_CACHE"])
    found = package.diagnose("modality", "mmvu", model=MODEL, out="d", where=dict([chosen[1].split("=")]))
    assert found.plan.data == f"hf:yale-nlp/MMVU@{mmvu}"


def test_videos_of_the_hubs_cache_lie_inside(vidence, mmvu) -> None:
    assert vidence("get", "mmvu", "--media", "--limit", "1", "--yes").code == 0
    run = ("run", "mmvu", "--model", MODEL, "--limit", "1", "--no-page", "--out", "r")
    done = vidence(*run, "--set", "media_inside=true")
    assert done.code == 0, done.err
    assert "outside the folder" not in done.err


def zipped(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def video_mme(hub, clip):
    """Video-MME as its data set has it: films and subtitles in archives of their own."""
    pytest.importorskip("pyarrow")
    folder = sample_folder("video-mme")
    table = next(folder.glob("videomme/*.parquet"))
    return hub.add(
        "lmms-lab/Video-MME",
        {
            f"videomme/{table.name}": table.read_bytes(),
            "videos_chunked_01.zip": zipped({"data/aKitchen.mp4": clip, "data/aGarden.mp4": clip + b"2"}),
            "subtitle.zip": zipped(
                {"subtitle/aKitchen.srt": (folder / "subtitle/aKitchen.srt").read_bytes()}
            ),
        },
    )


def test_video_mme_is_fetched_and_run_by_its_name_with_and_without_subtitles(vidence, video_mme) -> None:
    done = vidence("get", "video-mme", "--media", "--limit", "20", "--yes")
    assert done.code == 0, done.err
    with OpenAIStub(answer="B") as server:
        ask = ("run", "video-mme", "--limit", "20", "--model", f"openai:m?base_url={server.base_url}")
        bare = vidence(*ask, "--out", "bare", "--no-page")
        with_words = vidence(*ask, "--subtitles", "paper", "--out", "words", "--no-page")
    for done in (bare, with_words):
        assert done.code == 0, done.err
        assert re.search(r"Short.*Long.*Overall", done.out), done.out
    assert "First the milk." in vidence.trials("words")["001-1"].prompt.text
    assert "First the milk." not in vidence.trials("bare")["001-1"].prompt.text
    assert plan_of(vidence.folder / "words")["plan"]["subtitles"] == "shown"
    assert "1 of 2 files of subtitles are not in" in with_words.out + with_words.err
    none = vidence("run", "mvbench", "--data", ".", "--model", "baseline:random", "--subtitles", "paper")
    assert none.code == 2
    assert "no protocol of mvbench shows any" in none.err


@pytest.fixture
def plain(hub, clip):
    """A data set that is no benchmark: videos as files in a folder, and in an archive."""
    lines = [
        {
            "item_id": f"q{n}",
            "media": [{"path": f"v{n}.mp4"}],
            "question": "?",
            "choices": ["a", "b"],
            "answer": "A",
        }
        for n in range(2)
    ]
    text = "\n".join(map(json.dumps, lines)).encode()
    videos = {f"v{n}.mp4": clip + str(n).encode() for n in range(2)}
    hub.add("me/files", {"q.jsonl": text} | {f"clips/{name}": one for name, one in videos.items()})
    hub.add(
        "me/packed", {"q.jsonl": text, "all.zip": zipped({f"in/{name}": one for name, one in videos.items()})}
    )


def test_a_data_set_of_the_hub_is_run_by_its_address_with_what_was_fetched(here, hub, plain, video_mme):
    here.env.update({"HF_ENDPOINT": hub.url})
    for name in ("me/files", "me/packed", "lmms-lab/Video-MME"):
        done = here("get", f"hf:{name}", "--media", "--yes")
        assert f"vidence run hf:{name} --model SPEC" in done.err
        assert here("get", f"hf:{name}", "--yes").code == 0  # what was fetched before stays known
        done = here("run", f"hf:{name}", "--model", MODEL, "--out", name, "--no-page")
        assert done.code == 0, done.err
        assert all(trial.selection.frames for trial in here.trials(name).values())
        assert here("items", "describe", f"hf:{name}").code == 0
    assert plan_of(here.folder / "lmms-lab/Video-MME")["plan"]["benchmark"] == "video-mme"
    run = package.evaluate("hf:me/packed", model=MODEL, out="python")
    assert all(row.trial.selection.frames for row in run.rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("get", "video-mmee"), "Did you mean 'video-mme'?"),
        (("get", "lmms-lab/Video-MME"), "Did you mean 'video-mme'?"),
        (("run", "Video_MME", "--model", MODEL), "Did you mean 'video-mme'?"),
        (("items", "describe", "mvbenhc"), "Did you mean 'mvbench'?"),
        (("run", "no-such", "--model", MODEL), "hf:OWNER/NAME to vidence get, then to vidence run"),
        (("get", "no-such"), "with --map where its columns have other names"),
        (("list", "video-mme"), "use vidence list benchmarks video-mme"),
    ],
)
def test_an_unknown_name_says_what_may_be_meant(vidence, words, said) -> None:
    done = vidence(*words)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_the_list_says_size_licence_and_where_media_lie(vidence, hub) -> None:
    done = vidence("get", "--list", "--json", "-")
    assert done.code == 0, done.err
    (table,) = json.loads(done.out)["tables"]
    rows = {row["key"]: row for row in table["lines"]}
    for name, media, size in (("egoschema", "here", "106"), ("tvbench", "here, by request", DASH)):
        assert (rows[name]["media"]["text"], rows[name]["GB"]["text"]) == (media, size)
    assert rows["hd-epic"]["licence"]["text"] == "CC BY-NC 4.0"
    hub.add("opencompass/MMBench-Video", {"MMBench-Video.tsv": b"index\n"})
    assert "The videos are pickles" in " ".join(vidence("get", "mmbench-video").err.split())
    assert "on the page of the authors" in " ".join(vidence("get", "hd-epic").err.split())
