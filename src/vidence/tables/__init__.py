"""The table type of all output, and its renderers."""
