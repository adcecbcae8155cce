"""Fetching from a hub on loopback: lists, redirects, ranges, gates, and everything that goes wrong."""

import hashlib

import pytest
from huggingface_hub import constants, file_download

from servers.hub import TOKEN
from vidence.ask.fetching.address import HubAddress
from vidence.ask.fetching.hub import Hub
from vidence.ask.fetching.plain import github_base, read_web
from vidence.errors import DataError

SMALL, LARGE = b"[]", bytes(range(256)) * 40
FILES = {
    "validation.json": SMALL,
    "videos/Art/1.mp4": LARGE,
    **{f"videos/Art/{k}.mp4": b"%d" % k for k in range(2, 8)},
}
MMVU = HubAddress("yale-nlp/MMVU")


@pytest.fixture
def waited():
    return []


@pytest.fixture
def client(hub, tmp_path, waited):
    return Hub(tmp_path / "cache", endpoint=hub.url, wait=waited.append)


def fetch(client, *paths, address=MMVU):
    listing = client.listing(address)
    files = [one for one in listing.files if one.path in paths]
    return client.fetch(listing, files, named=address.revision, on_file=lambda one: None)


def test_a_listing_has_every_page_with_sizes_hashes_and_the_licence(hub, client) -> None:
    commit = hub.add("yale-nlp/MMVU", FILES, licence="cc-by-4.0")
    listing = client.listing(MMVU)
    assert listing.address == HubAddress("yale-nlp/MMVU", commit)
    assert (listing.licence, listing.is_gated) == ("cc-by-4.0", False)
    assert {one.path: one.n_bytes for one in listing.files} == {k: len(v) for k, v in FILES.items()}
    by_path = {one.path: one for one in listing.files}
    assert by_path["videos/Art/1.mp4"].sha256 == hashlib.sha256(LARGE).hexdigest()
    assert by_path["validation.json"].sha256 == ""


def test_small_and_redirected_files_lie_in_the_snapshot_and_are_not_fetched_again(hub, client) -> None:
    commit = hub.add("yale-nlp/MMVU", FILES)
    folder = fetch(client, "validation.json", "videos/Art/1.mp4")
    assert folder.name == commit
    assert (folder / "validation.json").read_bytes() == SMALL
    assert (folder / "videos/Art/1.mp4").read_bytes() == LARGE
    assert (folder.parents[1] / "refs" / "main").read_text() == commit
    assert not (folder / "videos/Art/2.mp4").exists()
    fetch(client, *FILES)
    before = len([one for one in hub.requests if one[0] == "GET" and "mp4" in one[1]])
    fetch(client, *FILES)
    assert len([one for one in hub.requests if one[0] == "GET" and "mp4" in one[1]]) == before


def test_a_download_that_breaks_off_goes_on_where_it_broke(hub, client, monkeypatch) -> None:
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1_024)
    hub.add("yale-nlp/MMVU", FILES)
    hub.faults["videos/Art/1.mp4"] = ["cut"]
    monkeypatch.setattr(file_download.time, "sleep", lambda s: None)
    folder = fetch(client, "videos/Art/1.mp4")
    assert (folder / "videos/Art/1.mp4").read_bytes() == LARGE
    ranges = [asked for method, path, asked in hub.requests if method == "GET" and "/lfs/" in path]
    assert ranges[-1] == f"bytes={len(LARGE) // 2}-"


def test_too_many_requests_are_waited_for_and_then_given_up(hub, client, waited) -> None:
    hub.add("yale-nlp/MMVU", FILES)
    hub.faults["info"] = [429, 429]
    assert client.listing(MMVU).files
    assert waited == [0.0, 0.0]
    waited.clear()
    hub.faults["info"] = [429] * 9
    with pytest.raises(DataError, match=r"answered 429 for .*MMVU.*with HF_TOKEN more is allowed"):
        client.listing(MMVU)
    assert len(waited) == 3


@pytest.mark.parametrize("token", ["", "hf_other"])
def test_a_gated_data_set_says_what_to_do(hub, client, token, monkeypatch) -> None:
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    hub.add("yale-nlp/MMVU", FILES, gated="manual")
    assert client.listing(MMVU).is_gated
    with pytest.raises(DataError, match=r"gated: accept its terms .* set HF_TOKEN"):
        fetch(client, "validation.json")


def test_the_token_opens_a_gated_data_set_and_goes_to_the_hub_alone(hub, client, monkeypatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.add("yale-nlp/MMVU", FILES, gated="auto")
    fetch(client, "videos/Art/1.mp4")
    sent = {path.split("/")[1]: token for (_, path, _), token in zip(hub.requests, hub.tokens, strict=True)}
    assert sent == {"api": TOKEN, "datasets": TOKEN, "lfs": ""}
    assert (fetch(client, "validation.json") / "validation.json").read_bytes() == SMALL


def test_names_sets_and_revisions_that_cannot_be_are_said(hub, client) -> None:
    hub.add("yale-nlp/MMVU", FILES)
    with pytest.raises(DataError, match="no data set yale-nlp/NONE at the hub"):
        client.listing(HubAddress("yale-nlp/NONE"))
    with pytest.raises(DataError, match="MMVU has no revision 'v9'"):
        client.listing(HubAddress("yale-nlp/MMVU", "v9"))
    hub.add("yale-nlp/MMVU", {"validation.json": SMALL, "../../out.json": SMALL})
    with pytest.raises(DataError, match=r"lists '\.\./\.\./out\.json', which leaves its folder"):
        client.listing(MMVU)


def test_an_earlier_revision_stays_beside_a_later_one(hub, client) -> None:
    first = hub.add("yale-nlp/MMVU", FILES)
    hub.add("yale-nlp/MMVU", FILES | {"validation.json": b"[1]"})
    assert (fetch(client, "validation.json") / "validation.json").read_bytes() == b"[1]"
    old = fetch(client, "validation.json", address=HubAddress("yale-nlp/MMVU", first))
    assert (old / "validation.json").read_bytes() == SMALL


def test_a_file_with_another_hash_is_removed_and_a_damaged_copy_replaced(hub, client, tmp_path) -> None:
    hub.add("yale-nlp/MMVU", FILES)
    hub.is_damaging = True
    with pytest.raises(DataError, match=r"1\.mp4 of .* differs from the hub's listing"):
        fetch(client, "videos/Art/1.mp4")
    assert not [path for path in (tmp_path / "cache").rglob("*.mp4")]
    hub.is_damaging = False
    path = fetch(client, "videos/Art/1.mp4") / "videos/Art/1.mp4"
    path.resolve().write_bytes(LARGE[::-1])
    assert (fetch(client, "videos/Art/1.mp4") / "videos/Art/1.mp4").read_bytes() == LARGE


def test_offline_and_unreachable_hubs_are_said(hub, client, tmp_path, monkeypatch) -> None:
    gone = Hub(tmp_path, endpoint="http://127.0.0.1:9", wait=lambda s: None)
    with pytest.raises(DataError, match=r"\(the hub cannot be reached\).*repeat the command to continue"):
        gone.listing(MMVU)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match="HF_HUB_OFFLINE is set"):
        Hub(tmp_path, endpoint=hub.url).listing(MMVU)


def test_a_file_is_read_up_to_its_bound_or_a_way_out_is_said(hub) -> None:
    hub.raw["a/b.json"] = b"[1, 2]"
    assert read_web(f"{hub.url}/raw/a/b.json", most=6) == b"[1, 2]"
    with pytest.raises(DataError, match="has more than 0 MB"):
        read_web(f"{hub.url}/raw/a/b.json", most=5)
    hub.raw["a/b.json"] = b"[]"
    hub.faults["a/b.json"] = [503]
    for url in (f"{hub.url}/raw/a/b.json", f"{hub.url}/raw/none", "http://127.0.0.1:9/x", "nowhere"):
        with pytest.raises(DataError, match="with --questions FILE"):
            read_web(url)


def test_the_address_of_files_on_github_may_be_another() -> None:
    assert github_base({}) == "https://raw.githubusercontent.com"
    assert github_base({"VIDENCE_GITHUB_RAW": "http://127.0.0.1/raw/"}) == "http://127.0.0.1/raw"
