"""How well frames match a text, for selectors. One file is one embedder; its name is the name of the file."""
