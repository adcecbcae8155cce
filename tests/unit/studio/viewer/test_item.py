"""One question: replies side by side, whole texts as files, neighbours, media that are not shown."""

import re
from html import unescape

import msgspec

from subjects.viewed import ITEMS, OTHERS, TRIALS, trial, write_run
from vidence.records import Media
from vidence.studio.bridge.places import place_id


def page(client, **said):
    answer = client.get("/item", said)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_two_runs_stand_beside_each_other_with_the_right_and_the_read_choice(look, tmp_path):
    first, second = write_run(tmp_path / "a"), write_run(tmp_path / "b", trials=OTHERS)
    text = page(look(tmp_path), run=[place_id(first), place_id(second)], item="q1")
    assert text.count('<section class="told"') == 2
    assert text.count("read</span>") == 2
    assert "1 piece of evidence" in text
    assert "Because it is red." in text
    assert "A -0.100 (92.4 %), B -2.600 (7.6 %)" in text
    assert "Look, and answer." in text


def test_a_replayed_run_was_sent_nothing_and_has_no_latency(look, tmp_path):
    run = write_run(tmp_path / "a", plan={"model": "replay:answers.jsonl"})
    text = page(look(run), run=place_id(run), item="q1")
    assert "A recorded reply: the prompt is not known" in text
    assert "Look, and answer." not in text
    assert "latency" not in text
    asked = write_run(tmp_path / "b")
    assert "latency" in page(look(asked), run=place_id(asked), item="q1")


def test_repeats_are_shown_side_by_side(look, tmp_path):
    repeats = [trial(ITEMS[0], letter, repeat=i) for i, letter in enumerate("ABC")]
    run = write_run(tmp_path / "a", trials=repeats, plan={"repeats": 3})
    text = page(look(run), run=place_id(run), item="q1", repeat=["0", "2"])
    assert text.count('<section class="told"') == 2
    assert "repeat 2" in text
    assert "repeat 1</bdi>" not in text


def test_the_neighbours_are_those_of_the_list_and_what_is_not_there_is_not_found(look, tmp_path):
    run = write_run(tmp_path / "a")
    client = look(run)
    listed = client.get("/items", {"run": place_id(run), "sort": "-tokens"}).content.decode()
    links = [unescape(one) for one in re.findall(r'href="(/item\?[^"]+)"', listed)]
    text = client.get(links[1]).content.decode()
    around = {name: unescape(link) for name, link in re.findall(r'rel="(prev|next)" href="([^"]+)"', text)}
    assert around == {"prev": links[0], "next": links[2]}
    first, last = (client.get(links[i]).content.decode() for i in (0, -1))
    assert 'rel="prev"' not in first
    assert 'rel="next"' not in last
    outside = place_id(write_run(tmp_path.parent / f"{tmp_path.name}-outside"))
    there = {"run": place_id(run), "part": "reply"}
    runs = ({"item": "q1", "run": one} for one in ("0" * 16, outside))
    for said in ({"item": "absent"}, {"item": ""}, {"item": "../plan.toml"}, *runs):
        assert client.get("/item", there | said).status_code == 404, said
        assert client.get("/item/text", there | said).status_code == 404, said


def test_a_long_reply_is_cut_on_the_page_and_whole_as_a_file(look, tmp_path):
    said = "x " * 100_000 + " Answer: A"
    run = write_run(tmp_path / "a", trials=[trial(ITEMS[0], "A", text=said)])
    client = look(run)
    text = page(client, run=place_id(run), item="q1")
    assert len(text) < 60_000
    link = unescape(re.search(r'href="(/item/text\?[^"]+)"', text)[1])
    answer = client.get(link)
    assert answer.content.decode() == said
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"].startswith("attachment")


def test_files_outside_the_folder_of_the_media_are_named_and_not_shown(look, tmp_path):
    media = tmp_path / "media"
    media.mkdir()
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (media / "link.mp4").symlink_to(tmp_path / "secret.mp4")
    (media / "folder").symlink_to(tmp_path)
    paths = ("../secret.mp4", "/etc/passwd", "link.mp4", "../a/plan.toml", "folder/secret.mp4")
    items = [
        msgspec.structs.replace(ITEMS[0], item_id=f"q{i}", media=(Media(path=path),))
        for i, path in enumerate(paths, 1)
    ]
    run = write_run(tmp_path / "a", items=items, trials=TRIALS[:1], facts={"media_root": str(media)})
    client = look(run)
    for one in items:
        text = page(client, run=place_id(run), item=one.item_id)
        assert "is not shown" in text
        assert "lies outside" in text
        assert "/media/" not in text.replace(str(media), "")


def test_a_medium_of_the_run_gets_a_player_with_its_lanes(look, tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "film.mp4").write_bytes(b"no film")
    run = write_run(tmp_path / "a", facts={"media_root": str(tmp_path / "media")})
    text = page(look(run), run=place_id(run), item="q1")
    lanes = unescape(re.search(r'data-lanes="([^"]+)"', text)[1])
    assert '"name":"evidence, referred","spans":[[1.0,2.0]]' in lanes
    assert '"frames":[3,45],"still":"size=short%3A720&format=jpeg&quality=85"' in lanes
    assert re.search(r'<section data-player data-media="/media/[\w-]+"', text)


def test_runs_beside_are_called_the_same_wherever_they_stand_and_none_is_left_out(look, tmp_path):
    runs = [write_run(tmp_path / "runs" / f"run-{i:02}") for i in range(15)]
    client = look(tmp_path / "runs")
    names = re.findall(r'aria-label="([^"]*run-\d\d[^"]*)"', client.get("/runs").content.decode())
    assert len(set(names)) == 15
    for run in runs:
        client.get("/items", {"run": place_id(run)})
    text = page(client, run=place_id(runs[0]), item="q1")
    (shown,) = re.findall(r'<section class="told" aria-label="([^"]+)"', text)
    assert "2 more runs" in text
    linked = re.findall(r'<a href="[^"]+"><bdi>([^<]*run-\d\d[^<]*)</bdi></a>', text)
    assert sorted([shown, *linked]) == sorted(names)
    three = page(client, run=[place_id(one) for one in runs[:3]], item="q1")
    assert set(re.findall(r'<section class="told" aria-label="([^"]+)"', three)) <= set(names)
    assert "Compare with:" not in three
