"""The commands of this wing, one file each, found by name (`vidence.cli.finding`)."""
