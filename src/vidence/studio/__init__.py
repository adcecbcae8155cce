"""The web application: view runs, and write and review questions."""
