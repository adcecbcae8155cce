"""The commands of this wing, one file each, found by name (`vidence.cli.finding`), and its extras."""

from vidence.installation import Extra

EXTRAS = {"ray": Extra("work on a Ray cluster", ("ray",))}
"""Packages that `vidence doctor` checks."""
