"""Why a score is what it is: diagnostics, audits of question sets, published tables."""
