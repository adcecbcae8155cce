"""How much of the package one question runs through, from a line of JSONL to report.html.

Counts modules imported, files with a function that ran, functions that ran and calls, in this process, with
the profiler of the interpreter on in every thread: ``python bench/walk.py``.
"""

import inspect
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

import vidence


def prepare(folder: Path) -> Path:
    """One question about one small moving picture."""
    shades = [np.full((48, 64), shade, np.uint8) for shade in range(0, 250, 10)]
    first, *others = (Image.fromarray(shade) for shade in shades)
    first.save(folder / "a.gif", save_all=True, append_images=others, duration=100)
    question = {
        "item_id": "q1",
        "media": [{"path": "a.gif"}],
        "question": "What happens?",
        "choices": ["it brightens", "it darkens"],
        "answer": "A",
        "tags": {"task": "shade"},
    }
    path = folder / "q.jsonl"
    path.write_text(json.dumps(question) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Run one question under the profiler and print the counts."""
    package = str(Path(vidence.__file__).parent)
    calls: Counter[tuple[str, str, int]] = Counter()

    def watch(frame: object, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            is_function = code.co_flags & inspect.CO_OPTIMIZED  # the body of a class is none
            if is_function and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
                calls[code.co_filename, code.co_qualname, code.co_firstlineno] += 1

    with tempfile.TemporaryDirectory() as name:
        os.environ["VIDENCE_CACHE"] = str(Path(name) / "cache")
        data = prepare(Path(name))
        out = str(Path(name) / "run")
        words = ["run", "table", "--data", str(data), "--model", "scripted:Answer%3A A", "--frames", "4"]
        words += ["--out", out, *sys.argv[1:]]
        threading.setprofile(watch)
        sys.setprofile(watch)
        try:
            from vidence.cli.main import main as command

            command(words)
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    modules = sum(m.startswith("vidence") for m in sys.modules)
    files = Counter(Path(file).relative_to(package).parts[0] for file in {file for file, _, _ in calls})
    print(
        f"{modules} modules imported, {sum(files.values())} files and {len(calls)} functions executed, ",
        end="",
    )
    print(f"{sum(calls.values())} calls")
    print(", ".join(f"{room} {n}" for room, n in files.most_common()))


if __name__ == "__main__":
    main()
