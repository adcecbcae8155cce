"""Kinds of errors in wrong replies: taxonomies, packets for labellers, labels, shares."""
