"""Questions without videos, and readers, labellers and replies whose behaviour is planted."""
