"""What hostile replies, ids, tags and names do in CSV, LaTeX and pages: nothing but stand there as words."""

import csv
import io
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from vidence.engine.plan import Facts, Plan, write_plan
from vidence.engine.store import RunStore
from vidence.records import (
    Answered,
    Failed,
    Item,
    Media,
    Prompt,
    Reply,
    Sampling,
    Score,
    TextPart,
    Trial,
    Verdict,
)
from vidence.report.export import write_csv
from vidence.report.page import write_page
from vidence.report.results import load_run
from vidence.tables.export import csv_cell, csv_text
from vidence.tables.latex import escaped

Effort = Callable[[int, int], int]
Record = Callable[[str, int, int], None]


ENDS = (
    "\r",
    "\n",
    "\r\n",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    ",",
    '"',
    "\t",
    "\0",
)
BLANKS = ("", " ", "\t", "\r", "\n", "\x0b", "\xa0", "\u2003", "\u200b", "\ufeff", "\x01", " \r ")
FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\uff1d1+1", '=HYPERLINK("http://x","y")')


def hostile_texts() -> Iterator[str]:
    for blank, formula in product(BLANKS, FORMULAS):
        yield blank + formula
    for end, formula in product(ENDS, FORMULAS):
        yield f"a rabbit{end}{formula}"


def is_live(cell: str) -> bool:
    """Whether a spreadsheet would run a cell: it drops what is blank or unseen in front."""
    start = re.sub(r"^[\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2060\ufeff]+", "", cell)
    return start[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def lines_of_a_careless_reader(text: str) -> list[str]:
    """Lines as a program has them that ends a line at a carriage return and knows quotation marks."""
    lines, line, is_quoted = [], "", False
    for sign in text:
        is_quoted ^= sign == '"'
        if sign in "\r\n" and not is_quoted:
            lines.append(line)
            line = ""
        else:
            line += sign
    return lines


def test_no_text_splits_a_row_or_runs_as_a_formula(effort: Effort, record_attack: Record) -> None:
    texts = list(hostile_texts())
    texts = texts[:: max(1, len(texts) // effort(60, len(texts)))]
    fallen = []
    for text in texts:
        written = csv_text([("id", "said", "n"), (text, text, 1), ("x", "y", 2)])
        rows = list(csv.reader(io.StringIO(written, newline="")))
        whole = [[csv_cell(text), csv_cell(text), "1"], ["x", "y", "2"]]
        is_split = rows[1:] != whole or len(lines_of_a_careless_reader(written)) != 3
        if is_split or is_live(csv_cell(text)) or csv_cell(text).removeprefix("'") != text:
            fallen.append(text)
    record_attack("CSV: line ends and formulas", len(texts), len(texts) - len(fallen))
    assert fallen == []


COMMANDS = (
    *(
        r"\input{/etc/passwd}",
        r"\write18{touch x}",
        r"\immediate\write18{ls}",
        r"\openout1=x",
        r"\csname x\endcsname",
    ),
    *(
        r"\def\x{}",
        r"\catcode`\@=11",
        r"\loop\iftrue\repeat",
        r"\end{document}",
        r"\\[2cm]",
        r"\begin{verbatim}",
    ),
    *(
        "^^5cinput{x}",
        "^^M",
        "%",
        "$x$",
        "#1",
        "&",
        "~",
        "{",
        "}",
        "_",
        "\\",
        "[2cm]",
        "*[2cm]",
        "\r\\input{x}",
    ),
    *(
        "\u2028\\x",
        "\x00",
        "\x7f",
        "``",
        "''",
        "---",
        "?`",
        "!`",
        "<<",
        ">>",
        '"a',
        "\u202e",
        "\ud7ff",
        "é\u0301",
    ),
)
AROUND = ("{}", "a{}", "{}a", "\\{}", "{{{}}}", "${}$", "%{}", "{}\n", "\\\\{}", "^^{}", "#{}", "&{}")
# All that `escaped` may write: its own commands, and signs that mean themselves.
_PLAIN = re.compile(
    r"\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar|textquotedbl|textasciigrave|"
    r"textendash|textemdash|ldots|textquoteleft|textquoteright|textquotedblleft|textquotedblright|ss|ae|AE|o|O|l|L)"
    r"\{\}|\$(-|\\times|\\pm|\\cdot|\^\{\\circ\}|\\dagger|\\ddagger|\\geq|\\leq)\$|\\[{}$&#%_]|\{[\[\]*]\}|"
    r"\\[`'^~=u.\"rHvc]\{[A-Za-z]\}|\{\}|~|[ !'()+,\-./0-9:;=?@A-Za-z]"
)


def test_no_text_is_a_command_of_latex(effort: Effort, record_attack: Record) -> None:
    texts = [around.replace("{}", command, 1) for command, around in product(COMMANDS, AROUND)]
    assert len(texts) >= 400
    texts = texts[:: max(1, len(texts) // effort(400, len(texts)))]
    fallen = [text for text in texts if re.sub(_PLAIN, "", escaped(text))]
    record_attack("LaTeX: commands in names and notes", len(texts), len(texts) - len(fallen))
    assert fallen == []


PAYLOADS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '"><svg onload=alert(1)>',
    "'><svg onload=alert(1)>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    "` onmouseover=`alert(1)",
    " onfocus=alert(1) autofocus ",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    '<a href="javascript:alert(1)">x</a>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    "<object data=x><embed src=x>",
    '<base href="http://x/">',
    '<meta http-equiv="refresh" content="0;url=http://x/">',
    '<link rel=stylesheet href="http://x/">',
    "<style>@import 'http://x/';</style>",
    "<form action=http://x/><button>go</button></form>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "{{ 7 * 7 }}{% raw %}{{ cycler.__init__.__globals__ }}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "<scr\0ipt>alert(1)</script>",
    "\u2028<script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
)
# What a page of ours is made of.
_TAGS = (
    "html head meta title style script body header main footer nav section article div p span h1 h2 "
    "h3 h4 table caption thead tbody tr th td ul ol li dl dt dd details summary pre code form label "
    "select option input button a svg g rect line path circle text polyline polygon tspan bdi defs figure "
    "figcaption small strong em b i br hr abbr time template noscript output fieldset legend sup sub "
    "img col colgroup desc "
)
TAGS = frozenset(_TAGS.split())


class Elements(HTMLParser):
    """The elements of a page as a browser would make them, and the words of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._tag = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in self.inside:
            self.inside[self._tag].append(data)


def what_lives(text: str) -> list[str]:
    """What of a page would run, load or lead somewhere that is not ours; nothing where all is well."""
    page = Elements(text)
    found = [f"<{tag}>" for tag, _ in page.found if tag not in TAGS]
    for tag, attributes in page.found:
        for name, value in attributes.items():
            is_away = name in {"href", "src", "action", "formaction", "data", "srcdoc", "poster"}
            if name.startswith("on") or (is_away and not (value or "").startswith(("#", "data:image/"))):
                found.append(f"<{tag} {name}={value!r}>")
    n_scripts = sum(tag == "script" for tag, _ in page.found)
    n_policies = sum("sha256-" in (a.get("content") or "") for tag, a in page.found if tag == "meta")
    if n_scripts != 1 or n_policies != 1 or any("alert(" in one for one in page.inside["script"]):
        found.append(f"{n_scripts} scripts, {n_policies} policies with hashes")
    return found


def hostile_run(folder: Path, payload: str) -> Path:
    """A run with this text in every field that somebody else can write."""
    plan = Plan(
        **{"benchmark": "table", "data": payload, "split": payload, "model": f"openai:{payload}"},
        **{"selector": payload, "frames": 4, "style": "direct", "prompts": payload, "layout": "images"},
        **{"frame_times": False, "size": payload, "jpeg_quality": 85, "sampling": Sampling()},
        **{"parser": "robust", "headline": "micro", "where": {payload: payload}},
    )
    facts = Facts(
        **{"vidence": payload, "git_revision": payload, "python": payload, "platform": payload},
        **{"libraries": {payload: payload}, "benchmark_version": 1, "benchmark_revision": payload},
        **{"content_hash": payload, "prompts_digest": payload, "selector_version": 1},
        **{"model_identity": payload, "citation": payload, "licence": payload, "terms": payload},
        **{"n_items": 3, "n_planned": 4, "notes": (payload,), "problems": (payload,), "started_at": payload},
    )
    folder.mkdir()
    write_plan(folder, plan, facts)
    items = [
        Item(
            item_id=f"{payload}{n}",
            media=(Media(path=payload),),
            source=payload,
            question=payload,
            choices=(payload, f"{payload} 2"),
            answer="A",
            tags={payload: payload, f"tag {n}": f"{payload}{n}"},
            rationale=payload,
            hints=(payload,),
            knowledge=(payload,),
        )
        for n in range(3)
    ]
    prompt = Prompt(parts=(TextPart(text=payload),), system=payload, template=payload)
    said = Reply(text=payload, reasoning=payload, model=payload, refusal=payload)
    judged = Verdict(
        judge_model=payload, value=0.0, extracted=payload, reason=payload, said=(payload,), error=payload
    )
    answered = Answered(answer="B", rule=payload)
    failed = Failed(stage="model", error=payload, message=payload)
    scores = [
        Score(outcome=answered, value=0.0, scorer=payload, scorer_version=1, verdicts=(judged,)),
        Score(outcome=failed, value=0.0, scorer="robust", scorer_version=1),
        Score(outcome=Answered(answer="A", rule=payload), value=1.0, scorer="robust", scorer_version=1),
    ]
    with RunStore(folder, is_writer=True) as store:
        store.put_items(items)
        for item, score in zip(items, scores, strict=True):
            store.add(Trial(item_id=item.item_id, prompt=prompt, reply=said, score=score))
    return folder


def test_no_text_comes_alive_on_a_page(tmp_path: Path, effort: Effort, record_attack: Record) -> None:
    assert len(PAYLOADS) >= 25
    payloads = PAYLOADS[:: len(PAYLOADS) // effort(8, len(PAYLOADS))]
    fallen = {}
    for n, payload in enumerate(payloads):
        run = load_run(hostile_run(tmp_path / f"run{n}", payload))
        page = tmp_path / f"{n}.html"
        rng = np.random.default_rng(0)
        write_page([run], page, cache_root=None, media_root=None, rng=rng, title=payload)
        text = page.read_text("utf-8")
        write_csv([run], tmp_path / "rows.csv")
        with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
            n_rows = len(list(csv.reader(file)))
        found = what_lives(text) + ([] if n_rows == 4 else [f"{n_rows} rows"])
        if found:
            fallen[payload] = found
    record_attack("pages: scripts, handlers, links", len(payloads), len(payloads) - len(fallen))
    assert fallen == {}


COMMANDS_WITH_OUTPUT = (("report", "run"), ("report", "--help"), ("list", "benchmarks"), ("--help",))


def ends_of_output(folder: Path, words: tuple[str, ...]) -> tuple[tuple[int, str], tuple[int, str]]:
    """Code and messages of a command whose reader has gone, and of one whose disk is full."""
    command = [sys.executable, "-m", "vidence", *words]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as gone:
        assert gone.stdout is not None
        assert gone.stderr is not None
        gone.stdout.close()
        closed = gone.stderr.read()
    with Path("/dev/full").open("w") as full:
        stopped = subprocess.run(
            command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    return (gone.returncode, closed), (stopped.returncode, stopped.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_takes_no_more_ends_a_command_in_words(
    tmp_path: Path, effort: Effort, record_attack: Record
) -> None:
    hostile_run(tmp_path / "run", "x")
    fallen = {}
    commands = COMMANDS_WITH_OUTPUT[: effort(2, len(COMMANDS_WITH_OUTPUT))]
    for words in commands:
        gone, full = ends_of_output(tmp_path, words)
        is_said = full[0] == 2 and full[1].startswith("vidence: cannot write the output: No space left")
        if gone != (0, "") or not is_said or full[1].count("\n") != 1:
            fallen[words] = gone, full
    record_attack("outputs: closed pipe, full disk", 2 * len(commands), 2 * (len(commands) - len(fallen)))
    assert fallen == {}


def test_escapes_in_warnings_are_shown(tmp_path: Path, record_attack: Record) -> None:
    script = (
        "import logging, sys; from vidence.cli.main import main\n"
        "class Loud(logging.Filter): pass\n"
        "try: main(['list', 'benchmarks'])\n"
        "except SystemExit: logging.getLogger('vidence.x').warning('a\\x1b[2Jb\\x9b31m\\rc')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=60)
    is_held = (
        not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", done.stderr) and b"[2Jb" in done.stderr
    )
    record_attack("outputs: escapes in warnings", 1, int(is_held))
    assert is_held
