"""From compositions that the search found to questions: proved anew, worded, offered, written."""
