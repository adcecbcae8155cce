"""Numbers become terminal tables, one HTML page, CSV and JSON."""
