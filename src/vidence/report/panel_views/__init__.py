"""Views of a panel: tables and figures over all its runs, one file each."""
