"""What ``vidence make NAME`` makes: one file per maker, found by name."""
