"""Two questions in the layout of every preset of ``--map``: the layouts are others', the words ours."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

Row = dict[str, object]
LETTERS = "ABCDE"


@dataclass(frozen=True)
class Asked:
    """A question, and what a model said to it."""

    video: str
    question: str
    choices: tuple[str, ...]
    right: int
    said: str

    @property
    def letter(self) -> str:
        """The letter of the right choice."""
        return LETTERS[self.right]

    @property
    def text(self) -> str:
        """The right choice."""
        return self.choices[self.right]

    @property
    def labelled(self) -> list[str]:
        """The choices with letters of their own."""
        return [f"{letter}. {text}" for letter, text in zip(LETTERS, self.choices, strict=False)]

    @property
    def prompt(self) -> str:
        """The question with its choices below it."""
        return "\n".join([self.question, *self.labelled])


MILK = Asked(
    "kitchen", "What is put into the bowl first?", ("flour", "milk", "two eggs", "salt", "oil"), 1, "B"
)
DOG = Asked("garden", "Which way does the dog run?", ("left", "right", "up", "down", "nowhere"), 3, "(C) up")
BOTH = (MILK, DOG)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Files of a layout, and what must be read from them: the media of the questions, and their ids."""

    write: Callable[[Path], Path]
    media: tuple[str, ...] = ("videos/kitchen.mp4", "videos/garden.mp4")
    ids: tuple[str, ...] = ("q1", "q2")
    questions: tuple[Asked, ...] = BOTH
    needs_pyarrow: bool = False


def json_file(rows: object, name: str) -> Callable[[Path], Path]:
    """Rows as one JSON file; the folder is the data."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows, indent=1))
        return folder

    return write


def lines_file(rows: Sequence[Row], name: str) -> Callable[[Path], Path]:
    """Rows as JSON lines; the file is the data."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


def cells_file(rows: Sequence[Row], name: str, *, delimiter: str = ",") -> Callable[[Path], Path]:
    """Rows with their columns in the first line; lists are written as Python prints them."""

    def write(folder: Path) -> Path:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
        (folder / name).write_text(text.getvalue(), newline="")
        return folder / name

    return write


def parquet_file(rows: Sequence[Row], name: str) -> Callable[[Path], Path]:
    """Rows as a Parquet file of a data set of the hub; the folder is the data."""

    def write(folder: Path) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
        (folder / "README.md").write_text("---\nconfigs: []\n---\n")
        return folder

    return write


def workbook(rows: Sequence[Row]) -> bytes:
    """Rows as an Excel workbook of one sheet, texts in the list of shared strings."""
    shared: list[str] = []

    def cell(value: object, place: str) -> str:
        if value is None:
            return ""
        if isinstance(value, int | float):
            return f'<c r="{place}"><v>{value}</v></c>'
        shared.append(str(value))
        return f'<c r="{place}" t="s"><v>{len(shared) - 1}</v></c>'

    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    body = "".join(
        f'<row r="{n}">' + "".join(cell(v, f"{chr(65 + i)}{n}") for i, v in enumerate(line)) + "</row>"
        for n, line in enumerate(lines, 1)
    )
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{body}</sheetData></worksheet>"
        )
        archive.writestr("xl/sharedStrings.xml", f"<sst {space}>{strings}</sst>")
    return packed.getvalue()


def by_dimension(answer: str, reply: str = "", *, question: Callable[[Asked], Row]) -> object:
    """Questions under the id of their video and a dimension."""
    return {
        one.video: {
            "order": [question(one) | ({answer: one.said} if answer else {}) | ({reply: 1} if reply else {})]
        }
        for one in BOTH
    }


YES_NO = (
    replace(MILK, question="Is milk put into the bowl?", choices=("yes", "no"), right=0, said="yes"),
    replace(DOG, question="Does the dog run to the left?", choices=("yes", "no"), right=1, said="Yes."),
)
CAPTIONS = (
    replace(
        MILK, choices=("Milk is put into a bowl.", "Flour is put into a bowl."), right=0, said="Option 1"
    ),
    replace(DOG, choices=("A dog runs up.", "A dog runs down."), right=1, said="Option 2"),
)


def _options(one: Asked) -> str:
    return "\n".join([one.question, *(f"Option {n}: {text}" for n, text in enumerate(one.choices, 1))])


def _video_mme(folder: Path) -> Path:
    rows = [
        {
            "video_id": f"00{n}",
            "duration": "short",
            "domain": "Life",
            "sub_category": "Home",
            "url": "https://x.org",
        }
        | {"videoID": one.video, "question_id": f"00{n}-1", "task_type": "Order", "question": one.question}
        | {"options": one.labelled, "answer": one.letter}
        for n, one in enumerate(BOTH, 1)
    ]
    return lines_file(rows, "test.jsonl")(folder)


def _mvbench(folder: Path) -> Path:
    rows = [
        {
            "video": f"{one.video}.mp4",
            "question": one.question,
            "candidates": list(one.choices),
            "answer": one.text,
        }
        for one in BOTH
    ]
    json_file([rows[0] | {"start": 1.5, "end": 4.0}], "json/action_sequence.json")(folder)
    return json_file([rows[1] | {"video": "garden"}], "json/episodic_reasoning.json")(folder)


def _egoschema(folder: Path) -> Path:
    rows: list[Row] = [
        {"q_uid": f"q{n}", "google_drive_id": "d", "question": one.question}
        | {f"option {i}": text for i, text in enumerate(one.choices)}
        for n, one in enumerate(BOTH, 1)
    ]
    json_file({"q1": MILK.right, "q2": DOG.right}, "subset_answers.json")(folder)
    return json_file(rows, "questions.json")(folder)


def _numbered(one: Asked, n: int) -> Row:
    return {"id": f"q{n}", "video_id": one.video, "video_path": f"{one.video}.mp4", "question": one.question}


LONG = {"duration_group": 60, "question_category": "SOS", "topic_category": "HO", "subtitle_path": "a.json"}
EVALKIT = {"category": "order", "l2-category": "time", "split": "val"}
SAMPLE = {"doc_hash": "0f", "token_counts": [None]}
LMMS: list[Row] = [
    {
        "doc_id": n,
        "target": one.letter,
        "filtered_resps": [one.said.split()[0]],
        "input": f"{one.prompt}\nGive a letter.",
    }
    | {"exact_match": float(one is MILK)}
    | ({} if n else {"resps": [f"<think>first milk</think>{one.said}"]})
    | SAMPLE
    for n, one in enumerate(BOTH)
]
HEADER = {
    "status": "success",
    "eval": {"task": "bowls", "model": "openai/tiny", "created": "2026-01-01T00:00:00"},
}


def inspect_sample(one: Asked, n: int, epoch: int = 1) -> Row:
    """A sample as a log of inspect_ai holds it."""
    content = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": one.said}]
    message = {"role": "assistant", "content": one.said if n == 1 else content}
    return {
        "id": f"q{n}",
        "epoch": epoch,
        "input": one.question
        if n == 1
        else [{"role": "user", "content": [{"type": "text", "text": one.question}]}],
        "choices": list(one.choices),
        "target": one.letter if n == 1 else [one.letter],
        "messages": [{"role": "user", "content": one.prompt}, message],
        "output": {
            "model": "tiny",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": one.said,
        },
        "scores": {"choice": {"value": "C" if one is MILK else "I", "answer": one.said[0]}},
        "metadata": {},
    }


def inspect_log(folder: Path, *, epochs: int = 1) -> Path:
    """A log of inspect_ai as it writes it by default."""
    path = folder / "2026-01-01_bowls.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": HEADER["eval"]}))
        for epoch in range(1, epochs + 1):
            for n, one in enumerate(BOTH, 1):
                archive.writestr(
                    f"samples/q{n}_epoch_{epoch}.json", json.dumps(inspect_sample(one, n, epoch))
                )
        archive.writestr("header.json", json.dumps(HEADER))
    return path


LAYOUTS: Mapping[str, Layout] = {
    "video-mme": Layout(
        write=_video_mme, media=("data/kitchen.mp4", "data/garden.mp4"), ids=("001-1", "002-1")
    ),
    "mvbench": Layout(
        write=_mvbench,
        media=("video/star/Charades_v1_480/kitchen.mp4", "video/tvqa/frames_fps3_hq/garden"),
        ids=("action_sequence/0", "episodic_reasoning/0"),
    ),
    "longvideobench": Layout(
        write=json_file(
            [
                _numbered(one, n)
                | LONG
                | {"candidates": list(one.choices), "correct_choice": one.right, "level": "L1"}
                for n, one in enumerate(BOTH, 1)
            ],
            "lvb_val.json",
        )
    ),
    "longvideobench-parquet": Layout(
        write=parquet_file(
            [
                _numbered(one, n)
                | LONG
                | {"correct_choice": one.right}
                | {f"option{i}": text for i, text in enumerate((*one.choices[:4], "N/A"))}
                for n, one in enumerate(BOTH, 1)
            ],
            "data/validation-00000-of-00001.parquet",
        ),
        questions=tuple(replace(one, choices=one.choices[:4]) for one in BOTH),
        needs_pyarrow=True,
    ),
    "egoschema": Layout(write=_egoschema, media=("videos/q1.mp4", "videos/q2.mp4")),
    "egoschema-parquet": Layout(
        write=parquet_file(
            [
                {
                    "question_idx": str(n),
                    "question": one.question,
                    "video_idx": one.video,
                    "option": one.labelled,
                }
                | {"answer": str(one.right)}
                for n, one in enumerate(BOTH)
            ],
            "Subset/test-00000-of-00001.parquet",
        ),
        ids=("kitchen", "garden"),
        needs_pyarrow=True,
    ),
    "nextqa": Layout(
        write=cells_file(
            [
                {"video": f"{n}00", "frame_count": 9, "width": 64, "height": 48, "question": one.question}
                | {"answer": one.right, "qid": n, "type": "CW"}
                | {f"a{i}": text for i, text in enumerate(one.choices)}
                for n, one in enumerate(BOTH, 1)
            ],
            "val.csv",
        ),
        media=("NExTVideo/100.mp4", "NExTVideo/200.mp4"),
        ids=("100_1", "200_2"),
    ),
    "tempcompass": Layout(
        write=json_file(
            by_dimension(
                "prediction",
                question=lambda one: {"question": one.prompt, "answer": f"{one.letter}. {one.text}"},
            ),
            "multi-choice.json",
        ),
        ids=("kitchen/order/0", "garden/order/1"),
    ),
    "tempcompass-caption-matching": Layout(
        write=json_file(
            {
                one.video: {
                    "order": [{"question": _options(one), "answer": f"Option {one.right + 1}: {one.text}"}]
                }
                for one in CAPTIONS
            },
            "caption_matching.json",
        ),
        ids=("kitchen/order/0", "garden/order/1"),
        questions=CAPTIONS,
    ),
    "tempcompass-yes-no": Layout(
        write=json_file(
            {one.video: {"order": [{"question": one.question, "answer": one.text}]} for one in YES_NO},
            "yes_no.json",
        ),
        ids=("kitchen/order/0", "garden/order/1"),
        questions=YES_NO,
    ),
    "tempcompass-parquet": Layout(
        write=parquet_file(
            [
                {
                    "video_id": one.video,
                    "question": one.prompt,
                    "answer": f"{one.letter}. {one.text}",
                    "dim": "order",
                }
                for one in BOTH
            ],
            "multi-choice/test-00000-of-00001.parquet",
        ),
        ids=("kitchen/order/0", "garden/order/1"),
        needs_pyarrow=True,
    ),
    "vlm4d": Layout(
        write=json_file(
            [
                {"id": f"q{n}", "video": f"https://hub.example/x/resolve/main/videos/{one.video}.mp4"}
                | {"question_type": "multiple-choice", "question": one.question, "answer": one.text}
                | {"choices": dict(zip(LETTERS, one.choices, strict=True))}
                for n, one in enumerate(BOTH, 1)
            ],
            "real_mc.json",
        )
    ),
    "vlmevalkit": Layout(
        write=cells_file(
            [
                {"index": n, "video": one.video, "question": one.question}
                | dict(zip(LETTERS, one.choices, strict=True))
                | {"answer": one.letter}
                | EVALKIT
                for n, one in enumerate(BOTH)
            ],
            "Bowls.tsv",
            delimiter="\t",
        ),
        media=("kitchen.mp4", "garden.mp4"),
        ids=("0", "1"),
    ),
    "vlmevalkit-video": Layout(
        write=cells_file(
            [
                {
                    "index": n,
                    "video": one.video,
                    "video_path": f"./video/{one.video}.mp4",
                    "duration": "short",
                }
                | {
                    "candidates": one.labelled,
                    "task_type": "Order",
                    "question": one.question,
                    "answer": one.letter,
                }
                for n, one in enumerate(BOTH)
            ],
            "Video-MME.tsv",
            delimiter="\t",
        ),
        media=("./video/kitchen.mp4", "./video/garden.mp4"),
        ids=("0", "1"),
    ),
    "lmms-eval": Layout(
        write=lines_file(LMMS, "20260101_000000_samples_bowls.jsonl"), media=(), ids=("0", "1")
    ),
    "inspect": Layout(write=inspect_log, media=()),
}
