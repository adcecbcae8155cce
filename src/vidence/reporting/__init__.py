"""Numbers to tables, figures and pages."""
