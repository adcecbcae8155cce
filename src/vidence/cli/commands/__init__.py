"""The commands of the core: one file each, found by its name (`vidence.cli.finding`)."""
