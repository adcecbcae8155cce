"""The lock files hold all that is asked for, each with hashes and without an address."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "constraints"
LOCKS = ("lock.txt", "torch-cpu.txt", "torch-pypi.txt", "pip.txt", "apart.txt", "beside.txt")


def normal(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


@pytest.mark.parametrize("name", LOCKS)
def test_each_requirement_has_one_version_and_hashes_and_no_address(script, name) -> None:
    text = (FOLDER / name).read_text()
    assert "://" not in text
    found = script("lock").blocks(text)
    assert found
    for block in found:
        assert re.match(r"[a-z0-9-]+==[\w.+]+[ \\\n]", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


def test_everything_that_the_package_and_its_groups_ask_for_is_locked(script) -> None:
    lock = script("lock")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    wanted = {
        "lock.txt": [
            *project["project"]["dependencies"],
            *(one for name in lock.EXTRAS for one in extras[name]),
            *(one for name in lock.GROUPS for one in groups[name]),
        ],
        **{f"{name}.txt": groups[name] for name in ("pip", "apart", "beside")},
    }
    beside = {"torchvision"} if any(one.startswith("torchvision") for one in groups["beside"]) else set()
    for name, requirements in wanted.items():
        held = {normal(block) for block in lock.blocks((FOLDER / name).read_text())}
        assert {normal(one) for one in requirements} - {"torch", *beside} <= held, f"{name}: run make lock"


def test_torch_is_locked_for_the_cpu_and_as_pypi_has_it_in_one_version(script) -> None:
    blocks = script("lock").blocks
    [cpu] = blocks((FOLDER / "torch-cpu.txt").read_text())
    [pypi] = [b for b in blocks((FOLDER / "torch-pypi.txt").read_text()) if b.startswith("torch==")]
    assert re.match(r"torch==([\d.]+)\+cpu", cpu)[1] == re.match(r"torch==([\d.]+)", pypi)[1]
    assert not [b for b in blocks((FOLDER / "lock.txt").read_text()) if re.match("torch==|nvidia-", b)]


def test_the_builds_for_the_cpu_come_from_what_sha256sum_says(script) -> None:
    builds = f"# said\n{'ab' * 32}  torch-2.1+cpu-cp311.whl\n{'00' * 32}  torch-2.1+cpu-cp312.whl\n"
    assert script("lock").cpu_builds(builds, pypi=["torch==2.1 \\\n    --hash=sha256:1"]) == [
        f"torch==2.1+cpu \\\n    --hash=sha256:{'00' * 32} \\\n    --hash=sha256:{'ab' * 32}"
    ]


def test_an_address_never_gets_into_a_lock(script, tmp_path, monkeypatch) -> None:
    lock = script("lock")
    monkeypatch.setattr(lock, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"git\+https://x/y in pip\.txt"):
        lock.write("pip.txt", ["pip @ git+https://x/y"])
    assert not list(tmp_path.iterdir())


def test_torchvision_is_locked_beside_the_rest_alone(script) -> None:
    lock = script("lock")
    held = {name: lock.blocks((FOLDER / name).read_text()) for name in LOCKS}
    found = [name for name, blocks in held.items() if any(map(lock.BESIDE.match, blocks))]
    assert found == ["beside.txt"]
