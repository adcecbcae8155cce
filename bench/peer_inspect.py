"""The load of `peers.py` by inspect_ai; run by a Python that has inspect_ai, openai, av and Pillow.

    python bench/peer_inspect.py QUESTIONS ADDRESS FRAMES N

FRAMES is a folder. Frames that are not there are decoded first, each video once, and written there as a user
of inspect_ai would, since it shows images and reads no videos; a second run finds them.
"""

import json
import sys
from pathlib import Path

import av
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice


def frames_of(video: Path, folder: Path, n: int) -> list[Path]:
    """The files of `n` frames at the middles of as many equal parts of a video."""
    paths = [folder / f"{video.stem}-{i:02d}.jpg" for i in range(n)]
    if not paths[-1].exists():
        with av.open(str(video)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            wanted = {int((i + 0.5) * stream.frames / n): path for i, path in enumerate(paths)}
            for number, frame in enumerate(container.decode(stream)):
                if number in wanted:
                    frame.to_image().save(wanted[number], quality=85)
    return paths


def sample(row: dict, root: Path, folder: Path) -> Sample:
    """A question with its frames."""
    paths = frames_of(root / row["media"][0]["path"], folder, 16)
    content = [*(ContentImage(image=str(path)) for path in paths), ContentText(text=row["question"])]
    return Sample(
        id=row["item_id"],
        input=[ChatMessageUser(content=content)],
        choices=row["choices"],
        target=row["answer"],
    )


def main() -> int:
    """Ask all of them; 0 if every one was answered."""
    questions, address, folder, n = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in questions.read_text().splitlines()][:n]
    samples = [sample(row, questions.parent, folder) for row in rows]
    task = Task(dataset=MemoryDataset(samples), solver=multiple_choice(), scorer=choice())
    model = get_model("openai/stub", base_url=address, api_key="key", responses_api=False)
    (log,) = evaluate(
        task, model=model, log_dir=str(folder / "logs"), display="none", max_connections=16, max_tokens=1024
    )
    return 0 if log.status == "success" and log.results.completed_samples == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
