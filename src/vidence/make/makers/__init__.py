"""What ``vidence make NAME`` makes: one file each, found by its name."""
