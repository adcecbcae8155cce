"""Locations of media: a local file, or an address such as ``s3://bucket/videos/a.mp4``."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from vidence.errors import UsageError

SCHEMES: Final = ("s3", "gs", "hf", "https", "http")
"""Supported protocols."""
_WEB: Final = ("https", "http")
_LOOKS_SO: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
# What signs an address or lets somebody in is called so in the queries of S3, Google, Azure, CloudFront, ...
_SECRETS: Final = re.compile(
    r"^(?:x-(?:amz|goog)-.*|(?:.*[-_])?(?:sig|signature|token|key|secret|password|passwd|pwd|auth|credential|policy)"
    r"|awsaccesskeyid|googleaccessid|apikey|key-pair-id)$",
    re.IGNORECASE,
)
_IN_TEXT: Final = re.compile(
    r"([a-z][a-z0-9+.-]+://)([^\s/?#'\"<>@]*@)?([^\s?#'\"<>]*)(\?[^\s'\"<>]*)?", re.IGNORECASE
)


@dataclass(frozen=True, order=True)
class Address:
    """A file or folder on another machine; create it with `place`, which validates it.

    It can replace a `Path`: ``address / "a.mp4"``, `name`, `suffix`, ``str(address)``.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, inner: str | Path) -> "Address":
        return Address(f"{self.text.rstrip('/')}/{inner}")

    @property
    def scheme(self) -> str:
        """Return the protocol: one of `SCHEMES`."""
        return self.text.partition("://")[0]

    @property
    def lists(self) -> bool:
        """Whether folders can be listed; web servers have no standard for it."""
        return self.scheme not in _WEB

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return PurePosixPath(urlsplit(self.text).path).name

    @property
    def suffix(self) -> str:
        """Return the extension, such as ``.mp4``."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> "Address":
        """Return the containing folder."""
        return Address(self.text.rstrip("/").rpartition("/")[0])

    @property
    def origin(self) -> str:
        """Return the server: a bucket, a data set of the hub, or a host.

        >>> Address("s3://lab/videos/a.mp4").origin, Address("hf://datasets/o/n@main/a.mp4").origin
        ('s3://lab', 'hf://datasets/o/n')
        """
        parts = self.text.split("/")
        if self.scheme != "hf":
            return "/".join(parts[:3])
        return "/".join(parts[:5]).partition("@")[0]  # hf://datasets/OWNER/NAME

    def resolve(self) -> "Address":
        """Return the address itself, which is always absolute."""
        return self

    absolute = resolve

    def is_inside(self, folder: "Address") -> bool:
        """Whether it is inside a folder, by its text.

        >>> folder = Address("s3://lab/a")
        >>> (folder / "b.mp4").is_inside(folder), Address("s3://lab/ab").is_inside(folder)
        (True, False)
        """
        return self.text.startswith(f"{folder.text.rstrip('/')}/") and ".." not in self.text.split("/")


MediaPath: TypeAlias = Path | Address


def is_address(text: str) -> bool:
    """Whether a text is an address rather than a file path.

    >>> is_address("s3://bucket/a.mp4"), is_address("hf:OWNER/NAME"), is_address("videos/a.mp4")
    (True, False, False)
    """
    return _LOOKS_SO.match(text) is not None


def place(text: str) -> MediaPath:
    """Return the path or address that a text names.

    Raises:
        UsageError: an address of another protocol, without a server or bucket, or with a secret in it; the
            message shows no secret.
    """
    if not is_address(text):
        return Path(text)
    result = redacted(text)
    scheme = text.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise UsageError(
            f"{result}: media cannot be read from {scheme}://; expected a file, or an address with "
            f"{', '.join(f'{name}://' for name in SCHEMES)}"
        )
    try:
        parts = urlsplit(text)
        _ = parts.port if scheme in _WEB else None
    except ValueError as error:
        raise UsageError(f"{result} is not a valid address ({error})") from error
    if not parts.netloc or re.search(r"[\s\x00-\x1f\x7f]", text.strip()):
        raise UsageError(f"{result} is not a valid address; expected for example s3://BUCKET/FOLDER/a.mp4")
    if scheme != "hf" and "@" in parts.netloc:
        raise UsageError(
            f"{result} contains a user name or a password, and addresses are stored with the run; leave it "
            "out, and set the environment variables of the driver (docs/guides/fetching.md)"
        )
    if secret := next(
        (k for k, _ in parse_qsl(parts.query, keep_blank_values=True) if _SECRETS.match(k)), ""
    ):
        raise UsageError(
            f"{result} is signed (its query has {secret}), and addresses are stored with the run; give the "
            "plain address, and set the environment variables of the driver (docs/guides/fetching.md)"
        )
    if ".." in text.split("/"):
        raise UsageError(f"{result} contains '..'; expected an address without it")
    return Address(f"{scheme}://{text.partition('://')[2].strip().rstrip('/')}")


def redacted(text: str) -> str:
    """Remove users, passwords and queries, which may be secrets, from addresses in a text.

    >>> redacted("403 for https://me:pw@h.example/a.mp4?X-Amz-Signature=1f")
    '403 for https://h.example/a.mp4?[not shown]'
    """

    def clean(match: re.Match[str]) -> str:
        return f"{match[1]}{match[3]}{'?[not shown]' if match[4] else ''}"

    return _IN_TEXT.sub(clean, text)
