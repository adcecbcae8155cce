"""The proof of a composed question, by going through everything that its steps allow."""
