"""The numbers of the embedders with weights, against calls of transformers that share nothing with them."""

import functools

import numpy as np
import pytest
from PIL import Image

from subjects.matching import match
from vidence import catalog
from vidence.ask.embedding import blip
from vidence.contracts import Embedder

torch = pytest.importorskip("torch", reason="needs the extra 'select'")
transformers = pytest.importorskip("transformers", reason="needs the extra 'select'")
pytestmark = pytest.mark.torch

# Long enough to be cut at 8 tokens; the second has what LAVIS leaves out.
TEXTS = (
    "What is the number on the red card that the man wears?",
    "Who opens the DOOR: (the man)! And then; he... leaves",
    "dogs",
)
# Every embedder and type of weights, with every option that changes its numbers.
WAYS = [
    ("blip-itm", "blip", {}), ("blip-itm", "blip", {"text": "lavis"}),
    ("blip-itm", "blip", {"max_tokens": "8"}), ("blip-itc", "blip", {}),
    ("blip-itc", "blip", {"text": "lavis"}), ("blip-itc", "blip", {"max_tokens": "8"}),
    ("clip", "clip", {}), ("clip", "clip", {"logit_scale": "true"}), ("clip", "clip", {"max_tokens": "8"}),
    ("siglip", "siglip", {}), ("siglip", "siglip", {"score": "sigmoid"}),
    ("siglip", "siglip", {"score": "cosine", "max_tokens": "8"}), ("siglip", "siglip2", {}),
    ("siglip", "siglip2", {"score": "sigmoid", "max_tokens": "8"}),
]  # fmt: skip
IDS = ["-".join([name, kind, *options.values()]) for name, kind, options in WAYS]


def make(name, folder, **options) -> Embedder:
    spec = catalog.Spec(name=name, argument=str(folder), options={"device": "cpu", **options})
    return catalog.create("embedder", spec)


CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "clip": "CLIPModel",
    "siglip": "SiglipModel",
    "siglip2": "Siglip2Model",
}


@functools.cache
def library(folder, kind):
    """Tokenizer, image processor and model as the library loads them."""
    return (
        transformers.AutoTokenizer.from_pretrained(folder),
        transformers.AutoImageProcessor.from_pretrained(folder, backend="pil"),
        getattr(transformers, CLASSES[kind]).from_pretrained(folder).eval().requires_grad_(False),
    )


def alone(name, folder, kind, options, frame, text) -> float:
    """The score of one pair, from the library's own forward pass."""
    tokenizer, images, model = library(folder, kind)
    pixels = images(images=[Image.fromarray(frame)], return_tensors="pt")
    limit = int(options.get("max_tokens", 0)) or tokenizer.model_max_length
    has_lavis = options.get("text") == "lavis"
    if has_lavis:
        text, limit = blip.prepare(text), 35
    words = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
    ids = words["input_ids"]
    with torch.no_grad():
        if kind == "blip":
            if has_lavis and name == "blip-itm":
                ids[0, 0] = model.config.text_config.bos_token_id + 1  # [DEC] is the start, [ENC] the next
            found = model(input_ids=ids, **pixels, use_itm_head=name == "blip-itm").itm_score
            return float(found.softmax(-1)[0, 1] if name == "blip-itm" else found[0, 0])
        if kind == "clip":
            logit = float(model(**words, **pixels).logits_per_image[0, 0])
            return logit if "logit_scale" in options else logit / float(model.logit_scale.exp())
        padding = torch.full((1, 64 - ids.shape[1]), tokenizer.pad_token_id)
        filled = torch.cat([padding, ids] if tokenizer.padding_side == "left" else [ids, padding], dim=1)
        out = model(input_ids=filled, **pixels)
    logit, scale, bias = (float(v) for v in (out.logits_per_image, model.logit_scale, model.logit_bias))
    cosine = (logit - bias) / np.exp(scale)
    return {"logit": logit, "sigmoid": 1 / (1 + np.exp(-logit)), "cosine": cosine}[
        options.get("score", "logit")
    ]


@pytest.mark.parametrize(("name", "kind", "options"), WAYS, ids=IDS)
class TestNumbers:
    def test_each_pair_scores_as_the_library_alone_has_it(self, weights, frames, name, kind, options):
        folder = weights(kind)
        expected = [
            [alone(name, folder, kind, options, frame, text) for text in TEXTS] for frame in frames[:3]
        ]
        assert np.std(expected) > 1e-4  # numbers that are all alike would prove nothing
        found = match(make(name, folder, **options), frames[:3], TEXTS)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)

    def test_batches_change_nothing(self, weights, frames, name, kind, options):
        many = [*frames] * 5
        alone_, together = (make(name, weights(kind), **options, batch=b) for b in ("1", "32"))
        np.testing.assert_allclose(match(alone_, many, TEXTS), match(together, many, TEXTS), atol=1e-5)
        np.testing.assert_allclose(*np.split(match(together, many, TEXTS)[:14], 2), atol=1e-5)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_precision_is_near(self, weights, frames, name, kind, options, dtype):
        exact = match(make(name, weights(kind), **options), frames, TEXTS)
        near = match(make(name, weights(kind), **options, dtype=dtype), frames, TEXTS)
        assert near.dtype == np.float32
        assert not np.array_equal(near, exact)
        has_scale = "logit_scale" in options or (name == "siglip" and "score" not in options)
        assert np.abs(near - exact).max() < 0.02 * (
            10 if has_scale else 1
        )  # the scale of these weights is 10


@pytest.mark.parametrize("name", ["blip-itc", "clip"])
def test_what_is_stored_in_16_bits_stays_so_with_auto(tmp_path, frames, name):
    from servers.tiny_embedders import build_blip, build_clip

    folder = build_clip(tmp_path / "half", dtype="float16") if name == "clip" else build_blip(tmp_path / "b")
    stored, wide = (match(make(name, folder, dtype=d), frames, TEXTS) for d in ("auto", "float32"))
    assert np.array_equal(stored, wide) is (name == "blip-itc")


def test_the_scores_of_siglip_rank_alike(weights, frames):
    kinds = [
        match(make("siglip", weights("siglip"), score=s), frames, TEXTS)
        for s in ("logit", "sigmoid", "cosine")
    ]
    orders = [np.argsort(scores, axis=0).tolist() for scores in kinds]
    assert orders[0] == orders[1] == orders[2]
    assert ((kinds[1] > 0) & (kinds[1] < 1)).all()
    assert (np.abs(kinds[2]) <= 1).all()


class TestCutting:
    @pytest.mark.parametrize(("name", "kind"), [("blip-itm", "blip"), ("blip-itc", "blip"), ("clip", "clip")])
    def test_what_lies_behind_the_limit_says_nothing(self, weights, frames, name, kind):
        short, long = "red card", "red card that the man wears in the kitchen"
        n_tokens = {"blip": "4", "clip": str(len("redcard") + 2)}[kind]
        embedder = make(name, weights(kind), max_tokens=n_tokens)
        np.testing.assert_allclose(*match(embedder, frames, [short, long]).T, atol=1e-6)
        whole = match(make(name, weights(kind)), frames, [short, long])
        assert np.abs(whole[:, 0] - whole[:, 1]).max() > 1e-4

    @pytest.mark.parametrize(
        ("name", "kind", "limit"),
        [("blip-itm", "blip", 512), ("clip", "clip", 77), ("siglip", "siglip2", 64)],
    )
    def test_the_limit_of_the_model_holds_where_none_is_given(self, weights, frames, name, kind, limit):
        embedder = make(name, weights(kind))
        # Words of one token (and for CLIP letters of one), the marks of start and end counted.
        marks = {"blip": 2, "clip": 2, "siglip2": 0}[kind]
        fits = {"blip": "dogs ", "clip": "a ", "siglip2": "a"}[kind] * (limit - marks)
        longer = fits + fits[:5]
        assert not np.array_equal(*match(embedder, frames[:1], [fits[:-5], fits]).T)
        np.testing.assert_allclose(*match(embedder, frames[:1], [fits, longer]).T, atol=1e-6)

    def test_lavis_cuts_at_35_tokens_and_leaves_out_signs_and_words_after_fifty(self, weights, frames):
        words = ["dogs"] * 33
        texts = [" ".join(words[:-1]), " ".join(words), " ".join([*words, "run"])]
        shorter, fits, longer = match(make("blip-itm", weights("blip"), text="lavis"), frames[:1], texts).T
        assert not np.array_equal(shorter, fits)
        np.testing.assert_array_equal(fits, longer)
        wider = make("blip-itm", weights("blip"), text="lavis", max_tokens="40")
        assert not np.array_equal(*match(wider, frames[:1], texts[1:]).T)
        assert blip.prepare('  Who  says: "no!" (he)~ #1; *what?  \n') == "who says no he 1 what?"
        assert blip.prepare(" ".join("abcde" for _ in range(60))) == " ".join("abcde" for _ in range(50))
        assert blip.prepare("One, two... three") == "one, two three"
