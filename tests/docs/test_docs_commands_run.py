"""Every command that help and documentation show runs in one prepared folder, and ends as it should."""

import csv
import gc
import glob
import inspect
import itertools
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import urllib.request
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from docs.conftest import ROOT, Page
from servers import ray_machines
from subjects.command_line import Done
from subjects.samples import GOLDEN
from subjects.shown_folder import Shown, shown_folder
from vidence.cli.finding import CommandGroup, all_commands, find_command
from vidence.cli.main import app

sys.path.append(str(ROOT / "scripts"))
BESIDE = Path(sys.prefix, "beside")
"""Where `make` installs RF-DETR."""

PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
}
ELSEWHERE = {
    "docs/paths/": "scripts/test_follow.py",
    "docs/making/mmvu.md": "scripts/test_follow.py",
    "docs/making/humanpcr.md": "scripts/test_follow.py",
    "docs/guides/adding.md": "docs/test_docs_adding.py",
    "docs/making/adding.md": "docs/test_docs_adding.py",
}
"""Pages that another test runs, with the files that they need."""
NEEDS = {"--on ray://": find_spec("ray") is not None, "--detector rfdetr:": (BESIDE / "rfdetr").is_dir()}
"""Parts of lines that need a library, and whether it is there; `make test-long` has all of them."""
EXITS = {
    "vidence panel made/my-lights/panel.toml --as actpld": 3,  # three clips do not give all its figures
    "vidence run humanpcr --data HumanPCR --split human-r --model openai:gpt-4o": 3,  # one has no hints
    "vidence items prove made/compositions.jsonl": 1,  # a count whose options hide a condition
    "vidence panel panel.toml --as humanpcr-table3": 3,  # its panel has no styles to pair
    "vidence make herbench street.toml --sheets": 0,
    "vidence make herbench street.toml": 3,  # four people in 21 s make no question
    "vidence items prove mine.txt": 1,  # two of its programs have a condition too many
    "vidence videos select films/ --sheet": 0,
    "vidence videos select films/ --manual": 0,
    "vidence videos select films": 3,  # a film of four seconds is too short
    "vidence make expert workshop.toml --check": 0,
    "vidence make expert workshop.toml": 3,  # its questions wait for people
}
"""Beginnings of the lines that end with another exit code than 0."""
WORDS = (
    (r"\b(blip-itm|clip|siglip):WEIGHTS", r"\1:weights/\1"),
    (r"openai/clip-vit-large-patch14", "weights/clip"),
    (r"/path/to/checkpoint|Qwen/Qwen2.5-VL-7B-Instruct", "checkpoint"),
    (r"http://localhost:\d+/v1|http://models:8000/v1", "{api}"),
    (r"https://videos.example", "{bucket}/web"),
    (r"\bstudio-\d{8}T\d{6}_\d{6}Z", "studio-*"),
    (r"^0\.0\.0\.0$", "127.0.0.1"),
    (r"\bSPEC\b", "openai:NAME"),
    (r"rfdetr:/weights/", "rfdetr:weights/"),
)
"""What a reader puts in the place of words."""
PASSWORD = "correct horse battery"  # noqa: S105 - of a test
SERVERS = (["studio", "open"], ["studio", "serve"], ["study", "open"])
MORE = {
    "vidence stats subset": "--n 12",
    "vidence studio user add": "--password-stdin",
    "vidence items board score lab": "--once",
    "vidence get mmvu --media --limit": "--yes",
    "vidence get video-mme": "--yes",
    "--model transformers:": "--limit 1 --max-tokens 4",
    "--detector rfdetr:": "--rate 1",
    "vidence prompts import": "--unchecked",
}
"""Flags without which a line takes long, or wants the authors' own files."""
CLOSE = "study close {0} --sheet {0}/sheets/P01.csv --sheet {0}/sheets/P02.csv"
FETCH = "get mmvu --media --yes"
PEOPLE = "run table --data items.jsonl --model replay:humans.jsonl --out runs/people"
READ = "A\nq\n"
"""What a person types who reads a sample of replies, and stops."""
SAID = {"correct": "right", "score": "3", "better": "first", "kind": "visual-perception"}
SAID |= dict.fromkeys(("second", "quote", "evidence", "step"), "")
"""What people answer in the sheets of studies, by what they are asked for; otherwise A."""
OF_MMVU = "run mmvu --data MMVU --model openai:{0} --judge-model openai:judge --out runs/{0}"
REPLAYED = "run table --data items.jsonl --model replay:{0}.jsonl?id=id&text=reply --out runs/{0}"
BEFORE = {
    "docs/diagnostics/error-kinds.md": tuple(map(OF_MMVU.format, ("flash", "flash-1fps", "o3"))),
    "docs/guides/report.md": (OF_MMVU.format("baseline"),),
    "docs/diagnostics/judge-reliability.md": ("study draw marks --sheets 2", CLOSE.format("marks")),
    "docs/guides/compare.md": (
        *(FETCH, OF_MMVU.format("baseline")),
        *map(REPLAYED.format, ("small", "large")),
    ),
    "docs/guides/running.md": (
        *(FETCH, OF_MMVU.format("baseline")),
        "items release questions.jsonl --into releases --hide test",
    ),
    "docs/guides/panel.md": (PEOPLE, "run table --data items.jsonl --model openai:o3 --out runs/o3"),
    "docs/guides/people.md": (
        "study draw STUDY --sheets 2",
        CLOSE.format("STUDY"),
        "run --study STUDY --model openai:NAME --out runs/model",
    ),
    "docs/making/expert.md": ("videos licence videos.jsonl --kept licences.jsonl",),
    "docs/making/review.md": (
        "items review open german.jsonl --out german --protocol humanpcr-r --by ann",
        "items review draw german --by bob",
        "items review read german german/sheets/bob-reviewer.csv --by bob",
    ),
    "docs/making/release.md": (
        "items review open items.jsonl --out review --protocol mmvu --by ann",
        "items review draw review --by bob",
        "items review read review review/sheets/bob-reviewer.csv --by bob",
    ),
}
"""Commands of earlier pages, whose outcome a page begins with."""
FILES = {
    "docs/making/compose.md": "compose",
    "docs/making/expert.md": "makers/expert",
    "docs/making/herbench.md": "makers/herbench",
    "docs/making/hints.md": "makers/hints",
    "docs/making/index.md": "makers/herbench",
    "docs/making/selection.md": "makers/expert",
}
"""Samples whose files a page begins with."""


def lines_of(page: Page) -> Iterator[list[str]]:
    """The words of the commands in the blocks of a page."""
    for block in page.blocks("", "sh", "bash", "console"):
        for line in block.body.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words and words[0] in ("vidence", "mv", "for"):
                yield words


def page_of(name: str) -> Page:
    return Page(PAGES[name], PAGES[name].read_text(encoding="utf-8"))


SHOWN = {
    name: lines
    for name in PAGES
    if not name.startswith(tuple(ELSEWHERE)) and (lines := list(lines_of(page_of(name))))
}


def _key(table: Iterable[str], line: str) -> str | None:
    """The beginning of a line that a table has."""
    return next((beginning for beginning in table if line.startswith(beginning)), None)


def fill_in(sheet: Path) -> None:
    """Fill a sheet as a person does: the answers of a study, or the checks of a review."""
    from follow import fill_in as fill_in_checks

    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if "asked for" not in rows[0]:
        fill_in_checks(sheet)
        return
    for row in rows:
        row |= {name: SAID.get(name, "A") for name in row["asked for"].split(", ")}
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def run(shown: Shown, words: Sequence[str]) -> Done:
    """Run a line as a shell does in the folder."""
    if words[0] != "vidence":
        return run_by_shell(shown, " ".join(words))
    *words, target = words if ">" in words else (*words, "")
    for pattern, text in WORDS:
        words = [re.sub(pattern, text.format(api=shown.api, bucket=shown.bucket), word) for word in words]
    words = [name for word in words for name in sorted(glob.glob(word, root_dir=shown.folder)) or [word]]
    for before, word in itertools.pairwise(words):
        if "/sheets/" in word or before == "--manual":
            fill_in(shown.folder / word)
    if words[1:3] in SERVERS or (words[1] == "view" and "--export" not in words):
        return serve(shown, words)
    has_django = words[1] in ("studio", "study", "view") or words[1:3] == ["items", "board"]
    words = [word for word in words[1:] if word != ">"]
    if "--read" in words:
        done = shown.vidence.apart(*words, said=READ)
    elif "--on" in words:
        done = run_on_cluster(shown, words)
    elif any(word.startswith("rfdetr:") for word in words):
        python_path = os.pathsep.join(map(str, (BESIDE, ROOT / "tests", *sys.path)))
        done = run_apart(shown, "servers.beside", *words, PYTHONPATH=python_path)
    else:
        done = shown.vidence.apart(*words, said=f"{PASSWORD}\n") if has_django else shown.vidence(*words)
    if target:
        (shown.folder / target).write_text(done.out)
    return done


def run_by_shell(shown: Shown, line: str) -> Done:
    """Run a line of a shell, and every command of ours that it comes to."""
    line = f'vidence() {{ printf "%q " vidence "$@"; echo; }}; {line}'
    command = ["bash", "-c", line]
    printed = subprocess.run(command, cwd=shown.folder, check=True, capture_output=True, text=True).stdout
    done = Done(0, printed, "")
    for words in map(shlex.split, printed.splitlines()):
        done = run(shown, words)
        if done.code:
            break
    return done


def run_apart(shown: Shown, module: str, *words: str, **env: str) -> Done:
    """Run a module with a line's words in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=shown.folder,
        env=shown.vidence.env | env,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def run_on_cluster(shown: Shown, words: Sequence[str]) -> Done:
    """Run a line on a cluster whose machine is this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Ray leaves files open
        with ray_machines.cluster(shown.kept.with_name("cluster"), n_machines=1) as cluster:
            words = [re.sub(r"^ray://.*", cluster.vidence_address, word) for word in words]
            done = run_apart(shown, "vidence", *words, **ray_machines.TOKEN)
        gc.collect()
    if "accepted no driver in two tries" in done.err:
        pytest.skip("Ray gives its own client server 30 s to begin, which this machine is too busy for")
    return done


def serve(shown: Shown, words: Sequence[str]) -> Done:
    """Start a server, ask it for the page that it names, and press Ctrl-C, which 130 stands for."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the certificate is its own
    handlers = (urllib.request.HTTPCookieProcessor(), urllib.request.HTTPSHandler(context=context))
    printed, server = "", shown.vidence.start(*words[1:], "--port", "0")
    try:
        for line in server.stdout or ():
            printed += line
            if address := re.search(r"https?://\S+", line):
                asked = urllib.request.Request(address[0])
                if "--name" in words:
                    asked.add_header("Host", words[words.index("--name") + 1])
                with urllib.request.build_opener(*handlers).open(asked, timeout=60) as page:
                    printed += f"{page.status}"
                break
    finally:
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=60)
    is_well = printed.endswith("200") and server.returncode in (0, 130)
    return Done(0 if is_well else server.returncode or -1, printed, err)


def begin(shown: Shown, name: str) -> None:
    """The folder with the files of a page and what it begins with."""
    shown.begin()
    if name in FILES:
        shutil.copytree(GOLDEN / FILES[name], shown.folder, dirs_exist_ok=True)
    for block in page_of(name).blocks():
        if block.title:
            path = shown.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            body = re.sub(r"http://localhost:\d+/v1", shown.api, block.body)
            path.write_text(re.sub(r'(of = "same", n =) \d+', r"\1 1", body), encoding="utf-8")


def tried(shown: Shown, lines: Sequence[Sequence[str]]) -> Iterator[tuple[str, int, Done]]:
    """Run the lines, and yield each with the exit code that it should have."""
    for words in lines:
        line = " ".join(words)
        if all(is_there for part, is_there in NEEDS.items() if part in line):
            more = [flag for part, flags in MORE.items() if part in line for flag in flags.split()]
            yield line, EXITS.get(_key(EXITS, line) or "", 0), run(shown, [*words, *more])


def faults(shown: Shown, lines: Sequence[Sequence[str]]) -> list[str]:
    """The lines that ended otherwise than they should, with what they said."""
    return [
        f"{line}: exit code {done.code}: {done.out[-300:]}\n{done.err[-900:]}"
        for line, code, done in tried(shown, lines)
        if done.code != code
    ]


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Iterator[Shown]:
    with shown_folder(tmp_path_factory.mktemp("shown")) as folder:
        yield folder


@pytest.mark.parametrize("name", SHOWN)
def test_the_commands_of_a_page_run_in_their_order(shown, name):
    begin(shown, name)
    before = [["vidence", *line.split()] for line in BEFORE.get(name, ())]
    assert faults(shown, [*before, *SHOWN[name]]) == []


def helps() -> Iterator[str]:
    """The help of every command and subcommand."""
    commands: list[click.Command] = [app, *map(find_command, all_commands())]
    for command in commands:
        yield inspect.cleandoc(command.help or "")
        if isinstance(command, click.Group) and not isinstance(command, CommandGroup):
            commands += command.commands.values()


def test_the_examples_of_every_help_run(shown):
    lines = [
        shlex.split(line) for text in helps() for line in text.splitlines() if line.startswith("vidence ")
    ]
    assert len(lines) >= 5
    shown.begin()
    shutil.rmtree(shown.folder / "runs" / "mine")
    assert faults(shown, lines) == []


def test_no_example_stands_in_a_line_that_help_wraps():
    """Such as "vidence" in the middle of a paragraph, where no line can be copied."""
    said = [
        line for text in helps() for line in text.splitlines() if re.search(r"\bvidence [a-z].* --\S", line)
    ]
    assert [line for line in said if not line.startswith("vidence ") and "`vidence" not in line] == []


def test_every_command_that_a_help_names_is_one():
    named = {
        m[1] for text in helps() for m in re.finditer(r"(?:see |as for |`)vidence ([a-z-]+)", text, re.I)
    }
    assert named - {name.split()[0] for name in all_commands()} == set()
    assert len(named) > 5


def test_the_lists_hold_nothing_that_is_gone():
    lines = [" ".join(words) for words in itertools.chain(*SHOWN.values())]
    unused = [key for key in (*NEEDS, *EXITS, *MORE) if not any(key in line for line in lines)]
    assert unused == []
    assert {*BEFORE, *FILES} <= {*SHOWN}
    assert [name for name in ELSEWHERE if not any(page.startswith(name) for page in PAGES)] == []
    assert [file for file in ELSEWHERE.values() if not (ROOT / "tests" / file).is_file()] == []
