"""The table that everything said is, and how it is drawn."""
