"""Columns that several tables have."""

import uuid
from typing import Final

from django.db import models

HASH_LENGTH: Final = 64
NAME_LENGTH: Final = 150


def public_id() -> models.UUIDField:
    """What a row is called outside: row numbers never leave the server."""
    return models.UUIDField(unique=True, default=uuid.uuid4, editable=False)


def digest(*, is_unique: bool = False, is_optional: bool = False) -> models.CharField:
    """A SHA-256 in hexadecimal."""
    return models.CharField(max_length=HASH_LENGTH, unique=is_unique, blank=is_optional)


def word(*, is_optional: bool = False, length: int = 40) -> models.CharField:
    """One word out of a list, or a short name."""
    return models.CharField(max_length=length, blank=is_optional)


def text() -> models.TextField:
    """A text column of any length; the default is empty."""
    return models.TextField(blank=True, default="")
