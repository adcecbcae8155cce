"""Which frames to show. One file is one selector; its name is the name of the file."""
