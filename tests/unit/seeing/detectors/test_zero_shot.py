"""Detectors by words: against the library's own reading, and what is said when something is missing."""

import importlib.util
import json
from types import SimpleNamespace

import numpy as np
import pytest

from servers.tiny_eyes import build_grounding_dino, build_owlv2
from vidence.engine.executor import Parallelism
from vidence.engine.side_by_side import side_by_side
from vidence.errors import AccessError, UsageError
from vidence.make.pipeline.watching import Parted
from vidence.media.video import open_video
from vidence.seeing.chunks import Eyes
from vidence.seeing.following import open_detector, watching
from vidence.seeing.watching import watch
from videos.walkers import Walker, film

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the extra 'select'")
transformers = pytest.importorskip("transformers", reason="needs the extra 'select'")

BUILDERS = {"grounding-dino": build_grounding_dino, "owlv2": build_owlv2}
ALL = "confidence=0&most_iou=1&words=person|red dog"
DRAWN = np.random.default_rng(4)
IMAGES = [DRAWN.integers(0, 255, (60, 100, 3), np.uint8), DRAWN.integers(0, 255, (90, 50, 3), np.uint8)]


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return {name: build(tmp_path_factory.mktemp(name)) for name, build in BUILDERS.items()}


@pytest.mark.parametrize("name", BUILDERS)
def test_boxes_and_confidences_are_those_of_the_library(name, weights):
    """The phrase that the library puts together of tokens is left out: each of our boxes has one word."""
    processor = transformers.AutoProcessor.from_pretrained(weights[name], backend="pil")
    model = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(weights[name]).eval()
    words = (
        ["person", "red dog"] if name == "grounding-dino" else ["a photo of a person", "a photo of a red dog"]
    )
    for image in IMAGES:
        (ours,) = open_detector(f"{name}:{weights[name]}?{ALL}").find([image])
        given = processor(images=[image], text=[words], return_tensors="pt")
        with torch.inference_mode():
            seen = model(**given)
        if name == "grounding-dino":  # the marks around the words are no words
            tokens = given["input_ids"][0].tolist()
            marks = [i for i, token in enumerate(tokens) if token in processor.tokenizer.all_special_ids]
            stops = [i for i, token in enumerate(tokens) if processor.tokenizer.decode([token]) == "."]
            seen.logits = seen.logits.clone()
            seen.logits[..., marks + stops] = -torch.inf
        (theirs,) = processor.post_process_grounded_object_detection(
            seen, threshold=0.0, target_sizes=[image.shape[:2]]
        )
        order = np.argsort(-theirs["scores"].numpy(), kind="stable")
        boxes = theirs["boxes"].numpy()[order].clip(0, [image.shape[1], image.shape[0]] * 2)
        covers = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
        np.testing.assert_allclose(ours.confidences, theirs["scores"].numpy()[order][covers], atol=1e-6)
        np.testing.assert_allclose(ours.boxes_px, boxes[covers], atol=1e-3)
        if name == "owlv2":
            assert (ours.class_ids - 1).tolist() == theirs["labels"].numpy()[order][covers].tolist()


@pytest.mark.parametrize("name", BUILDERS)
def test_pictures_that_are_looked_at_together_are_seen_as_alone(name, weights):
    detector = open_detector(f"{name}:{weights[name]}?{ALL}")
    same = [IMAGES[0], IMAGES[0][::-1].copy()]
    for alone, with_others in zip(
        (detector.find([one])[0] for one in same), detector.find(same), strict=True
    ):
        np.testing.assert_allclose(alone.boxes_px, with_others.boxes_px, atol=1e-3)
        np.testing.assert_allclose(alone.confidences, with_others.confidences, atol=1e-5)
        assert alone.class_names == {1: "person", 2: "red dog"}


class Sure:
    """A network that is sure of tokens or texts: logits 4 there, in two boxes that overlap by 0.9."""

    config = SimpleNamespace(model_type="mm-grounding-dino")
    device = "cpu"

    def __init__(self, columns):
        self._columns = columns

    eval = to = requires_grad_ = lambda self, *_: self

    def __call__(self, **given):
        logits = torch.full((1, len(self._columns), 32), -8.0)
        for row, column in enumerate(self._columns):
            logits[0, row, column] = 4.0 - row / 10
        boxes = torch.tensor([[0.5, 0.5, 0.4, 0.8], [0.5, 0.5, 0.4, 0.72], [0.2, 0.5, 0.1, 0.1]])
        return SimpleNamespace(logits=logits, pred_boxes=boxes[None, : len(self._columns)])


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ((1, 1, 3), ["man", "red dog"]),  # [CLS] man . red dog . [SEP]; "dog" is ##-parts of the vocabulary
        ((1, 4, 3), ["man", "red dog", "red dog"]),
    ],
)
def test_a_box_has_the_word_of_its_surest_token_and_rivals_only_of_that_word(
    columns, names, weights, monkeypatch
):
    loaded = transformers.GroundingDinoForObjectDetection
    monkeypatch.setattr(loaded, "from_pretrained", lambda *_, **__: (Sure(columns), {}))
    spec = f"grounding-dino:{weights['grounding-dino']}?words=man|red dog"
    (found,) = open_detector(spec).find([IMAGES[0]])
    assert [found.class_names[int(i)] for i in found.class_ids] == names
    assert found.boxes_px[0].tolist() == pytest.approx([30, 6, 70, 54])


def test_a_process_of_another_machine_sees_the_same(weights, tmp_path):
    """It opens the detector by its spec, in a sandbox that may read the weights and the video alone."""
    video = open_video(film(tmp_path / "street.mp4", (Walker(left_px=10, top_px=60),), n_frames=6))
    for name in BUILDERS:
        spec = f"{name}:{weights[name]}?{ALL}"
        detector = open_detector(spec)
        seen = watching(video, Eyes(detector=detector), rate=0)
        parted = Parted(watch=seen, detector=spec, describer="")
        assert (parted.n_gpus, Parted(watch=seen, detector=f"{spec}&device=cuda", describer="").n_gpus) == (
            0,
            1,
        )
        pieces = (parted.work(chunk, is_away=True) for chunk in seen.chunks)
        ((_, made),) = side_by_side(pieces, Parallelism(n_workers=2).touching(parted.reads))
        here = watch(video, range(6), detector=detector).detections
        np.testing.assert_allclose(made.detections.boxes_px, here.boxes_px, atol=1e-3)
        np.testing.assert_allclose(made.detections.confidences, here.confidences, atol=1e-5)


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="owlv2 needs a folder or a name on the hub"):
        open_detector("owlv2")
    with pytest.raises(UsageError, match="there is no folder"):
        open_detector(f"owlv2:{tmp_path}/none")
    with pytest.raises(UsageError, match="expected words without full stops"):
        open_detector(f"owlv2:{tmp_path}?words=person.")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"grounding-dino: needs torch; run: .*pip install"):
        open_detector(f"grounding-dino:{tmp_path}")


def test_other_weights_a_device_that_is_not_there_and_too_many_words(weights, tmp_path):
    owl, dino = weights["owlv2"], weights["grounding-dino"]
    with pytest.raises(UsageError, match=r"of type 'owlv2'; grounding-dino: needs .*, such as IDEA-Research"):
        open_detector(f"grounding-dino:{owl}")
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="sees no such device"):
            open_detector(f"owlv2:{owl}?device=cuda").find(IMAGES[:1])
    many = "|".join(f"w{i}" for i in range(99))
    with pytest.raises(UsageError, match=r"for 99 words .*fewer or shorter words"):
        open_detector(f"grounding-dino:{dino}?words={many}").find(IMAGES[:1])
    for file in owl.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((owl / "config.json").read_text())
    config["vision_config"]["num_hidden_layers"] = 3
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(AccessError, match=r"lack .* of the model's tensors"):
        open_detector(f"owlv2:{tmp_path}").find(IMAGES[:1])
