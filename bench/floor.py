"""The least that a run must do: decode the same frames once, encode them once, post the same bodies.

    python bench/floor.py QUESTIONS.jsonl BASE_URL PROMPTS.json [--in-flight 16]

PROMPTS.json maps each item id to the words that vidence sent, so that the bodies are the same to the
byte; the decoder is vidence's own, two clips at a time, each in a process of its own. Of an item with
`asks` each is posted, with its own words and those of the frames that its `positions` name.
"""

import argparse
import asyncio
import base64
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import httpx2
import msgspec


def encoded_frames(path: str, indices: list[int]) -> list[bytes]:
    """The frames of one clip as the JSON strings that bodies hold."""
    from vidence.media.encode import Encoding, Size
    from vidence.media.files import Job, deliver

    encoding = Encoding(size=Size.parse("short:720"), quality=85)
    job = Job(
        path=path,
        kind="video",
        frame_indices=tuple(indices),
        encoding=encoding,
        cache_root=None,
        cache_max_bytes=0,
    )
    frames = deliver(job).frames
    return [b'"data:image/jpeg;base64,' + base64.b64encode(frames[i].data) + b'"' for i in indices]


def body(words: str, images: list[bytes]) -> bytes:
    """The body of one request; frames first, then the words, which stand alone where there are no frames."""
    parts = [{"type": "image_url", "image_url": {"url": msgspec.Raw(image)}} for image in images]
    content = [*parts, {"type": "text", "text": words}] if images else words
    return msgspec.json.encode(
        {
            "model": "stub",
            "messages": [{"role": "user", "content": content}],
            "temperature": 0.0,
            "max_tokens": 1024,
        }
    )


async def main() -> None:
    """Decode in two processes, post as soon as a clip is ready."""
    parser = argparse.ArgumentParser()
    parser.add_argument("questions", type=Path)
    parser.add_argument("base_url")
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--in-flight", type=int, default=16)
    options = parser.parse_args()
    items = [json.loads(line) for line in options.questions.read_text().splitlines()]
    sent = json.loads(options.prompts.read_text())
    by_clip: dict[str, list[dict[str, object]]] = {}
    for item in items:
        by_clip.setdefault(item["media"][0]["path"], []).append(item)
    slots = asyncio.Semaphore(options.in_flight)
    loop = asyncio.get_running_loop()
    async with httpx2.AsyncClient(headers={"content-type": "application/json"}, timeout=None) as client:

        async def post(words: str, images: list[bytes]) -> None:
            async with slots:
                answer = await client.post(
                    options.base_url + "/chat/completions", content=body(words, images)
                )
                assert answer.status_code == 200

        async def ask(item: dict[str, object], images: list[bytes]) -> None:
            asks = sent[item["item_id"]].get("asks")
            if asks is None:
                await post(sent[item["item_id"]]["words"], images)
            else:
                for one in asks:
                    await post(one["words"], [images[p] for p in one["positions"]])

        async def clip(pool: ProcessPoolExecutor, name: str) -> None:
            path = str(options.questions.parent / name)
            indices = sent[by_clip[name][0]["item_id"]]["frames"]
            images = await loop.run_in_executor(pool, encoded_frames, path, indices)
            await asyncio.gather(*(ask(item, images) for item in by_clip[name]))

        with ProcessPoolExecutor(2) as pool:
            await asyncio.gather(*(clip(pool, name) for name in by_clip))


if __name__ == "__main__":
    asyncio.run(main())
