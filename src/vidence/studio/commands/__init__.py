"""The commands of this wing: one file each, found by its name (`vidence.cli.finding`); and its extras."""

from vidence.installation import Extra

EXTRAS = {
    "studio": Extra(
        "the studio and the viewer, in the browser", ("django", "django_htmx", "uvicorn", "argon2")
    ),
    "studio-postgres": Extra("the studio's database in Postgres", ("psycopg",)),
}
"""What `vidence doctor` looks for."""
