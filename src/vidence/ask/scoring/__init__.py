"""What a reply is worth. One file is one reader; its name is the name of the file."""
