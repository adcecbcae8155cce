"""The gates of any maker: drafts with media of their own, images among them, and no video of a session."""

from PIL import Image

from subjects.gated import draft
from subjects.planted_drafts import models_of
from vidence.make.gates.frames import frame_source
from vidence.make.gates.gate_sequence import VERDICTS_FILE, GateRoom, pass_gates
from vidence.make.gates.model_gates import as_items
from vidence.make.gates.rules import GateRules, OneFrameRules, TextOnlyRules
from vidence.make.pipeline.output import item_of_draft
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Session
from vidence.records import Media

STILLS = ("a.png", "b.png")


def of_images(name: str, **changes: object):
    media = tuple(Media(path=one, kind="image") for one in STILLS)
    more = {"video_id": "", "media": media, "evidence": (), "k": None, "benchmark": "own"}
    return draft(name, **more | {"source_id": f"album {name}"} | changes)


def room(folder, models) -> GateRoom:
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    session = Session(root=folder, out=folder / "out", context=context, overrides=MakeOverrides())
    return GateRoom(
        session=session,
        models=models,
        frames=lambda some: frame_source(
            as_items(some),
            media_root=folder,
            pictures=folder / "pictures",
            cache=session.cache,
            context=context,
        ),
        seed=1,
        sources={},
    )


def test_drafts_about_images_pass_every_gate_and_are_accounted_for(tmp_path):
    for i, name in enumerate(STILLS):
        Image.new("RGB", (32, 24), (90 * i, 0, 0)).save(tmp_path / name)
    drafts = tuple(
        of_images(
            f"d{i}", question=f"Which of these two pictures number {i} shows more {'very ' * i}red fruit?"
        )
        for i in range(5)
    )
    rules = GateRules(
        text_only=TextOnlyRules(models=("quiet",), at_least=1, runs="auto"),
        one_frame=OneFrameRules(model="eye", permutations=0, suffice=2),
        letters=True,
    )
    pictures = room(tmp_path, None).frames(drafts).pictures.get
    named = {"quiet": "scripted:nothing", "eye": "scripted:Answer: A"}
    with models_of(tmp_path, pictures, **named) as models:
        here = room(tmp_path, models)
        gated = pass_gates(drafts, rules, here)
    stages = {one.stage: one for one in here.session.ledger.stages}
    assert stages["text-only"].n_out == 5
    assert stages["one-frame"].dropped == {"solved-one-frame": 1}
    assert (tmp_path / "out" / VERDICTS_FILE).is_file()
    assert any("so often that guessing passes in 1% at most" in one for one in gated.words)
    assert len(gated.drafts) == 4
    item = item_of_draft(gated.drafts[0], item_id="x")
    assert (item.benchmark, item.source_id, [one.path for one in item.media]) == (
        "own",
        f"album {gated.drafts[0].draft_id}",
        list(STILLS),
    )
    assert "k" not in item.tags


def test_without_rules_only_what_is_released_is_tested_for_blind_readers(tmp_path):
    drafts = tuple(of_images(f"d{i}") for i in range(3))
    here = room(tmp_path, None)
    assert pass_gates(drafts, None, here).drafts == drafts
    assert "no quality gate" in here.session.ledger.notes[0]
