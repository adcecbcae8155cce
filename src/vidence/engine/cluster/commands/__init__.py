"""The commands of this wing: one file each, found by its name (`vidence.cli.finding`)."""
