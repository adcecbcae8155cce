"""Fetch one file from a web address, with a size limit."""

from collections.abc import Mapping

from vidence.errors import DataError

GITHUB_VARIABLE = "VIDENCE_GITHUB_RAW"
MOST_BYTES = 64 << 20
_TIMEOUT_S = 60.0


def github_base(variables: Mapping[str, str]) -> str:
    """Return the base address of files on GitHub, or of the configured mirror."""
    return variables.get(GITHUB_VARIABLE, "https://raw.githubusercontent.com").rstrip("/")


def read_web(url: str, *, most: int = MOST_BYTES) -> bytes:
    """Return the bytes at an address.

    Raises:
        DataError: it cannot be read, or has more bytes than `most`.
    """
    import httpx2

    result = bytearray()
    try:
        with httpx2.stream("GET", url, follow_redirects=True, timeout=_TIMEOUT_S) as answer:
            answer.raise_for_status()
            for block in answer.iter_bytes():
                result += block
                if len(result) > most:
                    raise DataError(f"{url} has more than {most >> 20} MB; expected a file of questions")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise DataError(
            f"{url} cannot be fetched ({error or type(error).__name__}); fetch it by other means, and name "
            "it with --questions FILE"
        ) from error
    return bytes(result)
