"""Frames of evidence and witnesses: which, with what label, and what happens without the video."""

from dataclasses import replace

import av
import msgspec
import numpy as np
import pytest

from subjects.composing import searched, street
from vidence.make.compose.compose_drafting import QuestionWords, draft_of
from vidence.make.compose.compose_report import report_text
from vidence.make.compose.evidence_pictures import FOLDER, frames_of, own_spans, picture_questions
from vidence.make.compose.offers import Offer, OptionRules, offer
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.session import BuildContext

SCENE = street()


def drafted(n):
    bits, found = SceneBits(SCENE), []
    for made in searched(SCENE, n=150, shapes=("attribute", "ordered")):
        proof = made.proof
        offered = offer(proof, bits, OptionRules(), seed=0)
        if isinstance(offered, Offer) and proof.spans:
            words = QuestionWords(question="Which?", verdict="same")
            found.append((draft_of(made, proof, offered, words=words, scene=SCENE, benchmark="b"), proof))
    return found[:n]


@pytest.fixture
def context(tmp_path):
    return BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "replies.sqlite")


@pytest.fixture
def clip(tmp_path):
    """A clip of 180 s, one frame each."""
    path = tmp_path / "lane.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.options = {"preset": "ultrafast"}
        for number in range(180):
            image = np.full((48, 64, 3), number, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def test_the_report_shows_frames_where_the_video_is_here(tmp_path, clip, context):
    some = drafted(3)
    drafts, proofs = [one for one, _ in some], {one.draft_id: proof for one, proof in some}
    sheets, notes = picture_questions(
        drafts, proofs, media_root=tmp_path, out=tmp_path / "out", context=context
    )
    assert notes == []
    assert set(sheets) == {one.draft_id for one in drafts}
    account = Account(stages=(), questions={})
    text = report_text("set", drafts, proofs, account=account, sentences=[], sheets=sheets)
    for name in sheets.values():
        assert name.startswith(FOLDER)
        assert (tmp_path / "out" / name).read_bytes()[:2] == bytes([0xFF, 0xD8])
        assert f"]({name})" in text
    video = context.video(clip)
    for _, proof in some:
        frames = frames_of(proof, video)
        start, end = proof.spans[0]
        assert "right" in frames[video.index_at((start + end) / 2)]
        for one in proof.conditions:
            witness = one.without.witness
            if witness is not None and own_spans(witness, proof):
                assert any(f"without {one.id}" in label for label in frames.values())


def test_what_is_not_here_is_named_once(tmp_path, context):
    some = drafted(3)
    drafts, proofs = [one for one, _ in some], {one.draft_id: proof for one, proof in some}
    sheets, notes = picture_questions(drafts, proofs, media_root=tmp_path, out=tmp_path, context=context)
    assert sheets == {}
    assert len(notes) == 1
    assert notes[0].startswith("No frames of lane.mp4: ")


def test_times_behind_the_end_and_facts_without_times_show_nothing(clip, context):
    ((_, proof),) = drafted(1)
    video = context.video(clip)
    late = msgspec.structs.replace(proof, spans=((900.0, 950.0),), conditions=())
    assert frames_of(late, video) == {}
    assert frames_of(msgspec.structs.replace(late, spans=()), video) == {}
    assert replace(SCENE).header.video == "lane.mp4"
