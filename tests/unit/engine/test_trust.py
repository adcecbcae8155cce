"""What needs the user's word, and where a word that was given is kept."""

import json
import stat
from pathlib import Path

import pytest

from vidence.engine import trust
from vidence.engine.environment import Environment
from vidence.engine.plan import read_plan
from vidence.engine.prepare import make_plan
from vidence.errors import TrustError, UsageError


@pytest.fixture
def place(tmp_path) -> Environment:
    return Environment(
        cache_root=tmp_path / "cache", settings_file=tmp_path / "settings.toml", state_root=tmp_path / "state"
    )


def names(kind: str, spec: str) -> list[str]:
    return [need.name for need in trust.needs_of_spec(kind, spec)]


@pytest.mark.parametrize(
    "spec",
    [
        "openai:m",
        "openai:m?api_key_env=OPENAI_API_KEY",
        "openai:m?base_url=http://localhost:8000/v1",
        "openai:m?base_url=http://127.0.0.2:8000/v1",
        "openai:m?base_url=http://[::1]:8000/v1",
        "openai:m?base_url=https://api.openai.com/v1",
        "openai:m?base_url=https://api.openai.com:443/v1",
        "anthropic:m?base_url=https://api.anthropic.com",
        "gemini:m?api_key_env=GOOGLE_API_KEY",
        "transformers:m?trust_remote_code=false",
        "vllm:m?engine={}",
        "baseline:constant?letter=A",
        "nobody:knows?base_url=http://h",
    ],
)
def test_what_is_allowed_always(spec):
    assert names("model", spec) == []


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("openai:m?base_url=https://h.example/v1", "key OPENAI_API_KEY https://h.example"),
        ("openai:m?api_key_env=OTHER", "key OTHER https://api.openai.com"),
        ("openai:m?base_url=http://localhost/v1&api_key_env=OTHER", "key OTHER http://localhost"),
        ("openai:m?base_url=http://api.openai.com/v1", "key OPENAI_API_KEY http://api.openai.com"),
        ("openai:m?base_url=http://[::1", "key OPENAI_API_KEY http://[::1"),
        ("anthropic:m?api_key_env=OPENAI_API_KEY", "key OPENAI_API_KEY https://api.anthropic.com"),
    ],
)
def test_a_key_and_its_server_need_the_word(spec, name):
    assert names("model", spec) == [name]


def test_a_word_for_code_holds_for_the_files_that_were_there(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    spec = f"transformers:{tmp_path}?trust_remote_code=true"
    before = names("model", spec)
    assert names("model", spec) == before
    (tmp_path / "a.py").write_text("x = 2\n")
    assert names("model", spec) != before


def test_settings_allow_servers_by_key_and_checkpoints_by_name(place):
    wanted = [
        *trust.needs_of_spec("model", "openai:m?base_url=https://h.example:8443/v1&api_key_env=LAB"),
        *trust.needs_of_spec("model", "transformers:org/m?trust_remote_code=true"),
    ]
    with pytest.raises(TrustError) as refused:
        trust.check(wanted, source=Path("p.toml"), environment=place, is_trusted=False)
    entries = [need.entry for need in wanted]
    assert entries == ['[hosts] LAB = ["https://h.example:8443"]', 'code = ["org/m"]']
    assert all(entry in str(refused.value) for entry in entries)
    place.settings_file.write_text('code = ["org/m"]\n[hosts]\nLAB = ["h.example:8443"]\n')
    trust.check(wanted, source=Path("p.toml"), environment=place, is_trusted=False)


def test_settings_that_make_no_sense_are_refused(place):
    for text in ("hosts = 3", "[host]\nA = []", "= =", '[hosts]\nA = "h.example"'):
        place.settings_file.write_text(text)
        with pytest.raises(UsageError, match=r"settings\.toml"):
            trust.read_settings_file(place.settings_file)
    with pytest.raises(UsageError, match=r"the settings .* cannot be read: Not a directory"):
        trust.read_settings_file(place.settings_file / "inner")


def test_a_word_is_kept_for_exactly_what_it_was_given_for(place):
    one, other = trust.Need(name='key A\n"key B"', words="a"), trust.Need(name="key B", words="b")
    trust.check([one], source=Path("p"), environment=place, is_trusted=True)
    trust.check([one], source=Path("p"), environment=place, is_trusted=False)
    with pytest.raises(TrustError):
        trust.check([other], source=Path("p"), environment=place, is_trusted=False)
    trust.remember([one, other], environment=place)
    lines = (place.state_root / trust.SAID_FILE).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [one.name, other.name]
    assert stat.S_IMODE(place.state_root.stat().st_mode) == 0o700
    assert stat.S_IMODE((place.state_root / trust.SAID_FILE).stat().st_mode) == 0o600


def test_words_are_not_written_through_a_link(place, tmp_path, caplog):
    place.state_root.mkdir()
    (tmp_path / "victim").write_text("mine")
    (place.state_root / trust.SAID_FILE).symlink_to(tmp_path / "victim")
    trust.remember([trust.Need(name="key A", words="a")], environment=place)
    assert (tmp_path / "victim").read_text() == "mine"
    assert "will need --trust" in caplog.text


def test_without_a_place_nothing_is_kept_and_nothing_allowed(tmp_path):
    nowhere = Environment(cache_root=tmp_path)
    need = trust.Need(name="key A", words="a")
    trust.check([need], source=Path("p"), environment=nowhere, is_trusted=True)
    with pytest.raises(TrustError):
        trust.check([need], source=Path("p"), environment=nowhere, is_trusted=False)
    assert trust.read_settings_file(None) == trust.UserSettings()


def test_a_plan_that_reads_media_from_a_network_needs_the_word(place, tmp_path):
    made = make_plan(
        "table",
        data=Path("q.jsonl"),
        model="baseline:constant",
        overrides={"media": "s3://lab/videos", "media_at": ("s3://lab", "https://h.example/v/")},
    )
    needs = trust.needs_of_plan(made, folder=tmp_path, environment=place)
    assert [need.name for need in needs] == ["media s3://lab", "media https://h.example"]
    with pytest.raises(TrustError, match="to read media from s3://lab\n"):
        trust.check(needs, source=tmp_path, environment=place, is_trusted=False)
    place.settings_file.write_text('media = ["s3://lab/", "https://h.example"]')
    trust.check(needs, source=tmp_path, environment=place, is_trusted=False)


def plan_of(**overrides):
    return make_plan("table", data=Path("q.jsonl"), model="baseline:constant", overrides=overrides)


def test_a_memory_outside_of_the_run_and_the_cache_needs_the_word(place, tmp_path):
    run = tmp_path / "run"

    def needed(memory):
        found = trust.needs_of_plan(plan_of(memory=str(memory)), folder=run, environment=place)
        return [need.name for need in found]

    for folder in (run, place.cache_root, tmp_path / "else"):
        folder.mkdir()
    assert needed(run / "m.sqlite") == needed(place.cache_root / "m.sqlite") == []
    elsewhere = (tmp_path / "else" / "m.sqlite").resolve()
    assert needed(elsewhere) == [f"memory {elsewhere}"]


def test_code_in_a_file_needs_the_word_for_what_it_holds_now(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def pick(n_frames):\n    return [0]\n")
    (need,) = trust.needs_of_spec("selector", f"python:{file}:pick")
    assert need.words == f"to run the Python code of the file {file}"
    assert need.entry == f'code = ["{file}"]'
    file.write_text("def pick(n_frames):\n    return [1]\n")
    (other,) = trust.needs_of_spec("selector", f"python:{file}:pick")
    assert (other.name == need.name, other.entry) == (False, need.entry)
    file.unlink()
    (gone,) = trust.needs_of_spec("selector", f"python:{file}:pick")
    assert gone.name == f"code python {file} "


def test_weights_that_start_an_engine_need_the_word_with_its_arguments():
    (need,) = trust.needs_of_spec("model", 'vllm:org/m?engine={"enforce_eager":true}&revision=v2')
    assert need.words.startswith("to start, with the arguments")
    assert "revision=v2" in need.name
    assert "engine=" in need.name
    assert need.entry == 'code = ["org/m"]'


def test_only_what_comes_from_the_file_needs_the_word_and_the_rest_is_remembered(place, tmp_path):
    written = plan_of(media="s3://theirs/videos")
    mine = plan_of(media="s3://theirs/videos", media_at=("s3://theirs", "https://mine.example/v/"))
    given = {"source": tmp_path, "folder": tmp_path, "environment": place}
    with pytest.raises(TrustError, match="s3://theirs") as refused:
        trust.repeated(mine, written, is_trusted=False, **given)
    assert "mine.example" not in str(refused.value)
    trust.repeated(mine, written, is_trusted=True, **given)
    trust.check(
        trust.needs_of_plan(mine, folder=tmp_path, environment=place),
        source=tmp_path,
        environment=place,
        is_trusted=False,
    )


def test_a_run_that_was_begun_is_taken_up_without_a_flag_and_that_of_others_is_not(
    place, tmp_path, bench, fake_model
):
    bench.write(1)
    bench.run(fake_model(), memory=str(tmp_path / "own.sqlite"))
    folder = bench.folder / "run"
    plan, _ = read_plan(folder)
    with pytest.raises(TrustError, match="to write remembered replies into"):
        trust.taken_up(folder, environment=place, is_trusted=False)
    trust.begun(plan, folder=folder, environment=place)
    assert trust.taken_up(folder, environment=place, is_trusted=False) == plan


def test_half_a_line_of_what_was_said_is_asked_for_again(place):
    one, other = (trust.Need(name=f"key {name}", words=name) for name in "ab")
    trust.remember([one, other], environment=place)
    file = place.state_root / trust.SAID_FILE
    file.write_bytes(file.read_bytes()[:-4])
    trust.check([one], source=Path("p"), environment=place, is_trusted=False)
    with pytest.raises(TrustError):
        trust.check([other], source=Path("p"), environment=place, is_trusted=False)
    before = file.read_bytes()
    trust.remember([one], environment=place)
    assert file.read_bytes() == before
