"""Files of other people: which column is which field of a question, or of a reply."""
