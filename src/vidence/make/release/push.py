"""Push a release to the Hugging Face hub as a dataset."""

from vidence.errors import DataError, UsageError
from vidence.make.release.exporters.exporting import SPLIT
from vidence.make.release.exporters.huggingface import path_of
from vidence.make.release.papers import hub_card
from vidence.make.release.sets import HUB, ReleasedSet
from vidence.make.release.writing import ABOUT


def push(released_set: ReleasedSet, repo: str, *, endpoint: str | None = None) -> str:
    """Push a release in one commit, tagged with its version; returns the dataset's address.

    The files are those of the release, at the same places; at the root come the card and ``eval.yaml``, where
    the hub looks for them. What is there besides, such as files of a release before, leaves the branch. A new
    data set is private. Where it has the version already, nothing is changed.

    Args:
        released_set: the release, which has the format `HUB`.
        repo: ``OWNER/NAME``.
        endpoint: another hub; None takes that of the environment.

    Raises:
        UsageError: the release lacks the format, or the data set has the version already.
        DataError: the hub does not take it: no token that may write, no such owner, no network.
    """
    import httpx2
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    from huggingface_hub.errors import HFValidationError

    facts, version = released_set.facts, released_set.facts.rules.version
    if HUB not in {exporter.name for exporter in facts.formats}:
        raise UsageError(f"the hub reads the format {HUB}; add it to --format")
    paths = {split: path_of(split).as_posix() for split in sorted({q.tags[SPLIT] for q in facts.public})}
    card = hub_card(facts, paths=paths, body=(released_set.folder / "DATASHEET.md").read_text("utf-8"))
    every = sorted(path for path in released_set.folder.rglob("*") if path.is_file())
    files: dict[str, str | bytes] = {p.relative_to(released_set.folder).as_posix(): str(p) for p in every}
    files |= {"README.md": card.encode(), "eval.yaml": str(released_set.folder / ABOUT / "eval.yaml")}
    api, kind = HfApi(endpoint=endpoint), "dataset"
    try:
        result = api.create_repo(repo, repo_type=kind, private=True, exist_ok=True)
        if api.revision_exists(repo, version, repo_type=kind):
            raise UsageError(f"{repo} has version {version} already, and a release is never changed")
        gone = {*api.list_repo_files(repo, repo_type=kind)} - {*files, ".gitattributes"}
        changes = [CommitOperationDelete(name) for name in sorted(gone)]
        changes += [CommitOperationAdd(name, content) for name, content in files.items()]
        done = api.create_commit(repo, changes, commit_message=f"{facts.name} {version}", repo_type=kind)
        api.create_tag(repo, tag=version, revision=done.oid, repo_type=kind)
    except HFValidationError as error:
        raise UsageError(f"{repo!r} is no name of a data set; expected OWNER/NAME") from error
    except (httpx2.HTTPError, OSError) as error:
        why = str(error).partition("\n")[0]
        raise DataError(
            f"{released_set.folder} is written, but the hub refused it as {repo} ({why}); set HF_TOKEN to a "
            "token that may write there and run the same command again"
        ) from error
    return str(result)
