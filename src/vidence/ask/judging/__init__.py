"""What a reply is worth, by asking a model. One file is one judge; its name is the name of the file."""
