"""Parsers of replies. Each file is a parser named after the file."""
