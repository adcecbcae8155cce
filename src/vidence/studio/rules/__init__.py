"""What pages compute, without Django."""
