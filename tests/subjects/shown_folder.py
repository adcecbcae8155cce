"""One folder in which the commands of the documentation run: questions, films, samples, runs, servers."""

import io
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from huggingface_hub import constants

from servers import objects, tiny_embedders, tiny_vlm, vllm_standin
from servers.anthropic_stub import AnthropicStub
from servers.gemini_stub import GeminiStub
from servers.hub import Hub
from servers.openai_stub import Body, OpenAIStub
from servers.wikipedia import WikipediaServer
from servers.youtube import KEY, YouTubeServer
from subjects import brought_files
from subjects.command_line import CommandLine
from subjects.layouts import inspect_log, workbook
from subjects.samples import GOLDEN, sample_folder
from subjects.streets import plan_street, write_street
from vidence.ask.models import gemini
from videos import pans

SAMPLES = {
    ".": "shown",
    "MMVU": "mmvu",
    "HERBench/data": "herbench",
    "HumanPCR": "humanpcr",
    "PerceptionComp": "perceptioncomp",
    "my-clips": "actpld",
    "Video-MME": "video-mme",
}
"""The folders that pages name, and the samples that are put there."""
COPIES = {
    "items.jsonl": ("questions.jsonl", "kitchen.jsonl"),
    "clip0.mp4": (
        *("films/a.mp4", "videos/drop.mp4", "Video-MME/data/aKitchen.mp4", "Video-MME/data/aGarden.mp4"),
        *("Video-MME/videos/data/aKitchen.mp4", "Video-MME/videos/data/aGarden.mp4"),
    ),
    "street.txt": ("det.txt",),
    "street-ids.txt": ("tracks.txt", "gt.txt"),
    "PerceptionComp/1-1114.json": ("1-1114.json",),
}
"""Files that pages name otherwise, too."""
RUNS = ("mine", "other", "a", "b", "c", "d", "direct", "cot", "gpt", "qwen", "gemini")
"""The runs that pages name, each of another model."""
_ID = re.compile(r"\bid\W{1,8}(\w{16})\b")
_VERDICTS = {
    **{"correct": False, "correctness": False, "score": 1, "match": True, "reason": "So."},
    **{"extracted_answer": "A", "extracted answer": "A", "described": "a walk", "kind": "visual-perception"},
    "quote": "The film shows it.",
}


def reply(body: Body) -> str:
    """What a model says: lines, hints, a verdict, or a letter, as it is asked to."""
    said = json.dumps(body, ensure_ascii=False)
    if "Targets:" in said:
        return "Targets: a ball\nCues: a hand"
    if "hint" in said and "three" in said:
        return "1. Look for a cause.\n2. Something else touches it.\n3. Mind the left edge."
    if marked := _ID.search(said):
        keys = {key: value for key, value in _VERDICTS.items() if f'\\"{key}\\"' in said}
        return json.dumps({"id": marked[1], **keys})
    return f"The film shows it.\nAnswer: {'ABC'[crc32(said.encode()) % 3]}"


@dataclass(frozen=True)
class Shown:
    """The folder, the addresses of a model's server and of a bucket, and the files to begin from."""

    vidence: CommandLine
    api: str
    bucket: str
    kept: Path

    @property
    def folder(self) -> Path:
        """Where the commands run."""
        return self.vidence.folder

    def begin(self) -> None:
        """The folder as it was prepared."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.kept, self.folder, dirs_exist_ok=True)


@contextmanager
def shown_folder(folder: Path) -> Iterator[Shown]:
    """The folder, with the APIs, the hub, a bucket and the others on loopback."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        openai = stack.enter_context(OpenAIStub(answer=reply, letter_logps={"A": -0.4, "B": -1.2}))
        anthropic = stack.enter_context(AnthropicStub(answer=reply))
        google = stack.enter_context(GeminiStub(answer=reply))
        hub = stack.enter_context(Hub())
        bucket = stack.enter_context(objects.on_loopback(patch))
        films = ("aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc", "aqz-KE-bpKQ")
        youtube = stack.enter_context(YouTubeServer(licences=dict.fromkeys(films, "creativeCommon")))
        pages = ("Precession", "Angular momentum", "Torque", "Chemical clock")
        wikipedia = stack.enter_context(WikipediaServer(pages=dict.fromkeys(pages)))
        vllm_standin.install(patch).answers = lambda turns, params: vllm_standin.completed("Answer: A")
        patch.setattr(gemini, "ADDRESS", google.base_url)
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.setattr(constants, "HF_HUB_CACHE", str(folder / "hf"))
        patch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
        env = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "sk-test") | {
            **{"OPENAI_BASE_URL": openai.base_url, "ANTHROPIC_BASE_URL": anthropic.base_url},
            **{"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": hub.url, "VIDENCE_GITHUB_RAW": f"{hub.url}/raw"},
            **{
                "VIDENCE_YOUTUBE_API": youtube.url,
                "YOUTUBE_API_KEY": KEY,
                "VIDENCE_WIKIPEDIA": wikipedia.url,
            },
            **{"VIDENCE_CACHE": str(folder / "cache"), "VIDENCE_STATE": str(folder / "state")},
            **{"VIDENCE_SETTINGS": str(folder / "settings.toml"), "COLUMNS": "100", "BROWSER": "true"},
        }
        (folder / "work").mkdir()
        vidence = CommandLine(folder / "work", {**os.environ, **env})
        _write(vidence.folder)
        _offer(vidence.folder, hub, bucket)
        for name in RUNS:
            words = ("--data", "questions.jsonl", "--model", f"openai:{name}", "--out", f"runs/{name}")
            prices = ("--frames", "4", "--no-page", "--price-in", "1", "--price-out", "1")
            warm = ("--temperature", "1", "--style", "cot") if name == "cot" else ()
            done = vidence("run", "table", *words, *prices, *warm)
            assert done.code == 0, done.err
        assert vidence("demo").code == 0
        shutil.copytree(vidence.folder, folder / "kept")
        yield Shown(vidence, openai.base_url, bucket.url, folder / "kept")


def _write(folder: Path) -> None:
    """The files that are there before any command."""
    for name, sample in SAMPLES.items():
        shutil.copytree(sample_folder(sample), folder / name, dirs_exist_ok=True)
    (folder / "videos").mkdir()
    for n in range(8):
        film = pans.write(folder / "videos" / f"clip{n}.mp4", pans.pan(3 + n, n_frames=40))
        shutil.copy(film, folder)
    write_street(plan_street("street", looks=[0, 2, 4, 6], rng=np.random.default_rng(7)), folder)
    for file, names in COPIES.items():
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / file, folder / name)
    shutil.copy(GOLDEN / "logs" / "epic" / "log.csv", folder / "EPIC_100_validation.csv")
    shutil.copy(GOLDEN / "compose" / "examples.txt", folder / "mine.txt")
    brought_files.write_all(folder)
    inspect_log(folder / "logs")
    row: Body = {"index": 0, "question": "Which?", "answer": "B", "prediction": "B", "A": "red", "B": "blue"}
    (folder / "outputs").mkdir()
    (folder / "outputs" / "tiny_MMBench.xlsx").write_bytes(workbook([row, row | {"index": 1}]))
    tiny_embedders.build_blip(folder / "weights" / "blip-itm")
    tiny_embedders.build_clip(folder / "weights" / "clip")
    tiny_embedders.build_siglip(folder / "weights" / "siglip")
    tiny_vlm.build(folder / "checkpoint")
    how = ("-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=studio.lab.example", "-days", "2")
    if shutil.which("openssl"):
        command = ["openssl", "req", *how, "-keyout", "key.pem", "-out", "cert.pem"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _offer(folder: Path, hub: Hub, bucket: objects.Objects) -> None:
    """Put into the hub and the bucket what pages fetch from there."""
    clip = (folder / "clip0.mp4").read_bytes()

    def files(place: str, pattern: str) -> dict[str, bytes]:
        top = folder / place
        return {p.relative_to(top).as_posix(): p.read_bytes() for p in top.glob(pattern) if p.is_file()}

    def packed(content: dict[str, bytes]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        return file.getvalue()

    hub.add("yale-nlp/MMVU", files("MMVU", "validation.json") | files("MMVU", "videos/**/*"))
    archives = {"videos_chunked_01.zip": "data/*", "subtitle.zip": "subtitle/*"}
    mme = {name: packed(files("Video-MME", pattern)) for name, pattern in archives.items()}
    hub.add("lmms-lab/Video-MME", files("Video-MME", "videomme/*") | mme)
    hub.add("OWNER/NAME", {f"videos/clip{n}.mp4": clip for n in range(8)})
    names = dict(hub.sets["OWNER/NAME"].names)
    hub.sets["OWNER/NAME"] = replace(hub.sets["OWNER/NAME"], names=names | {"REVISION": names["main"]})
    for name, data in files("videos", "clip*.mp4").items():
        bucket.put("lab", f"videos/{name}", data)
    bucket.put("web", "day-1/a.mp4", clip)
