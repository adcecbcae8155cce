"""Cards: descriptions of a person or scene by a model or a person."""
