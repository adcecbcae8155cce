"""Reports: terminal tables, HTML pages, CSV and JSON."""
