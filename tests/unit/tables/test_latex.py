"""LaTeX is read by a small parser of our own (environments, columns, escapes), and by TeX if there is one."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.records import Estimate
from vidence.tables.latex import escaped, latex
from vidence.tables.table import Cell, Column, Row, Table

PRINTED = {
    **{"textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textless": "<"},
    **{"textgreater": ">", "textbar": "|", "textquotedbl": '"', "textasciigrave": "`"},
}


def printed(text):
    """What TeX prints for the escapes of plain ASCII; anything that is left special is an error."""
    out, i = "", 0
    while i < len(text):
        if text[i] == "\\":
            name = re.match(r"\\([A-Za-z]+)\{\}", text[i:])
            if name:
                out += PRINTED[name[1]]
                i += name.end()
                continue
            assert text[i + 1] in "{}$&#%_", text[i:]
            out += text[i + 1]
            i += 2
        elif text[i] in "{}":
            i += 1  # a group
        else:
            assert text[i] not in '$&#%_^~<>|"`', text[i:]
            out += text[i]
            i += 1
    return out


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_every_printable_text_prints_as_it_is(text):
    found = escaped(text)
    assert found.isascii()
    assert printed(found) == text
    # Dashes, quotes and commas stand apart: they would join into other signs.
    assert "--" not in found
    assert "''" not in found
    assert ",," not in found
    assert not re.search(r"(?<!\{)[\[\]*]", found)


@given(st.text())
def test_any_text_becomes_ascii_on_one_line_with_balanced_braces(text):
    found = escaped(text)
    assert found.isascii()
    assert "\n" not in found
    bare = re.sub(r"\\[{}]", "", found)
    depth = 0
    for sign in bare:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("é", r"\'{e}"),
        ("Ő", r"\H{O}"),
        ("ç", r"\c{c}"),
        ("ß", r"\ss{}"),
        ("\N{EN DASH}", r"\textendash{}"),
        ("3 \N{MULTIPLICATION SIGN} 4 ± 1", r"3 $\times$ 4 $\pm$ 1"),
        ("中", "U+4E2D"),
        ("ệ", "U+1EC7"),  # two accents
        ("a\x00b", "aU+2400b"),
        ("\N{DAGGER}", r"$\dagger$"),
    ],
)
def test_other_signs(text, tex):
    assert escaped(text) == tex


def estimate(value, low, high):
    return Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=3, method="m")


def table(**fields):
    columns = (
        Column(key="a", title="A & B", group="both #1"),
        Column(key="b", title="C%", kind="share", group="both #1"),
        Column(key="c", title="all", kind="share", group=""),
    )
    rows = (
        Row(
            key="printed:0",
            label="[GPT] 50 %",
            values=(Cell(value="33.02", detail="†1 *2"), "-1.5", Cell(value="x", detail="on 3")),
        ),
        Row(
            key="ours:0",
            label="ours_v2",
            detail="asked {so}",
            values=(
                Cell(value=estimate(0.432, 0.41, 0.454), kind="share", mark="best"),
                estimate(0.1, -0.05, 0.25),
                estimate(0.5, float("nan"), float("nan")),
            ),
        ),
    )
    made = {"name": "paper:1 X", "title": "T_1", "note": "50 % of all.", "columns": columns, "rows": rows}
    return Table(**{"label": Column(key="name", title="model_x"), **made, **fields})


def rows_of(text):
    """The rows of the one tabular, as cells, and its column letters."""
    body = re.search(r"\\begin\{tabular\}\{(\w+)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL)
    lines = [line for line in body[2].splitlines() if line.endswith("\\\\")]
    return body[1], [re.split(r"(?<!\\) & ", line.removesuffix(" \\\\")) for line in lines]


def assert_sound(text):
    """Environments are balanced, rows have as many cells as there are columns, rules stay inside."""
    open_now = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if kind == "begin":
            open_now.append(name)
        else:
            assert open_now.pop() == name
    assert open_now == []
    assert text.isascii()
    for piece in re.split(r"(?=\\begin\{table\*?\})", text)[1:]:
        letters, rows = rows_of(piece)
        for row in rows:
            spans = [re.match(r"\\multicolumn\{(\d+)\}\{c\}\{.*\}$", cell) for cell in row]
            assert sum(int(span[1]) if span else 1 for span in spans) == len(letters)
        for first, last in re.findall(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", piece):
            assert 1 <= int(first) <= int(last) <= len(letters)
        for name in ("toprule", "midrule", "bottomrule", "caption", "label", "centering"):
            assert f"\\{name}" in piece


def test_a_table_is_sound_and_says_everything():
    text = latex([table()], intervals="pm")
    assert_sound(text)
    letters, rows = rows_of(text)
    assert letters == "lrrr"
    assert rows[0] == [r"\multicolumn{1}{c}{}", r"\multicolumn{2}{c}{both \#1}", r"\multicolumn{1}{c}{}"]
    assert rows[1] == [r"model\_x", r"A \& B", r"C\%", r"all, \%"]
    assert rows[2] == [
        *(r"{[}GPT{]} 50 \%", r"33.02\textsuperscript{$\dagger$1 {*}2}", "$-$1.5"),
        r"x {\scriptsize on 3}",
    ]
    assert rows[3] == [
        *(r"ours\_v2", r"\textbf{43.2} {\scriptsize $\pm$ 2.2}", r"10.0 {\scriptsize $\pm$ 15.0}"),
        r"50.0 {\scriptsize no interval}",
    ]
    assert "% ours\\_v2: asked \\{so\\}\n" in text
    assert text.count("\\midrule") == 2  # below the head, and above ours
    assert r"\caption{T\_1. 50 \% of all. After $\pm$: half the width of the interval; where its" in text
    assert r"\label{tab:paper-1-x}" in text
    assert "\\begin{table}[t]" in text


def test_intervals_in_brackets_or_none():
    text = latex([table()], intervals="brackets")
    assert_sound(text)
    assert r"10.0 {\scriptsize {[}$-$5.0, 25.0{]}}" in text
    assert "In brackets: the interval." in text
    bare = latex([table()], intervals="none")
    assert_sound(bare)
    assert "\\scriptsize {[}" not in bare
    assert "interval" not in bare
    assert_sound(latex([table(rows=())]))
    few = {"value": 0.5, "low": float("nan"), "high": float("nan"), "reason": "too few videos (1)"}
    found = Estimate(level=0.95, n=9, n_clusters=1, method="m", **few)
    columns = (Column(key="a", title="a", kind="share"),)
    one = table(columns=columns, rows=(Row(key="x", label="x", values=(found,)),))
    assert r"x & 50.0 {\scriptsize too few videos (1)} \\" in latex([one])
    assert r"x & 50.0 \\" in latex([one], intervals="none")


def test_wide_tables_span_the_page_and_footnotes_stand_below():
    columns = tuple(Column(key=str(i), title=str(i)) for i in range(9))
    wide = table(
        label="n",
        columns=columns,
        rows=(Row(key="x", label="50.0", values=tuple(0.5 for _ in columns)),),
        footnotes=("†1 a_b", "*2 c"),
    )
    text = latex([wide, table()])
    assert_sound(text)
    assert "\\begin{table*}[t]" in text
    assert "{\\scriptsize\\raggedright $\\dagger$1 a\\_b\\par\n{*}2 c\\par}" in text
    assert "cmidrule" not in text.split("\\end{table*}")[0]


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (0.40, 0.47, r"43.2 {\scriptsize $\pm$ 3.5}"),
        (0.30, 0.47, r"43.2 {\scriptsize $^{+3.8}_{-13.2}$}"),
        (0.432, 0.9, r"43.2 {\scriptsize $^{+46.8}_{-0.0}$}"),
    ],
)
def test_unequal_sides_of_an_interval_are_both_written(low, high, written):
    estimate = Estimate(value=0.432, low=low, high=high, level=0.95, n=9, n_clusters=9, method="m")
    columns = (Column(key="a", title="a", kind="share"),)
    text = latex([table(columns=columns, rows=(Row(key="x", label="x", values=(estimate,)),))])
    assert_sound(text)
    assert f"x & {written} \\\\" in text


DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
\input{tables}
\end{document}
"""
SIGNS = "".join(map(chr, range(32, 127))) + (
    "éŐçßæøłÆØŁ中ệ\x00\n\t±·°†‡≥≤“”…\N{EN DASH}\N{MINUS SIGN}\N{MULTIPLICATION SIGN}"
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
)


@pytest.mark.parametrize("intervals", ["pm", "brackets", "none"])
def test_tex_compiles_every_table_without_a_complaint(intervals, tmp_path):
    tex = shutil.which("pdflatex")
    if tex is None:
        pytest.skip("no TeX is installed: pdflatex with booktabs and T1 fonts")
    wide = tuple(Column(key=f"k{i}", title=f"column {SIGNS[i]}") for i in range(12))
    tables = [
        table(footnotes=(f"on {SIGNS}",)),
        table(name="signs", title=SIGNS, note=SIGNS),
        Table(
            name="wide",
            title="Wide",
            label="l",
            columns=wide,
            rows=(Row(key="r", label=SIGNS, values=tuple(SIGNS[::8][:12])),),
        ),
    ]
    (tmp_path / "tables.tex").write_text(latex(tables, intervals=intervals), encoding="ascii")
    (tmp_path / "paper.tex").write_text(DOCUMENT)
    command = [tex, "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-3000:].decode("latin-1")
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert not re.findall(r"^! .*|LaTeX Error.*|Missing character.*|undefined.*", log, re.MULTILINE)
