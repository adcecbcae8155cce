"""What to ask. One file is one benchmark; its name is the name of the file."""
