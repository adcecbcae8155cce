"""``python -m vidence``."""

from vidence.cli.main import main

if __name__ == "__main__":
    main()
