"""What every embedder in the catalog must do."""

import functools
import inspect
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from servers import tiny_embedders
from subjects.matching import match
from subjects.samples import argument_of
from vidence import catalog
from vidence.ask.embedding.cache import ScoreCache
from vidence.ask.embedding.score import score_frames
from vidence.ask.phantom.code import Payload, draw
from vidence.contracts import ComparingEmbedder, Embedder
from vidence.errors import UsageError
from vidence.media.encode import Size

# What each is made of; an embedder that needs weights has a builder of tiny ones here.
WEIGHTS: dict[str, Callable[[Path], Path] | None] = {
    "blip-itc": tiny_embedders.build_blip,
    "blip-itm": tiny_embedders.build_blip,
    "clip": tiny_embedders.build_clip,
    "phantom-codes": None,
    "siglip": tiny_embedders.build_siglip2,
}
NAMES = catalog.names("embedder")
ASKED = ("number on the red card", "sum of the numbers on the red and the green card")
TEXTS = tuple(f"What is the {what}?" for what in ASKED)


@pytest.fixture(scope="module")
def argument(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What to write behind the name of an embedder."""
    made: dict[object, str] = {}

    def find(name: str) -> str:
        builder = WEIGHTS.get(name)
        if builder is None:
            return argument_of("embedder", name)
        pytest.importorskip("torch", reason="needs the extra 'select'")
        pytest.importorskip("transformers", reason="needs the extra 'select'")
        if builder not in made:
            made[builder] = str(builder(tmp_path_factory.mktemp("tiny") / "weights"))
        return made[builder]

    return find


@pytest.fixture(scope="module")
def make(argument) -> Callable[..., Embedder]:
    """A new embedder each time."""

    def create(name: str, **options: str) -> Embedder:
        spec = catalog.Spec(name=name, argument=argument(name), options=options)
        return catalog.create("embedder", spec)

    return create


@pytest.fixture(scope="module")
def shared(make) -> Callable[[str], Embedder]:
    """One embedder for each name, whose weights are loaded once."""
    return functools.cache(make)


@pytest.fixture(scope="module")
def frames() -> list[NDArray[np.uint8]]:
    """Five frames of two sizes; three of them show a card of a phantom world."""
    made = []
    for i in range(5):
        picture = np.full((108 + 12 * (i % 2), 192, 3), 40 * i, np.uint8)
        picture[:60, :: i + 2] = (250 - 40 * i, 90, 30 * i)
        made.append(draw(picture, Payload(world=1, piece=i, value=i + 1)) if i < 3 else picture)
    return made


def test_the_documented_embedders_are_there():
    assert set(WEIGHTS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEmbedder:
    def test_it_says_what_it_is(self, make, name, argument):
        embedder = make(name)
        assert embedder.identity.startswith(name)
        assert make(name).identity == embedder.identity
        assert str(Size.parse(embedder.size)) == embedder.size
        assert hasattr(embedder, "match") or isinstance(embedder, ComparingEmbedder)
        where = argument(name)
        assert not where or str(Path(where).parent) not in make(name).identity
        with pytest.raises(UsageError, match="no option 'no-such-option'"):
            make(name, **{"no-such-option": "1"})

    def test_scores_have_their_shape_and_leave_the_frames_as_they_were(self, shared, frames, name):
        scores = match(shared(name), frames, TEXTS)
        assert scores.shape == (5, 2)
        assert scores.dtype == np.float32
        assert np.isfinite(scores).all()
        assert len(np.unique(scores)) > 1
        assert match(shared(name), frames[:1], TEXTS[:1]).shape == (1, 1)
        before = [frame.copy() for frame in frames]
        match(shared(name), frames, TEXTS)
        for frame, copy in zip(frames, before, strict=True):
            np.testing.assert_array_equal(frame, copy)
        embedder, found = shared(name), []
        thread = threading.Thread(target=lambda: found.append(match(embedder, frames, TEXTS)))
        thread.start()
        thread.join()
        np.testing.assert_array_equal(match(embedder, frames, TEXTS), found[0])

    def test_the_same_gives_the_same(self, make, frames, name):
        embedder = make(name)
        scores = match(embedder, frames, TEXTS)
        np.testing.assert_array_equal(match(embedder, frames, TEXTS), scores)
        np.testing.assert_array_equal(match(make(name), frames, TEXTS), scores)

    def test_a_pair_does_not_depend_on_its_company(self, shared, frames, name):
        embedder = shared(name)
        scores = match(embedder, frames, TEXTS)
        for i, frame in enumerate(frames):
            for j, text in enumerate(TEXTS):
                assert match(embedder, [frame], [text])[0, 0] == pytest.approx(scores[i, j], abs=1e-5)
        np.testing.assert_allclose(match(embedder, frames[::-1], TEXTS[::-1]), scores[::-1, ::-1], atol=1e-5)

    def test_features_suffice_where_it_compares(self, make, frames, name):
        embedder = make(name)
        if not isinstance(embedder, ComparingEmbedder):
            assert not hasattr(embedder, "features")
            return
        features = embedder.features(frames)
        assert features.dtype == np.float32
        assert features.ndim == 2
        assert len(features) == 5
        np.testing.assert_array_equal(embedder.compare(features, TEXTS), match(embedder, frames, TEXTS))
        # Another process has nothing but the features.
        np.testing.assert_array_equal(
            make(name).compare(features.copy(), TEXTS), match(embedder, frames, TEXTS)
        )

    def test_frames_that_are_views_or_read_only(self, shared, frames, name):
        mirrored = [frame[:, ::-1] for frame in frames]
        locked = [np.ascontiguousarray(frame) for frame in mirrored]
        for frame in locked:
            frame.setflags(write=False)
        np.testing.assert_array_equal(
            match(shared(name), mirrored, TEXTS), match(shared(name), locked, TEXTS)
        )

    def test_nothing_to_match(self, shared, frames, name):
        embedder = shared(name)
        with pytest.raises(UsageError, match="no frames"):
            embedder.features([]) if isinstance(embedder, ComparingEmbedder) else embedder.match([], TEXTS)
        with pytest.raises(UsageError, match="no texts"):
            match(embedder, frames, [])
        for text in ("", " \n"):
            with pytest.raises(UsageError, match="text 1 is "):
                match(embedder, frames, [TEXTS[0], text])

    @pytest.mark.parametrize(
        "frame",
        [
            np.zeros((90, 160), np.uint8),
            np.zeros((90, 160, 4), np.uint8),
            np.zeros((3, 90, 160), np.uint8),
            np.zeros((0, 160, 3), np.uint8),
            np.zeros((90, 160, 3), np.float32),
        ],
        ids=["grey", "with alpha", "channels first", "empty", "floats"],
    )
    def test_what_is_no_frame_is_refused(self, shared, frames, name, frame):
        with pytest.raises(UsageError, match=r"frame 1 is an array of .*expected uint8 of shape"):
            match(shared(name), [frames[0], frame], TEXTS)

    def test_scores_from_the_cache_are_the_same(self, shared, frames, tmp_path, name):
        embedder = shared(name)
        cache = ScoreCache(tmp_path, embedder, frames_key="k", max_bytes=1 << 30)
        for delivered in (dict(enumerate(frames)), {}):
            found = score_frames(embedder, cache, "v", frames=delivered, indices=range(5), texts=TEXTS)
            np.testing.assert_allclose(found, match(embedder, frames, TEXTS), atol=1e-6)

    def test_one_with_weights_says_its_source_and_its_departures(self, shared, name):
        if WEIGHTS.get(name) is None:
            return
        documentation = inspect.getdoc(type(shared(name))) or ""
        assert "Source: " in documentation
        assert "Departs: " in documentation


def test_importing_them_imports_nothing_heavy():
    code = (
        "import sys; from vidence import catalog\n"
        f"found = [catalog.find('embedder', name) for name in {NAMES!r}]\n"
        "assert not {'torch', 'transformers', 'huggingface_hub', 'sentencepiece'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
