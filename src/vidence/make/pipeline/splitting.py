"""Questions in splits: by video, the same for the same seed, as near to the wanted shares as videos allow."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from vidence.make.pipeline.output import Question


def split_by_video(
    questions: Sequence[Question], shares: Mapping[str, float], *, seed: int
) -> dict[str, str]:
    """The split of each video, by its id. Two files with the same bytes are one video.

    Videos are taken in an order drawn from the seed and their content, and each goes to the split that lacks
    most of its questions; of splits that lack the same, to the first one.
    """
    contents: dict[str, list[str]] = {}
    sizes: Counter[str] = Counter()
    for one in questions:
        key = one.video.sha256 or one.video.video_id
        sizes[key] += 1
        if one.video.video_id not in contents.setdefault(key, []):
            contents[key].append(one.video.video_id)
    have: Counter[str] = Counter()
    found: dict[str, str] = {}
    for key in sorted(contents, key=lambda name: hashlib.sha256(f"split/{seed}/{name}".encode()).digest()):
        lack = {name: share * len(questions) - have[name] for name, share in shares.items()}
        split = max(shares, key=lambda name: lack[name])
        have[split] += sizes[key]
        found |= dict.fromkeys(contents[key], split)
    return found
