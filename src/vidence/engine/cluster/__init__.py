"""Machines of a cluster: a wing. An executor is one file here, found by the name that `--on` begins with."""
