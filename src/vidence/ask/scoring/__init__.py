"""What a reply is worth. One file is one parser; its name is the name of the file."""
