"""Read files in foreign layouts: which column is which field of a question or reply."""
