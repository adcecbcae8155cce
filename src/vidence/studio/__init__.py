"""The web application: runs to look at, and the work of people on questions."""
